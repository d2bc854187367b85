#include "typhonio/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "errors.hpp"

namespace wa::typhonio {
namespace {

struct Row {
    Datatype type;
    std::size_t bytes;
    TypeClass type_class;
    const char* cache;
};

constexpr std::array<Row, 18> rows{{
    {Datatype::short_int, sizeof(short), TypeClass::signed_integer, "SHORT"},
    {Datatype::ushort_int, sizeof(short), TypeClass::unsigned_integer, "USHORT"},
    {Datatype::int_, sizeof(int), TypeClass::signed_integer, "INT"},
    {Datatype::uint, sizeof(int), TypeClass::unsigned_integer, "UINT"},
    {Datatype::long_int, sizeof(long), TypeClass::signed_integer, "LONG"},
    {Datatype::ulong_int, sizeof(long), TypeClass::unsigned_integer, "ULONG"},
    {Datatype::llong_int, sizeof(long long), TypeClass::signed_integer, "LLONG"},
    {Datatype::ullong_int, sizeof(long long), TypeClass::unsigned_integer, "ULLONG"},
    {Datatype::float_, sizeof(float), TypeClass::real, "FLOAT"},
    {Datatype::double_, sizeof(double), TypeClass::real, "DOUBLE"},
    {Datatype::ldouble, sizeof(long double), TypeClass::real, "LDOUBLE"},
    {Datatype::logical, sizeof(int), TypeClass::unsigned_integer, "LOGICAL"},
    {Datatype::char_, 1, TypeClass::signed_integer, "CHAR"},
    {Datatype::uchar, 1, TypeClass::unsigned_integer, "UCHAR"},
    {Datatype::size, sizeof(long long), TypeClass::unsigned_integer, nullptr},
    {Datatype::step, sizeof(long long), TypeClass::unsigned_integer, nullptr},
    {Datatype::time, sizeof(double), TypeClass::real, nullptr},
    {Datatype::string, text_bytes, TypeClass::text, nullptr},
}};

const Row& row_of(Datatype type) {
    const auto* row = std::find_if(rows.begin(), rows.end(), [type](const Row& r) { return r.type == type; });
    if (row == rows.end())
        refuse("datatype", fmt::format("code {} is not a datatype", static_cast<int>(type)));
    return *row;
}

hid_t library_type(Datatype type) {
    switch (type) {
        case Datatype::short_int:
            return H5T_NATIVE_SHORT;
        case Datatype::ushort_int:
            return H5T_NATIVE_USHORT;
        case Datatype::int_:
            return H5T_NATIVE_INT;
        case Datatype::uint:
        case Datatype::logical:
            return H5T_NATIVE_UINT;
        case Datatype::long_int:
            return H5T_NATIVE_LONG;
        case Datatype::ulong_int:
            return H5T_NATIVE_ULONG;
        case Datatype::llong_int:
            return H5T_NATIVE_LLONG;
        case Datatype::ullong_int:
        case Datatype::size:
        case Datatype::step:
            return H5T_NATIVE_ULLONG;
        case Datatype::float_:
            return H5T_NATIVE_FLOAT;
        case Datatype::double_:
        case Datatype::time:
            return H5T_NATIVE_DOUBLE;
        case Datatype::ldouble:
            return H5T_NATIVE_LDOUBLE;
        case Datatype::char_:
            return H5T_NATIVE_SCHAR;
        case Datatype::uchar:
            return H5T_NATIVE_UCHAR;
        case Datatype::string:
        case Datatype::none:
            break;
    }
    refuse("datatype", "not a type of numbers");
}

bool printable(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::size_t size_of(Datatype type) {
    return row_of(type).bytes;
}

TypeClass class_of(Datatype type) {
    return row_of(type).type_class;
}

const char* cache_word(Datatype type) {
    return row_of(type).cache;
}

h5::Local native(Datatype type) {
    if (type == Datatype::string) return h5::fixed_string(text_bytes);
    return h5::copy_of(library_type(type));
}

void refuse(const char* operation, const std::string& reason) {
    throw CallFailed(operation, "TyphonIO: " + reason);
}

void check_text(const char* operation, const char* what, const std::string& text) {
    if (text.size() >= text_bytes) {
        refuse(operation, fmt::format("the {} '{}' has {} characters; shorten it to {}", what, text,
                                      text.size(), text_bytes - 1));
    }
    if (!printable(text)) refuse(operation, fmt::format("the {} may hold printable ASCII only", what));
}

void check_name(const char* operation, const std::string& name) {
    if (name.empty()) refuse(operation, "the name is empty; give one of 1 to 63 characters");
    check_text(operation, "name", name);
    if (name.find('/') != std::string::npos)
        refuse(operation, fmt::format("the name '{}' holds a '/'; leave it out", name));
    if (name.starts_with("TIO_"))
        refuse(operation,
               fmt::format("the name '{}' begins with TIO_, which is reserved for the library", name));
    if (name == ".") refuse(operation, "'.' is not a valid name");
}

}  // namespace wa::typhonio
