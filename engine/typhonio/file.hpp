// TyphonIO files: written so that the library of version 1.6.0 opens and reads them.
//
//     auto file = File::create("run.h5", options);
//     State& state = file->create_state("state0", 1, 0.0, "us");
//     Mesh& mesh = state.create_mesh("mesh", description);
//     mesh.set_chunks({ranks, rule});
//     for (MeshArray array : mesh.arrays()) mesh.write(array, rank, Transfer::collective, data);
//     Quant& quant = mesh.create_quant("pressure", Datatype::double_, Centring::cell, no_ghosts, false,
//     "Pa"); quant.write(rank, Transfer::collective, data); quant.close(); mesh.close(); state.close();
//     file->flush();
//     file->close();
//
// Source: docs/reference/typhonio-format.md#property-lists to #state;
// docs/reference/typhonio-calls.md#calls and #flush.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "typhonio/mesh.hpp"

namespace wa::typhonio {

struct FileOptions {
    MPI_Comm comm = MPI_COMM_SELF;  // its rank 0 writes the tables
    const mpi::Hints* hints = nullptr;
    Pattern pattern = Pattern::faithful;
    bool replaces = false;       // replaces an existing file; otherwise that is an error
    std::int64_t alignment = 0;  // of objects that are at least as large as the threshold, in bytes
    std::int64_t threshold = 0;
    /// The library uses the newest; v18 can also be read by a library built on HDF5 1.8.
    h5::Bounds bounds = h5::Bounds::latest;
    /// The block size in bytes in which metadata takes space in the file; used by the pattern optimised only.
    std::int64_t metadata_block = std::int64_t{64} * 1024;
    // Texts of at most 63 characters. When a file is opened again, given texts replace those of the file.
    std::optional<std::string> codename;
    std::optional<std::string> version;
    std::optional<std::string> date;
    std::optional<std::string> title;
};

class State final : public Node {
  public:
    /// The chunks are set afterwards, with Mesh::set_chunks.
    Mesh& create_mesh(const std::string& name, const MeshDescription& description);

  private:
    friend class File;
    State(const Storage& storage, h5::Shared group, std::uint64_t step, double time,
          const std::string& units);
    void close_children() override { close_all(meshes_); }
    void flush_children() override;
    std::vector<Table*> class_tables() override { return {&mesh_names_}; }

    std::vector<std::unique_ptr<Mesh>> meshes_;
    Table mesh_names_{"TIO_MESH_REF", Datatype::string};
};

class File final : public Node {
  public:
    /// Collective over the communicator. Raises CallFailed for a refused text, before the file is made.
    static std::unique_ptr<File> create(const std::string& path, const FileOptions& options);
    /// Opens a file to add states. Raises CallFailed for a file that is not TyphonIO's.
    static std::unique_ptr<File> open(const std::string& path, const FileOptions& options);

    /// For finding datasets.
    [[nodiscard]] const h5::Shared& root() const { return group(); }
    State& create_state(const std::string& name, std::uint64_t step, double time, const std::string& units);
    /// Collective. Closed states are then complete in the file, whatever happens to this process; an open
    /// mesh is not.
    void flush();
    /// Collective. Open states are closed first.
    void close();

  private:
    /// The objects that must outlive the root group. Only close() frees the communicator, since all ranks
    /// call it.
    struct Handles {
        std::unique_ptr<Storage> storage;
        MPI_Comm comm = MPI_COMM_NULL;
        h5::Shared file;
    };
    static Handles handles(const FileOptions& options);
    File(Handles handles, h5::Shared root)
        : Node(*handles.storage, std::move(root)), handles_(std::move(handles)) {}
    void write_identity(const FileOptions& options);
    void renew_identity(const FileOptions& options);
    void close_children() override { close_all(states_); }
    void flush_children() override;
    std::vector<Table*> class_tables() override { return {&state_names_}; }
    [[nodiscard]] Moment moment_of_close() const override { return Moment::close_growing; }

    Handles handles_;
    std::vector<std::unique_ptr<State>> states_;
    Table state_names_{"TIO_STATE_REF", Datatype::string};
};

}  // namespace wa::typhonio
