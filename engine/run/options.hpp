// The command line, as values.
#pragma once

#include <optional>
#include <string>

#include "backends/traits.hpp"

namespace wa {

struct Options {
    std::string plan;
    std::string dir;
    std::string record;
    const Traits* backend = nullptr;  // that performs every family; null: each its own
    bool check = false;               // of the plan, without performing it
    bool verify = false;
    bool verify_only = false;
    bool keep = false;
    bool quiet = false;
    bool progress = false;         // also when stderr is not a terminal
    bool terminal = false;         // stderr is one, behind a launcher's pipe
    bool end_with_parent = false;  // whoever has started it
    bool calibrate_compute = false;
    std::string per_rank;
    std::string operations;
};

}  // namespace wa
