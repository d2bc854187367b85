// Reads data back and compares it with what the plan says was written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backends/backend.hpp"
#include "expand/dump.hpp"
#include "io/posix.hpp"
#include "run/setup.hpp"

namespace wa {

/// Compares ranges of one file's bytes.
class ByteVerifier {
  public:
    ByteVerifier(const std::string& path, std::int64_t dump, const Arena& arena, std::int64_t phase);
    /// `size` bytes at `offset` must be what belongs at `place` (the same, but for pieces of one call).
    void check(std::int64_t offset, std::int64_t size, std::int64_t place, VerifyResult& result);

  private:
    std::string name_;
    std::int64_t dump_;
    const Arena& arena_;
    std::int64_t phase_;
    posix::Fd fd_;
    std::unique_ptr<std::byte[]> buffer_;
};

/// A run of bytes that an operation moved, and the place that its payload was taken for.
using RangeVisitor = std::function<void(std::int64_t offset, std::int64_t size, std::int64_t place)>;
/// Visits what a rank moves in one direction in a dump. `together`: pieces are one call with one piece of
/// memory.
void visit_moved(DumpOperations& operations, Direction direction, bool together, const RangeVisitor& visit);

/// Reads back what a rank has written in a dump, or what had been prepared for it to read (`direction`):
/// plain bytes by themselves, others through `file` (which is opened when it is null; collective then).
/// `look` is called now and then.
[[nodiscard]] VerifyResult verify_dump(FileContext context, const Performer& performer, OpenFile* file,
                                       DumpOperations& operations, Direction direction,
                                       const std::function<void()>& look);

}  // namespace wa
