// Thin checked wrappers of HDF5: files, groups, datasets, attributes, selections and transfers.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5_handles.hpp"
#include "io/hdf5_lists.hpp"
#include "plan/hdf5_settings.hpp"

namespace wa::h5 {

using Extents = std::vector<hsize_t>;

/// Collective. A file is made only if it does not exist, unless the options say otherwise.
[[nodiscard]] Shared create_file(const std::string& path, const FileOptions& options);
[[nodiscard]] Shared open_file(const std::string& path, bool writes, const FileOptions& options);
void flush(const Shared& file);
/// Opens a closed file again without MPI: HDF5 compares its length with the end of what the file contains.
/// Raises CallFailed with HDF5's reason. Nothing is checked where this HDF5 cannot open a file without a
/// lock.
void check_whole(const std::string& path);

/// The kind of an element: an integer, a floating-point number, or opaque bytes.
enum class Number { any, integer, floating };

struct DatasetShape {
    std::int64_t element = 1;
    Number number = Number::any;
    std::int64_t members = 1;  // members of a compound element
    Extents dims;
    Extents chunk;  // empty: contiguous
    bool extendible = false;
    std::size_t unlimited = 0;    // the dimension in which it is extended
    bool fill_values = false;     // fill values are written when space is allocated
    bool allocates_late = false;  // when data is written, as in serial programs
    Hdf5Settings filters;         // used for chunked datasets only
};

/// Collective. Unless it allocates late, space is allocated at once. It is filled only on request, so that
/// only the plan's data is written.
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
