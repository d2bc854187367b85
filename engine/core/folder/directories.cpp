#include "folder/directories.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <utility>

#include "backends/traits.hpp"
#include "errors.hpp"

namespace wa {
namespace {

constexpr std::size_t longest_name = 32;

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The names of families that touch files, the empty one included.
std::set<std::string> names_in(const Plan& plan) {
    std::set<std::string> out;
    for (const Family& family : plan.families) {
        if (family.backend->performs) out.insert(family.directory);
    }
    return out;
}

/// `DIR, fast=DIR`: how names are given on the command line.
template <typename Names>
std::string listed(const Names& names) {
    std::string out;
    for (const std::string& name : names)
        out += (out.empty() ? "" : ", ") + (name.empty() ? std::string("DIR") : name + "=DIR");
    return out.empty() ? "none" : out;
}

bool is_folder(const std::string& path, struct stat& status) {
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

bool is_directory_name(std::string_view text) {
    const auto fits = [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; };
    return !text.empty() && text.size() <= longest_name && is_letter(text.front()) &&
           std::all_of(text.begin(), text.end(), fits);
}

void Directories::add(const std::string& text) {
    const std::size_t equals = text.find('=');
    const bool has_name = equals != std::string::npos && is_directory_name(text.substr(0, equals));
    const std::string name = has_name ? text.substr(0, equals) : "";
    const std::string path = has_name ? text.substr(equals + 1) : text;
    if (path.empty()) throw UsageError(fmt::format("--dir {}: names no directory", text));
    if (!paths_.emplace(name, path).second) {
        throw UsageError(
            has_name ? fmt::format("--dir {}= is given twice", name) : std::string("--dir is given twice"),
            "name one directory; NAME=DIR is that of families with `directory`");
    }
}

void Directories::require_for(const Plan& plan) const {
    const std::set<std::string> needed = names_in(plan);
    std::vector<std::string> given;
    for (const auto& [name, path] : paths_) given.push_back(name);
    for (const std::string& name : needed) {
        const auto found = paths_.find(name);
        if (found != paths_.end()) {
            struct stat status {};
            if (!is_folder(found->second, status))
                throw UsageError(found->second + ": --dir must name a directory that exists");
        } else if (name.empty() && needed.size() == 1) {
            throw UsageError("--dir DIR is missing: where the data goes");
        } else {
            throw UsageError(
                name.empty()
                    ? std::string("--dir DIR is missing: where families without a directory go")
                    : fmt::format("--dir {}=DIR is missing: where families of this directory go", name),
                fmt::format("the plan needs {}; given are {}", listed(needed), listed(given)));
        }
    }
}

std::string Directories::named(const std::string& name) const {
    const auto found = paths_.find(name);
    return found == paths_.end() ? "" : found->second;
}

std::string Directories::of(const Family& family) const {
    return named(family.directory);
}

std::vector<std::string> Directories::of_plan(const Plan& plan) const {
    std::vector<std::string> out;
    std::set<std::pair<dev_t, ino_t>> seen;
    for (const std::string& name : names_in(plan)) {
        struct stat status {};
        const std::string path = named(name);
        if (is_folder(path, status) && !seen.emplace(status.st_dev, status.st_ino).second) continue;
        out.push_back(path);
    }
    return out;
}

std::string Directories::first_of_plan(const Plan& plan) const {
    const std::vector<std::string> all = of_plan(plan);  // the empty name is the first
    return all.empty() ? "" : all.front();
}

std::vector<std::string> Directories::names_of_plan(const Plan& plan) {
    std::set<std::string> names = names_in(plan);
    names.erase("");
    return {names.begin(), names.end()};
}

}  // namespace wa
