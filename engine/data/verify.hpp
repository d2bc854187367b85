// Reads data back and compares it with what the plan says was written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backends/backend.hpp"
#include "data/arena.hpp"
#include "expand/dump.hpp"
#include "io/posix.hpp"

namespace wa {

struct Mismatch {
    std::string file;  // its name, without the directory
    std::int64_t dump = 0;
    std::int64_t offset = 0;
    int expected = 0;
    int found = -1;  // -1: the file ends before
};

struct VerifyResult {
    std::int64_t bytes = 0;
    std::int64_t errors = 0;  // wrong bytes
    std::optional<Mismatch> first;
    void merge(const VerifyResult& other);
};

/// Compares ranges of one file's bytes.
class ByteVerifier {
  public:
    ByteVerifier(const std::string& path, std::int64_t dump, const Arena& arena, std::int64_t phase);
    /// The bytes of an operation.
    void check(const Operation& operation, VerifyResult& result);
    /// `size` bytes at `offset` must be what belongs at `place` (the same, but for operations of several
    /// pieces).
    void check_range(std::int64_t offset, std::int64_t size, std::int64_t place, VerifyResult& result);

  private:
    std::string name_;
    std::int64_t dump_;
    const Arena& arena_;
    std::int64_t phase_;
    posix::Fd fd_;
    std::unique_ptr<std::byte[]> buffer_;
};

/// Reads back what a rank has written in a dump. `look` is called now and then.
[[nodiscard]] VerifyResult verify_dump(const FileContext& context, DumpOperations& operations,
                                       const std::function<void()>& look);

}  // namespace wa
