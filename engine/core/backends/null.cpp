#include "backends/traits.hpp"

namespace wa {

extern const Traits null_traits;
const Traits null_traits{.name = "null", .help = "counts operations, touches nothing", .performs = false};

}  // namespace wa
