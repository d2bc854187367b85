// Which file system a file lies on.
#pragma once

#include <string>

namespace wa {

/// The type of the file system at a path, such as `ext4`; `unknown` if it cannot be asked.
[[nodiscard]] std::string file_system_of(const std::string& path);

}  // namespace wa
