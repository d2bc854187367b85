// The command line as values.
#pragma once

#include <optional>
#include <string>

#include "backends/traits.hpp"
#include "folder/directories.hpp"

namespace wa {

struct Options {
    std::string plan;
    Directories directories;
    std::string record;
    const Traits* backend = nullptr;  // performs every family; null: each family has its own
    bool check = false;               // check the plan without performing it
    bool verify = false;
    bool verify_only = false;
    bool keep = false;
    bool quiet = false;
    bool progress = false;         // as often as on a terminal where stderr is none
    bool terminal = false;         // stderr is a terminal at the end of a launcher's pipe
    bool end_with_parent = false;  // the parent is the process that started this one
    bool calibrate_compute = false;
    std::string per_rank;
    std::string operations;
};

}  // namespace wa
