// The code of a backend: a small set of operations on an open file. The traits are in core/backends. No code
// outside a backend asks which backend it is.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backends/traits.hpp"
#include "data/arena.hpp"
#include "data/landing.hpp"
#include "expand/mesh.hpp"
#include "expand/operation.hpp"
#include "expand/place.hpp"
#include "mesh/values.hpp"
#include "plan/file_uses.hpp"
#include "plan/plan.hpp"

namespace wa {

/// A byte that differs from what was written.
struct Mismatch {
    std::string file;  // the name without the directory
    std::int64_t dump = 0;
    std::int64_t offset = 0;  // in the file, or in the dataset laid out linearly
    int expected = 0;
    int found = -1;  // -1: the file ends before this byte
};

/// The result of reading data back.
struct VerifyResult {
    std::int64_t bytes = 0;
    std::int64_t errors = 0;  // number of wrong bytes
    std::optional<Mismatch> first;
    void merge(const VerifyResult& other);
    /// Compares `size` bytes, of which `got` were read.
    void compare(const std::byte* found, const std::byte* expected, std::int64_t size, std::int64_t got,
                 const Mismatch& place);
};

/// Memory for the data of operations, shared by all files of a process.
struct Buffers {
    Arena arena;      // the data of writes
    Landing landing;  // receives what is read: as long as the arena
    // The data of meshes: a pointer, since files see the buffers as constant.
    std::unique_ptr<MeshValues> mesh = std::make_unique<MeshValues>();
};

/// A file in one dump, from the point of view of a rank.
struct FileContext {
    const Plan* plan = nullptr;
    const Family* family = nullptr;
    const Content* content = nullptr;
    const Dump* dump = nullptr;
    std::size_t position = 0;  // of the dump in the plan
    std::string path;
    const Layout* layout = nullptr;
    const FileUse* use = nullptr;
    FileSlot slot;
    Place place;  // among the ranks that share the file
    std::int64_t rank = 0;
    /// The processes that open the file together (one if it is opened by a single process). MPI_COMM_NULL if
    /// the file is not opened.
    MPI_Comm comm = MPI_COMM_NULL;
    std::int64_t members = 1;
    bool alone = true;  // no other rank opens the file
    bool writes = true;
    bool creates = true;        // the file may have to be made
    bool exclusive = false;     // the file must not exist yet
    bool empties = false;       // the dump empties the file before it writes
    std::int64_t renames = 0;   // until the file has its final name, once the dump has closed it
    std::string final_path;     // after the renames
    bool reading_back = false;  // opened for verification, so nothing may change
    bool preparing = false;     // before the run, when the data that the dump reads is written
    std::int64_t phase = 0;     // of the payload
    const Buffers* buffers = nullptr;
    const MeshShare* mesh = nullptr;  // of a content that is a mesh; valid in this dump only
};

/// An open file of one rank. Errors are reported as CallFailed. A destructor without close() must not wait
/// for other ranks.
class OpenFile {
  public:
    OpenFile() = default;
    virtual ~OpenFile() = default;
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    OpenFile(OpenFile&&) = delete;
    OpenFile& operator=(OpenFile&&) = delete;

    /// Marks the start and end of a dump in this file; a file may have several.
    virtual void begin_dump(const FileContext& context) = 0;
    virtual void end_dump() {}
    /// All members of the file enter and leave sections together.
    virtual void begin_section(const Section& /*section*/) {}
    virtual void end_section() {}
    /// Makes the data of an operation, where that takes time: the transfer alone is measured.
    virtual void make_data(const Operation& /*operation*/) {}
    /// Performs an operation of one piece and returns the bytes moved. They are fewer than requested only at
    /// the end of a file.
    virtual std::int64_t transfer(const Operation& operation) = 0;
    /// Whether any rank posts operations in this dump; if so, all ranks call complete() together.
    [[nodiscard]] virtual bool posts() const { return false; }
    virtual void complete() {}
    virtual void seek(std::int64_t /*offset*/) {}
    virtual void flush() {}
    /// Lets other ranks see what was written, where the file has a buffer of its own.
    virtual void publish() {}
    virtual void sync() {}
    /// Maps a page of the file into memory until it is closed, in place of one that is mapped already.
    virtual void map() {}
    virtual void close() {}
    /// Compares the data of an operation with the content of the file, for backends whose files are not plain
    /// bytes.
    virtual void verify(const Operation& /*operation*/, VerifyResult& /*result*/) {}
};

struct BackendOptions {
    std::string operations_path;  // for the record backend
};

class Backend {
  public:
    Backend() = default;
    virtual ~Backend() = default;
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;
    Backend(Backend&&) = delete;
    Backend& operator=(Backend&&) = delete;

    [[nodiscard]] virtual std::unique_ptr<OpenFile> open(const FileContext& context) = 0;
    virtual void stat(const FileContext& context) = 0;

    /// Raises PlanError if this version of the library cannot do what a family asks for. The traits refuse
    /// what no version can do. `place` is the position of the content in the plan.
    virtual void refuse(const Family& /*family*/, const Layout& /*layout*/, const Content& /*content*/,
                        const std::string& /*place*/) const {}

    // For libraries that add bytes of their own. All these functions are collective over the members of the
    // file.

    /// Before the run: measures what the library adds to a dump with a fit, using temporary files.
    virtual void calibrate(const FileContext& /*context*/) {}
    /// How many bytes to give to the library for this file, so that the bytes of the plan result. Empty if
    /// they are those of the plan.
    virtual std::optional<std::int64_t> fit_payload(const FileContext& /*context*/) { return std::nullopt; }
    /// Reports the bytes that this process wrote through MPI-IO in the dump. They include the close, if there
    /// was one.
    virtual void dump_done(const FileContext& /*context*/, std::int64_t /*payload*/,
                           std::int64_t /*written*/) {}
    /// After the last close of a file that the run has written: raises CallFailed if the library finds the
    /// file incomplete. Not collective.
    virtual void check_closed(const Family& /*family*/, const std::string& /*path*/) {}
    /// After the last dump: writes what is still buffered. Not collective.
    virtual void finish() {}
};

using BackendMaker = std::unique_ptr<Backend> (*)(const BackendOptions&);

/// The function that makes a backend; null if the engine was built without it.
[[nodiscard]] BackendMaker maker_of(const Traits& traits);

}  // namespace wa
