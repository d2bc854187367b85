// A piece of memory mapped repeatedly, so that an operation of any size has a single pointer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wa {

class Ring {
  public:
    Ring() = default;
    /// Maps `period` bytes (whole pages) repeatedly until `reach` bytes can be addressed. Raises UsageError.
    Ring(std::int64_t period, std::int64_t reach);
    ~Ring();
    Ring(Ring&& other) noexcept;
    Ring& operator=(Ring&& other) noexcept;
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::int64_t size() const { return size_; }

  private:
    std::byte* data_ = nullptr;
    std::int64_t size_ = 0;
};

}  // namespace wa
