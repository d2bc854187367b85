// Files like those that the real library wrote.
#include <fmt/format.h>

#include <array>

#include "tests/typhonio_scenarios.hpp"

namespace wa::typhonio::test {

/// The worked example of docs/reference/typhonio-format.md#worked-example; one process.
void worked(Pattern pattern, const std::string& path) {
    auto file = File::create(path, options_of(pattern));
    State& state = file->create_state("state0", 0, 0.0, "us");
    MeshDescription d;
    d.group = "mesh_group";
    d.sizes = {5, 3, 0, 0};
    d.units = {"cm", "cm", ""};
    d.labels = {"x", "y", ""};
    Mesh& mesh = state.create_mesh("mesh", d);
    mesh.set_chunks({2, [](std::int64_t c) {
                         ChunkInfo chunk;
                         chunk.low = {2 * c, 0, 0};
                         chunk.high = {2 * c + 2, 2, 0};
                         return chunk;
                     }});
    const std::array<double, 5> axis{0, 1, 2, 3, 4};
    mesh.write_axis(MeshArray::i, axis.data());
    mesh.write_axis(MeshArray::j, axis.data());
    // Quants are created one after the other, because the order of calls decides where objects are in the
    // file.
    Quant& pressure =
        mesh.create_quant("pressure", Datatype::double_, Centring::cell, no_ghosts, false, "Pa");
    for (int c = 0; c < 2; ++c) {
        std::vector<double> cells;
        for (int j = 0; j < 2; ++j) {
            for (int i = 2 * c; i < 2 * c + 2; ++i) cells.push_back(0.5 + i + 4 * j);
        }
        pressure.write(c, Transfer::independent, cells.data());
    }
    pressure.close();
    Quant& flag = mesh.create_quant("flag", Datatype::int_, Centring::node, no_ghosts, false, "");
    for (int c = 0; c < 2; ++c) {
        std::vector<int> nodes;
        for (int j = 0; j < 3; ++j) {
            for (int i = 2 * c; i <= 2 * c + 2; ++i) nodes.push_back(100 + i + 5 * j);
        }
        flag.write(c, Transfer::independent, nodes.data());
    }
    flag.close();
    mesh.close();
    Variable& step = state.create_variable("dt", Datatype::double_, {}, "us");
    const double value = 0.5;
    step.write(&value);
    step.close();
    state.close();
    file->close();
}

/// A colinear mesh with a mixed material, three mixed quants and eight variables of a vargroup, in four
/// chunks.
void benchmark(Pattern pattern, const std::string& path) {
    auto file = File::create(path, options_of(pattern));
    State& state = file->create_state("state0000", 1, 0.0, "us");
    MeshDescription d;
    d.group = "group";
    d.dimensions = 3;
    d.sizes = {10 * processes + 1, 11, 11, 0};
    Mesh& mesh = state.create_mesh("mesh", d);
    mesh.set_chunks({processes, [](std::int64_t c) {
                         ChunkInfo chunk;
                         chunk.low = {10 * c, 0, 0};
                         chunk.high = {10 * c + 10, 10, 10};
                         chunk.mixed_cells = 200;
                         chunk.mixed_components = 400;
                         return chunk;
                     }});
    int array = 0;
    write_arrays(mesh, array, false);
    MaterialDescription m;
    m.materials = processes;
    m.mixed = true;
    m.fraction_type = Datatype::float_;
    Material& material = mesh.create_material("Material", m);
    const auto whole = numbers(Datatype::int_, 1, 0, 1000);
    const auto real = numbers(Datatype::double_, 1, 0, 1000);
    material.write(rank_of_process, Transfer::collective,
                   {whole.data(), whole.data(), whole.data(), whole.data(), real.data()});
    material.close();
    for (int q = 0; q < 3; ++q) {
        Quant& quant = mesh.create_quant(fmt::format("Quant_{}", q), Datatype::double_, Centring::cell,
                                         no_ghosts, true, "qunits");
        quant.write(rank_of_process, Transfer::collective, real.data(), real.data());
        quant.close();
    }
    Vargroup& group = state.create_vargroup("Variables");
    for (int v = 0; v < 2; ++v) {
        for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{}, {1000}}) {
            for (const Datatype type : {Datatype::int_, Datatype::double_}) {
                const std::string name =
                    fmt::format("Var_{}_{}D_{}", type == Datatype::int_ ? "int" : "dbl", dims.size(), v);
                Variable& variable = group.create_variable(name, type, dims, "");
                if (rank_of_process == 0) variable.write(type == Datatype::int_ ? whole.data() : real.data());
                variable.close();
            }
        }
    }
    group.close();
    mesh.close();
    state.close();
    file->close();
}

/// An unstructured mesh with ghosts; vargroup, material and quants are made before its chunks.
void example(Pattern pattern, const std::string& path) {
    auto file = File::create(path, options_of(pattern));
    State& state = file->create_state("State1", 1, 0.1, "ms");
    MeshDescription d;
    d.type = MeshType::unstructured;
    d.group = "group1";
    d.graph_type = Datatype::int_;
    d.sizes = {10, 6, 4, 20};
    d.units = {"iunits", "junits", "kunits"};
    d.labels = {"ilabel", "jlabel", "klabel"};
    Mesh& mesh = state.create_mesh("Mesh1", d);
    Vargroup& group = mesh.create_vargroup("newgroup");
    Variable& variable = group.create_variable("newvar", Datatype::double_, {2}, "");
    const auto real = numbers(Datatype::double_, 1, 0, 64);
    const auto whole = numbers(Datatype::int_, 1, 0, 64);
    variable.write(real.data());
    variable.close();
    group.close();
    MaterialDescription m;
    m.materials = 6;
    m.ghosts = all_ghosts;
    m.mixed = true;
    Material& material = mesh.create_material("Material1", m);
    Quant& first = mesh.create_quant("Quant1", Datatype::double_, Centring::cell, all_ghosts, true, "Unit1");
    Quant& second =
        mesh.create_quant("Quant2", Datatype::double_, Centring::node, all_ghosts, false, "Unit2");
    mesh.set_chunks({2, [](std::int64_t c) {
                         ChunkInfo chunk;
                         chunk.nodes = 6;
                         chunk.cells = 3;
                         chunk.shapes = 2;
                         chunk.connectivity = 10;
                         chunk.ghost_nodes = 2;
                         chunk.ghost_cells = chunk.ghost_shapes = 1;
                         chunk.ghost_connectivity = 4;
                         chunk.mixed_cells = 2 - c;
                         chunk.mixed_components = 4 - 2 * c;
                         return chunk;
                     }});
    for (int c = 0; c < 2; ++c) {
        for (const MeshArray which : mesh.arrays())
            mesh.write(which, c, Transfer::independent, which <= MeshArray::k ? real.data() : whole.data());
        material.write(c, Transfer::independent,
                       {whole.data(), whole.data(), whole.data(), whole.data(), real.data()});
        first.write(c, Transfer::independent, real.data(), real.data());
        second.write(c, Transfer::independent, real.data());
    }
    const std::array<int, 6> own{11, 22, 33, 44, 55, 66};
    material.set_materials(own.data(), {"Red", "Green", "Blue", "Cyan", "Magenta", "Yellow"});
    const std::array<double, 2> range{0, 60};
    first.set_range(range.data(), &range[1]);
    file->close();
}

}  // namespace wa::typhonio::test
