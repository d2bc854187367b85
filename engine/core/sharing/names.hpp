// Names of the data files. They consist of a role from a closed list and of numbers, so that no plan can name
// another file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plan/plan.hpp"
#include "sharing/layout.hpp"

namespace wa {

inline constexpr std::string_view temporary_suffix = ".tmp";

/// Gives `{role}-{number}.{file:04d}{.g0000 | .r000000}.{id of the plan}.{extension}`, without the directory.
[[nodiscard]] std::string file_name(const Plan& plan, const Family& family, std::int64_t rank_of_first,
                                    std::int64_t file, const FileSlot& slot);
/// The folder of such a file, below its directory; empty where it lies in the directory itself. Families of
/// one plan share folders: `workalike-{id}.folder{.r000001}{.0003}`.
[[nodiscard]] std::string folder_name(const Plan& plan, const Family& family, std::int64_t rank_of_first,
                                      std::int64_t file);
/// Whether a folder of this name is one of the plan's.
[[nodiscard]] bool is_folder_of(const Plan& plan, std::string_view name);
/// The name of the file in which the overhead of a library is measured before the run.
[[nodiscard]] std::string calibration_name(const Plan& plan, const Family& family, std::int64_t group);
/// The name that a file has after so many of its renames, of which the last one gives it `name`.
[[nodiscard]] std::string name_on_the_way(const std::string& name, std::int64_t renames);
/// The name of the lock file, which shows that a run of the plan uses the directory.
[[nodiscard]] std::string lock_name(const Plan& plan);

/// The parts of a file name that a function above or a library made.
struct ParsedName {
    std::string role;
    std::int64_t number = 0;
    std::int64_t file = 0;
    std::string plan;  // the id of the plan
    bool temporary = false;
    bool is_library_lock = false;  // a lock file of an MPI library, which holds no data
};
[[nodiscard]] std::optional<ParsedName> parse_name(std::string_view name);

}  // namespace wa
