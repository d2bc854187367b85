// The command line, as values.
#pragma once

#include <optional>
#include <string>

#include "plan/model.hpp"

namespace wa {

struct Options {
    std::string plan;
    std::string dir;
    std::string record;
    std::optional<BackendKind> backend;
    bool check = false;  // of the plan, without performing it
    bool verify = false;
    bool verify_only = false;
    bool keep = false;
    bool quiet = false;
    bool progress = false;  // also when stderr is not a terminal
    bool terminal = false;  // stderr is one, behind a launcher's pipe
    bool calibrate_compute = false;
    std::string per_rank;
    std::string operations;
};

}  // namespace wa
