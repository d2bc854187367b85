// Refuses what this machine's libraries cannot do before anything is launched or written.
#pragma once

#include "backends/backend.hpp"
#include "run/options.hpp"

namespace wa {

/// Makes a backend of this engine. Raises UsageError if it was not built in.
[[nodiscard]] std::unique_ptr<Backend> make_backend(const Traits& traits, const BackendOptions& options);

/// Checks a backend against every content that a family uses. Raises PlanError.
void refuse_impossible(const Plan& plan, std::size_t family, const Layout& layout, const Traits& traits,
                       const Backend& backend);

/// Whether MPI must support several threads, which HDF5's subfiling starts. The answer is needed before MPI
/// starts, so each process reads the plan if the library has subfiling. A plan that cannot be read is refused
/// later.
[[nodiscard]] bool needs_threads(const Options& options);

/// `--check`: reads and checks the plan against the libraries, without MPI. The exit code is 0 or, with a
/// line on stderr, 2.
[[nodiscard]] int check_only(const Options& options);

}  // namespace wa
