// The files that the tests in Python look at; typhonio_files.cpp says what each is.
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
/// A mesh of one chunk a rank. Quads share their node planes; a chunk is larger the higher its number.
MeshDescription description_of(const std::string& kind, int dimensions);
ChunkInfo chunk_of(const MeshDescription& d, std::int64_t c);
/// All arrays of the mesh, numbered on from `array`; those of chunks are read back on request.
void write_arrays(Mesh& mesh, int& array, bool verify);

void worked(Pattern pattern, const std::string& path);
void benchmark(Pattern pattern, const std::string& path);
void example(Pattern pattern, const std::string& path);
void mesh_of(Pattern pattern, const std::string& path, const std::string& kind, int dimensions);
void refuse_all(Pattern pattern, const std::string& path);

}  // namespace wa::typhonio::test
