// Allows one run of a plan at a time in a directory. Each process of a run holds the plan's lock file. The
// next run can thus tell a killed run from one that is active, and removes what the killed one left.
#pragma once

#include <string>

#include "io/posix.hpp"
#include "plan/plan.hpp"

namespace wa {

class FolderLock {
  public:
    FolderLock() = default;
    ~FolderLock() = default;
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    FolderLock(FolderLock&&) = delete;
    FolderLock& operator=(FolderLock&&) = delete;

    /// For process 0: takes the directory for this plan and removes what a killed run left. Raises UsageError
    /// if another run holds the directory, or if it has files of the plan that were kept.
    void take(const Plan& plan, const std::string& folder);
    /// For all other processes, once process 0 has taken the directory.
    void join(const Plan& plan, const std::string& folder);
    /// Whether this process holds the lock, so that files of the plan in the directory belong to its run.
    [[nodiscard]] bool held() const { return fd_.open(); }
    /// Whether a run of the plan is active in the directory or was killed there.
    [[nodiscard]] static bool exists(const Plan& plan, const std::string& folder);
    /// For process 0, as its last step: removes the lock file. Does nothing if the lock is not held.
    void release() noexcept;
    /// For any process, after a failure: the last process removes the files of the plan and the lock file. If
    /// it is killed first, the lock file remains and makes the next run remove them.
    void leave(const Plan& plan, const std::string& folder) noexcept;

  private:
    [[nodiscard]] bool open_and_lock();
    [[nodiscard]] bool share() const;
    void refuse_another_host() const;

    std::string path_;
    posix::Fd fd_;
    bool taken_ = false;
};

}  // namespace wa
