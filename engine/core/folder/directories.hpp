// Where the files of a run go: `--dir DIR`, and `--dir NAME=DIR` for families of the plan that name a
// directory.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace wa {

class Directories {
  public:
    /// Adds `DIR` or `NAME=DIR`. What stands before `=` is a name if it could be one: `./a=b` is a directory.
    /// Raises UsageError if a name, or the directory without one, is given twice.
    void add(const std::string& text);
    /// Raises UsageError if a family that touches files has no directory, or if one does not exist.
    void require_for(const Plan& plan) const;
    /// The directory of a family. Empty if none was given.
    [[nodiscard]] std::string of(const Family& family) const;
    /// The directories of a plan's families, each once: several names may stand for one.
    [[nodiscard]] std::vector<std::string> of_plan(const Plan& plan) const;
    /// The directory of families that name none if there are such families, else that of the first family.
    [[nodiscard]] std::string first_of_plan(const Plan& plan) const;
    /// The names of a plan's families, without the empty one.
    [[nodiscard]] static std::vector<std::string> names_of_plan(const Plan& plan);
    /// The directory of a name; empty if none was given.
    [[nodiscard]] std::string named(const std::string& name) const;

  private:
    std::map<std::string, std::string> paths_;  // by name; the empty name is that of families without one
};

/// Whether a text can be the name of a directory: a letter, then at most 31 letters, digits and `-`.
[[nodiscard]] bool is_directory_name(std::string_view text);

}  // namespace wa
