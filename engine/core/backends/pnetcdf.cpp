#include <fmt/format.h>

#include <climits>

#include "backends/traits.hpp"
#include "errors.hpp"
#include "plan/limits.hpp"

namespace wa {
namespace {

constexpr std::int64_t most_pieces = 1 << 20;

void refuse(const Family& /*family*/, const Layout& /*layout*/, const Content& content,
            const std::string& place) {
    const auto no = [&](const std::string& reason, const std::string& hint = "") {
        throw PlanError(place, reason, hint);
    };
    if (content.mesh) no("a mesh is not written through PnetCDF", "use hdf5, mpiio, posix or stdio");
    std::int64_t variables = content.fit ? content.fit->datasets : 0;
    for (const Array& array : content.arrays) {
        variables += array.datasets;
        if (array.multi) no("only HDF5 has one call for several datasets", "leave out `multi` or use hdf5");
        if (array.unlimited > 0)
            no("a PnetCDF variable grows in its first dimension", "leave out `unlimited` or use hdf5");
        for (const Access& access : array.access) {
            for (const Slab& slab : access.slabs) {
                if (slab.elements() * array.element > INT_MAX)
                    no("PnetCDF moves less than 2 GiB in one operation", "use more and smaller slabs");
            }
        }
    }
    for (const Stream& stream : content.streams) {
        if (stream.pieces > most_pieces) no("PnetCDF takes at most 1048576 pieces", "lower pieces");
        for (const Entry& entry : stream.entries) {
            if (entry.size > INT_MAX)
                no("PnetCDF moves less than 2 GiB in one operation", "use more and smaller ones");
        }
    }
    if (variables > static_cast<std::int64_t>(limits::variables)) {
        no(fmt::format("{} variables are more than the {} of a PnetCDF file", variables, limits::variables),
           "lower datasets");
    }
}

}  // namespace

extern const Traits pnetcdf_traits;
const Traits pnetcdf_traits{.name = "pnetcdf",
                            .help = "variables through PnetCDF",
                            .library = "PnetCDF",
                            .extension = "nc",
                            .level = Level::pnetcdf,
                            .collective_files = true,
                            .whole_pieces = true,
                            .over_mpiio = true,
                            .plain_bytes = false,
                            .most_bytes = INT_MAX,
                            .refuse = refuse};

}  // namespace wa
