#include "sharing/layout.hpp"

#include "expand/split.hpp"

namespace wa {

Layout::Layout(const Family& family, std::int64_t plan_ranks)
    : members_(family.sharing.ranks.all ? RankSet::all(plan_ranks) : family.sharing.ranks.set) {
    if (family.sharing.mode == SharingMode::per_rank) files_ = members_.size();
    if (family.sharing.mode == SharingMode::groups) files_ = family.sharing.files;
}

FileSlot Layout::slot(std::int64_t file) const {
    return {file, shares_before(members_.size(), files_, file), share_of(members_.size(), files_, file)};
}

FileSlot Layout::slot_of_member(std::int64_t member) const {
    const std::int64_t small = members_.size() / files_;
    const std::int64_t larger = members_.size() % files_;  // groups of small + 1 come first
    const std::int64_t in_larger = larger * (small + 1);
    if (member < in_larger) return slot(member / (small + 1));
    return slot(larger + (member - in_larger) / small);
}

}  // namespace wa
