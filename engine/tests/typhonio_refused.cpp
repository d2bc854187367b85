// Arguments that must be refused.
#include <fmt/format.h>

#include <functional>

#include "errors.hpp"
#include "tests/typhonio_scenarios.hpp"

namespace wa::typhonio::test {

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

}  // namespace wa::typhonio::test
