// What stands in a mesh's tables: coordinates, numbers of nodes and cells, materials, and fields like those
// of a simulation (constant, noisy, smooth, layered), different in every part and dump. Pure: the same place
// always has the same value, so that a reader can check it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "expand/mesh.hpp"
#include "mesh/layout.hpp"

namespace wa {

/// The values of a part in a table, elements(table, part) of them in the table's type. `dump` moves the
/// fields on.
void fill_part(const MeshLayout& layout, const MeshTable& table, std::int64_t part, std::int64_t dump,
               std::byte* out);

/// The name of a table: MACSio's names of variables, eight in turn
/// (docs/reference/macsio-model.md#sizes), and words for the mesh.
[[nodiscard]] std::string name_of(const MeshTable& table);

/// The values of a rank's parts in one table, made before they are written or compared.
class MeshBuffer {
  public:
    void begin(const MeshShare& share, std::size_t table, std::int64_t dump);
    /// Contiguous, until the next call.
    [[nodiscard]] const std::byte* part(std::int64_t number);

  private:
    [[nodiscard]] std::int64_t bytes(std::int64_t part) const;
    MeshShare share_;
    std::size_t table_ = 0;
    std::int64_t dump_ = 0;
    std::int64_t held_first_ = 0;  // parts that are in the buffer
    std::int64_t held_end_ = 0;
    std::vector<std::byte> values_;
};

}  // namespace wa
