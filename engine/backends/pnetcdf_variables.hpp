// The variables of a PnetCDF file. They are defined when the file is made, those of its later dumps with
// them: a definition that comes later would move the data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "io/pnetcdf.hpp"

namespace wa {

/// Names by the dump that writes them; those that are not extended are a dump's own where a file sees
/// several.
[[nodiscard]] std::string array_variable(const FileContext& context, const Dump& dump, std::size_t part,
                                         std::int64_t dataset);
[[nodiscard]] std::string fit_variable(const FileContext& context, const Dump& dump, std::int64_t dataset);
inline constexpr const char* extents_variable = "extents";

/// All variables of the context's file.
[[nodiscard]] std::vector<pnetcdf::Variable> variables_of(const FileContext& context);

/// Bytes of a fit's data where the header counts too: the file's first dump with a fit has it.
[[nodiscard]] std::int64_t fit_data(const FileContext& context, std::size_t position);

}  // namespace wa
