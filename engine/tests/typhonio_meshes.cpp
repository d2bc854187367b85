// Everything that each kind of mesh can have.
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "errors.hpp"
#include "tests/typhonio_scenarios.hpp"

namespace wa::typhonio::test {

MeshDescription description_of(const std::string& kind, int dimensions) {
    MeshDescription d;
    d.dimensions = dimensions;
    d.group = "group";
    d.units = {"cm", "mm", "m"};
    d.labels = {"x", "y", "z"};
    const std::int64_t n = processes;
    const std::int64_t sum = n * (n - 1) / 2;
    if (kind == "unstructured") {
        d.type = MeshType::unstructured;
        d.coordinates = CoordType::spherical;
        d.graph_type = dimensions == 1   ? Datatype::int_
                       : dimensions == 2 ? Datatype::long_int
                                         : Datatype::size;
        d.coord_type = dimensions == 1 ? Datatype::float_ : Datatype::double_;
        d.sizes = {9 * n + sum, 4 * n + sum, 2 * n, 16 * n + sum};
    } else if (kind == "point") {
        d.type = MeshType::point;
        d.sizes = {5 * n + sum, 0, 0, 0};
    } else {
        d.type = kind == "colinear" ? MeshType::colinear : MeshType::noncolinear;
        d.sizes = {3 * n + sum + 1, 4, 3, d.type == MeshType::colinear ? 0 : 1};
    }
    return d;
}

ChunkInfo chunk_of(const MeshDescription& d, std::int64_t c) {
    ChunkInfo chunk;
    const std::int64_t before = c * (c - 1) / 2;
    if (d.type == MeshType::unstructured) {
        chunk.nodes = 9 + c;
        chunk.cells = 4 + c;
        chunk.shapes = 2;
        chunk.connectivity = 16 + c;
        chunk.ghost_nodes = 2;
        chunk.ghost_cells = 1;
        chunk.ghost_shapes = 1;
        chunk.ghost_connectivity = 4;
    } else if (d.type == MeshType::point) {
        chunk.low[0] = 5 * c + before;
        chunk.high[0] = 5 * (c + 1) + before + c - 1;
        chunk.ghost_nodes = 1;
    } else {
        chunk.low = {3 * c + before, 0, 0};
        chunk.high = {3 * (c + 1) + before + c, 3, 2};
    }
    if (d.type != MeshType::point) {
        chunk.mixed_cells = 1 + c % 2;
        chunk.mixed_components = 3 * chunk.mixed_cells;
    }
    return chunk;
}

void write_arrays(Mesh& mesh, int& array, bool verify) {
    const MeshDescription& d = mesh.description();
    for (const MeshArray which : mesh.arrays()) {
        ++array;
        if (d.type == MeshType::colinear) {
            const std::int64_t length = d.sizes[static_cast<std::size_t>(which)];
            if (rank_of_process == 0) mesh.write_axis(which, numbers(d.coord_type, array, 0, length).data());
            continue;
        }
        // The elements of earlier chunks give the start of a block.
        std::int64_t first = 0;
        for (int c = 0; c < rank_of_process; ++c) first += mesh.elements(which, c);
        const auto data = numbers(mesh.type_of(which), array, first, mesh.elements(which, rank_of_process));
        mesh.write(which, rank_of_process, Transfer::collective, data.data());
        if (!verify) continue;
        std::vector<std::byte> again(data.size());
        mesh.read(which, rank_of_process, Transfer::collective, again.data());
        if (again != data) throw CallFailed("verify", "the mesh reads back otherwise");
    }
}

namespace {

/// All centrings that a mesh accepts.
std::vector<Centring> centrings_of(const MeshDescription& mesh) {
    if (mesh.type == MeshType::point) return {Centring::node};
    if (mesh.type == MeshType::unstructured) return {Centring::cell, Centring::node};
    std::vector<Centring> out;
    for (int c = 0; c <= 7; ++c) out.push_back(static_cast<Centring>(c));
    return out;
}

void write_quant(Quant& quant, int array, std::int64_t mixed, std::int64_t mixed_before, Transfer transfer) {
    std::int64_t first = 0;
    std::int64_t total = 0;
    for (int c = 0; c < processes; ++c) {
        if (c < rank_of_process) first += quant.elements(c);
        total += quant.elements(c);
    }
    const auto data = numbers(quant.type(), array, first, quant.elements(rank_of_process));
    const auto components = numbers(quant.type(), array, total + mixed_before, mixed);
    quant.write(rank_of_process, transfer, data.data(), components.data());
    std::vector<std::byte> again(data.size());
    std::vector<std::byte> again_mixed(components.size());
    quant.read(rank_of_process, transfer, again.data(), again_mixed.data());
    if (again != data || again_mixed != components)
        throw CallFailed("verify", "a quant reads back otherwise");
}

void write_material(Mesh& mesh, const MaterialDescription& d) {
    Material& material = mesh.create_material("materials", d);
    const Block cells{Block::Kind::centred,
                      mesh.description().type == MeshType::point ? Centring::node : Centring::cell, d.ghosts};
    const Block components{Block::Kind::mixed_components, Centring::cell, no_ghosts};
    const Block mixed{Block::Kind::mixed_cells, Centring::cell, no_ghosts};
    Layout& layout = mesh.layout();
    const auto block = [&layout](Datatype type, int array, const Block& part, std::int64_t shift) {
        const Span span = layout.span(part, rank_of_process);
        return numbers(type, array, shift + span.first, span.count);
    };
    const auto cell_materials = block(d.type, 1, cells, 0);
    const auto component_materials = block(d.type, 1, components, layout.total(cells));
    const auto counts = block(d.count_type, 2, mixed, 0);
    const auto pointers = block(d.pointer_type, 3, mixed, 0);
    const auto fractions = block(d.fraction_type, 4, components, 0);
    material.write(rank_of_process, Transfer::collective,
                   {cell_materials.data(), component_materials.data(), counts.data(), pointers.data(),
                    fractions.data()});
    if (d.mixed) {
        const std::array<int, 3> own{11, 22, 33};
        material.set_materials(own.data(), {"Red", "Green", "Blue"});
    }
    material.close();
}

/// Variables of all kinds, in any parent.
void write_variables(Node& parent) {
    Vargroup& group = parent.create_vargroup("more");
    for (Node* node : {&parent, static_cast<Node*>(&group)}) {
        Variable& count = node->create_variable("count", Datatype::int_, {}, "");
        Variable& length = node->create_variable("length", Datatype::double_, {}, "cm");
        Variable& second = node->create_variable("second", Datatype::double_, {}, "cm");
        Variable& list = node->create_variable("list", Datatype::float_, {5}, "K");
        Variable& field = node->create_variable("field", Datatype::ushort_int, {2, 3}, "");
        Variable& word = node->create_variable("word", Datatype::string, {}, "");
        Variable& words = node->create_variable("words", Datatype::string, {2}, "");
        const int seven = 7;
        const std::array<double, 2> lengths{1.5, 2.5};
        const std::array<float, 5> kelvin{1, 2, 3, 4, 5};
        const std::array<unsigned short, 6> grid{0, 1, 2, 3, 4, 5};
        const std::array<char, 2 * text_bytes> texts{"first"};
        // Any single rank may write; with several ranks, another one writes each variable.
        if (rank_of_process == 0) count.write(&seven);
        if (rank_of_process == processes - 1) length.write(lengths.data());
        if (rank_of_process == 0) second.write(&lengths[1]);
        if (rank_of_process == processes / 2) list.write(kelvin.data());
        if (rank_of_process == 0) field.write(grid.data());
        if (rank_of_process == 0) word.write(texts.data());
        if (rank_of_process == 0) words.write(texts.data());
    }
    group.close();
}

}  // namespace

void mesh_of(Pattern pattern, const std::string& path, const std::string& kind, int dimensions) {
    auto file = File::create(path, options_of(pattern));
    State& state = file->create_state("state", 3, 0.25, "ms");
    const MeshDescription d = description_of(kind, dimensions);
    Mesh& mesh = state.create_mesh("mesh", d);
    mesh.set_chunks({processes, [d](std::int64_t c) { return chunk_of(d, c); }});
    int array = 0;
    write_arrays(mesh, array, true);
    const bool point = d.type == MeshType::point;
    const bool counted = point || d.type == MeshType::unstructured;
    MaterialDescription material;
    material.ghosts = counted ? all_ghosts : 0;
    material.mixed = !point;
    material.materials = 3;
    material.fraction_type = Datatype::float_;
    write_material(mesh, material);
    const Block mixed{Block::Kind::mixed_components, Centring::cell, no_ghosts};
    const Span components = mesh.layout().span(mixed, rank_of_process);
    for (const Centring centring : centrings_of(d)) {
        for (const std::uint64_t ghosts : {std::uint64_t{0}, counted ? all_ghosts : std::uint64_t{1}}) {
            const int code = static_cast<int>(centring);
            const Datatype type = code % 2 == 0 ? Datatype::double_ : Datatype::int_;
            const bool has_mixed = centring == Centring::cell && ghosts == 0;
            Quant& quant = mesh.create_quant(fmt::format("q{}{}", code, ghosts == 0 ? "" : "g"), type,
                                             centring, ghosts, has_mixed, "Pa");
            write_quant(quant, ++array, has_mixed ? components.count : 0, components.first,
                        ghosts == 0 ? Transfer::collective : Transfer::independent);
            if (has_mixed) {
                const std::array<double, 2> range{-1.5, 2.5};
                quant.set_range(range.data(), &range[1]);
            }
            quant.close();
        }
    }
    const std::vector<std::byte> bounds = numbers(d.coord_type, 9, 0, std::int64_t{2} * dimensions);
    mesh.set_range(bounds.data());
    write_variables(mesh);
    mesh.close();
    write_variables(state);
    state.close();
    write_variables(*file);
    file->close();
}

}  // namespace wa::typhonio::test
