#include "run/file_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "errors.hpp"
#include "expand/dump.hpp"

namespace wa {
namespace {

/// Whether `dump_end` of a content is where the bytes of one file end: rows of a table are those of all
/// files.
bool tells_end(const Content& content, const Layout& layout, const FileSlot& slot) {
    const bool rows = std::any_of(content.streams.begin(), content.streams.end(),
                                  [](const Stream& stream) { return stream.rows != nullptr; });
    return !content.streams.empty() && (!rows || slot.members == layout.size());
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

void check_size(const Setup& setup, std::size_t dump, const FileSlot& slot, const std::string& path,
                std::int64_t size) {
    const std::int64_t least = least_size(setup, dump, slot);
    if (size >= least) return;
    throw CallFailed("write", fmt::format("{} has {} bytes after its last close, {} were written",
                                          path.substr(path.rfind('/') + 1), size, least));
}

}  // namespace wa
