// The words of TyphonIO for a mesh: its description, its chunks, the names of what it holds.
#pragma once

#include <string>

#include "backends/backend.hpp"
#include "mesh/layout.hpp"
#include "typhonio/file.hpp"

namespace wa {

[[nodiscard]] typhonio::MeshDescription describe(const MeshLayout& layout);
[[nodiscard]] typhonio::Chunks chunks_of(const MeshLayout& layout);
[[nodiscard]] typhonio::Datatype datatype_of(ValueType type);
[[nodiscard]] typhonio::Centring centring_of(Centring centring);
/// Ghosts of a quant or material on this mesh.
[[nodiscard]] std::uint64_t ghosts_of(const Mesh& mesh);

inline constexpr const char* mesh_name = "mesh";
inline constexpr const char* material_name = "material";
/// The state of a dump; where ranks take turns each has a state of its own.
[[nodiscard]] std::string state_name(const FileContext& context);
/// The dataset of a table below its state; axes are three tables.
[[nodiscard]] std::string dataset_path(const MeshTable& table, int axis);

/// The parts that a rank writes as one mesh: those of the file, or its own where ranks take turns.
[[nodiscard]] MeshShare share_of_state(const FileContext& context);

}  // namespace wa
