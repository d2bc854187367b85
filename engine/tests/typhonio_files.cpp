// Writes TyphonIO files of known content for the tests in Python: tests/engine/test_typhonio_format.py.
//
//     typhonio_files PATTERN FILE worked
//     typhonio_files PATTERN FILE mesh KIND DIMENSIONS     everything that such a mesh can have, one chunk a
//     rank typhonio_files PATTERN FILE states N KILL            N states with a flush after each; killed
//     after KILL, if > 0 typhonio_files PATTERN FILE append                   opens FILE and adds a state
//     typhonio_files PATTERN FILE deck VARIABLES NXxNY...  a state for each size: the unstructured meshes of
//     MACSio typhonio_files PATTERN FILE drop                     rank 0 fails; nobody may wait
//     typhonio_files PATTERN FILE version                  prints that of HDF5
//     typhonio_files PATTERN FILE refuse                   prints what each bad argument is refused with
//
// Element e of array number a of a file is 1,000,000 a + e for reals and 1,000 a + e for integers, so that a
// reader sees where each block lies.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "errors.hpp"
#include "io/mpi.hpp"
#include "typhonio/file.hpp"

using namespace wa;
using namespace wa::typhonio;

namespace {

int rank_of_process = 0;
int processes = 1;

std::vector<std::byte> numbers(Datatype type, int array, std::int64_t first, std::int64_t count) {
    std::vector<std::byte> out(static_cast<std::size_t>(count) * size_of(type));
    for (std::int64_t i = 0; i < count; ++i) {
        std::byte* at = out.data() + static_cast<std::size_t>(i) * size_of(type);
        const auto put = [at](auto value) { std::memcpy(at, &value, sizeof value); };
        const std::int64_t whole = 1000 * array + first + i;
        const double real = 1e6 * array + static_cast<double>(first + i);
        if (class_of(type) == TypeClass::real)
            size_of(type) == 8 ? put(real) : put(static_cast<float>(real));
        else
            size_of(type) == 8 ? put(whole) : put(static_cast<int>(whole));
    }
    return out;
}

FileOptions options_of(Pattern pattern) {
    FileOptions options;
    options.comm = MPI_COMM_WORLD;
    options.pattern = pattern;
    options.codename = "mycode";
    options.version = "1.0";
    options.date = "2026-01-01";
    options.title = "demo";
    return options;
}

/// The worked example of the format's fact sheet; one process.
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
    // One quant after the other: the places of objects in the file follow from the order of the calls.
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

/// Every centring that a mesh takes.
std::vector<Centring> centrings_of(const MeshDescription& mesh) {
    if (mesh.type == MeshType::point) return {Centring::node};
    if (mesh.type == MeshType::unstructured) return {Centring::cell, Centring::node};
    std::vector<Centring> out;
    for (int c = 0; c <= 7; ++c) out.push_back(static_cast<Centring>(c));
    return out;
}

/// A mesh of one chunk a rank. Quads share their node planes; a chunk is larger the higher its number.
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
        // Blocks tell where they begin by what the chunks before hold.
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
    const auto block = [&layout](Datatype type, int array, const Block& of, std::int64_t shift) {
        const Span span = layout.span(of, rank_of_process);
        return numbers(type, array, shift + span.first, span.count);
    };
    const auto of_cells = block(d.type, 1, cells, 0);
    const auto of_components = block(d.type, 1, components, layout.total(cells));
    const auto counts = block(d.count_type, 2, mixed, 0);
    const auto pointers = block(d.pointer_type, 3, mixed, 0);
    const auto fractions = block(d.fraction_type, 4, components, 0);
    material.write(rank_of_process, Transfer::collective,
                   {of_cells.data(), of_components.data(), counts.data(), pointers.data(), fractions.data()});
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
        // Any one rank may write; another for each, where there are several.
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
    const std::vector<std::byte> bounds = numbers(d.coord_type, 9, 0, 2 * dimensions);
    mesh.set_range(bounds.data());
    write_variables(mesh);
    mesh.close();
    write_variables(state);
    state.close();
    write_variables(*file);
    file->close();
}

/// A state as one of a visualisation file: an unstructured mesh of nx * ny nodes a rank.
void deck_state(File& file, const std::string& name, std::uint64_t step, std::int64_t nx, std::int64_t ny,
                int variables) {
    State& state = file.create_state(name, step, 0.0, "us");
    const std::int64_t nodes = nx * ny;
    const std::int64_t cells = (nx - 1) * (ny - 1);
    MeshDescription d;
    d.type = MeshType::unstructured;
    d.group = "mesh_group";
    d.graph_type = Datatype::int_;
    d.sizes = {nodes * processes, cells * processes, processes, 4 * cells * processes};
    Mesh& mesh = state.create_mesh("mesh", d);
    mesh.set_chunks({processes, [nodes, cells](std::int64_t) {
                         ChunkInfo chunk;
                         chunk.nodes = nodes;
                         chunk.cells = cells;
                         chunk.shapes = 1;
                         chunk.connectivity = 4 * cells;
                         return chunk;
                     }});
    int array = 0;
    write_arrays(mesh, array, false);
    // MACSio's variables come round every eight.
    constexpr std::array<const char*, 8> names{"constant", "random", "spherical", "xramp",
                                               "ysin",     "noise",  "noise_sum", "xlayers"};
    for (int v = 0; v < variables; ++v) {
        const int kind = v % 8;
        const std::string own = v < 8 ? names[static_cast<std::size_t>(kind)]
                                      : fmt::format("{}_{:03}", names[static_cast<std::size_t>(kind)], v / 8);
        const bool node = kind >= 3 && kind <= 6;
        Quant& quant = mesh.create_quant(own, kind == 7 ? Datatype::int_ : Datatype::double_,
                                         node ? Centring::node : Centring::cell, no_ghosts, false, "qunits");
        const std::int64_t count = node ? nodes : cells;
        const auto data = numbers(quant.type(), ++array, count * rank_of_process, count);
        quant.write(rank_of_process, Transfer::collective, data.data());
        quant.close();
    }
    mesh.close();
    state.close();
}

void deck(Pattern pattern, const std::string& path, int variables, const std::vector<std::string>& sizes) {
    FileOptions options = options_of(pattern);
    options.replaces = true;
    auto file = File::create(path, options);
    for (std::size_t s = 0; s < sizes.size(); ++s) {
        const std::size_t cross = sizes[s].find('x');
        deck_state(*file, fmt::format("state{}", s), sizes.size() == 1 ? 1 : s,
                   std::stoll(sizes[s].substr(0, cross)), std::stoll(sizes[s].substr(cross + 1)), variables);
        if (s + 1 < sizes.size()) file->flush();
    }
    file->close();
}

void states(Pattern pattern, const std::string& path, int count, int kill_after) {
    auto file = File::create(path, options_of(pattern));
    for (int s = 0; s < count; ++s) {
        deck_state(*file, fmt::format("state{}", s), static_cast<std::uint64_t>(s), 4 + s, 5, 3);
        file->flush();
        if (s + 1 == kill_after) {
            mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
            (void)std::raise(SIGKILL);
        }
    }
    file->close();
}

void append(Pattern pattern, const std::string& path) {
    FileOptions options = options_of(pattern);
    options.version.reset();
    options.date = "2026-02-02";
    options.codename = "another";
    auto file = File::open(path, options);
    deck_state(*file, "appended", 99, 6, 6, 2);
    Variable& added = file->create_variable("added", Datatype::double_, {}, "");
    const double value = 8.25;
    if (rank_of_process == 0) added.write(&value);
    file->close();
}

/// One rank drops all its objects while the others wait for it: ends at once, since nothing is closed
/// implicitly.
void drop(Pattern pattern, const std::string& path) {
    auto file = File::create(path, options_of(pattern));
    State& state = file->create_state("state", 0, 0.0, "");
    Mesh& mesh = state.create_mesh("mesh", description_of("point", 1));
    mesh.set_chunks({processes, [](std::int64_t c) { return chunk_of(description_of("point", 1), c); }});
    (void)mesh.create_quant("quant", Datatype::double_, Centring::node, no_ghosts, false, "");
    if (rank_of_process == 0) {
        file.reset();
        throw CallFailed("test", "dropped");
    }
    file->close();
}

void refuse_all(Pattern pattern, const std::string& path) {
    const auto attempt = [](const char* what, const std::function<void()>& call) {
        std::string answer = "accepted";
        try {
            call();
        } catch (const CallFailed& error) {
            answer = error.what();
        }
        fmt::print("{}: {}\n", what, answer);
    };
    FileOptions options = options_of(pattern);
    options.title = std::string(64, 't');
    attempt("title of 64", [&] { (void)File::create(path + ".never", options); });
    options = options_of(pattern);
    auto file = File::create(path, options);
    attempt("file that is there", [&] { (void)File::create(path, options); });
    State& state = file->create_state(std::string(63, 's'), 0, 0.0, "");
    for (const std::string& name : {std::string(), std::string(64, 'n'), std::string("a/b"),
                                    std::string("TIO_x"), std::string("na\nme"), std::string(".")}) {
        attempt(("state " + (name.size() < 60 ? name : "of 64")).c_str(),
                [&] { (void)file->create_state(name, 0, 0, ""); });
    }
    attempt("name twice", [&] { (void)file->create_state(std::string(63, 's'), 0, 0.0, ""); });
    attempt("unit of 64", [&] { (void)file->create_state("s", 0, 0.0, std::string(64, 'u')); });
    MeshDescription d = description_of("unstructured", 2);
    const auto mesh_with = [&](const char* what, const std::function<void(MeshDescription&)>& change) {
        MeshDescription other = d;
        change(other);
        attempt(what, [&] { (void)state.create_mesh("bad", other); });
    };
    mesh_with("four dimensions", [](MeshDescription& m) { m.dimensions = 4; });
    mesh_with("no dimensions", [](MeshDescription& m) { m.dimensions = 0; });
    mesh_with("no nodes", [](MeshDescription& m) { m.sizes[0] = 0; });
    mesh_with("negative cells", [](MeshDescription& m) { m.sizes[1] = -1; });
    mesh_with("graph of reals", [](MeshDescription& m) { m.graph_type = Datatype::float_; });
    mesh_with("no graph", [](MeshDescription& m) { m.graph_type = Datatype::none; });
    mesh_with("axisymmetric", [](MeshDescription& m) {
        m.coordinates = CoordType::axisymmetric;
        m.dimensions = 3;
    });
    Mesh& mesh = state.create_mesh("mesh", d);
    attempt("write before chunks", [&] { mesh.write(MeshArray::i, 0, Transfer::independent, nullptr); });
    attempt("no chunks", [&] { mesh.set_chunks({0, [](std::int64_t) { return ChunkInfo{}; }}); });
    const auto chunk_with = [&](const char* what, const std::function<void(ChunkInfo&)>& change) {
        attempt(what, [&] {
            mesh.set_chunks({2, [&](std::int64_t c) {
                                 ChunkInfo chunk = chunk_of(d, 0);
                                 if (c == 1) change(chunk);
                                 return chunk;
                             }});
        });
    };
    chunk_with("negative chunk", [](ChunkInfo& c) { c.ghost_nodes = -1; });
    chunk_with("empty chunk", [](ChunkInfo& c) { c.nodes = c.ghost_nodes = 0; });
    chunk_with("too many cells", [](ChunkInfo& c) { c.cells = 1000; });
    chunk_with("overflow", [](ChunkInfo& c) { c.cells = INT64_MAX; });
    mesh.set_chunks({1, [&](std::int64_t) { return chunk_of(d, 0); }});
    attempt("chunks twice", [&] { mesh.set_chunks({1, [&](std::int64_t) { return chunk_of(d, 0); }}); });
    const double value = 0;
    attempt("chunk 1 of 1", [&] { mesh.write(MeshArray::i, 1, Transfer::independent, &value); });
    const auto quant_with = [&](const char* what, Datatype type, Centring centring, std::uint64_t ghosts,
                                bool mixed) {
        attempt(what, [&] { (void)mesh.create_quant("bad quant", type, centring, ghosts, mixed, ""); });
    };
    quant_with("quant of text", Datatype::string, Centring::cell, 0, false);
    quant_with("quant of edges", Datatype::double_, Centring::edge_i, 0, false);
    quant_with("one ghost", Datatype::double_, Centring::cell, 1, false);
    quant_with("mixed without material", Datatype::double_, Centring::cell, 0, true);
    attempt("scalar of time", [&] { (void)mesh.create_variable("t", Datatype::time, {}, ""); });
    attempt("variable of 8 dimensions", [&] {
        (void)mesh.create_variable("t", Datatype::int_, {1, 1, 1, 1, 1, 1, 1, 1}, "");
    });
    attempt("empty dimension", [&] { (void)mesh.create_variable("t", Datatype::int_, {0}, ""); });
    mesh.close();
    attempt("quant on a closed mesh",
            [&] { (void)mesh.create_quant("q", Datatype::int_, Centring::cell, 0, false, ""); });
    file->close();
}

void run(const std::vector<std::string>& args) {
    const Pattern pattern = args.at(0) == "faithful" ? Pattern::faithful : Pattern::optimised;
    const std::string& path = args.at(1);
    const std::string& what = args.at(2);
    if (what == "version") fmt::print("{}.{}.{}\n", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
    if (what == "worked") worked(pattern, path);
    if (what == "mesh") mesh_of(pattern, path, args.at(3), std::stoi(args.at(4)));
    if (what == "states") states(pattern, path, std::stoi(args.at(3)), std::stoi(args.at(4)));
    if (what == "append") append(pattern, path);
    if (what == "deck") deck(pattern, path, std::stoi(args.at(3)), {args.begin() + 4, args.end()});
    if (what == "drop") drop(pattern, path);
    if (what == "refuse") refuse_all(pattern, path);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    h5::start();
    try {
        run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "rank {}: {}\n", rank_of_process, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    h5::finish();
    MPI_Finalize();
    return 0;
}
