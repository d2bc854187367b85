#include "backends/traits.hpp"

namespace wa {

extern const Traits posix_traits;
const Traits posix_traits{.name = "posix",
                          .help = "open, pwrite, pread, fsync, close",
                          .level = Level::posix,
                          .direct = true,
                          .buffered = true,
                          .maps = true};

}  // namespace wa
