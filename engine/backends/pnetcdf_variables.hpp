// The variables of a PnetCDF file. All are defined when the file is made, including those of later dumps: a
// later definition would move the data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "io/pnetcdf.hpp"

namespace wa {

/// Names by the dump that writes them. In a file of several dumps, variables that are not extended belong to
/// one dump.
[[nodiscard]] std::string array_variable(const FileContext& context, const Dump& dump, std::size_t part,
                                         std::int64_t dataset);
[[nodiscard]] std::string fit_variable(const FileContext& context, const Dump& dump, std::int64_t dataset);
inline constexpr const char* extents_variable = "extents";

/// All variables of the context's file.
[[nodiscard]] std::vector<pnetcdf::Variable> variables_of(const FileContext& context);

/// The data bytes of a fit when the header is counted too; the first dump of the file with a fit carries it.
[[nodiscard]] std::int64_t fit_data(const FileContext& context, std::size_t position);

}  // namespace wa
