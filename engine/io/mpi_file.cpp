#include "io/mpi_file.hpp"

#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "errors.hpp"

namespace wa::mpi {
namespace {

class Info {
  public:
    explicit Info(const Hints& hints) {
        if (hints.empty()) return;
        check(MPI_Info_create(&info_), "open");
        for (const auto& [key, value] : hints) check(MPI_Info_set(info_, key.c_str(), value.c_str()), "open");
    }
    ~Info() {
        if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
    }
    Info(const Info&) = delete;
    Info& operator=(const Info&) = delete;
    Info(Info&&) = delete;
    Info& operator=(Info&&) = delete;
    [[nodiscard]] MPI_Info get() const { return info_; }

  private:
    MPI_Info info_ = MPI_INFO_NULL;
};

/// MPI libraries often report only "I/O error", so the system's error text is added if there is one.
void check_io(int code, const char* operation) {
    const int system = errno;
    if (code == MPI_SUCCESS) return;
    std::string reason = error_text(code);
    if (system != 0) reason += fmt::format(" ({})", std::strerror(system));
    throw CallFailed(operation, reason);
}

/// The bytes of a finished call; all requested bytes if the library does not report them.
std::int64_t moved(const MPI_Status& status, const Extent& extent) {
    MPI_Count bytes = 0;
    if (extent.bytes == 0) return 0;
    if (MPI_Get_elements_x(&status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes == MPI_UNDEFINED)
        return extent.bytes;
    return bytes;
}

}  // namespace

File::File(const std::string& path, MPI_Comm comm, int mode, const Hints& hints) {
    const Info info(hints);
    errno = 0;
    check_io(MPI_File_open(comm, path.c_str(), mode, info.get(), &file_), "open");
    check_io(MPI_File_set_errhandler(file_, MPI_ERRORS_RETURN), "open");
}

void File::close() {
    errno = 0;
    check_io(MPI_File_close(&file_), "close");
}

void File::sync() {
    errno = 0;
    check_io(MPI_File_sync(file_), "fsync");
}

void File::set_view(std::int64_t displacement, MPI_Datatype file_type) {
    char native[] = "native";
    errno = 0;
    check_io(MPI_File_set_view(file_, displacement, MPI_BYTE, file_type, native, MPI_INFO_NULL), "view");
}

void File::write(std::int64_t offset, const std::byte* data, const Extent& extent, bool collective) {
    MPI_Status status;
    errno = 0;
    check_io(collective ? MPI_File_write_at_all(file_, offset, data, extent.count, extent.type, &status)
                        : MPI_File_write_at(file_, offset, data, extent.count, extent.type, &status),
             "write");
    const int system = errno;
    const std::int64_t done = moved(status, extent);
    if (done < extent.bytes) {
        throw CallFailed("write",
                         fmt::format("only {} of {} bytes were written{}{}", done, extent.bytes,
                                     system != 0 ? ": " : "", system != 0 ? std::strerror(system) : ""));
    }
}

std::int64_t File::read(std::int64_t offset, std::byte* data, const Extent& extent, bool collective) {
    MPI_Status status;
    errno = 0;
    check_io(collective ? MPI_File_read_at_all(file_, offset, data, extent.count, extent.type, &status)
                        : MPI_File_read_at(file_, offset, data, extent.count, extent.type, &status),
             "read");
    return moved(status, extent);
}

void File::post_write(std::int64_t offset, const std::byte* data, const Extent& extent) {
    errno = 0;
    requests_.push_back(MPI_REQUEST_NULL);
    extents_.push_back(extent);
    check_io(MPI_File_iwrite_at(file_, offset, data, extent.count, extent.type, &requests_.back()), "write");
}

void File::post_read(std::int64_t offset, std::byte* data, const Extent& extent) {
    errno = 0;
    requests_.push_back(MPI_REQUEST_NULL);
    extents_.push_back(extent);
    check_io(MPI_File_iread_at(file_, offset, data, extent.count, extent.type, &requests_.back()), "read");
}

std::int64_t File::wait() {
    std::int64_t bytes = 0;
    errno = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        MPI_Status status;
        check_io(MPI_Wait(&requests_[i], &status), "wait");
        bytes += moved(status, extents_[i]);
    }
    requests_.clear();
    extents_.clear();
    return bytes;
}

namespace {

/// ROMIO reports hints that have its name, also where none were given. The ROMIO in Open MPI 4 does not.
bool reports_hints_of_romio(MPI_File file) {
    MPI_Info info = MPI_INFO_NULL;
    if (MPI_File_get_info(file, &info) != MPI_SUCCESS) return false;
    int keys = 0;
    MPI_Info_get_nkeys(info, &keys);
    bool found = false;
    for (int i = 0; i < keys && !found; ++i) {
        std::array<char, MPI_MAX_INFO_KEY + 1> key{};
        MPI_Info_get_nthkey(info, i, key.data());
        found = std::string_view(key.data()).starts_with("romio_");
    }
    MPI_Info_free(&info);
    return found;
}

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
/// Whether a shared library with this in its name is loaded.
bool is_loaded(const char* part) {
    const auto seek = [](dl_phdr_info* library, std::size_t, void* wanted) {
        const std::string_view name = library->dlpi_name != nullptr ? library->dlpi_name : "";
        return name.find(static_cast<const char*>(wanted)) != std::string_view::npos ? 1 : 0;
    };
    return dl_iterate_phdr(seek, const_cast<char*>(part)) != 0;
}
#endif

/// The component that has opened a file without hints.
const char* component_of(MPI_File file) {
    if (reports_hints_of_romio(file)) return "romio";
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
    // Both components may be loaded. The frameworks below OMPIO are, once it has opened a file.
    if (is_loaded("mca_fcoll_")) return "ompio";
    if (is_loaded("mca_io_romio")) return "romio";
#elif defined(OPEN_MPI)
    return "ompio";
#endif
    return "unknown";
}

}  // namespace

std::string io_component(const std::string& folder) {
    // The path is made exclusively and removed with the file.
    const std::string path = fmt::format("{}/.workalike-probe-{}", folder, ::getpid());
    MPI_File file = MPI_FILE_NULL;
    const int mode = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    if (MPI_File_open(MPI_COMM_SELF, path.c_str(), mode, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        return "unknown";
    std::string found = component_of(file);
    MPI_File_close(&file);
    return found;
}

}  // namespace wa::mpi
