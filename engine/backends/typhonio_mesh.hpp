// The terms of TyphonIO for a mesh: its description, its chunks and the names of its objects.
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
/// The ghosts of a quant or material on this mesh.
[[nodiscard]] std::uint64_t ghosts_of(const Mesh& mesh);

inline constexpr const char* mesh_name = "mesh";
inline constexpr const char* material_name = "material";
/// The name of a dump's state. If ranks take turns, each has a state of its own.
[[nodiscard]] std::string state_name(const FileContext& context);
/// The path of a table's dataset below its state; axes have three tables.
[[nodiscard]] std::string dataset_path(const MeshTable& table, int axis);

/// The parts that a rank writes as one mesh: those of the file, or its own if ranks take turns.
[[nodiscard]] MeshShare share_of_state(const FileContext& context);

}  // namespace wa
