// The operations of one rank on one table of a mesh: each part is a piece of the table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "expand/operation.hpp"
#include "expand/place.hpp"
#include "mesh/layout.hpp"

namespace wa {

/// The share that one rank has in the parts of its file.
struct MeshShare {
    std::shared_ptr<const MeshLayout> layout;  // of the file
    PartRange own;                             // among the parts of the file
    std::int64_t most = 0;                     // the most parts of any rank of the file
};

/// `bytes` is what a library was given for this file, if it differs from the plan.
[[nodiscard]] MeshShare mesh_share(const Mesh& mesh, const Place& place, std::optional<std::int64_t> bytes);
/// The number of operations of a rank on all tables.
[[nodiscard]] std::int64_t mesh_count(const MeshShare& share);
/// The bytes of the file at `place`, as planned.
[[nodiscard]] std::int64_t mesh_bytes_of_file(const Mesh& mesh, const Place& place);

class MeshOperations {
  public:
    /// `base` is where the table starts in a linear file.
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
