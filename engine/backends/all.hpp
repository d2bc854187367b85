// The makers of all backends, for the registry.
#pragma once

#include <memory>

#include "backends/backend.hpp"

namespace wa {

[[nodiscard]] std::unique_ptr<Backend> make_null(const BackendOptions& options);
[[nodiscard]] std::unique_ptr<Backend> make_record(const BackendOptions& options);
[[nodiscard]] std::unique_ptr<Backend> make_posix(const BackendOptions& options);
[[nodiscard]] std::unique_ptr<Backend> make_stdio(const BackendOptions& options);
[[nodiscard]] std::unique_ptr<Backend> make_mpiio(const BackendOptions& options);
[[nodiscard]] std::unique_ptr<Backend> make_hdf5(const BackendOptions& options);
[[nodiscard]] std::unique_ptr<Backend> make_typhonio(const BackendOptions& options);
[[nodiscard]] std::unique_ptr<Backend> make_pnetcdf(const BackendOptions& options);
[[nodiscard]] std::unique_ptr<Backend> make_adios2(const BackendOptions& options);

}  // namespace wa
