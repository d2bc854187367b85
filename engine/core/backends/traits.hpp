// What is to be known of a backend before it runs: data, read by whoever needs it. Its code is in
// engine/backends.
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
    /// What the engine must be built with; empty: nothing but MPI.
    std::string_view library = "";
    std::string_view extension = "dat";
    /// The level at which its operations are counted; none: the family's.
    std::optional<Level> level = std::nullopt;
    /// Touches files; needs one process per plan rank, a directory and a payload.
    bool performs = true;
    /// Its operations are written as text: all that it makes.
    bool writes_operations = false;
    /// Files are opened, synced and closed by all of their members together.
    bool collective_files = false;
    /// There is a file position: an operation elsewhere needs a seek first.
    bool positioned = false;
    /// Operations of several pieces are one call (else one call per piece).
    bool whole_pieces = false;
    /// Arrays are datasets of a library, and a call may move a slab of several (else one call each).
    bool whole_slabs = false;
    /// Bytes at MPI-IO level are those of the process's MPI-IO calls.
    bool over_mpiio = false;
    /// A read-back of the file's bytes tells whether what was written is there.
    bool plain_bytes = true;
    /// Its files hold meshes, no other datasets.
    bool only_meshes = false;
    /// The settings of HDF5 are its library's.
    bool hdf5_settings = false;
    /// An operation's data must lie in memory in one piece.
    bool whole_operations = false;
    /// Bytes of an operation at most.
    std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();
    /// Raises PlanError for what no version of its library can do; `place` is the content's.
    void (*refuse)(const Family& family, const Layout& layout, const Content& content,
                   const std::string& place) = nullptr;
};

/// All backends, whether or not the engine at hand was built with them.
[[nodiscard]] std::span<const Traits* const> all_backends();
/// Nothing for an unknown name.
[[nodiscard]] const Traits* find_traits(std::string_view name);
/// The names, for messages.
[[nodiscard]] std::string backend_names();

/// The backend whose calls are counted where `performer` stands for a family's own: a backend that performs
/// is itself; else the family's, or the one of its level.
[[nodiscard]] const Traits& counted_as(const Family& family, const Traits& performer);

}  // namespace wa
