#include <fmt/format.h>

#include <cstring>

#include "typhonio/mesh.hpp"

namespace wa::typhonio {
namespace {

constexpr Block per_mixed_cell{Block::Kind::mixed_cells, Centring::cell, no_ghosts};
constexpr Block per_component{Block::Kind::mixed_components, Centring::cell, no_ghosts};

}  // namespace

Material::Material(const Storage& storage, h5::Shared group, Mesh& mesh, MaterialDescription description)
    : Node(storage, std::move(group)), mesh_(&mesh), description_(description) {
    const Centring centring = mesh.description().type == MeshType::point ? Centring::node : Centring::cell;
    arrays_.emplace_back("TIO_DATA", description.type,
                         Block{Block::Kind::centred, centring, description.ghosts}, description.mixed);
    if (description.mixed) {
        arrays_.emplace_back("TIO_NCOMP", description.count_type, per_mixed_cell);
        arrays_.emplace_back("TIO_PTR", description.pointer_type, per_mixed_cell);
        arrays_.emplace_back("TIO_VOLFRAC", description.fraction_type, per_component);
    }
    const std::size_t width = size_of(description.type);
    for (std::int64_t m = 1; m <= description.materials; ++m) {
        // Little endian: the low bytes of a number are the number in a narrower type.
        const auto* bytes = reinterpret_cast<const std::byte*>(&m);
        numbers_.insert(numbers_.end(), bytes, bytes + width);
        names_of_.push_back("material" + std::to_string(m));
    }
}

void Material::create_arrays() {
    for (ChunkedArray& array : arrays_) array.create(storage(), group(), mesh_->layout());
}

void Material::write(std::int64_t chunk, Transfer transfer, const MaterialData& data) {
    constexpr const char* operation = "write material";
    require_open(operation);
    Layout& layout = mesh_->chunks_of(operation);
    arrays_[0].write(storage(), layout, chunk, transfer, data.cells, data.mixed);
    if (!description_.mixed) return;
    arrays_[1].write(storage(), layout, chunk, transfer, data.counts, nullptr);
    arrays_[2].write(storage(), layout, chunk, transfer, data.pointers, nullptr);
    arrays_[3].write(storage(), layout, chunk, transfer, data.fractions, nullptr);
}

void Material::set_materials(const void* numbers, const std::vector<std::string>& names) {
    constexpr const char* operation = "name materials";
    if (names.size() != static_cast<std::size_t>(description_.materials))
        refuse(operation, fmt::format("{} names for {} materials", names.size(), description_.materials));
    for (const std::string& name : names) check_text(operation, "material's name", name);
    std::memcpy(numbers_.data(), numbers, numbers_.size());
    names_of_ = names;
}

void Material::finish() {
    for (ChunkedArray& array : arrays_) array.close();
    const h5::Extents count{static_cast<hsize_t>(description_.materials)};
    h5::Shared dataset = storage().create_array(group(), "TIO_MATERIAL_NUMS", description_.type, count);
    storage().write_on_first(dataset, description_.type, numbers_.data());
    dataset.close();
    std::vector<char> cells(names_of_.size() * text_bytes);
    for (std::size_t m = 0; m < names_of_.size(); ++m)
        std::memcpy(&cells[m * text_bytes], names_of_[m].data(), names_of_[m].size());
    dataset = storage().create_array(group(), "TIO_MATERIAL_NAMES", Datatype::string, count);
    storage().write_on_first(dataset, Datatype::string, cells.data());
    dataset.close();
}

}  // namespace wa::typhonio
