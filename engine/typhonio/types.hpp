// The terms of TyphonIO 1.6.0: datatypes, meshes, centrings and valid names. Source:
// docs/reference/typhonio-format.md#types.
#pragma once

#include <cstdint>
#include <string>

#include "io/hdf5.hpp"

namespace wa::typhonio {

/// The library's own calls, or fewer and larger ones that produce the same logical file.
enum class Pattern { faithful, optimised };

enum class Transfer { independent, collective };

/// Values are the codes in the file.
enum class Datatype : int {
    none = -1,
    short_int = 0,
    ushort_int = 1,
    int_ = 2,
    uint = 3,
    long_int = 4,
    ulong_int = 5,
    llong_int = 6,
    ullong_int = 7,
    float_ = 8,
    double_ = 9,
    ldouble = 10,
    logical = 11,
    char_ = 12,
    uchar = 13,
    size = 15,
    step = 16,
    time = 17,
    string = 18,
};

enum class TypeClass { signed_integer, unsigned_integer, real, text };

enum class MeshType : int { colinear = 1, noncolinear = 2, unstructured = 3, point = 4 };
enum class CoordType : int { cartesian = 0, spherical = 1, cylindrical = 2, axisymmetric = 3 };
enum class Centring : int {
    cell = 0,
    edge_i = 1,
    edge_j = 2,
    edge_k = 3,
    face_i = 4,
    face_j = 5,
    face_k = 6,
    node = 7
};

/// Ghosts of a quant on an unstructured or point mesh: none or all. Ghosts of a mesh without material: null.
inline constexpr std::uint64_t no_ghosts = 0;
inline constexpr std::uint64_t all_ghosts = UINT64_MAX - 1;
inline constexpr std::uint64_t null_ghosts = UINT64_MAX;

/// The bytes of a string in the file, including its end.
inline constexpr std::size_t text_bytes = 64;
inline constexpr int most_dimensions = 7;

/// The bytes of one element.
[[nodiscard]] std::size_t size_of(Datatype type);
[[nodiscard]] TypeClass class_of(Datatype type);
/// The type in memory and in the file.
[[nodiscard]] h5::Local native(Datatype type);
/// The name as in TIO_VARIABLE_CACHE_0D_<word>; null for a type without a cache.
[[nodiscard]] const char* cache_word(Datatype type);

/// Raises CallFailed.
[[noreturn]] void refuse(const char* operation, const std::string& reason);
/// Refuses what the library refuses as the name of an object: empty, over 63 characters, a '/', or a leading
/// TIO_.
void check_name(const char* operation, const std::string& name);
/// Refuses a text that does not fit into a string of the file; `what` names the text in the message.
void check_text(const char* operation, const char* what, const std::string& text);

}  // namespace wa::typhonio
