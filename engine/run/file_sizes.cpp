#include "run/file_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "errors.hpp"
#include "expand/dump.hpp"
#include "io/posix.hpp"

namespace wa {
namespace {

/// Whether `dump_end` of a content is where the bytes of one file end: rows of a table are those of all
/// files, and very many sizes that ranks share are not added up rank by rank.
bool tells_end(const Content& content, const Layout& layout, const FileSlot& slot) {
    const bool rows = std::any_of(content.streams.begin(), content.streams.end(),
                                  [](const Stream& stream) { return stream.rows != nullptr; });
    const bool exact = std::all_of(content.streams.begin(), content.streams.end(), has_exact_end);
    return !content.streams.empty() && exact && (!rows || slot.members == layout.size());
}

/// The bytes that a file has at least, once all its dumps up to and with `dump` have written it. 0 where this
/// is not known: where the backend does not write plain bytes, or the content is not one of streams, or is a
/// table of several files.
std::int64_t least_size(const Setup& setup, std::size_t dump, const FileSlot& slot) {
    const Dump& last = setup.plan.dumps[dump];
    const Traits& traits = *setup.performer(dump).traits;
    if (!traits.performs || !traits.plain_bytes) return 0;
    Wide end = 0;
    for (std::size_t d = dump + 1; d-- > 0;) {
        const Dump& other = setup.plan.dumps[d];
        if (other.family != last.family || other.file != last.file) continue;
        const Content& content = setup.content(d);
        const Layout& layout = setup.layout(d);
        if (moves(content, Direction::write) && tells_end(content, layout, slot)) {
            end = std::max(end, dump_end(setup.plan, other, layout, slot, Direction::write));
            if (setup.family(d).truncate) break;  // earlier dumps left nothing
        }
        if (setup.uses[d].first) break;
    }
    return static_cast<std::int64_t>(end);
}

}  // namespace

void check_file(const Setup& setup, std::size_t dump, const FileSlot& slot, const std::string& path,
                std::optional<std::int64_t> size) {
    const std::int64_t least = least_size(setup, dump, slot);
    if (least > 0 && size.value_or(-1) < least) {
        const std::string found = size ? fmt::format("has {} bytes", *size) : std::string("is not there");
        throw CallFailed("write", fmt::format("{} {} after its last close, {} were written",
                                              path.substr(path.rfind('/') + 1), found, least));
    }
    const bool written = moves(setup.content(dump), Direction::write) || setup.uses[dump].written;
    if (!size || !written || !setup.performer(dump).traits->performs) return;
    const std::string name = path.substr(path.rfind('/') + 1);
    if (const std::int64_t lost = posix::bytes_without_space(path); lost > 0 && !setup.family(dump).sparse) {
        throw CallFailed("write", fmt::format("{} has no space on disk for {} of its {} bytes: {}", name,
                                              lost, *size, std::strerror(ENOSPC)));
    }
    if (setup.performer(dump).traits->plain_bytes) return;
    try {
        setup.performer(dump).backend->check_closed(setup.family(dump), path);
    } catch (const CallFailed& error) {
        throw CallFailed(
            "write", fmt::format("{} cannot be opened again after its last close: {}", name, error.what()));
    }
}

}  // namespace wa
