// The values in the tables of a mesh: coordinates, numbers of nodes and cells, materials, and fields like
// those of a simulation. They differ between parts and dumps. The functions are pure: a place always has the
// same value, so a reader can check it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "expand/mesh.hpp"
#include "mesh/layout.hpp"

namespace wa {

/// Writes the elements(table, part) values of a part in the type of the table. `dump` moves the fields on in
/// time.
void fill_part(const MeshLayout& layout, const MeshTable& table, std::int64_t part, std::int64_t dump,
               std::byte* out);

/// The name of a table: eight alternating names of variables from MACSio
/// (docs/reference/macsio-model.md#sizes), and fixed names for the mesh itself.
[[nodiscard]] std::string name_of(const MeshTable& table);

/// The values of a rank's parts in one table, made before they are written or compared.
class MeshBuffer {
  public:
    void begin(const MeshShare& share, std::size_t table, std::int64_t dump);
    /// The values of a part, contiguous; valid until the next call.
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
