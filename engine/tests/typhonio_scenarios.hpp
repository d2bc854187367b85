// The files that the tests in Python read; typhonio_files.cpp explains each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "typhonio/file.hpp"

namespace wa::typhonio::test {

extern int rank_of_process;
extern int processes;

/// Elements first, first + 1, ... of array number `array`, as bytes of the type.
std::vector<std::byte> numbers(Datatype type, int array, std::int64_t first, std::int64_t count);
FileOptions options_of(Pattern pattern);
/// A mesh with one chunk per rank. Quads share their node planes; chunks with higher numbers are larger.
MeshDescription description_of(const std::string& kind, int dimensions);
ChunkInfo chunk_of(const MeshDescription& d, std::int64_t c);
/// All arrays of the mesh, numbered from `array` on; with `verify`, arrays of chunks are read back.
void write_arrays(Mesh& mesh, int& array, bool verify);

void worked(Pattern pattern, const std::string& path);
void benchmark(Pattern pattern, const std::string& path);
void example(Pattern pattern, const std::string& path);
void mesh_of(Pattern pattern, const std::string& path, const std::string& kind, int dimensions);
void refuse_all(Pattern pattern, const std::string& path);

}  // namespace wa::typhonio::test
