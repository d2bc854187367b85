#include "folder/cleanup.hpp"

#include <dirent.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "errors.hpp"
#include "sharing/names.hpp"

namespace wa {

std::vector<std::string> files_of_plan(const Plan& plan, const std::string& folder) {
    const auto close = [](DIR* handle) { ::closedir(handle); };
    const std::unique_ptr<DIR, decltype(close)> directory(::opendir(folder.c_str()), close);
    if (!directory) {
        throw UsageError(fmt::format("{}: {}", folder, std::strerror(errno)),
                         "--dir must name a directory that can be used");
    }
    std::vector<std::string> found;
    while (const dirent* entry = ::readdir(directory.get())) {
        const auto name = parse_name(entry->d_name);
        if (name && name->plan == plan.id) found.emplace_back(entry->d_name);
    }
    return found;
}

void remove_files_of_plan(const Plan& plan, const std::string& folder) noexcept {
    try {
        for (const std::string& name : files_of_plan(plan, folder)) {
            // directories are removed too: the files of some libraries are directories
            std::error_code ignored;
            std::filesystem::remove_all(std::filesystem::path(folder) / name, ignored);
        }
    } catch (const std::exception&) {
        // If the directory itself is gone, so are its files.
    }
}

}  // namespace wa
