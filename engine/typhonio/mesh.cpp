#include "typhonio/mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace wa::typhonio {
namespace {

constexpr std::array<const char*, 8> array_names{
    "TIO_MESH_ICOORD",  "TIO_MESH_JCOORD", "TIO_MESH_KCOORD",          "TIO_MESH_NODEIDS",
    "TIO_MESH_CELLIDS", "TIO_MESH_SHAPES", "TIO_MESH_CELLS_PER_SHAPE", "TIO_MESH_CONNECTIVITY"};

const char* name_of(MeshArray array) {
    return array_names[static_cast<std::size_t>(array)];
}

/// The most ghost layers of a quad mesh; a larger number is a sentinel of the library or an error.
constexpr std::uint64_t most_layers = 1 << 20;

void check_ghosts(const char* operation, const MeshDescription& mesh, std::uint64_t ghosts) {
    const bool counted = mesh.type == MeshType::unstructured || mesh.type == MeshType::point;
    if (counted && ghosts != no_ghosts && ghosts != all_ghosts)
        refuse(operation, "the ghosts of this mesh must be none or all");
    if (!counted && ghosts > most_layers) refuse(operation, fmt::format("{} layers of ghosts", ghosts));
    if (mesh.type == MeshType::noncolinear && ghosts > static_cast<std::uint64_t>(mesh.sizes[3])) {
        refuse(operation, fmt::format("{} layers of ghosts on a mesh of {}", ghosts, mesh.sizes[3]));
    }
}

/// Sizes that a type of mesh does not have are stored as 0.
MeshDescription normalised(MeshDescription mesh) {
    const bool quad = mesh.type == MeshType::colinear || mesh.type == MeshType::noncolinear;
    for (std::size_t d = quad ? static_cast<std::size_t>(mesh.dimensions) : 3; d < 3; ++d) mesh.sizes[d] = 0;
    if (mesh.type == MeshType::colinear) mesh.sizes[3] = 0;
    return mesh;
}

}  // namespace

Mesh::Mesh(const Storage& storage, h5::Shared group, MeshDescription description)
    : Node(storage, std::move(group)), description_(normalised(std::move(description))) {
    create_arrays();
    const MeshDescription& d = description_;
    const auto put = [this](const char* name, const auto& value) {
        this->storage().attribute(this->group(), name, value);
    };
    put("meshtype", static_cast<int>(d.type));
    put("coordtype", static_cast<int>(d.coordinates));
    put("amrflag", d.amr ? 1 : 0);
    put("group", d.group);
    put("order", d.order);
    put("graph_datatype", static_cast<int>(d.graph_type));
    put("coord_datatype", static_cast<int>(d.coord_type));
    put("ndims", d.dimensions);
    constexpr std::array<const char*, 3> units{"iunits", "junits", "kunits"};
    constexpr std::array<const char*, 3> labels{"ilabel", "jlabel", "klabel"};
    for (std::size_t i = 0; i < 3; ++i) put(units[i], d.units[i]);
    for (std::size_t i = 0; i < 3; ++i) put(labels[i], d.labels[i]);
    constexpr std::array<const char*, 4> quad{"ni", "nj", "nk", "nghosts"};
    constexpr std::array<const char*, 4> counted{"nnodes", "ncells", "nshapes", "nconnectivity"};
    const bool is_counted = d.type == MeshType::unstructured || d.type == MeshType::point;
    const std::size_t sizes = d.type == MeshType::point ? 1 : 4;
    for (std::size_t i = 0; i < sizes; ++i)
        put(is_counted ? counted[i] : quad[i], static_cast<std::uint64_t>(d.sizes[i]));
}

void Mesh::create_arrays() {
    const MeshDescription& d = description_;
    if (d.type != MeshType::colinear) {
        const std::uint64_t ghosts =
            d.type == MeshType::noncolinear ? static_cast<std::uint64_t>(d.sizes[3]) : all_ghosts;
        const auto add = [this](MeshArray array, Datatype type, const Block& block) {
            arrays_.emplace_back(array, ChunkedArray(name_of(array), type, block));
        };
        for (int i = 0; i < d.dimensions; ++i)
            add(static_cast<MeshArray>(i), d.coord_type, {Block::Kind::centred, Centring::node, ghosts});
        if (d.type == MeshType::unstructured) {
            add(MeshArray::node_ids, d.graph_type, {Block::Kind::centred, Centring::node, ghosts});
            add(MeshArray::cell_ids, d.graph_type, {Block::Kind::centred, Centring::cell, ghosts});
            add(MeshArray::shapes, Datatype::int_, {Block::Kind::shapes, Centring::cell, ghosts});
            add(MeshArray::cells_per_shape, d.graph_type, {Block::Kind::shapes, Centring::cell, ghosts});
            add(MeshArray::connectivity, d.graph_type, {Block::Kind::connectivity, Centring::cell, ghosts});
        }
    }
}

void Mesh::set_chunks(Chunks chunks) {
    require_open("set chunks");
    if (layout_) refuse("set chunks", "the chunks of a mesh may be set only once");
    layout_.emplace(description_, std::move(chunks));
    if (description_.type == MeshType::colinear) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(description_.dimensions); ++i) {
            axes_[i] = storage().create_array(group(), array_names[i], description_.coord_type,
                                              {static_cast<hsize_t>(description_.sizes[i])});
        }
    }
    for (auto& [which, array] : arrays_) array.create(storage(), group(), *layout_);
    if (material_) material_->create_arrays();
    for (auto& quant : quants_) quant->create_array();
}

Layout& Mesh::chunks_of(const char* operation) {
    if (!layout_) refuse(operation, "the chunks of the mesh are not set");
    return *layout_;
}

ChunkedArray& Mesh::array_of(const char* operation, MeshArray array) {
    require_open(operation);
    const auto at = std::find_if(arrays_.begin(), arrays_.end(),
                                 [array](const auto& item) { return item.first == array; });
    if (at == arrays_.end()) refuse(operation, fmt::format("this mesh has no blocks of {}", name_of(array)));
    return at->second;
}

std::vector<MeshArray> Mesh::arrays() const {
    std::vector<MeshArray> out;
    if (description_.type == MeshType::colinear) {
        for (int i = 0; i < description_.dimensions; ++i) out.push_back(static_cast<MeshArray>(i));
    }
    for (const auto& [which, array] : arrays_) out.push_back(which);
    return out;
}

std::int64_t Mesh::elements(MeshArray array, std::int64_t chunk) {
    return chunks_of("mesh").span(array_of("mesh", array).block(), chunk).count;
}

Datatype Mesh::type_of(MeshArray array) const {
    if (array == MeshArray::shapes) return Datatype::int_;
    return array <= MeshArray::k ? description_.coord_type : description_.graph_type;
}

void Mesh::write(MeshArray array, std::int64_t chunk, Transfer transfer, const void* data) {
    array_of("write mesh", array).write(storage(), chunks_of("write mesh"), chunk, transfer, data, nullptr);
}

void Mesh::read(MeshArray array, std::int64_t chunk, Transfer transfer, void* data) {
    array_of("read mesh", array).read(storage(), chunks_of("read mesh"), chunk, transfer, data, nullptr);
}

void Mesh::write_axis(MeshArray array, const void* data) {
    const auto axis = static_cast<std::size_t>(array);
    if (axis >= axes_.size() || !axes_[axis].open())
        refuse("write mesh", fmt::format("this mesh has no axis {}", name_of(array)));
    h5::write(axes_[axis], native(description_.coord_type), h5::whole(), h5::whole(),
              storage().list(Transfer::independent), data);
}

void Mesh::set_range(const void* bounds) {
    range_.resize(2 * static_cast<std::size_t>(description_.dimensions) * size_of(description_.coord_type));
    std::memcpy(range_.data(), bounds, range_.size());
}

Quant& Mesh::create_quant(const std::string& name, Datatype type, Centring centring, std::uint64_t ghosts,
                          bool mixed, const std::string& units) {
    constexpr const char* operation = "create quant";
    check_text(operation, "unit", units);
    if (type == Datatype::none || class_of(type) == TypeClass::text)
        refuse(operation, "a quant must have a type of numbers");
    check_ghosts(operation, description_, ghosts);
    const MeshType on = description_.type;
    if (on == MeshType::unstructured && centring != Centring::cell && centring != Centring::node)
        refuse(operation, "quants of an unstructured mesh must be on cells or nodes");
    if (on == MeshType::point && centring != Centring::node)
        refuse(operation, "quants of a point mesh must be on nodes");
    if (mixed && (!material_description_ || !material_description_->mixed || centring != Centring::cell ||
                  ghosts > material_description_->ghosts)) {
        refuse(operation,
               "a mixed quant must be on cells, and needs a mixed material with as many ghosts before it");
    }
    take_name(operation, name);
    h5::Shared child = storage().create_group(group(), name);
    quants_.push_back(std::unique_ptr<Quant>(
        new Quant(storage(), std::move(child), *this,
                  ChunkedArray("TIO_DATA", type, {Block::Kind::centred, centring, ghosts}, mixed))));
    quant_names_.append(name);
    Quant& quant = *quants_.back();
    if (layout_) quant.create_array();
    storage().attribute(quant.group(), "datatype", static_cast<int>(type));
    storage().attribute(quant.group(), "centring", static_cast<int>(centring));
    storage().attribute(quant.group(), "nghosts", ghosts);
    storage().attribute(quant.group(), "mixedflag", mixed ? 1 : 0);
    storage().attribute(quant.group(), "units", units);
    return quant;
}

Material& Mesh::create_material(const std::string& name, const MaterialDescription& d) {
    constexpr const char* operation = "create material";
    if (material_description_) refuse(operation, "a mesh has at most one material");
    for (const Datatype type : {d.type, d.count_type, d.pointer_type}) {
        const bool integer = type != Datatype::none && (class_of(type) == TypeClass::signed_integer ||
                                                        class_of(type) == TypeClass::unsigned_integer);
        if (!integer || size_of(type) < 2)
            refuse(operation, "numbers of materials must be integers of 2 to 8 bytes");
    }
    if (d.fraction_type == Datatype::none || class_of(d.fraction_type) != TypeClass::real)
        refuse(operation, "fractions must be real numbers");
    if (d.materials < 1) refuse(operation, "the number of materials must be at least 1");
    if (d.mixed && description_.type == MeshType::point)
        refuse(operation, "a point mesh cannot have mixed materials");
    check_ghosts(operation, description_, d.ghosts);
    take_name(operation, name);
    material_.reset(new Material(storage(), storage().create_group(group(), name), *this, d));
    material_description_ = d;
    material_names_.append(name);
    if (layout_) material_->create_arrays();
    const auto put = [this](const char* key, const auto& value) {
        storage().attribute(material_->group(), key, value);
    };
    put("datatype", static_cast<int>(d.type));
    put("ncomp_datatype", static_cast<int>(d.count_type));
    put("ptr_datatype", static_cast<int>(d.pointer_type));
    put("vf_datatype", static_cast<int>(d.fraction_type));
    put("nmat", static_cast<std::uint64_t>(d.materials));
    put("nghosts", d.ghosts);
    put("mixedflag", d.mixed ? 1 : 0);
    return *material_;
}

void Mesh::close_children() {
    if (material_) material_->close();
    close_all(quants_);
}

void Mesh::flush_children() {
    if (material_) material_->store_for_flush();
    for (auto& quant : quants_) quant->store_for_flush();
}

void Mesh::finish() {
    Layout& layout = chunks_of("close mesh");
    const Block cells{Block::Kind::mixed_cells, Centring::cell, no_ghosts};
    const Block components{Block::Kind::mixed_components, Centring::cell, no_ghosts};
    storage().attribute(group(), "matghosts",
                        material_description_ ? material_description_->ghosts : null_ghosts);
    storage().attribute(group(), "nmixcell", static_cast<std::uint64_t>(layout.total(cells)));
    storage().attribute(group(), "nmixcomp", static_cast<std::uint64_t>(layout.total(components)));
    for (h5::Shared& axis : axes_) axis.close();
    for (auto& [which, array] : arrays_) array.close();
    if (!range_.empty()) {
        const hsize_t values = 2 * static_cast<hsize_t>(description_.dimensions);
        h5::Shared range =
            storage().create_array(group(), "TIO_MESH_RANGE", description_.coord_type, {values});
        storage().write_on_first(range, description_.coord_type, range_.data());
        range.close();
    }
    h5::Shared info = storage().create_array(group(), "TIO_MESH_CHUNKINFO", Datatype::size,
                                             {12 * static_cast<hsize_t>(layout.chunks())});
    const std::vector<std::uint64_t> words =
        storage().writes_tables() ? layout.words() : std::vector<std::uint64_t>{};
    storage().write_on_first(info, Datatype::size, words.data());
    info.close();
}

}  // namespace wa::typhonio
