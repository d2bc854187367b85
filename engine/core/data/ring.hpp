// A piece of memory mapped repeatedly, so that an operation of any size has a single pointer.
//
// It lies as an application's large arrays do: malloc puts its own 16 bytes before them.
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

    /// Where memory of malloc begins, in bytes after a page boundary.
    static constexpr std::int64_t lead = 16;

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::int64_t size() const { return size_; }

  private:
    void unmap();

    std::byte* data_ = nullptr;  // `lead` bytes after the start of the mapping
    std::int64_t size_ = 0;
};

}  // namespace wa
