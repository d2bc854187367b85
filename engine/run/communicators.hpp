// Communicators of the ranks that share a file. Each way of sharing has its own, made before the run.
#pragma once

#include <mpi.h>

#include <map>
#include <vector>

#include "plan/plan.hpp"
#include "sharing/layout.hpp"

namespace wa {

class Communicators {
  public:
    Communicators() = default;
    /// Collective; must precede add().
    void start();
    ~Communicators();
    Communicators(const Communicators&) = delete;
    Communicators& operator=(const Communicators&) = delete;
    Communicators(Communicators&&) = delete;
    Communicators& operator=(Communicators&&) = delete;

    /// Collective over all processes; process r is plan rank r.
    void add(const Family& family, const Layout& layout);

    /// The ranks that share this rank's file. With `shifted`, the ranks that read the same neighbour's file.
    [[nodiscard]] MPI_Comm file(const Family& family, bool shifted) const;
    /// All processes, for data that is gathered at a root.
    [[nodiscard]] MPI_Comm everyone() const { return everyone_; }
    /// All members of the family.
    [[nodiscard]] MPI_Comm members(const Family& family) const;

  private:
    struct Key {
        std::vector<RankSpan> ranks;
        std::int64_t files = 1;
        std::int64_t shift = 0;
        bool operator<(const Key& other) const;
    };
    [[nodiscard]] MPI_Comm make(const Layout& layout, std::int64_t files, std::int64_t shift);
    struct FamilyCommunicators {
        MPI_Comm file = MPI_COMM_NULL;
        MPI_Comm shifted = MPI_COMM_NULL;
        MPI_Comm members = MPI_COMM_NULL;
    };

    MPI_Comm everyone_ = MPI_COMM_NULL;
    std::map<Key, MPI_Comm> made_;
    std::map<std::int64_t, FamilyCommunicators> families_;  // by family id
};

}  // namespace wa
