// The values in the tables of a mesh: coordinates, numbers of nodes and cells, materials, and fields like
// those of a simulation. A place always has the same value, so a reader can check it.
//
// Values are made once, so that a mesh takes no more of a replica's time than any other payload. The mesh
// itself does not change from dump to dump: it is made at its first dump and kept, up to a limit of memory.
// Fields do change: each kind is made for a ring of memory, and a part of a dump begins somewhere in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "data/ring.hpp"
#include "mesh/layout.hpp"

namespace wa {

/// The name of a table: eight alternating names of variables from MACSio
/// (docs/reference/macsio-model.md#sizes), and fixed names for the mesh itself.
[[nodiscard]] std::string name_of(const MeshTable& table);

/// The values of the meshes of a process.
class MeshValues {
  public:
    /// Makes a field for parts of so many bytes. Raises UsageError if there is no memory.
    void prepare(const MeshTable& table, std::int64_t bytes);
    /// The elements(table, part) values of a part in a dump, in the type of the table, contiguous. The mesh
    /// of the layout must be one of the plan, whose place in memory is its name.
    [[nodiscard]] std::shared_ptr<const std::byte> part(const MeshLayout& layout, const MeshTable& table,
                                                        std::int64_t part, std::int64_t dump);

  private:
    using Bytes = std::vector<std::byte>;
    /// A mesh and its nodes and parts, before they are rounded to whole rows.
    using MeshKey = std::tuple<const Mesh*, std::int64_t, std::int64_t>;
    using Key = std::tuple<MeshKey, TableKind, std::int64_t>;
    [[nodiscard]] bool room_for(std::int64_t bytes, const MeshKey& mesh);
    [[nodiscard]] const std::shared_ptr<const Ring>& field(const MeshTable& table, std::int64_t bytes);
    /// By kind, type and period.
    std::map<std::tuple<std::int64_t, ValueType, std::int64_t>, std::shared_ptr<const Ring>> fields_;
    std::map<Key, std::shared_ptr<const Bytes>> kept_;
    std::int64_t kept_bytes_ = 0;
};

/// The values of a rank's parts in one table, as they are written or compared.
class MeshBuffer {
  public:
    void begin(MeshValues& values, std::shared_ptr<const MeshLayout> layout, std::size_t table,
               std::int64_t dump);
    /// The values of a part, contiguous; valid until the next call.
    [[nodiscard]] const std::byte* part(std::int64_t number);

  private:
    MeshValues* values_ = nullptr;
    std::shared_ptr<const MeshLayout> layout_;
    std::size_t table_ = 0;
    std::int64_t dump_ = 0;
    std::int64_t number_ = -1;  // of the part that is held
    std::shared_ptr<const std::byte> held_;
};

}  // namespace wa
