#include "run/gather.hpp"

#include <algorithm>

#include "expand/dump.hpp"
#include "expand/split.hpp"
#include "io/mpi.hpp"
#include "plan/operation_table.hpp"

namespace wa {
namespace {

constexpr std::int64_t piece = std::int64_t{1} << 20;

/// The bytes that a content moves in one direction, over all ranks.
std::int64_t bytes_of(const Content& content, Direction direction) {
    std::int64_t bytes = 0;
    for (const Stream& stream : content.streams) {
        if (stream.rows) {
            bytes += stream.rows->bytes();
        } else if (stream.direction == direction) {
            for (const Entry& entry : stream.entries) bytes += entry.operations * entry.size;
        }
    }
    for (const Array& array : content.arrays) {
        for (const Access& access : array.access) {
            if (access.direction != direction) continue;
            for (const Slab& slab : access.slabs) bytes += slab.operations * slab.elements() * array.element;
        }
    }
    if (content.fit && direction == Direction::write) bytes += content.fit->bytes;
    if (content.mesh && direction == content.mesh->direction) {
        const Mesh& mesh = *content.mesh;
        bytes += MeshLayout(mesh, planned_parts(mesh, {0, mesh.parts})).bytes();
    }
    return bytes;
}

}  // namespace

Gather::Gather(const Setup& setup, std::size_t dump, MPI_Comm comm)
    : comm_(comm),
      root_(static_cast<int>(setup.layout(dump).members().at(0))),
      direction_(moves(setup.content(dump), Direction::write) ? Direction::write : Direction::read),
      total_(bytes_of(setup.content(dump), direction_)),
      ranks_(setup.plan.ranks),
      buffer_(piece) {}

/// A piece ends at the end of a rank's share or of a whole piece, identically on both sides.
std::int64_t Gather::piece_at(std::int64_t position, std::int64_t end) const {
    return std::min(piece, end - position);
}

void Gather::move(std::int64_t size, int peer, bool out) {
    const int count = static_cast<int>(size);
    mpi::check(out ? MPI_Send(buffer_.data(), count, MPI_BYTE, peer, 0, comm_)
                   : MPI_Recv(buffer_.data(), count, MPI_BYTE, peer, 0, comm_, MPI_STATUS_IGNORE),
               out ? "MPI_Send" : "MPI_Recv");
}

void Gather::serve_root() {
    const std::int64_t self = mpi::rank(comm_);
    std::int64_t at = shares_before(total_, ranks_, self);
    const std::int64_t end = at + share_of(total_, ranks_, self);
    while (at < end) {
        const std::int64_t size = piece_at(at, end);
        move(size, root_, direction_ == Direction::write);
        at += size;
    }
}

void Gather::advance(std::int64_t bytes) {
    reached_ = std::min(reached_ + bytes, total_);
    const bool last = reached_ == total_;
    const std::int64_t small = total_ / ranks_;
    const std::int64_t in_larger = (total_ % ranks_) * (small + 1);
    while (moved_ < total_) {
        const std::int64_t owner =
            moved_ < in_larger ? moved_ / (small + 1)
                               : total_ % ranks_ + (moved_ - in_larger) / std::max<std::int64_t>(small, 1);
        const std::int64_t size = piece_at(moved_, shares_before(total_, ranks_, owner + 1));
        // Data must arrive before it is written, and is sent on when it has been read.
        if (direction_ == Direction::write ? moved_ >= reached_ : moved_ + size > reached_ && !last) return;
        if (owner != root_) move(size, static_cast<int>(owner), direction_ == Direction::read);
        moved_ += size;
    }
}

}  // namespace wa
