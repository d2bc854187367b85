#include "sharing/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "backends/traits.hpp"
#include "plan/enum_words.hpp"

namespace wa {
namespace {

constexpr std::string_view calibration_word = "calibration";
constexpr std::string_view subfile_word = ".subfile_";
constexpr std::string_view folder_word = ".folder";
constexpr std::size_t id_digits = 8;

/// Takes a number off the front of the text; empty if there are no digits or too many.
std::optional<std::int64_t> take_number(std::string_view& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || text.empty() || text.front() == '-') return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

/// `-1-4711.lock`: the file in which Open MPI keeps the shared file pointer while the file is open.
/// `.locktest.0`: with which it tries, while it opens the file, whether the file system has locks.
bool is_lock_suffix(std::string_view text) {
    if (take(text, ".locktest.")) return take_number(text) && text.empty();
    return take(text, "-") && take_number(text) && take(text, "-") && take_number(text) && text == ".lock";
}

bool is_id(std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool take_extension(std::string_view& text) {
    const auto all = all_backends();
    return std::any_of(all.begin(), all.end(),
                       [&](const Traits* traits) { return take(text, traits->extension); });
}

}  // namespace

std::string file_name(const Plan& plan, const Family& family, std::int64_t rank_of_first, std::int64_t file,
                      const FileSlot& slot) {
    std::string part;
    if (family.sharing.mode == SharingMode::groups) part = fmt::format(".g{:04d}", slot.file);
    if (family.sharing.mode == SharingMode::per_rank) part = fmt::format(".r{:06d}", rank_of_first);
    return fmt::format("{}-{}.{:04d}{}.{}.{}", word_of(family.role), family.number, file, part, plan.id,
                       family.backend->extension);
}

std::string folder_name(const Plan& plan, const Family& family, std::int64_t rank_of_first,
                        std::int64_t file) {
    const Folders& folders = family.folders;
    if (!folders.used()) return "";
    std::string out = fmt::format("workalike-{}{}", plan.id, folder_word);
    if (folders.per_rank) out += fmt::format(".r{:06d}", rank_of_first);
    if (folders.files > 0) out += fmt::format(".{:04d}", file / folders.files);
    return out;
}

bool is_folder_of(const Plan& plan, std::string_view name) {
    return name.starts_with(fmt::format("workalike-{}{}", plan.id, folder_word));
}

std::string calibration_name(const Plan& plan, const Family& family, std::int64_t group) {
    return fmt::format("{}-{}.{}.g{:04d}.{}.{}", word_of(family.role), family.number, calibration_word, group,
                       plan.id, family.backend->extension);
}

std::string name_on_the_way(const std::string& name, std::int64_t renames) {
    std::string out = name + std::string(temporary_suffix);
    return renames == 0 ? out : out + std::to_string(renames);
}

std::string lock_name(const Plan& plan) {
    return fmt::format("workalike-{}.lock", plan.id);
}

std::optional<ParsedName> parse_name(std::string_view name) {
    ParsedName out;
    const std::size_t dash = name.find('-');
    if (dash == std::string_view::npos || !value_of<Role>(name.substr(0, dash))) return std::nullopt;
    out.role = name.substr(0, dash);
    name.remove_prefix(dash + 1);
    const auto number = take_number(name);
    if (!number || !take(name, ".")) return std::nullopt;
    out.number = *number;
    if (take(name, calibration_word)) {
        out.file = -1;
    } else {
        const auto file = take_number(name);
        if (!file) return std::nullopt;
        out.file = *file;
    }
    if (take(name, ".g") || take(name, ".r")) {
        if (!take_number(name)) return std::nullopt;
    }
    if (!take(name, ".") || name.size() < id_digits || !is_id(name.substr(0, id_digits))) return std::nullopt;
    out.plan = name.substr(0, id_digits);
    name.remove_prefix(id_digits);
    if (!take(name, ".") || !take_extension(name)) return std::nullopt;
    if (name.starts_with(subfile_word)) return out;  // a subfile, which HDF5 puts next to the file
    out.temporary = take(name, temporary_suffix);
    if (out.temporary && !is_lock_suffix(name) && !name.empty() && !take_number(name)) return std::nullopt;
    out.is_library_lock = is_lock_suffix(name);
    if (!name.empty() && !out.is_library_lock) return std::nullopt;
    return out;
}

}  // namespace wa
