// What of a backend decides the number of operations. null and record take it from the backend they stand
// for.
#pragma once

#include "plan/model.hpp"

namespace wa {

struct Behaviour {
    /// Files are opened, synced and closed by all of their members together.
    bool collective_files = false;
    /// There is a file position: an operation elsewhere needs a seek first.
    bool positioned = false;
};

[[nodiscard]] constexpr Behaviour behaviour_of(BackendKind kind) {
    switch (kind) {
        case BackendKind::mpiio:
        case BackendKind::hdf5:
        case BackendKind::typhonio:
        case BackendKind::pnetcdf:
        case BackendKind::adios2:
            return {true, false};
        case BackendKind::stdio:
            return {false, true};
        default:
            return {false, false};
    }
}

/// The backend that a family's operations are counted for when `performer` performs them.
[[nodiscard]] constexpr BackendKind counted_as(const Family& family, BackendKind performer) {
    const auto counts = [](BackendKind kind) {
        return kind == BackendKind::null || kind == BackendKind::record;
    };
    if (!counts(performer)) return performer;
    if (!counts(family.backend)) return family.backend;
    switch (family.level) {
        case Level::posix:
            return BackendKind::posix;
        case Level::stdio:
            return BackendKind::stdio;
        case Level::h5d:
            return BackendKind::hdf5;
        case Level::pnetcdf:
            return BackendKind::pnetcdf;
        default:
            return BackendKind::mpiio;
    }
}

}  // namespace wa
