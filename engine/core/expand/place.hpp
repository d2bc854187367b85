// The position of a rank among the ranks of a stream, and among those of them that share its file.
#pragma once

#include "plan/plan.hpp"
#include "sharing/layout.hpp"

namespace wa {

struct Place {
    std::int64_t all = 1;    // ranks of the stream, over all files
    std::int64_t first = 0;  // index of the first of them in this file
    std::int64_t here = 1;   // how many of them share this file
    // the position of this rank among all ranks of the stream, or -1 if it is not in the stream
    std::int64_t index = -1;
    [[nodiscard]] bool active() const { return index >= 0; }
    [[nodiscard]] std::int64_t local() const { return index - first; }
};

[[nodiscard]] inline Place place_of(const Ranks& ranks, const Layout& layout, const FileSlot& slot,
                                    std::int64_t member) {
    if (ranks.all) return {layout.size(), slot.first_member, slot.members, member};
    const std::int64_t past = slot.first_member + slot.members;
    const std::int64_t first = ranks.set.count_below(layout.members().at(slot.first_member));
    const std::int64_t end =
        past == layout.size() ? ranks.set.size() : ranks.set.count_below(layout.members().at(past));
    return {ranks.set.size(), first, end - first,
            ranks.set.index_of(layout.members().at(member)).value_or(-1)};
}

}  // namespace wa
