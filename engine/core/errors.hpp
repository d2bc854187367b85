// The closed list of errors. Each kind has its own exit code and its own form of the line on stderr.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace wa {

/// A plan that cannot be performed. `place` is the position in the plan, such as `families[0].sharing.files`.
/// Exit code 2.
class PlanError : public std::runtime_error {
  public:
    PlanError(std::string where, const std::string& what)
        : std::runtime_error(where.empty() ? what : where + ": " + what), place(std::move(where)) {}
    std::string place;
};

/// A wrong command line or a directory that cannot be used. Exit code 2.
class UsageError : public std::runtime_error {
    using std::runtime_error::runtime_error;
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
