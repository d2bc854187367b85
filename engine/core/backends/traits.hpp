// Traits: what the engine and Python must know about a backend before it runs. They are data, so any code can
// read them. The code of the backends is in engine/backends.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plan/plan.hpp"

namespace wa {

class Layout;

struct Traits {
    std::string_view name;
    std::string_view help;
    /// The library that the engine must be built with; empty if MPI is enough.
    std::string_view library{};
    std::string_view extension = "dat";
    /// The level at which operations are counted; unset means the level of the family.
    std::optional<Level> level = std::nullopt;
    /// True if the backend touches files; it then needs one process per plan rank, a directory and a payload.
    bool performs = true;
    /// True if the only output is a text with all operations.
    bool writes_operations = false;
    /// True if all members of a file open, sync and close it together.
    bool collective_files = false;
    /// True if a rank can also open a file alone that all members have open.
    bool lone_opens = false;
    /// True if there is a file position, so that an operation elsewhere needs a seek first.
    bool positioned = false;
    /// True if an operation of several pieces is one call; otherwise there is one call per piece.
    bool whole_pieces = false;
    /// True if arrays are datasets of a library and one call may move a slab of several of them. Otherwise
    /// there is one call per dataset.
    bool whole_slabs = false;
    /// True if bytes at the MPI-IO level are taken from the MPI-IO calls of the process.
    bool over_mpiio = false;
    /// True if reading the bytes of the file back shows whether they are those that were written.
    bool plain_bytes = true;
    /// True if files can hold meshes but no other datasets.
    bool only_meshes = false;
    /// True if the settings of HDF5 apply to the library.
    bool hdf5_settings = false;
    /// True if files can be opened past the page cache (O_DIRECT).
    bool direct = false;
    /// True if streams of the C library can be used on the files that are open.
    bool buffered = false;
    /// True if open files have a descriptor, by which they can be mapped into memory.
    bool maps = false;
    /// True if the data of an operation must be contiguous in memory.
    bool whole_operations = false;
    /// The largest operation, in bytes.
    std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();
    /// Raises PlanError for what no version of the library can do; `place` is the position of the content in
    /// the plan. Null if there is nothing to refuse.
    void (*refuse)(const Family& family, const Layout& layout, const Content& content,
                   const std::string& place) = nullptr;
};

/// All backends, including those that this engine was built without.
[[nodiscard]] std::span<const Traits* const> all_backends();
/// Null for an unknown name.
[[nodiscard]] const Traits* find_traits(std::string_view name);
/// The names, comma-separated, for messages.
[[nodiscard]] std::string backend_names();

/// The backend whose calls are counted when `performer` handles the family. A backend that performs is
/// counted as itself. Otherwise it is the family's own backend, or the first one of the family's level.
[[nodiscard]] const Traits& counted_as(const Family& family, const Traits& performer);

}  // namespace wa
