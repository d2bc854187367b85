// What the code of a backend is: a small set of verbs on an open file. Its traits are in core/backends;
// nothing outside asks which backend it is.
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
#include "expand/mesh.hpp"
#include "expand/operation.hpp"
#include "expand/place.hpp"
#include "plan/check.hpp"
#include "plan/plan.hpp"

namespace wa {

/// A wrong byte.
struct Mismatch {
    std::string file;  // its name, without the directory
    std::int64_t dump = 0;
    std::int64_t offset = 0;  // in the file, or in the dataset laid out linearly
    int expected = 0;
    int found = -1;  // -1: the file ends before
};

/// What reading back has found.
struct VerifyResult {
    std::int64_t bytes = 0;
    std::int64_t errors = 0;  // wrong bytes
    std::optional<Mismatch> first;
    void merge(const VerifyResult& other);
    /// Compares `size` bytes, of which `got` are there.
    void compare(const std::byte* found, const std::byte* expected, std::int64_t size, std::int64_t got,
                 const Mismatch& place);
};

/// Memory that operations move data from and to; shared by all files of a process.
struct Buffers {
    Arena arena;   // what is written
    Ring scratch;  // where reads end up: as long, but only as large as one period
};

/// A file as a rank sees it in one dump.
struct FileContext {
    const Plan* plan = nullptr;
    const Family* family = nullptr;
    const Content* content = nullptr;
    const Dump* dump = nullptr;
    std::size_t position = 0;  // of the dump
    std::string path;
    const Layout* layout = nullptr;
    const FileUse* use = nullptr;
    FileSlot slot;
    Place place;  // among those who share the file
    std::int64_t rank = 0;
    /// Those who open it together (one process where a file is opened alone). MPI_COMM_NULL where nothing is
    /// opened.
    MPI_Comm comm = MPI_COMM_NULL;
    std::int64_t members = 1;
    bool alone = true;  // no other rank opens the file
    bool writes = true;
    bool creates = true;        // it may have to be made
    bool exclusive = false;     // it must not exist yet
    bool reading_back = false;  // to verify: nothing may change
    bool preparing = false;     // before the run: what the dump reads is written
    std::int64_t phase = 0;     // of the payload
    const Buffers* buffers = nullptr;
    const MeshShare* mesh = nullptr;  // of a content that is a mesh; for this dump only
};

/// An open file of one rank. Errors are CallFailed. Destroying it without close() must not wait for other
/// ranks.
class OpenFile {
  public:
    OpenFile() = default;
    virtual ~OpenFile() = default;
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    OpenFile(OpenFile&&) = delete;
    OpenFile& operator=(OpenFile&&) = delete;

    /// A dump starts or ends in this file; a file may see several.
    virtual void begin_dump(const FileContext& context) = 0;
    virtual void end_dump() {}
    /// All members enter and leave sections together.
    virtual void begin_section(const Section& /*section*/) {}
    virtual void end_section() {}
    /// Performs an operation of one piece and returns the bytes moved, fewer than asked only at the end of a
    /// file.
    virtual std::int64_t transfer(const Operation& operation) = 0;
    /// Whether the dump posts operations, on any rank, which complete() must end together.
    [[nodiscard]] virtual bool posts() const { return false; }
    virtual void complete() {}
    virtual void seek(std::int64_t /*offset*/) {}
    virtual void flush() {}
    virtual void sync() {}
    virtual void close() {}
    /// Compares what an operation wrote with what is there (backends whose files are not plain bytes).
    virtual void verify(const Operation& /*operation*/, VerifyResult& /*result*/) {}
};

struct BackendOptions {
    std::string operations_path;  // of the record backend
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

    /// Raises PlanError where the library at hand cannot do what a family asks for; what no version of it can
    /// do is refused by the traits. `place` is the content's.
    virtual void refuse(const Family& /*family*/, const Layout& /*layout*/, const Content& /*content*/,
                        const std::string& /*place*/) const {}

    // Libraries that add bytes of their own. All of these are collective over the members of the file.

    /// Before the run: finds out what the library adds to a dump with a fit, in files of its own that it
    /// removes.
    virtual void calibrate(const FileContext& /*context*/) {}
    /// What to give to the library for this file, so that the plan's bytes result; nothing: as the plan says.
    virtual std::optional<std::int64_t> fit_payload(const FileContext& /*context*/) { return std::nullopt; }
    /// What this process's MPI-IO calls wrote in the dump, the close included where there was one.
    virtual void dump_done(const FileContext& /*context*/, std::int64_t /*payload*/,
                           std::int64_t /*written*/) {}
    /// After the last dump: writes out what is still held. Not collective.
    virtual void finish() {}
};

using BackendMaker = std::unique_ptr<Backend> (*)(const BackendOptions&);

/// What makes a backend, or nothing where the engine was built without it.
[[nodiscard]] BackendMaker maker_of(const Traits& traits);

}  // namespace wa
