// One run of a plan at a time in a directory. Each process holds the plan's lock file, so that what is left
// of a killed run can be told from a run that goes on, and is removed by the next run.
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

    /// Process 0: takes the directory for this plan. What a killed run has left of it is removed. Raises
    /// UsageError when another run has it, or when files of the plan were kept there.
    void take(const Plan& plan, const std::string& folder);
    /// All other processes, when process 0 has taken it.
    void join(const Plan& plan, const std::string& folder);
    /// Whether this process holds the lock: the plan's files in the directory are its run's.
    [[nodiscard]] bool held() const { return fd_.open(); }
    /// Whether a run of the plan uses the directory, or was killed in it.
    [[nodiscard]] static bool exists(const Plan& plan, const std::string& folder);
    /// Process 0, as the last thing: the lock file goes. Whoever has not taken it does nothing.
    void release() noexcept;
    /// Any process, after a failure: the last one removes the plan's files and the lock file. Where it is
    /// killed before, the lock file stays, and tells the next run to do it.
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
