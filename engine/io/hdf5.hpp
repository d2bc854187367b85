// Thin checked wrappers over HDF5. Errors carry the library's own innermost message.
#pragma once

#include <hdf5.h>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/mpi_file.hpp"
#include "plan/hdf5_settings.hpp"

namespace wa::h5 {

/// Switches the library's own printing and its closing of files at exit off: a rank that fails must not wait.
void start();
/// Lets the library go before MPI ends.
void finish();

[[noreturn]] void fail(const char* operation);

/// A property list or dataspace: local, so it may be closed at any time.
class Local {
  public:
    Local() = default;
    Local(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    ~Local() { reset(); }
    Local(Local&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
    Local& operator=(Local&& other) noexcept;
    Local(const Local&) = delete;
    Local& operator=(const Local&) = delete;
    [[nodiscard]] hid_t get() const { return id_; }

  private:
    void reset() noexcept;
    hid_t id_ = H5I_INVALID_HID;
    herr_t (*close_)(hid_t) = nullptr;
};

/// A file or dataset: closing it may wait for other ranks, so it is closed by name and never implicitly.
class Shared {
  public:
    Shared() = default;
    Shared(hid_t id, herr_t (*closer)(hid_t)) : id_(id), close_(closer) {}
    ~Shared() = default;
    Shared(Shared&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
    Shared& operator=(Shared&& other) noexcept;
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    [[nodiscard]] hid_t get() const { return id_; }
    [[nodiscard]] bool open() const { return id_ >= 0; }
    void close();

  private:
    hid_t id_ = H5I_INVALID_HID;
    herr_t (*close_)(hid_t) = nullptr;
};

using Extents = std::vector<hsize_t>;

/// Oldest and newest version of the file's objects.
enum class Bounds { library_default, v18, latest };

struct FileOptions {
    MPI_Comm comm = MPI_COMM_SELF;
    const mpi::Hints* hints = nullptr;
    Hdf5Settings settings;
    Bounds bounds = Bounds::library_default;  // where the oldest is the newest, too; else as the settings say
    bool replaces = false;                    // a file that is there
    /// With collective metadata: HDF5 then has a rank that reads metadata wait for all others, so no rank may
    /// move data for itself.
    bool reads_together = true;
};

/// Collective. A file is made only if there is none, unless the options say otherwise.
[[nodiscard]] Shared create_file(const std::string& path, const FileOptions& options);
[[nodiscard]] Shared open_file(const std::string& path, bool writes, const FileOptions& options);
void flush(const Shared& file);

/// What an element is: a number of a kind, or so many bytes.
enum class Number { any, integer, floating };

struct DatasetShape {
    std::int64_t element = 1;
    Number number = Number::any;
    std::int64_t members = 1;  // of a compound element
    Extents dims;
    Extents chunk;             // empty: contiguous
    bool extendible = false;   // in the first dimension
    bool fill_values = false;  // with fill values, when its space is allocated
    Hdf5Settings filters;      // of which the filters hold for chunks
};

/// Collective. Space is allocated at once, and filled only on request: what is written is what the plan
/// writes.
[[nodiscard]] Shared create_dataset(const Shared& file, const std::string& name, const DatasetShape& shape);
/// Not open when there is none of this name.
[[nodiscard]] Shared find_dataset(const Shared& file, const std::string& name);
[[nodiscard]] Extents dims_of(const Shared& dataset);
void extend(const Shared& dataset, const Extents& dims);

/// Groups, attributes and datasets with a type and a list of their own. All collective but find_*.
[[nodiscard]] Shared create_group(const Shared& parent, const std::string& name, const Local& list);
[[nodiscard]] Shared open_group(const Shared& parent, const std::string& name);
/// A group that keeps the order in which links and attributes were made.
[[nodiscard]] Local ordered_group_list();
/// Space is allocated at once and never filled; no chunk: contiguous.
[[nodiscard]] Local unfilled_dataset_list(const Extents& chunk);
[[nodiscard]] Shared create_dataset(const Shared& parent, const std::string& name, const Local& type,
                                    const Local& extents, const Local& list);
/// A scalar attribute.
void write_attribute(const Shared& object, const std::string& name, const Local& type, const void* value);
[[nodiscard]] bool has_attribute(const Shared& object, const std::string& name);
void remove_attribute(const Shared& object, const std::string& name);

[[nodiscard]] Local space(const Extents& dims);
/// Unlimited in its one dimension.
[[nodiscard]] Local growing_space(hsize_t elements);
/// All of a dataset, in memory or in the file.
[[nodiscard]] Local whole();
[[nodiscard]] Local space_of(const Shared& dataset);
/// With `individual_io` a collective transfer is written by each rank for itself below the library.
[[nodiscard]] Local transfer_list(bool collective, bool individual_io = false);
/// Type of an element in memory and in the file.
[[nodiscard]] Local element_type(std::int64_t bytes, Number number = Number::any);
/// A compound of so many members of equal size, side by side.
[[nodiscard]] Local compound_type(std::int64_t bytes, std::int64_t members);
[[nodiscard]] Local copy_of(hid_t type);
/// Null-terminated ASCII of a fixed size.
[[nodiscard]] Local fixed_string(std::size_t bytes);

struct Selection {
    Extents start;
    Extents stride;
    Extents count;
    Extents block;
};
void select(const Local& space, const Selection& selection);
void select_nothing(const Local& space);
/// Single elements, one coordinate each.
void select_points(const Local& space, const Extents& points);

void write(const Shared& dataset, const Local& type, const Local& memory, const Local& file,
           const Local& list, const void* data);
void read(const Shared& dataset, const Local& type, const Local& memory, const Local& file, const Local& list,
          void* data);

}  // namespace wa::h5
