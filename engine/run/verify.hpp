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

/// Compares ranges of the bytes of a file.
class ByteVerifier {
  public:
    ByteVerifier(const std::string& path, std::int64_t dump, const Arena& arena, std::int64_t phase);
    /// Checks that the `size` bytes at `offset` are those that belong at `place`. The two differ only for the
    /// pieces of one call.
    void check(std::int64_t offset, std::int64_t size, std::int64_t place, VerifyResult& result);

  private:
    std::string name_;
    std::int64_t dump_;
    const Arena& arena_;
    std::int64_t phase_;
    posix::Fd fd_;
    std::unique_ptr<std::byte[]> buffer_;
};

/// Visits a range of bytes that an operation moved, with the place from which its payload was taken.
using RangeVisitor = std::function<void(std::int64_t offset, std::int64_t size, std::int64_t place)>;
/// Visits what a rank moves in one direction in a dump. With `together`, the pieces of a call share a piece
/// of memory.
void visit_moved(DumpOperations& operations, Direction direction, bool together, const RangeVisitor& visit);

/// Reads back what a rank has written in a dump, or what was prepared for it to read (`direction`). Plain
/// bytes are read directly, others through `file`. If `file` is null it is opened, which is collective.
/// `poll` is called repeatedly.
[[nodiscard]] VerifyResult verify_dump(FileContext context, const Performer& performer, OpenFile* file,
                                       DumpOperations& operations, Direction direction,
                                       const std::function<void()>& poll);

}  // namespace wa
