// The closed list of errors. Each kind has its own exit code and its own form of the line on stderr.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace wa {

/// What a user must change: where it is wrong, why, and how to fix it. `place` and `hint` may be empty. Its
/// text is `place: reason; hint`. Exit code 2.
class Refusal : public std::runtime_error {
  public:
    Refusal(std::string where, const std::string& why, std::string fix)
        : std::runtime_error((where.empty() ? "" : where + ": ") + why + (fix.empty() ? "" : "; " + fix)),
          place(std::move(where)),
          reason(why),
          hint(std::move(fix)) {}
    std::string place;
    std::string reason;
    std::string hint;
};

/// A plan that cannot be performed. `place` is the position in the plan, such as `families[0].sharing.files`.
class PlanError : public Refusal {
  public:
    PlanError(std::string where, const std::string& why, std::string fix = "")
        : Refusal(std::move(where), why, std::move(fix)) {}
};

/// A wrong command line or a directory that cannot be used.
class UsageError : public Refusal {
  public:
    explicit UsageError(const std::string& why, std::string fix = "") : Refusal("", why, std::move(fix)) {}
};

/// A call of POSIX, MPI or HDF5 that failed. Exit code 1.
class CallFailed : public std::runtime_error {
  public:
    CallFailed(std::string operation_name, const std::string& reason)
        : std::runtime_error(reason), operation(std::move(operation_name)) {}
    std::string operation;
};

/// SIGINT or SIGTERM arrived. Exit code 1.
class Interrupted : public CallFailed {
  public:
    explicit Interrupted(int signal) : CallFailed("run", "interrupted by signal " + std::to_string(signal)) {}
};

}  // namespace wa
