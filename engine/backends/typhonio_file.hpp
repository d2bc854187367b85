// An open TyphonIO file: how a dump's mesh becomes a state with a mesh, a material and quants.
#pragma once

#include <memory>
#include <string>

#include "backends/backend.hpp"
#include "mesh/values.hpp"
#include "typhonio/file.hpp"

namespace wa {

/// Reads tables of a mesh back, of a file that this process has open, one way or the other.
class TyphonioReader {
  public:
    void begin(const h5::Shared& root, const FileContext& context, const MeshShare& share);
    /// Returns the bytes read into `out`.
    std::int64_t read(const Operation& operation, std::size_t table, std::byte* out);
    void verify(const Operation& operation, std::size_t table, VerifyResult& result);

  private:
    /// Where a part's elements lie: of a material those of its mixed cells apart.
    struct Run {
        std::int64_t first = 0;
        std::int64_t count = 0;
        std::int64_t from = 0;  // element of the part's values
    };
    [[nodiscard]] std::vector<Run> runs_of(const MeshTable& table, std::int64_t part) const;
    [[nodiscard]] h5::Shared dataset_of(const MeshTable& table, int axis) const;

    const h5::Shared* root_ = nullptr;
    FileContext context_;
    const MeshShare* share_ = nullptr;
    MeshBuffer expected_;
};

/// For writing.
class TyphonioFile final : public OpenFile {
  public:
    explicit TyphonioFile(const FileContext& context);

    void begin_dump(const FileContext& context) override;
    void end_dump() override;
    void begin_section(const Section& section) override;
    void end_section() override;
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
    MeshShare share_;  // of this rank alone where ranks take turns
    std::int64_t first_part_ = 0;
    std::size_t table_ = 0;
    typhonio::State* state_ = nullptr;
    typhonio::Mesh* mesh_ = nullptr;
    typhonio::Quant* quant_ = nullptr;
    typhonio::Material* material_ = nullptr;
    MeshBuffer values_;
    std::array<MeshBuffer, 3> mixed_;  // components, first of them, fractions
    TyphonioReader reader_;
};

/// For reading.
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

/// Whether the file is there: asked by one rank, so that all take the same way.
[[nodiscard]] bool file_exists(const FileContext& context);

}  // namespace wa
