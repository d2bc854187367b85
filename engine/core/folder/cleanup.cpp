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
namespace {

namespace fs = std::filesystem;

/// All names in a directory; none where it cannot be read, which errno tells.
std::vector<std::string> names_in(const std::string& folder) {
    errno = 0;
    const auto close = [](DIR* handle) { ::closedir(handle); };
    const std::unique_ptr<DIR, decltype(close)> directory(::opendir(folder.c_str()), close);
    std::vector<std::string> found;
    if (!directory) return found;
    while (const dirent* entry = ::readdir(directory.get())) found.emplace_back(entry->d_name);
    return found;
}

/// The folders of the plan in the directory; a link with such a name is none.
std::vector<std::string> folders_of_plan(const Plan& plan, const std::string& folder) {
    std::vector<std::string> found = names_in(folder);
    std::erase_if(found, [&](const std::string& name) {
        std::error_code ignored;
        return !is_folder_of(plan, name) ||
               !fs::is_directory(fs::symlink_status(fs::path(folder) / name, ignored));
    });
    return found;
}

void append_files(const Plan& plan, const std::string& folder, const std::string& before,
                  std::vector<std::string>& found) {
    for (const std::string& entry : names_in(folder)) {
        const auto name = parse_name(entry);
        if (name && name->plan == plan.id) found.push_back(before + entry);
    }
}

}  // namespace

std::vector<std::string> files_of_plan(const Plan& plan, const std::string& folder) {
    if (names_in(folder).empty() && errno != 0) {
        throw UsageError(fmt::format("{}: {}", folder, std::strerror(errno)),
                         "--dir must name a directory that can be used");
    }
    std::vector<std::string> found;
    append_files(plan, folder, "", found);
    for (const std::string& name : folders_of_plan(plan, folder))
        append_files(plan, fmt::format("{}/{}", folder, name), fmt::format("{}/", name), found);
    return found;
}

void remove_files_of_plan(const Plan& plan, const std::string& folder) noexcept {
    try {
        for (const std::string& name : files_of_plan(plan, folder)) {
            // directories are removed too: the files of some libraries are directories
            std::error_code ignored;
            fs::remove_all(fs::path(folder) / name, ignored);
        }
        for (const std::string& name : folders_of_plan(plan, folder)) {
            std::error_code ignored;
            fs::remove(fs::path(folder) / name, ignored);
        }
    } catch (const std::exception&) {
        // Without memory nothing can be listed.
    }
}

}  // namespace wa
