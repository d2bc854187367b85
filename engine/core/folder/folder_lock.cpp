#include "folder/folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "errors.hpp"
#include "folder/cleanup.hpp"
#include "sharing/names.hpp"

namespace wa {
namespace {

/// Processes of a killed run may need some seconds to end. Process 0 is killed or ends first, so it needs
/// less time.
constexpr std::chrono::seconds patience{15};
constexpr std::chrono::seconds patience_with_process_0{5};
constexpr std::chrono::milliseconds pause{50};

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

bool same_file(int fd, const std::string& path) {
    struct stat open {};
    struct stat named {};
    return ::fstat(fd, &open) == 0 && ::stat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
           open.st_dev == named.st_dev;
}

std::string text_of(int fd) {
    std::array<char, 512> text{};
    const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
    return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : "";
}

/// Whether the process named in a lock file is alive; empty if this host cannot know.
std::optional<bool> lives(const std::string& text) {
    const std::size_t space = text.find(' ');
    const int process = space == std::string::npos ? 0 : std::atoi(text.c_str() + space);
    if (process <= 0 || text.substr(0, space) != host_name()) return std::nullopt;
    return ::kill(process, 0) == 0 || errno != ESRCH;
}

[[noreturn]] void cannot_lock() {
    throw CallFailed("open", std::strerror(errno));
}

}  // namespace

/// Returns false if another process holds the lock or has just removed the file.
bool FolderLock::open_and_lock() {
    fd_ = posix::Fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd_.open()) cannot_lock();
    if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return false;
        refuse_another_host();  // the file system has no locks, so the content of the file decides
    }
    return same_file(fd_.get(), path_);
}

void FolderLock::refuse_another_host() const {
    const std::string text = text_of(fd_.get());
    if (text.empty() || !lives(text).value_or(true)) return;
    throw UsageError(fmt::format("{}: another run of this plan may be active", path_),
                     "wait for its end, or remove the file");
}

void FolderLock::take(const Plan& plan, const std::string& folder) {
    path_ = folder + "/" + lock_name(plan);
    const auto begun = std::chrono::steady_clock::now();
    do {
        while (!open_and_lock()) {
            const bool goes_on = lives(text_of(fd_.get())).value_or(false);
            if (std::chrono::steady_clock::now() > begun + (goes_on ? patience_with_process_0 : patience)) {
                throw UsageError(fmt::format("{}: another run of this plan is active there", folder),
                                 "wait for its end or choose another --dir");
            }
            std::this_thread::sleep_for(pause);
        }
        taken_ = true;
        const bool left_by_a_killed_run = !text_of(fd_.get()).empty();
        if (left_by_a_killed_run) {
            remove_files_of_plan(plan, folder);
        } else if (const auto files = files_of_plan(plan, folder); !files.empty()) {
            release();
            throw UsageError(fmt::format("{}/{}: exists already", folder, files.front()),
                             "remove it or choose another --dir");
        }
        taken_ = false;
    } while (!share());
    taken_ = true;
    const std::string text = fmt::format("{} {}\n", host_name(), ::getpid());
    if (::ftruncate(fd_.get(), 0) != 0 ||
        ::write(fd_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        cannot_lock();
}

/// From here on all processes hold the lock, and it is free when the last of them ends. Returns false if
/// another run took the lock in between: changing the kind of lock gives it up for a moment.
bool FolderLock::share() const {
    if (::flock(fd_.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
    return same_file(fd_.get(), path_);
}

void FolderLock::join(const Plan& plan, const std::string& folder) {
    path_ = folder + "/" + lock_name(plan);
    fd_ = posix::Fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd_.open()) cannot_lock();
    (void)::flock(fd_.get(), LOCK_SH | LOCK_NB);
}

bool FolderLock::exists(const Plan& plan, const std::string& folder) {
    struct stat status {};
    return ::lstat((folder + "/" + lock_name(plan)).c_str(), &status) == 0;
}

void FolderLock::release() noexcept {
    if (taken_) ::unlink(path_.c_str());
    taken_ = false;
}

void FolderLock::leave(const Plan& plan, const std::string& folder) noexcept {
    if (!fd_.open()) return;
    const bool alone = ::flock(fd_.get(), LOCK_EX | LOCK_NB) == 0;
    const bool without_locks = !alone && errno != EWOULDBLOCK;
    if (alone && same_file(fd_.get(), path_)) {
        remove_files_of_plan(plan, folder);
        taken_ = true;
    }
    if (alone || without_locks) release();
}

}  // namespace wa
