// The locks of a run in each of its directories.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "folder/folder_lock.hpp"

namespace wa {

/// The functions are those of FolderLock, for all directories together.
class FolderLocks {
  public:
    /// If a directory is refused, release() frees those before it.
    void take(const Plan& plan, const std::vector<std::string>& folders);
    void join(const Plan& plan, const std::vector<std::string>& folders);
    [[nodiscard]] bool held() const;
    void release() noexcept;
    void leave(const Plan& plan) noexcept;

  private:
    std::deque<std::pair<std::string, FolderLock>> locks_;  // by directory
};

}  // namespace wa
