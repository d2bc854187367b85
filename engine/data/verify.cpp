#include "data/verify.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstring>

namespace wa {
namespace {

constexpr std::int64_t chunk = std::int64_t{1} << 20;

}  // namespace

void VerifyResult::merge(const VerifyResult& other) {
    bytes += other.bytes;
    errors += other.errors;
    if (!first) first = other.first;
}

ByteVerifier::ByteVerifier(const std::string& path, std::int64_t dump, const Arena& arena, std::int64_t phase)
    : name_(path.substr(path.rfind('/') + 1)),
      dump_(dump),
      arena_(arena),
      phase_(phase),
      fd_(posix::open(path, O_RDONLY)),
      buffer_(std::make_unique<std::byte[]>(chunk)) {}

void ByteVerifier::check(const Operation& operation, VerifyResult& result) {
    const std::int64_t piece = operation.size / operation.pieces;
    for (std::int64_t i = 0; i < operation.pieces; ++i) {
        check_range(operation.offset + i * operation.piece_stride, piece, operation.offset + i * piece,
                    result);
    }
}

void ByteVerifier::check_range(std::int64_t offset, std::int64_t size, std::int64_t place,
                               VerifyResult& result) {
    for (std::int64_t done = 0; done < size;) {
        const std::int64_t part = std::min(chunk, size - done);
        const std::byte* expected = arena_.at(phase_, place + done);
        const std::int64_t got = posix::read_at(fd_.get(), buffer_.get(), part, offset + done);
        if (got < part || std::memcmp(buffer_.get(), expected, static_cast<std::size_t>(part)) != 0) {
            for (std::int64_t i = 0; i < part; ++i) {
                if (i < got && buffer_[static_cast<std::size_t>(i)] == expected[i]) continue;
                ++result.errors;
                if (result.first) continue;
                const int found = i < got ? std::to_integer<int>(buffer_[static_cast<std::size_t>(i)]) : -1;
                result.first =
                    Mismatch{name_, dump_, offset + done + i, std::to_integer<int>(expected[i]), found};
            }
        }
        result.bytes += part;
        done += part;
    }
}

VerifyResult verify_dump(const FileContext& context, DumpOperations& operations,
                         const std::function<void()>& look) {
    VerifyResult result;
    ByteVerifier verifier(context.path, static_cast<std::int64_t>(context.position), context.buffers->arena,
                          context.phase);
    Section section;
    Operation operation;
    while (operations.next_section(section)) {
        while (operations.next(operation)) {
            if (operation.joins || operation.direction != Direction::write) continue;
            verifier.check(operation, result);
            look();
        }
    }
    return result;
}

}  // namespace wa
