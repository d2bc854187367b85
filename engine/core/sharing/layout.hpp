// Which ranks write into which file: the members of a family and the files of one dump.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/plan.hpp"

namespace wa {

/// A file of a dump and the members that share it (positions in the rank set of the family).
struct FileSlot {
    std::int64_t file = 0;  // 0 for a shared file, otherwise the number of the group or of the member
    std::int64_t first_member = 0;
    std::int64_t members = 1;
    friend bool operator==(const FileSlot&, const FileSlot&) = default;
};

class Layout {
  public:
    Layout(const Family& family, std::int64_t plan_ranks);

    [[nodiscard]] const RankSet& members() const { return members_; }
    [[nodiscard]] std::int64_t size() const { return members_.size(); }
    [[nodiscard]] std::int64_t files_of_dump() const { return files_; }
    [[nodiscard]] FileSlot slot(std::int64_t file) const;
    [[nodiscard]] FileSlot slot_of_member(std::int64_t member) const;
    /// The member whose part a reader reads: its own, or that of the member `shift` places further.
    [[nodiscard]] std::int64_t acting_member(std::int64_t member, std::int64_t shift) const {
        return (member + shift) % members_.size();
    }

  private:
    RankSet members_;
    std::int64_t files_ = 1;
};

}  // namespace wa
