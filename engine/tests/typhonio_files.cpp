// Writes TyphonIO files of known content for the tests in Python: tests/engine/test_typhonio_format.py.
//
//     typhonio_files PATTERN FILE COMMAND [ARGUMENTS]
//
// worked                   the worked example of docs/reference/typhonio-format.md
// mesh KIND DIMENSIONS     everything that such a mesh can have, with one chunk per rank
// states N KILL            N states with a flush after each; killed after state KILL, if > 0
// append                   opens FILE and adds a state
// deck VARIABLES NXxNY...  a state for each size: the unstructured meshes of MACSio
// drop                     rank 0 fails, and no other rank may wait
// benchmark                the file of the real library's benchmark, except for values
// example                  the file of the real library's example of an unstructured mesh, except for values
// version                  prints the version of HDF5
// refuse                   prints the message for each invalid argument
//
// Element e of array number a of its file is 1,000,000 a + e for reals and 1,000 a + e for integers, so that
// a reader sees where each block is.
#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "errors.hpp"
#include "io/mpi.hpp"
#include "tests/typhonio_scenarios.hpp"

using namespace wa;
using namespace wa::typhonio;
using namespace wa::typhonio::test;

namespace wa::typhonio::test {

int rank_of_process = 0;
int processes = 1;

std::vector<std::byte> numbers(Datatype type, int array, std::int64_t first, std::int64_t count) {
    std::vector<std::byte> out(static_cast<std::size_t>(count) * size_of(type));
    for (std::int64_t i = 0; i < count; ++i) {
        std::byte* at = out.data() + static_cast<std::size_t>(i) * size_of(type);
        const auto put = [at](auto value) { std::memcpy(at, &value, sizeof value); };
        const std::int64_t whole = std::int64_t{1000} * array + first + i;
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

}  // namespace wa::typhonio::test

namespace {

/// A state like that of a visualisation file: an unstructured mesh of nx * ny nodes per rank.
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
    // MACSio's variables repeat after eight.
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

/// There is one chunk less than two per rank, so the last rank joins the second round without data.
void write_parts(Quant& quant, int array) {
    const int chunks = 2 * processes - 1;
    for (int chunk = rank_of_process; chunk < 2 * processes; chunk += processes) {
        if (chunk >= chunks) {
            quant.write(0, Transfer::collective, nullptr);
            continue;
        }
        std::int64_t first = 0;
        for (int c = 0; c < chunk; ++c) first += quant.elements(c);
        quant.write(chunk, Transfer::collective,
                    numbers(quant.type(), array, first, quant.elements(chunk)).data());
    }
}

void parts(Pattern pattern, const std::string& path) {
    auto file = File::create(path, options_of(pattern));
    State& state = file->create_state("state", 0, 0.0, "");
    MeshDescription d;
    d.type = MeshType::point;
    const std::int64_t chunks = 2 * processes - 1;
    d.sizes = {1000 * chunks, 0, 0, 0};
    Mesh& mesh = state.create_mesh("mesh", d);
    mesh.set_chunks({chunks, [](std::int64_t c) {
                         ChunkInfo chunk;
                         chunk.low[0] = 1000 * c;
                         chunk.high[0] = 1000 * c + 999 - c;
                         return chunk;
                     }});
    const std::array<double, 2> scalars{1.5, 2.5};
    for (int q = 0; q < 3; ++q) {
        const Datatype type = q == 0 ? Datatype::double_ : q == 1 ? Datatype::int_ : Datatype::uchar;
        Quant& quant =
            mesh.create_quant(fmt::format("quant{}", q), type, Centring::node, no_ghosts, false, "");
        if (q < 2) write_parts(quant, q + 1);
        if (q < 2) {
            Variable& scalar = mesh.create_variable(fmt::format("scalar{}", q), Datatype::double_, {}, "");
            if (rank_of_process == q % processes) scalar.write(&scalars[static_cast<std::size_t>(q)]);
        }
        (void)quant.create_variable(fmt::format("note{}", q), Datatype::int_, {3}, "");
        file->flush();  // everything is still open
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

/// One rank drops all its objects while the others wait for it. It must end at once, since nothing is closed
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

void run(const std::vector<std::string>& args) {
    const Pattern pattern = args.at(0) == "faithful" ? Pattern::faithful : Pattern::optimised;
    const std::string& path = args.at(1);
    const std::string& what = args.at(2);
    if (what == "version") fmt::print("{}.{}.{}\n", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
    if (what == "worked") worked(pattern, path);
    if (what == "mesh") mesh_of(pattern, path, args.at(3), std::stoi(args.at(4)));
    if (what == "states") states(pattern, path, std::stoi(args.at(3)), std::stoi(args.at(4)));
    if (what == "benchmark") benchmark(pattern, path);
    if (what == "example") example(pattern, path);
    if (what == "parts") parts(pattern, path);
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
    try {
        h5::start();
        run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        (void)std::fprintf(stderr, "rank %d: %s\n", rank_of_process, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    h5::finish();
    MPI_Finalize();
    return 0;
}
