#include "backends/traits.hpp"

namespace wa {

extern const Traits record_traits;
const Traits record_traits{.name = "record",
                           .help = "writes the operations as text to --operations",
                           .performs = false,
                           .writes_operations = true};

}  // namespace wa
