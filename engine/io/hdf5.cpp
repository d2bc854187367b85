#include "io/hdf5.hpp"

#include <fmt/format.h>

#include <cerrno>

namespace wa::h5 {
namespace {

hid_t checked(hid_t id, const char* operation) {
    if (id < 0) fail(operation);
    return id;
}

void checked_call(herr_t code, const char* operation) {
    if (code < 0) fail(operation);
}

/// Without a fill value, the library's own default fills nothing in the file, but the rest of a chunk in
/// memory.
void set_allocation(const Local& list, const DatasetShape& shape) {
    if (shape.fill_values) {
        checked_call(H5Pset_fill_time(list.get(), H5D_FILL_TIME_ALLOC), "create dataset");
    } else if (!shape.allocates_late) {
        checked_call(H5Pset_fill_time(list.get(), H5D_FILL_TIME_NEVER), "create dataset");
    }
    if (!shape.allocates_late)
        checked_call(H5Pset_alloc_time(list.get(), H5D_ALLOC_TIME_EARLY), "create dataset");
}

}  // namespace

Shared create_file(const std::string& path, const FileOptions& options) {
    const Local access = access_list(options);
    const Local creation = creation_list(options);
    errno = 0;
    const unsigned mode = options.replaces ? H5F_ACC_TRUNC : H5F_ACC_EXCL;
    return {checked(H5Fcreate(path.c_str(), mode, creation.get(), access.get()), "open"), H5Fclose};
}

Shared open_file(const std::string& path, bool writes, const FileOptions& options) {
    const Local access = access_list(options);
    errno = 0;
    return {checked(H5Fopen(path.c_str(), writes ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access.get()), "open"),
            H5Fclose};
}

void check_whole([[maybe_unused]] const std::string& path) {
#if H5_VERSION_GE(1, 10, 7)
    const Local access(checked(H5Pcreate(H5P_FILE_ACCESS), "close"), H5Pclose);
    checked_call(H5Pset_file_locking(access.get(), false, true), "close");
    errno = 0;
    const Shared file(checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), "close"), H5Fclose);
#endif
}

void flush(const Shared& file) {
    errno = 0;
    checked_call(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), "flush");
}

Shared create_dataset(const Shared& file, const std::string& name, const DatasetShape& shape) {
    const Local list(checked(H5Pcreate(H5P_DATASET_CREATE), "create dataset"), H5Pclose);
    set_allocation(list, shape);
    if (!shape.chunk.empty()) {
        checked_call(H5Pset_chunk(list.get(), static_cast<int>(shape.chunk.size()), shape.chunk.data()),
                     "create dataset");
        add_filters(list, shape.filters);
    }
    Extents most = shape.dims;
    if (shape.extendible) most[shape.unlimited] = H5S_UNLIMITED;
    const Local extents(
        checked(H5Screate_simple(static_cast<int>(shape.dims.size()), shape.dims.data(), most.data()),
                "create dataset"),
        H5Sclose);
    const Local type = shape.members > 1 ? compound_type(shape.element, shape.members)
                                         : element_type(shape.element, shape.number);
    const Local links(checked(H5Pcreate(H5P_LINK_CREATE), "create dataset"), H5Pclose);
    checked_call(H5Pset_create_intermediate_group(links.get(), 1), "create dataset");
    errno = 0;
    return {checked(H5Dcreate2(file.get(), name.c_str(), type.get(), extents.get(), links.get(), list.get(),
                               H5P_DEFAULT),
                    "create dataset"),
            H5Dclose};
}

Shared find_dataset(const Shared& file, const std::string& name) {
    const hid_t id = H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT);
    if (id < 0) (void)H5Eclear2(H5E_DEFAULT);
    return {id, H5Dclose};
}

Extents dims_of(const Shared& dataset) {
    const Local extents = space_of(dataset);
    const int rank = H5Sget_simple_extent_ndims(extents.get());
    if (rank < 0) fail("open dataset");
    Extents dims(static_cast<std::size_t>(rank));
    if (H5Sget_simple_extent_dims(extents.get(), dims.data(), nullptr) < 0) fail("open dataset");
    return dims;
}

void extend(const Shared& dataset, const Extents& dims) {
    checked_call(H5Dset_extent(dataset.get(), dims.data()), "extend dataset");
}

Shared create_group(const Shared& parent, const std::string& name, const Local& list) {
    errno = 0;
    return {
        checked(H5Gcreate2(parent.get(), name.c_str(), H5P_DEFAULT, list.get(), H5P_DEFAULT), "create group"),
        H5Gclose};
}

Shared open_group(const Shared& parent, const std::string& name) {
    errno = 0;
    return {checked(H5Gopen2(parent.get(), name.c_str(), H5P_DEFAULT), "open group"), H5Gclose};
}

Local ordered_group_list() {
    Local list(checked(H5Pcreate(H5P_GROUP_CREATE), "create group"), H5Pclose);
    constexpr unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    checked_call(H5Pset_link_creation_order(list.get(), order), "create group");
    checked_call(H5Pset_attr_creation_order(list.get(), order), "create group");
    return list;
}

Local unfilled_dataset_list(const Extents& chunk) {
    Local list(checked(H5Pcreate(H5P_DATASET_CREATE), "create dataset"), H5Pclose);
    checked_call(H5Pset_alloc_time(list.get(), H5D_ALLOC_TIME_EARLY), "create dataset");
    checked_call(H5Pset_fill_time(list.get(), H5D_FILL_TIME_NEVER), "create dataset");
    if (!chunk.empty())
        checked_call(H5Pset_chunk(list.get(), static_cast<int>(chunk.size()), chunk.data()),
                     "create dataset");
    return list;
}

Shared create_dataset(const Shared& parent, const std::string& name, const Local& type, const Local& extents,
                      const Local& list) {
    errno = 0;
    return {checked(H5Dcreate2(parent.get(), name.c_str(), type.get(), extents.get(), H5P_DEFAULT, list.get(),
                               H5P_DEFAULT),
                    "create dataset"),
            H5Dclose};
}

void write_attribute(const Shared& object, const std::string& name, const Local& type, const void* value) {
    constexpr const char* operation = "write attribute";
    const Local scalar(checked(H5Screate(H5S_SCALAR), operation), H5Sclose);
    errno = 0;
    const Local attribute(
        checked(H5Acreate2(object.get(), name.c_str(), type.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
                operation),
        H5Aclose);
    checked_call(H5Awrite(attribute.get(), type.get(), value), operation);
}

bool has_attribute(const Shared& object, const std::string& name) {
    const htri_t found = H5Aexists(object.get(), name.c_str());
    if (found < 0) fail("open attribute");
    return found > 0;
}

void remove_attribute(const Shared& object, const std::string& name) {
    errno = 0;
    checked_call(H5Adelete(object.get(), name.c_str()), "remove attribute");
}

Local growing_space(hsize_t elements) {
    const hsize_t most = H5S_UNLIMITED;
    return {checked(H5Screate_simple(1, &elements, &most), "select"), H5Sclose};
}

Local whole() {
    return {H5S_ALL, nullptr};
}

Local space(const Extents& dims) {
    return {checked(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), "select"),
            H5Sclose};
}

Local space_of(const Shared& dataset) {
    return {checked(H5Dget_space(dataset.get()), "select"), H5Sclose};
}

Local transfer_list(bool collective, bool individual_io) {
    Local list(checked(H5Pcreate(H5P_DATASET_XFER), "transfer"), H5Pclose);
    checked_call(H5Pset_dxpl_mpio(list.get(), collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT),
                 "transfer");
    if (collective && individual_io)
        checked_call(H5Pset_dxpl_mpio_collective_opt(list.get(), H5FD_MPIO_INDIVIDUAL_IO), "transfer");
    return list;
}

Local compound_type(std::int64_t bytes, std::int64_t members) {
    Local type(checked(H5Tcreate(H5T_COMPOUND, static_cast<std::size_t>(bytes)), "create dataset"), H5Tclose);
    const std::int64_t size = bytes / members;
    const Local member = element_type(size);
    for (std::int64_t m = 0; m < members; ++m) {
        checked_call(H5Tinsert(type.get(), fmt::format("m{:02d}", m).c_str(),
                               static_cast<std::size_t>(m * size), member.get()),
                     "create dataset");
    }
    return type;
}

Local element_type(std::int64_t bytes, Number number) {
    if (number == Number::integer && bytes == 4) return copy_of(H5T_NATIVE_INT32);
    if (number == Number::integer && bytes == 8) return copy_of(H5T_NATIVE_INT64);
    if (bytes == 1) return copy_of(H5T_NATIVE_UINT8);
    if (bytes == 2) return copy_of(H5T_NATIVE_INT16);
    if (bytes == 4) return copy_of(H5T_NATIVE_FLOAT);
    if (bytes == 8) return copy_of(H5T_NATIVE_DOUBLE);
    return {checked(H5Tcreate(H5T_OPAQUE, static_cast<std::size_t>(bytes)), "create dataset"), H5Tclose};
}

Local copy_of(hid_t type) {
    return {checked(H5Tcopy(type), "create type"), H5Tclose};
}

Local fixed_string(std::size_t bytes) {
    Local type = copy_of(H5T_C_S1);
    checked_call(H5Tset_size(type.get(), bytes), "create type");
    return type;
}

void select(const Local& space, const Selection& s) {
    checked_call(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, s.start.data(),
                                     s.stride.empty() ? nullptr : s.stride.data(), s.count.data(),
                                     s.block.empty() ? nullptr : s.block.data()),
                 "select");
}

void select_nothing(const Local& space) {
    checked_call(H5Sselect_none(space.get()), "select");
}

void select_points(const Local& space, const Extents& points) {
    checked_call(H5Sselect_elements(space.get(), H5S_SELECT_SET, points.size(), points.data()), "select");
}

void write(const Shared& dataset, const Local& type, const Local& memory, const Local& file,
           const Local& list, const void* data) {
    errno = 0;
    checked_call(H5Dwrite(dataset.get(), type.get(), memory.get(), file.get(), list.get(), data), "write");
}

void read(const Shared& dataset, const Local& type, const Local& memory, const Local& file, const Local& list,
          void* data) {
    errno = 0;
    checked_call(H5Dread(dataset.get(), type.get(), memory.get(), file.get(), list.get(), data), "read");
}

}  // namespace wa::h5
