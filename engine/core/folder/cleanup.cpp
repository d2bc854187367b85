#include "folder/cleanup.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "errors.hpp"
#include "sharing/names.hpp"

namespace wa {
namespace {

namespace fs = std::filesystem;

/// All names in a directory; those before `error` where it cannot be read to its end.
std::vector<std::string> names_in(const std::string& folder, std::error_code& error) {
    std::vector<std::string> found;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error))
        found.push_back(entry->path().filename().string());
    return found;
}

bool is_file_of(const Plan& plan, const std::string& name) {
    const auto parsed = parse_name(name);
    return parsed && parsed->plan == plan.id;
}

/// The folders of the plan in the directory; a link with such a name is none.
std::vector<std::string> folders_of_plan(const Plan& plan, const std::string& folder) {
    std::error_code ignored;
    std::vector<std::string> found = names_in(folder, ignored);
    std::erase_if(found, [&](const std::string& name) {
        return !is_folder_of(plan, name) ||
               !fs::is_directory(fs::symlink_status(fs::path(folder) / name, ignored));
    });
    return found;
}

}  // namespace

std::vector<std::string> files_of_plan(const Plan& plan, const std::string& folder) {
    std::error_code error;
    std::vector<std::string> found = names_in(folder, error);
    if (error) {
        throw UsageError(fmt::format("{}: {}", folder, error.message()),
                         "--dir must name a directory that can be used");
    }
    std::erase_if(found, [&](const std::string& name) { return !is_file_of(plan, name); });
    for (const std::string& own : folders_of_plan(plan, folder)) {
        // Another process may be removing it: what cannot be read is empty.
        for (const std::string& name : names_in(fmt::format("{}/{}", folder, own), error))
            if (is_file_of(plan, name)) found.push_back(fmt::format("{}/{}", own, name));
    }
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
        // If the directory itself is gone, so are its files.
    }
}

}  // namespace wa
