// An open HDF5 file: how the streams, arrays and fits of a dump become datasets.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "backends/datasets.hpp"
#include "expand/arrays.hpp"
#include "io/hdf5.hpp"
#include "mesh/values.hpp"

namespace wa {

/// The extents of a transfer's data in memory. They are those of the selection in the file: HDF5 cuts a
/// selection into chunks row by row where both have the same shape, as in an application, but element by
/// element where not. An element then takes 30 ns more.
///
/// In memory, one step of a dataset that grows has no dimension of time. To HDF5 that is the same shape if
/// time is the first dimension. If it is not, as in Meep's files, HDF5 copies element by element.
///
/// `slab` is null for a dataset of one dimension; `unlimited` is the dimension in which the dataset grows.
[[nodiscard]] h5::Extents memory_extents(const Slab* slab, std::int64_t elements, std::size_t unlimited);

class Hdf5File final : public OpenFile {
  public:
    explicit Hdf5File(const FileContext& context);

    void begin_dump(const FileContext& context) override;
    void end_dump() override;
    void begin_section(const Section& section) override;
    void end_section() override;
    void make_data(const Operation& operation) override;
    std::int64_t transfer(const Operation& operation) override;
    void flush() override { h5::flush(file_); }
    void sync() override { h5::flush(file_); }
    void close() override;
    void verify(const Operation& operation, VerifyResult& result) override;

    /// Sets the number of elements per chunk in datasets of a fit. Calibration uses as many chunks as the
    /// run, but small ones.
    void set_fit_chunk(std::int64_t elements) { fit_chunk_ = elements; }

  private:
    /// Returns true if the dataset existed.
    bool find_or_create(const std::string& name, const h5::DatasetShape& shape, bool may_exist);
    [[nodiscard]] h5::DatasetShape shape_of(const Array& array) const;
    [[nodiscard]] std::string array_name(std::size_t part, std::int64_t dataset) const;
    void create_arrays_ahead();
    void open_array_dataset(const Section& section, std::int64_t dataset);
    void write_to_all(const Operation& operation);
    void verify_slabs(const Operation& operation, VerifyResult& result);
    void extend_rows(hsize_t rows, std::size_t dimension);
    [[nodiscard]] bool writes_now() const;
    void open_extents();
    void open_array(const Section& section);
    void open_fit(const Section& section);
    void open_table(const Section& section);
    /// The data that an operation writes, or that the file must contain afterwards.
    [[nodiscard]] const std::byte* payload(const Operation& operation);
    [[nodiscard]] std::string dump_group() const;
    [[nodiscard]] bool appended() const { return context_.family->lifetime == Lifetime::appended; }
    [[nodiscard]] h5::Selection selection(const Operation& operation);
    void compare(const h5::Selection& part, std::int64_t offset, std::int64_t elements, std::int64_t base,
                 const std::byte* expected, VerifyResult& result);
    [[nodiscard]] const h5::Local& list(bool collective) const {
        return collective || filters_alone_ ? collective_ : independent_;
    }

    bool serial_ = false;  // opened without MPI-IO
    h5::Shared file_;
    bool created_ = false;        // made by this open, so without older datasets
    bool has_extents_ = false;    // extents were found since this open
    bool filters_alone_ = false;  // the library filters only in collective calls, also in files of one rank
    FileContext context_;
    Section section_;
    WrittenGrids written_grids_;  // of the current array
    std::optional<TileGrid> grid_;
    const Slab* grid_slab_ = nullptr;
    h5::Shared dataset_;
    std::vector<h5::Shared> others_;           // other datasets that a call moves with it
    std::map<std::string, h5::Shared> ahead_;  // created but not yet written
    h5::Local type_;
    h5::Local space_;  // of the dataset, with the current selection
    h5::Local memory_;
    std::int64_t memory_elements_ = -1;
    const Slab* memory_slab_ = nullptr;  // of `memory_`; set with it
    std::int64_t element_ = 1;
    std::int64_t members_of_element_ = 1;
    hsize_t first_row_ = 0;      // where this dump starts in a dataset that is extended
    std::size_t unlimited_ = 0;  // the dimension of these rows
    h5::Local collective_;
    h5::Local independent_;
    std::int64_t fit_chunk_ = 0;
    h5::Number number_ = h5::Number::any;  // kind of the elements
    MeshBuffer mesh_values_;
};

}  // namespace wa
