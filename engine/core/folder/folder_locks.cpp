#include "folder/folder_locks.hpp"

#include <algorithm>
#include <tuple>

namespace wa {

void FolderLocks::take(const Plan& plan, const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
        auto& [path, lock] =
            locks_.emplace_back(std::piecewise_construct, std::tuple(folder), std::tuple<>());
        lock.take(plan, path);
    }
}

void FolderLocks::join(const Plan& plan, const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
        auto& [path, lock] =
            locks_.emplace_back(std::piecewise_construct, std::tuple(folder), std::tuple<>());
        lock.join(plan, path);
    }
}

bool FolderLocks::held() const {
    return !locks_.empty() &&
           std::all_of(locks_.begin(), locks_.end(), [](const auto& each) { return each.second.held(); });
}

void FolderLocks::release() noexcept {
    for (auto& [path, lock] : locks_) lock.release();
}

void FolderLocks::leave(const Plan& plan) noexcept {
    for (auto& [path, lock] : locks_) lock.leave(plan, path);
}

}  // namespace wa
