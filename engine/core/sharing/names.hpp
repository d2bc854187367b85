// Names of the data files. They are built from a closed list of roles and numbers, so no plan can name
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

/// `{role}-{number}.{file:04d}{.g0000 | .r000000}.{id of the plan}.{extension}`, without the directory.
[[nodiscard]] std::string file_name(const Plan& plan, const Family& family, std::int64_t rank_of_first,
                                    std::int64_t file, const FileSlot& slot);
/// The same for the file in which a library's overhead is measured before the run.
[[nodiscard]] std::string calibration_name(const Plan& plan, const Family& family, std::int64_t group);
/// The file that says that a run of the plan uses the directory.
[[nodiscard]] std::string lock_name(const Plan& plan);

/// What a file name says, if it is one that the functions above make or that a library makes beside such a
/// file.
struct ParsedName {
    std::string role;
    std::int64_t number = 0;
    std::int64_t file = 0;
    std::string plan;  // its id
    bool temporary = false;
    bool of_library = false;  // a lock of an MPI library, which is no data
};
[[nodiscard]] std::optional<ParsedName> parse_name(std::string_view name);

}  // namespace wa
