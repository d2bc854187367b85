// A mesh with its arrays, its quants and at most one material. Source: docs/reference/typhonio-format.md#mesh
// to #material; docs/reference/typhonio-calls.md#calls.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "typhonio/chunks.hpp"
#include "typhonio/node.hpp"

namespace wa::typhonio {

class Mesh;

/// A dataset with a block for each chunk. With mixed elements there are two blocks; the mixed blocks of all
/// chunks are at the end.
class ChunkedArray {
  public:
    ChunkedArray(std::string name, Datatype type, Block block, bool mixed = false)
        : name_(std::move(name)), type_(type), block_(block), mixed_(mixed) {}

    /// Collective; a dataset without elements is not created.
    void create(const Storage& storage, const h5::Shared& parent, Layout& layout);
    /// With null data this rank joins a collective transfer without elements. The pattern optimised gathers
    /// the blocks of small arrays first.
    void write(const Storage& storage, Layout& layout, std::int64_t chunk, Transfer transfer,
               const void* data, const void* mixed) const;
    void read(const Storage& storage, Layout& layout, std::int64_t chunk, Transfer transfer, void* data,
              void* mixed) const;
    void close() { dataset_.close(); }

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] Datatype type() const { return type_; }
    [[nodiscard]] const Block& block() const { return block_; }
    [[nodiscard]] bool mixed() const { return mixed_; }

  private:
    /// The selections in memory and file for the data of a call.
    [[nodiscard]] std::pair<h5::Local, h5::Local> selected(const Span& span, bool takes_part) const;
    void write_block(const Storage& storage, const Span& span, Transfer transfer, const void* data) const;
    /// Collective: rank 0 writes the blocks of all ranks, adjacent ones in one piece.
    void write_gathered(const Storage& storage, const Span& span, const void* data) const;

    std::string name_;
    Datatype type_;
    Block block_;
    bool mixed_;
    h5::Shared dataset_;
    std::int64_t elements_ = 0;  // of the dataset
};

/// A field on a mesh.
class Quant final : public Node {
  public:
    /// Data of one chunk, ghosts included, the first dimension fastest, in the quant's own type. In
    /// collective transfers all ranks call; those without a chunk pass null data.
    void write(std::int64_t chunk, Transfer transfer, const void* data, const void* mixed = nullptr);
    void read(std::int64_t chunk, Transfer transfer, void* data, void* mixed = nullptr);
    /// The smallest and largest value, each an element of the quant's type; 999 and 666 if never set.
    void set_range(const void* least, const void* most);
    [[nodiscard]] std::int64_t elements(std::int64_t chunk);
    [[nodiscard]] Datatype type() const { return array_.type(); }

  private:
    friend class Mesh;
    Quant(const Storage& storage, h5::Shared group, Mesh& mesh, ChunkedArray array);
    void finish() override;
    void create_array();

    Mesh* mesh_;
    ChunkedArray array_;
    std::vector<std::byte> least_;
    std::vector<std::byte> most_;
};

struct MaterialDescription {
    Datatype type = Datatype::int_;
    std::int64_t materials = 1;
    std::uint64_t ghosts = 0;
    bool mixed = false;
    Datatype count_type = Datatype::int_;    // number of components of a mixed cell
    Datatype pointer_type = Datatype::int_;  // of the first component of each mixed cell
    Datatype fraction_type = Datatype::double_;
};

/// The data of one chunk. Mixed members are null for a clean material.
struct MaterialData {
    const void* cells = nullptr;  // the material of each cell; negative: a mixed cell, counted from -1
    const void* mixed = nullptr;  // the material of each component
    const void* counts = nullptr;
    const void* pointers = nullptr;  // counted from 1
    const void* fractions = nullptr;
};

class Material final : public Node {
  public:
    void write(std::int64_t chunk, Transfer transfer, const MaterialData& data);
    /// The numbers (in the material's type) and names of all materials. If never set, they are 1, 2, ... and
    /// material1, ...
    void set_materials(const void* numbers, const std::vector<std::string>& names);

  private:
    friend class Mesh;
    Material(const Storage& storage, h5::Shared group, Mesh& mesh, MaterialDescription description);
    void finish() override;
    void create_arrays();

    Mesh* mesh_;
    MaterialDescription description_;
    std::vector<ChunkedArray> arrays_;
    std::vector<std::byte> numbers_;
    std::vector<std::string> names_of_;
};

enum class MeshArray { i, j, k, node_ids, cell_ids, shapes, cells_per_shape, connectivity };

class Mesh final : public Node {
  public:
    /// Makes the arrays. Collective; must be called once, before anything is written.
    void set_chunks(Chunks chunks);
    [[nodiscard]] const MeshDescription& description() const { return description_; }
    [[nodiscard]] Layout& layout() { return *layout_; }

    /// The arrays of this mesh, in the order in which the library writes them.
    [[nodiscard]] std::vector<MeshArray> arrays() const;
    [[nodiscard]] std::int64_t elements(MeshArray array, std::int64_t chunk);
    [[nodiscard]] Datatype type_of(MeshArray array) const;
    /// Coordinates, graph or shapes of one chunk; null data joins a collective transfer.
    void write(MeshArray array, std::int64_t chunk, Transfer transfer, const void* data);
    void read(MeshArray array, std::int64_t chunk, Transfer transfer, void* data);
    /// For a colinear mesh, which has no blocks: a single rank writes a whole axis.
    void write_axis(MeshArray array, const void* data);
    /// The first and last value in each dimension, in the type of the coordinates.
    void set_range(const void* bounds);

    Quant& create_quant(const std::string& name, Datatype type, Centring centring, std::uint64_t ghosts,
                        bool mixed, const std::string& units);
    Material& create_material(const std::string& name, const MaterialDescription& description);

  private:
    friend class State;
    friend class Quant;
    friend class Material;
    Mesh(const Storage& storage, h5::Shared group, MeshDescription description);
    void finish() override;
    void close_children() override;
    void flush_children() override;
    std::vector<Table*> class_tables() override { return {&material_names_, &quant_names_}; }
    void create_arrays();
    Layout& chunks_of(const char* operation);
    ChunkedArray& array_of(const char* operation, MeshArray array);

    MeshDescription description_;
    std::optional<Layout> layout_;
    std::vector<std::pair<MeshArray, ChunkedArray>> arrays_;
    std::array<h5::Shared, 3> axes_;
    std::vector<std::byte> range_;
    std::unique_ptr<Material> material_;
    std::optional<MaterialDescription> material_description_;
    std::vector<std::unique_ptr<Quant>> quants_;
    Table material_names_{"TIO_MATERIAL_REF", Datatype::string};
    Table quant_names_{"TIO_QUANT_REF", Datatype::string};
};

}  // namespace wa::typhonio
