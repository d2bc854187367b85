#include "typhonio/file.hpp"

#include <utility>

#include "io/mpi.hpp"

namespace wa::typhonio {
namespace {

constexpr int version_major = 1;
constexpr int version_minor = 6;
constexpr int version_release = 0;

void check_texts(const FileOptions& options) {
    constexpr const char* operation = "open";
    check_text(operation, "code name", options.codename.value_or(""));
    check_text(operation, "version", options.version.value_or(""));
    check_text(operation, "date", options.date.value_or(""));
    check_text(operation, "title", options.title.value_or(""));
}

h5::FileOptions access(const FileOptions& options, MPI_Comm comm) {
    h5::FileOptions out;
    out.comm = comm;
    out.hints = options.hints;
    out.settings.alignment = options.alignment;
    out.settings.threshold = options.threshold;
    out.replaces = options.replaces;
    if (options.pattern == Pattern::optimised) {
        out.settings.collective_metadata = true;
        out.reads_together = false;  // only rank 0 writes the tables
        if (options.metadata_block > 0) out.settings.metadata_block = options.metadata_block;
    }
    return out;
}

}  // namespace

State::State(const Storage& storage, h5::Shared group, std::uint64_t step, double time,
             const std::string& units)
    : Node(storage, std::move(group)) {
    this->storage().attribute(this->group(), "step", step);
    this->storage().attribute(this->group(), "time", time);
    this->storage().attribute(this->group(), "units", units);
}

Mesh& State::create_mesh(const std::string& name, const MeshDescription& description) {
    check_mesh(description);
    take_name("create mesh", name);
    h5::Shared child = storage().create_group(group(), name);
    meshes_.push_back(std::unique_ptr<Mesh>(new Mesh(storage(), std::move(child), description)));
    mesh_names_.append(name);
    return *meshes_.back();
}

void State::flush_children() {
    for (auto& mesh : meshes_) mesh->store_for_flush();
}

File::Handles File::handles(const FileOptions& options) {
    check_texts(options);
    Handles out;
    mpi::check(MPI_Comm_dup(options.comm, &out.comm), "open");
    out.storage = std::make_unique<Storage>(options.pattern, out.comm);
    if (out.storage->faithful()) mpi::check(MPI_Barrier(out.comm), "open");
    return out;
}

std::unique_ptr<File> File::create(const std::string& path, const FileOptions& options) {
    Handles made = handles(options);
    h5::FileOptions how = access(options, made.comm);
    how.bounds = options.bounds;
    made.file = h5::create_file(path, how);
    h5::Shared root = h5::open_group(made.file, "/");
    std::unique_ptr<File> file(new File(std::move(made), std::move(root)));
    file->write_identity(options);
    return file;
}

std::unique_ptr<File> File::open(const std::string& path, const FileOptions& options) {
    Handles made = handles(options);
    made.file = h5::open_file(path, true, access(options, made.comm));
    h5::Shared root = h5::open_group(made.file, "/");
    std::unique_ptr<File> file(new File(std::move(made), std::move(root)));
    for (const char* name : {"TIO_version_major", "TIO_version_minor", "TIO_version_release"}) {
        if (!h5::has_attribute(file->group(), name))
            refuse("open", path + " has no attribute " + name + "; it is not a TyphonIO file");
    }
    file->renew_identity(options);
    file->load_tables();
    return file;
}

void File::write_identity(const FileOptions& options) {
    const auto put = [this](const char* name, const auto& value) {
        storage().attribute(group(), name, value);
    };
    put("TIO_version_major", version_major);
    put("TIO_version_minor", version_minor);
    put("TIO_version_release", version_release);
    put("codename", options.codename.value_or(""));
    put("version", options.version.value_or(""));
    put("created", options.date.value_or(""));
    put("modified", options.date.value_or(""));
    put("title", options.title.value_or(""));
}

void File::renew_identity(const FileOptions& options) {
    const auto put = [this](const char* name, const std::optional<std::string>& value) {
        if (!value) return;
        if (h5::has_attribute(group(), name)) h5::remove_attribute(group(), name);
        storage().attribute(group(), name, *value);
    };
    put("codename", options.codename);
    put("version", options.version);
    put("modified", options.date);
    put("title", options.title);
}

State& File::create_state(const std::string& name, std::uint64_t step, double time,
                          const std::string& units) {
    check_text("create state", "unit", units);
    take_name("create state", name);
    h5::Shared child = storage().create_group(group(), name);
    states_.push_back(std::unique_ptr<State>(new State(storage(), std::move(child), step, time, units)));
    state_names_.append(name);
    return *states_.back();
}

void File::flush_children() {
    for (auto& state : states_) state->store_for_flush();
}

void File::flush() {
    require_open("flush");
    store_for_flush();
    h5::flush(handles_.file);
}

void File::close() {
    if (!handles_.file.open()) return;
    Node::close();
    h5::flush(handles_.file);
    handles_.file.close();
    mpi::check(MPI_Comm_free(&handles_.comm), "close");
}

}  // namespace wa::typhonio
