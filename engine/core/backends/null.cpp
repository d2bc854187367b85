#include "backends/traits.hpp"

namespace wa {

extern const Traits null_traits;
const Traits null_traits{.name = "null", .help = "counts operations and touches no file", .performs = false};

}  // namespace wa
