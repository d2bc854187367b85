// The operations of one table of a mesh on one rank: a part is a piece of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "expand/operation.hpp"
#include "expand/place.hpp"
#include "mesh/layout.hpp"

namespace wa {

/// What one rank has of the parts of its file.
struct MeshShare {
    std::shared_ptr<const MeshLayout> layout;  // of the file
    PartRange own;                             // numbers among those of the file
    std::int64_t most = 0;                     // parts of any rank of the file
};

/// `bytes`: what a library was given for this file, where that differs from the plan.
[[nodiscard]] MeshShare mesh_share(const Mesh& mesh, const Place& place, std::optional<std::int64_t> bytes);
/// Operations of a rank on all tables.
[[nodiscard]] std::int64_t mesh_count(const MeshShare& share);
/// Bytes of the file at `place`, as the plan has them.
[[nodiscard]] std::int64_t mesh_bytes_of_file(const Mesh& mesh, const Place& place);

class MeshOperations {
  public:
    /// `base`: where the table starts in a linear file.
    MeshOperations(const MeshShare& share, std::size_t table, std::int64_t base, bool joins);
    bool next(Operation& operation);

  private:
    const MeshShare& share_;
    const MeshTable& table_;
    std::int64_t base_;
    bool collective_;
    std::int64_t done_ = 0;
    std::int64_t joins_left_ = 0;
};

}  // namespace wa
