#include "backends/traits.hpp"

namespace wa {

extern const Traits stdio_traits;
const Traits stdio_traits{.name = "stdio",
                          .help = "fopen, fseek, fwrite, fread, fflush, fclose",
                          .level = Level::stdio,
                          .positioned = true,
                          .maps = true};

}  // namespace wa
