#include <fmt/format.h>

#include <cstring>

#include "typhonio/mesh.hpp"

namespace wa::typhonio {
namespace {

/// The bytes of a small number in any type of numbers.
template <typename T>
std::vector<std::byte> bytes_as(int value) {
    const T typed = static_cast<T>(value);
    std::vector<std::byte> out(sizeof typed);
    std::memcpy(out.data(), &typed, sizeof typed);
    return out;
}

std::vector<std::byte> bytes_of(Datatype type, int value) {
    switch (size_of(type)) {
        case 16:
            return bytes_as<long double>(value);
        case 8:
            return class_of(type) == TypeClass::real ? bytes_as<double>(value) : bytes_as<long long>(value);
        case 4:
            return class_of(type) == TypeClass::real ? bytes_as<float>(value) : bytes_as<int>(value);
        case 2:
            return bytes_as<short>(value);
        default:
            return bytes_as<signed char>(value);
    }
}

constexpr int range_never_set_least = 999;
constexpr int range_never_set_most = 666;

}  // namespace

Quant::Quant(const Storage& storage, h5::Shared group, Mesh& mesh, ChunkedArray array)
    : Node(storage, std::move(group)),
      mesh_(&mesh),
      array_(std::move(array)),
      least_(bytes_of(array_.type(), range_never_set_least)),
      most_(bytes_of(array_.type(), range_never_set_most)) {}

void Quant::create_array() {
    array_.create(storage(), group(), mesh_->layout());
}

void Quant::write(std::int64_t chunk, Transfer transfer, const void* data, const void* mixed) {
    require_open("write quant");
    array_.write(storage(), mesh_->chunks_of("write quant"), chunk, transfer, data, mixed);
}

void Quant::read(std::int64_t chunk, Transfer transfer, void* data, void* mixed) {
    require_open("read quant");
    array_.read(storage(), mesh_->chunks_of("read quant"), chunk, transfer, data, mixed);
}

std::int64_t Quant::elements(std::int64_t chunk) {
    return mesh_->chunks_of("quant").span(array_.block(), chunk).count;
}

void Quant::set_range(const void* least, const void* most) {
    std::memcpy(least_.data(), least, least_.size());
    std::memcpy(most_.data(), most, most_.size());
}

void Quant::finish() {
    storage().attribute(group(), "qmin", type(), least_.data());
    storage().attribute(group(), "qmax", type(), most_.data());
    array_.close();
}

}  // namespace wa::typhonio
