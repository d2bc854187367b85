#include "io/mpi.hpp"

#include <algorithm>
#include <array>
#include <climits>

#include "errors.hpp"

namespace wa::mpi {

std::string error_text(int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS)
        return "MPI error " + std::to_string(code);
    std::string line(text.data(), static_cast<std::size_t>(length));
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
}

void check(int code, const char* operation) {
    if (code != MPI_SUCCESS) throw CallFailed(operation, error_text(code));
}

int rank(MPI_Comm comm) {
    int value = 0;
    check(MPI_Comm_rank(comm, &value), "MPI_Comm_rank");
    return value;
}

int size(MPI_Comm comm) {
    int value = 0;
    check(MPI_Comm_size(comm, &value), "MPI_Comm_size");
    return value;
}

Datatype::~Datatype() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
}

Datatype contiguous(std::int64_t bytes) {
    constexpr std::int64_t unit = std::int64_t{1} << 30;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (bytes <= INT_MAX) {
        check(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type), "MPI_Type_contiguous");
    } else {
        MPI_Datatype large = MPI_DATATYPE_NULL;
        check(MPI_Type_contiguous(static_cast<int>(unit), MPI_BYTE, &large), "MPI_Type_contiguous");
        const Datatype owner(large);
        const std::array<int, 2> counts{static_cast<int>(bytes / unit), static_cast<int>(bytes % unit)};
        const std::array<MPI_Aint, 2> places{0, static_cast<MPI_Aint>(bytes / unit * unit)};
        const std::array<MPI_Datatype, 2> types{large, MPI_BYTE};
        check(MPI_Type_create_struct(2, counts.data(), places.data(), types.data(), &type),
              "MPI_Type_create_struct");
    }
    check(MPI_Type_commit(&type), "MPI_Type_commit");
    return Datatype(type);
}

Datatype repeated(std::int64_t bytes, std::int64_t reach) {
    if (bytes <= reach) return contiguous(bytes);
    const Datatype whole = contiguous(reach);
    const Datatype rest = contiguous(bytes % reach);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Datatype repeats = MPI_DATATYPE_NULL;
    // Blocks with a distance of 0 bytes use the same memory again. MPI allows that for data that is sent or
    // written.
    check(MPI_Type_create_hvector(static_cast<int>(bytes / reach), 1, 0, whole.get(), &repeats),
          "MPI_Type_create_hvector");
    const Datatype owner(repeats);
    const std::array<int, 2> counts{1, 1};
    const std::array<MPI_Aint, 2> places{0, 0};
    const std::array<MPI_Datatype, 2> types{repeats, rest.get()};
    check(MPI_Type_create_struct(2, counts.data(), places.data(), types.data(), &type),
          "MPI_Type_create_struct");
    check(MPI_Type_commit(&type), "MPI_Type_commit");
    return Datatype(type);
}

Datatype blocks(std::int64_t count, std::int64_t block, std::int64_t stride, std::int64_t extent) {
    const Datatype piece = contiguous(block);
    MPI_Datatype vector = MPI_DATATYPE_NULL;
    check(MPI_Type_create_hvector(static_cast<int>(count), 1, static_cast<MPI_Aint>(stride), piece.get(),
                                  &vector),
          "MPI_Type_create_hvector");
    const Datatype owner(vector);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check(MPI_Type_create_resized(vector, 0, static_cast<MPI_Aint>(extent), &type),
          "MPI_Type_create_resized");
    check(MPI_Type_commit(&type), "MPI_Type_commit");
    return Datatype(type);
}

void broadcast(std::string& text, MPI_Comm comm) {
    auto size = static_cast<std::int64_t>(text.size());
    check(MPI_Bcast(&size, 1, MPI_INT64_T, 0, comm), "MPI_Bcast");
    text.resize(static_cast<std::size_t>(size));
    check(MPI_Bcast(text.data(), static_cast<int>(size), MPI_CHAR, 0, comm), "MPI_Bcast");
}

std::optional<std::string> first_message(const std::optional<std::string>& own, MPI_Comm comm) {
    const int none = size(comm);
    const int candidate = own ? rank(comm) : none;
    int lowest = none;
    check(MPI_Allreduce(&candidate, &lowest, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
    if (lowest == none) return std::nullopt;
    std::string text = own.value_or("");
    auto length = static_cast<std::int64_t>(text.size());
    check(MPI_Bcast(&length, 1, MPI_INT64_T, lowest, comm), "MPI_Bcast");
    text.resize(static_cast<std::size_t>(length));
    check(MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, lowest, comm), "MPI_Bcast");
    return text;
}

}  // namespace wa::mpi
