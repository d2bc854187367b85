#include "run/verify.hpp"

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

void VerifyResult::compare(const std::byte* found, const std::byte* expected, std::int64_t size,
                           std::int64_t got, const Mismatch& place) {
    bytes += size;
    if (got >= size && std::memcmp(found, expected, static_cast<std::size_t>(size)) == 0) return;
    for (std::int64_t i = 0; i < size; ++i) {
        if (i < got && found[i] == expected[i]) continue;
        ++errors;
        if (first) continue;
        first = place;
        first->offset += i;
        first->expected = std::to_integer<int>(expected[i]);
        first->found = i < got ? std::to_integer<int>(found[i]) : -1;
    }
}

ByteVerifier::ByteVerifier(const std::string& path, std::int64_t dump, const Arena& arena, std::int64_t phase)
    : name_(path.substr(path.rfind('/') + 1)),
      dump_(dump),
      arena_(arena),
      phase_(phase),
      fd_(posix::open(path, O_RDONLY)),
      buffer_(std::make_unique<std::byte[]>(chunk)) {}

void ByteVerifier::check(std::int64_t offset, std::int64_t size, std::int64_t place, VerifyResult& result) {
    for (std::int64_t done = 0; done < size;) {
        const std::int64_t part = std::min(chunk, size - done);
        const std::byte* expected = arena_.at(phase_, place + done);
        const std::int64_t got = posix::read_at(fd_.get(), buffer_.get(), part, offset + done);
        result.compare(buffer_.get(), expected, part, got, {name_, dump_, offset + done, 0, -1});
        done += part;
    }
}

void visit_moved(DumpOperations& operations, Direction direction, bool together, const RangeVisitor& visit) {
    Section section;
    Operation operation;
    while (operations.next_section(section)) {
        while (operations.next(operation)) {
            if (operation.joins || operation.direction != direction) continue;
            const std::int64_t piece = operation.size / operation.pieces;
            for (std::int64_t i = 0; i < operation.pieces; ++i) {
                const std::int64_t offset = operation.offset + i * operation.piece_stride;
                const bool one_call = together && operation.slab == nullptr;
                visit(offset, piece, one_call ? operation.offset + i * piece : offset);
            }
        }
    }
}

VerifyResult verify_dump(FileContext context, const Performer& performer, OpenFile* file,
                         DumpOperations& operations, Direction direction, const std::function<void()>& poll) {
    VerifyResult result;
    context.writes = false;
    context.creates = false;
    context.exclusive = false;
    context.reading_back = true;
    context.mesh = operations.mesh();
    if (performer.traits->plain_bytes) {
        if (operations.own_operations() == 0) return result;
        ByteVerifier verifier(context.path, static_cast<std::int64_t>(context.position),
                              context.buffers->arena, context.phase);
        const bool together = performer.traits->whole_pieces && direction == Direction::write;
        visit_moved(operations, direction, together,
                    [&](std::int64_t offset, std::int64_t size, std::int64_t place) {
                        verifier.check(offset, size, place, result);
                        poll();
                    });
        return result;
    }
    std::unique_ptr<OpenFile> opened;
    if (file == nullptr) {
        opened = performer.backend->open(context);
        file = opened.get();
    }
    file->begin_dump(context);
    Section section;
    Operation operation;
    while (operations.next_section(section)) {
        file->begin_section(section);
        while (operations.next(operation)) {
            if (operation.direction == direction) file->verify(operation, result);
            poll();
        }
        file->end_section();
    }
    if (opened) opened->close();
    return result;
}

}  // namespace wa
