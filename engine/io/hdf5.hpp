// Thin checked wrappers of HDF5. Errors carry the innermost message of the library.
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

/// Turns off the library's printing and its closing of files at exit, because a rank that fails must not
/// wait.
void start();
/// Ends the library; needed before MPI_Finalize.
void finish();

[[noreturn]] void fail(const char* operation);

/// A property list or dataspace. It is local, so it may be closed at any time.
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

/// A file or dataset. Closing it may wait for other ranks, so it is closed explicitly and never by the
/// destructor.
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

/// The oldest and newest version of the objects in a file.
enum class Bounds { library_default, v18, latest };

struct FileOptions {
    MPI_Comm comm = MPI_COMM_SELF;
    const mpi::Hints* hints = nullptr;
    Hdf5Settings settings;
    // if not the default, the oldest version is also the newest; otherwise the settings decide
    Bounds bounds = Bounds::library_default;
    bool replaces = false;  // replaces an existing file
    /// True if metadata is collective. A rank that reads metadata then waits for all others, so no rank may
    /// move data by itself.
    bool reads_together = true;
};

/// Collective. A file is made only if it does not exist, unless the options say otherwise.
[[nodiscard]] Shared create_file(const std::string& path, const FileOptions& options);
[[nodiscard]] Shared open_file(const std::string& path, bool writes, const FileOptions& options);
void flush(const Shared& file);

/// The kind of an element: an integer, a floating-point number, or opaque bytes.
enum class Number { any, integer, floating };

struct DatasetShape {
    std::int64_t element = 1;
    Number number = Number::any;
    std::int64_t members = 1;  // members of a compound element
    Extents dims;
    Extents chunk;             // empty: contiguous
    bool extendible = false;   // in the first dimension
    bool fill_values = false;  // fill values are written when space is allocated
    Hdf5Settings filters;      // used for chunked datasets only
};

/// Collective. Space is allocated at once and filled only on request, so that only the plan's data is
/// written.
[[nodiscard]] Shared create_dataset(const Shared& file, const std::string& name, const DatasetShape& shape);
/// Returns an object that is not open if no dataset has this name.
[[nodiscard]] Shared find_dataset(const Shared& file, const std::string& name);
[[nodiscard]] Extents dims_of(const Shared& dataset);
void extend(const Shared& dataset, const Extents& dims);

/// Groups, attributes, and datasets with a type and list of their own. All but find_* are collective.
[[nodiscard]] Shared create_group(const Shared& parent, const std::string& name, const Local& list);
[[nodiscard]] Shared open_group(const Shared& parent, const std::string& name);
/// The list for a group that keeps the creation order of links and attributes.
[[nodiscard]] Local ordered_group_list();
/// The list for a dataset whose space is allocated at once and never filled. An empty chunk means contiguous.
[[nodiscard]] Local unfilled_dataset_list(const Extents& chunk);
[[nodiscard]] Shared create_dataset(const Shared& parent, const std::string& name, const Local& type,
                                    const Local& extents, const Local& list);
/// Writes a scalar attribute.
void write_attribute(const Shared& object, const std::string& name, const Local& type, const void* value);
[[nodiscard]] bool has_attribute(const Shared& object, const std::string& name);
void remove_attribute(const Shared& object, const std::string& name);

[[nodiscard]] Local space(const Extents& dims);
/// A space with one unlimited dimension.
[[nodiscard]] Local growing_space(hsize_t elements);
/// The whole of a dataset, in memory or in the file.
[[nodiscard]] Local whole();
[[nodiscard]] Local space_of(const Shared& dataset);
/// With `individual_io`, each rank performs its part of a collective transfer by itself below the library.
[[nodiscard]] Local transfer_list(bool collective, bool individual_io = false);
/// The type of an element in memory and in the file.
[[nodiscard]] Local element_type(std::int64_t bytes, Number number = Number::any);
/// A compound of `members` members of equal size.
[[nodiscard]] Local compound_type(std::int64_t bytes, std::int64_t members);
[[nodiscard]] Local copy_of(hid_t type);
/// The type of null-terminated ASCII text of a fixed size.
[[nodiscard]] Local fixed_string(std::size_t bytes);

struct Selection {
    Extents start;
    Extents stride;
    Extents count;
    Extents block;
};
void select(const Local& space, const Selection& selection);
void select_nothing(const Local& space);
/// Selects single elements, one coordinate each.
void select_points(const Local& space, const Extents& points);

void write(const Shared& dataset, const Local& type, const Local& memory, const Local& file,
           const Local& list, const void* data);
void read(const Shared& dataset, const Local& type, const Local& memory, const Local& file, const Local& list,
          void* data);

}  // namespace wa::h5
