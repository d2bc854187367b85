// Sharing mode root with gather: the data of all ranks is sent over MPI to the root that writes, or from the
// root that reads.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "expand/operation.hpp"
#include "run/setup.hpp"

namespace wa {

/// All ranks have equal shares of the bytes of a dump, in rank order, which are sent in pieces of limited
/// size. The sent data itself is not used: what is written is the root's own payload, which is the same on
/// all ranks.
class Gather {
  public:
    Gather(const Setup& setup, std::size_t dump, MPI_Comm comm);
    /// The part of every rank but the root in the dump.
    void serve_root();
    /// For the root: before it writes, or after it has read, the next `bytes`.
    void advance(std::int64_t bytes);
    [[nodiscard]] Direction direction() const { return direction_; }

  private:
    [[nodiscard]] std::int64_t piece_at(std::int64_t position, std::int64_t end) const;
    void move(std::int64_t size, int peer, bool out);

    MPI_Comm comm_;
    int root_ = 0;
    Direction direction_ = Direction::write;
    std::int64_t total_ = 0;
    std::int64_t ranks_ = 1;
    std::int64_t reached_ = 0;  // bytes that operations have covered so far
    std::int64_t moved_ = 0;
    std::vector<std::byte> buffer_;
};

}  // namespace wa
