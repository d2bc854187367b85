// The lines of the record. Each is written in one call, so that a crash leaves only whole lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/traits.hpp"
#include "io/posix.hpp"
#include "plan/plan.hpp"
#include "record/summary.hpp"
#include "schedule/compute.hpp"

namespace wa {

/// What a record says of a directory of the run.
struct DirectoryFacts {
    std::string name;  // in the plan; empty for that of families without one
    std::string file_system;
    std::string mpi_io;  // the component of the MPI library; empty if no family uses it
};

struct Environment {
    std::string engine;
    std::string mpi;
    std::string hdf5;
    std::string compiler;
    std::vector<DirectoryFacts> directories;      // the first is the one without a name
    std::vector<std::int64_t> host_memory_bytes;  // of each host in the order of its first rank; rank 0 only
};

struct RunHead {
    std::int64_t processes = 1;
    std::string backend;  // from --backend, otherwise "family backends"
    Environment environment;
};

struct FailureLine {
    std::int64_t rank = 0;
    std::string operation;
    std::string reason;
    std::optional<std::size_t> dump;  // position in the plan; empty before the first dump
};

/// What --verify compared: after each dump, and once more at the end of the run, from the files that were
/// still there.
struct Verified {
    std::int64_t bytes = 0;
    std::int64_t errors = 0;
    std::int64_t end_bytes = 0;      // compared again
    std::int64_t storage_bytes = 0;  // of these, those that did not come from the page cache
};

[[nodiscard]] std::string compute_item(const ComputeTotals& totals);
[[nodiscard]] std::string run_line(const Plan& plan, const RunHead& head);
[[nodiscard]] std::string dump_line(const Plan& plan, const Summary& summary, const Traits& counted);
[[nodiscard]] std::string error_line(const Plan& plan, const FailureLine& failure);
[[nodiscard]] std::string file_item(const Family& family, std::int64_t file, const std::string& name,
                                    std::int64_t size);

/// Opens a text file for appending and makes it if it is missing. A UsageError names a file that cannot be
/// opened.
[[nodiscard]] posix::Fd open_to_append(const std::string& path);

/// An append-only text file.
class LineFile {
  public:
    LineFile() = default;
    /// `fresh`: the file must be new or empty.
    LineFile(const std::string& path, bool fresh);
    void append(std::string text);  // appends a line; its end is added
    /// Appends text that does not end a line.
    void append_raw(const std::string& text);
    [[nodiscard]] bool open() const { return fd_.open(); }

  private:
    posix::Fd fd_;
};

}  // namespace wa
