#include "run/descriptors.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "errors.hpp"
#include "schedule/open_files.hpp"

namespace wa {
namespace {

/// Descriptors that MPI, the libraries and the record need.
constexpr rlim_t of_others = 64;

}  // namespace

void allow_open_files(const Setup& setup) {
    if (!setup.performs || setup.options.verify_only) return;
    const std::int64_t files = most_open_files(setup.plan, setup.layouts, setup.times, setup.process);
    const rlim_t needed = static_cast<rlim_t>(files) + of_others;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
    limit.rlim_cur = std::min(needed, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < needed) {
        throw UsageError(fmt::format("rank {} has {} files open at once, and may have {} descriptors",
                                     setup.process, files, limit.rlim_max),
                         "raise the limit (ulimit -n)");
    }
}

}  // namespace wa
