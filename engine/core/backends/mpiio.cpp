#include "backends/traits.hpp"
#include "errors.hpp"
#include "expand/dump.hpp"

namespace wa {
namespace {

void refuse(const Family& /*family*/, const Layout& /*layout*/, const Content& content,
            const std::string& place) {
    if (!moves(content, Direction::write) && (content.flushes > 0 || content.fsyncs > 0))
        throw PlanError(place, "MPI syncs no file that is only read", "leave out `flushes` and `fsyncs`");
}

}  // namespace

extern const Traits mpiio_traits;
const Traits mpiio_traits{.name = "mpiio",
                          .help = "MPI-IO with explicit offsets, collective or independent",
                          .level = Level::mpiio,
                          .collective_files = true,
                          .lone_opens = true,
                          .whole_pieces = true,
                          .over_mpiio = true,
                          .refuse = refuse};

}  // namespace wa
