// What the libraries at hand cannot do is refused before anything is launched or written.
#pragma once

#include "backends/backend.hpp"
#include "run/options.hpp"

namespace wa {

/// A backend of the engine at hand. Raises UsageError where it was not built in.
[[nodiscard]] std::unique_ptr<Backend> make_backend(const Traits& traits, const BackendOptions& options);

/// Asks a backend about every content that a family uses. Raises PlanError.
void refuse_impossible(const Plan& plan, std::size_t family, const Layout& layout, const Traits& traits,
                       const Backend& backend);

/// Whether MPI must serve several threads at once: HDF5's subfiling has threads of its own. Asked before MPI
/// starts, so each process reads the plan, where the library has subfiling at all. A plan that cannot be read
/// is refused later.
[[nodiscard]] bool needs_threads(const Options& options);

/// `--check`: reads and checks the plan and asks the libraries, without MPI. Exit code 0 or, with one line on
/// stderr, 2.
[[nodiscard]] int check_only(const Options& options);

}  // namespace wa
