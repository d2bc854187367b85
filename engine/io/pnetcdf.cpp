#include "io/pnetcdf.hpp"

#include <fmt/format.h>
#include <pnetcdf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "errors.hpp"

namespace wa::pnetcdf {
namespace {

void check(int code, const char* operation) {
    const int system = errno;
    if (code == NC_NOERR) return;
    std::string text = ncmpi_strerror(code);
    for (char& c : text) {
        if (c == '\n') c = ' ';
    }
    // The library often reports only "I/O error", so the system's error text is added if it is informative.
    const std::array<int, 8> telling{ENOSPC, EDQUOT, EIO, EACCES, EROFS, ENOENT, EFBIG, EEXIST};
    if (std::find(telling.begin(), telling.end(), system) != telling.end())
        text += fmt::format(" ({})", std::strerror(system));
    throw CallFailed(operation, "PnetCDF: " + text);
}

class Info {
  public:
    Info(const mpi::Hints& hints, std::int64_t alignment) {
        mpi::check(MPI_Info_create(&info_), "open");
        // All operations write from the same payload, so the library must not swap its bytes in place.
        set("nc_in_place_swap", "disable");
        if (alignment > 0) set("nc_var_align_size", std::to_string(alignment));
        for (const auto& [key, value] : hints) set(key, value);
    }
    ~Info() { MPI_Info_free(&info_); }
    Info(const Info&) = delete;
    Info& operator=(const Info&) = delete;
    Info(Info&&) = delete;
    Info& operator=(Info&&) = delete;
    [[nodiscard]] MPI_Info get() const { return info_; }

  private:
    void set(const std::string& key, const std::string& value) {
        mpi::check(MPI_Info_set(info_, key.c_str(), value.c_str()), "open");
    }
    MPI_Info info_ = MPI_INFO_NULL;
};

nc_type type_of(std::int64_t bytes) {
    if (bytes == 8) return NC_DOUBLE;
    if (bytes == 4) return NC_FLOAT;
    return bytes == 2 ? NC_SHORT : NC_BYTE;
}

std::string name_of_dimension(MPI_Offset extent) {
    return extent == NC_UNLIMITED ? "records" : fmt::format("d{}", extent);
}

/// The extents of a variable in the file, where the record dimension comes first.
Extents dimensions_of(const Variable& variable) {
    Extents dims = variable.dims;
    if (variable.record) dims.front() = NC_UNLIMITED;
    return dims;
}

void define(int file, const std::vector<Variable>& variables) {
    std::map<MPI_Offset, int> dimensions;
    for (const Variable& variable : variables) {
        std::vector<int> ids;
        for (const MPI_Offset extent : dimensions_of(variable)) {
            const auto [found, fresh] = dimensions.try_emplace(extent, -1);
            if (fresh)
                check(ncmpi_def_dim(file, name_of_dimension(extent).c_str(), extent, &found->second),
                      "define");
            ids.push_back(found->second);
        }
        int id = -1;
        check(ncmpi_def_var(file, variable.name.c_str(), type_of(variable.type_bytes),
                            static_cast<int>(ids.size()), ids.data(), &id),
              "define");
    }
}

/// The same values as pointers, in the form in which the library expects the starts and counts of several
/// pieces.
std::vector<MPI_Offset*> addresses(Extents& values) {
    std::vector<MPI_Offset*> out;
    out.reserve(values.size());
    for (MPI_Offset& value : values) out.push_back(&value);
    return out;
}

const MPI_Datatype own_type = MPI_DATATYPE_NULL;  // memory in the format of the file, not converted

}  // namespace

std::string version() {
    return PNETCDF_VERSION;
}

std::int64_t header_bytes(const std::vector<Variable>& variables) {
    // From the specification of CDF-5: counts, sizes, numbers and offsets have 8 bytes, tags and types have
    // 4.
    const auto name = [](const std::string& text) {
        return std::int64_t{8} + static_cast<std::int64_t>((text.size() + 3) / 4 * 4);
    };
    constexpr std::int64_t list = 4 + 8;
    std::map<MPI_Offset, bool> dimensions;
    // magic and number of records; lists of dimensions, attributes and variables
    std::int64_t bytes = 4 + 8 + 3 * list;
    for (const Variable& variable : variables) {
        const Extents dims = dimensions_of(variable);
        for (const MPI_Offset extent : dims) {
            if (dimensions.emplace(extent, true).second) bytes += name(name_of_dimension(extent)) + 8;
        }
        bytes += name(variable.name) + 8 + 8 * static_cast<std::int64_t>(dims.size()) + list + 4 + 8 + 8;
    }
    return bytes;
}

void File::create(const std::string& path, MPI_Comm comm, const mpi::Hints& hints, std::int64_t alignment,
                  const std::vector<Variable>& variables) {
    const Info info(hints, alignment);
    errno = 0;
    check(ncmpi_create(comm, path.c_str(), NC_NOCLOBBER | NC_64BIT_DATA, info.get(), &id_), "open");
    define(id_, variables);
    errno = 0;
    check(ncmpi_enddef(id_), "define");
}

void File::open(const std::string& path, MPI_Comm comm, bool writes, const mpi::Hints& hints) {
    const Info info(hints, 0);
    errno = 0;
    check(ncmpi_open(comm, path.c_str(), writes ? NC_WRITE : NC_NOWRITE, info.get(), &id_), "open");
}

void File::close() {
    errno = 0;
    check(ncmpi_close(std::exchange(id_, -1)), "close");
}

void File::sync() {
    set_mode(true);
    errno = 0;
    check(ncmpi_sync(id_), "flush");
}

int File::variable(const std::string& name) const {
    int id = -1;
    if (ncmpi_inq_varid(id_, name.c_str(), &id) != NC_NOERR)
        throw CallFailed("open variable", name + " is not in the file");
    return id;
}

void File::set_mode(bool collective) {
    if (collective == collective_) return;
    errno = 0;
    check(collective ? ncmpi_end_indep_data(id_) : ncmpi_begin_indep_data(id_), "mode");
    collective_ = collective;
}

void File::write(int variable, const Selection& s, const void* data) {
    errno = 0;
    const MPI_Offset* start = s.start.data();
    const MPI_Offset* count = s.count.data();
    const auto put = collective_ ? ncmpi_put_vara_all : ncmpi_put_vara;
    const auto put_strided = collective_ ? ncmpi_put_vars_all : ncmpi_put_vars;
    check(s.stride.empty() ? put(id_, variable, start, count, data, 0, own_type)
                           : put_strided(id_, variable, start, count, s.stride.data(), data, 0, own_type),
          "write");
}

void File::read(int variable, const Selection& s, void* data) {
    errno = 0;
    const MPI_Offset* start = s.start.data();
    const MPI_Offset* count = s.count.data();
    const auto get = collective_ ? ncmpi_get_vara_all : ncmpi_get_vara;
    const auto get_strided = collective_ ? ncmpi_get_vars_all : ncmpi_get_vars;
    check(s.stride.empty() ? get(id_, variable, start, count, data, 0, own_type)
                           : get_strided(id_, variable, start, count, s.stride.data(), data, 0, own_type),
          "read");
}

void File::write(int variable, const Pieces& pieces, const void* data) {
    Extents starts = pieces.starts;
    Extents counts(starts.size(), pieces.length);
    const auto put = collective_ ? ncmpi_put_varn_all : ncmpi_put_varn;
    errno = 0;
    check(put(id_, variable, static_cast<int>(starts.size()), addresses(starts).data(),
              addresses(counts).data(), data, 0, own_type),
          "write");
}

void File::read(int variable, const Pieces& pieces, void* data) {
    Extents starts = pieces.starts;
    Extents counts(starts.size(), pieces.length);
    const auto get = collective_ ? ncmpi_get_varn_all : ncmpi_get_varn;
    errno = 0;
    check(get(id_, variable, static_cast<int>(starts.size()), addresses(starts).data(),
              addresses(counts).data(), data, 0, own_type),
          "read");
}

void File::post_write(int variable, const Selection& s, const void* data) {
    check(s.stride.empty()
              ? ncmpi_iput_vara(id_, variable, s.start.data(), s.count.data(), data, 0, own_type, nullptr)
              : ncmpi_iput_vars(id_, variable, s.start.data(), s.count.data(), s.stride.data(), data, 0,
                                own_type, nullptr),
          "write");
}

void File::post_read(int variable, const Selection& s, void* data) {
    check(s.stride.empty()
              ? ncmpi_iget_vara(id_, variable, s.start.data(), s.count.data(), data, 0, own_type, nullptr)
              : ncmpi_iget_vars(id_, variable, s.start.data(), s.count.data(), s.stride.data(), data, 0,
                                own_type, nullptr),
          "read");
}

void File::wait() {
    errno = 0;
    check(collective_ ? ncmpi_wait_all(id_, NC_REQ_ALL, nullptr, nullptr)
                      : ncmpi_wait(id_, NC_REQ_ALL, nullptr, nullptr),
          "wait");
}

}  // namespace wa::pnetcdf
