// An open TyphonIO file: how the mesh of a dump becomes a state with a mesh, a material and quants.
#pragma once

#include <memory>
#include <string>

#include "backends/backend.hpp"
#include "mesh/values.hpp"
#include "typhonio/file.hpp"

namespace wa {

/// Reads tables of a mesh from a file that this process has opened for reading or for writing.
class TyphonioReader {
  public:
    void begin(const h5::Shared& root, const FileContext& context, const MeshShare& share);
    /// Returns the number of bytes read into `out`.
    std::int64_t read(const Operation& operation, std::size_t table, std::byte* out);
    void verify(const Operation& operation, std::size_t table, VerifyResult& result);

  private:
    /// Where elements of a part are stored. For a material, mixed cells have a run of their own.
    struct Run {
        std::int64_t first = 0;
        std::int64_t count = 0;
        std::int64_t from = 0;  // first element within the values of the part
    };
    [[nodiscard]] std::vector<Run> runs_of(const MeshTable& table, std::int64_t part) const;
    [[nodiscard]] h5::Shared dataset_of(const MeshTable& table, int axis) const;

    const h5::Shared* root_ = nullptr;
    FileContext context_;
    const MeshShare* share_ = nullptr;
    MeshBuffer expected_;
};

/// A file for writing.
class TyphonioFile final : public OpenFile {
  public:
    explicit TyphonioFile(const FileContext& context);

    void begin_dump(const FileContext& context) override;
    void end_dump() override;
    void begin_section(const Section& section) override;
    void end_section() override;
    void make_data(const Operation& operation) override;
    std::int64_t transfer(const Operation& operation) override;
    void flush() override;
    void sync() override { flush(); }
    void close() override;
    void verify(const Operation& operation, VerifyResult& result) override;

  private:
    void create_mesh();
    void close_state();
    void write_globals();
    void write_axes(const std::byte* values);
    void write_material(const Operation& operation, std::int64_t chunk, typhonio::Transfer transfer);
    [[nodiscard]] const MeshLayout& layout() const { return *share_.layout; }

    std::unique_ptr<typhonio::File> file_;
    FileContext context_;
    MeshShare share_;  // covers this rank alone if ranks take turns
    std::int64_t first_part_ = 0;
    std::size_t table_ = 0;
    typhonio::State* state_ = nullptr;
    typhonio::Mesh* mesh_ = nullptr;
    typhonio::Quant* quant_ = nullptr;
    typhonio::Material* material_ = nullptr;
    MeshBuffer values_;
    std::array<MeshBuffer, 3> mixed_;  // components, first component of each mixed cell, fractions
    TyphonioReader reader_;
};

/// A file for reading.
class TyphonioInput final : public OpenFile {
  public:
    explicit TyphonioInput(const FileContext& context);

    void begin_dump(const FileContext& context) override;
    void begin_section(const Section& section) override { table_ = section.part; }
    std::int64_t transfer(const Operation& operation) override;
    void close() override { file_.close(); }
    void verify(const Operation& operation, VerifyResult& result) override;

  private:
    h5::Shared file_;
    FileContext context_;
    MeshShare share_;
    std::int64_t first_part_ = 0;
    std::size_t table_ = 0;
    TyphonioReader reader_;
};

/// Whether the file exists. One rank looks and all use its answer, so that all act alike.
[[nodiscard]] bool file_exists(const FileContext& context);

}  // namespace wa
