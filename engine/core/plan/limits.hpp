// The largest values that a plan may contain. Products of these stay far below 64 bits or are checked in 128.
#pragma once

#include <cstdint>

namespace wa::limits {

inline constexpr std::int64_t plan_bytes = std::int64_t{128} << 20;
inline constexpr std::int64_t ranks = std::int64_t{1} << 24;
// the last byte of any file, and the bytes of a plan
inline constexpr std::int64_t offset = std::int64_t{1} << 60;
inline constexpr std::int64_t operation_bytes = std::int64_t{1} << 50;
// in a whole plan; a larger one would never end
inline constexpr std::int64_t operations = std::int64_t{1} << 40;
inline constexpr std::int64_t calls_of_write = 1000;  // syncs or flushes after one write
inline constexpr std::int64_t number = 999'999'999;   // family, dump and file numbers
inline constexpr std::int64_t buffer_alignment = std::int64_t{1} << 30;
inline constexpr std::int64_t direct_block = 512;  // the smallest block of a device
inline constexpr std::int64_t datasets = 1'000'000;
inline constexpr std::int64_t parts = std::int64_t{1} << 26;  // in a mesh
inline constexpr std::int64_t materials = 65'536;
inline constexpr std::int64_t ghost_layers = 15;
inline constexpr std::size_t variables = 65536;  // in a PnetCDF file
inline constexpr std::int64_t element_bytes = std::int64_t{1} << 20;
inline constexpr std::int64_t members = 4096;                      // in a compound element
inline constexpr std::int64_t hdf5_block = std::int64_t{1} << 30;  // metadata blocks, sieve buffers
inline constexpr std::int64_t pieces = std::int64_t{1} << 30;
inline constexpr std::size_t dimensions = 32;  // H5S_MAX_RANK
inline constexpr double seconds = 1e9;
inline constexpr std::int64_t compute_levels = 3;
inline constexpr std::int64_t compute_units = 65'536;  // in a dump
inline constexpr std::size_t processes = 65'536;       // groups of ranks with a start and an end of their own
inline constexpr std::size_t skews = 64;  // groups of ranks of a family that begin its dumps later
inline constexpr std::size_t name_length = 255;

}  // namespace wa::limits
