// Thin checked wrappers of MPI calls for communication; files are in mpi_file.hpp.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wa::mpi {

/// Raises CallFailed if a call did not succeed.
void check(int code, const char* operation);
[[nodiscard]] std::string error_text(int code);

[[nodiscard]] int rank(MPI_Comm comm);
[[nodiscard]] int size(MPI_Comm comm);

/// A derived datatype; the destructor frees it.
class Datatype {
  public:
    explicit Datatype(MPI_Datatype type) : type_(type) {}
    ~Datatype();
    Datatype(Datatype&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
    Datatype& operator=(Datatype&&) = delete;
    Datatype(const Datatype&) = delete;
    Datatype& operator=(const Datatype&) = delete;
    [[nodiscard]] MPI_Datatype get() const { return type_; }

  private:
    MPI_Datatype type_;
};

/// `bytes` contiguous bytes as one element, because counts of MPI have only 32 bits.
[[nodiscard]] Datatype contiguous(std::int64_t bytes);
/// `bytes` of memory that repeats every `reach` bytes, for data that is longer than its memory.
[[nodiscard]] Datatype repeated(std::int64_t bytes, std::int64_t reach);
/// `count` blocks of `block` bytes, `stride` bytes from start to start; the next such blocks begin after
/// `extent` bytes.
[[nodiscard]] Datatype blocks(std::int64_t count, std::int64_t block, std::int64_t stride,
                              std::int64_t extent);

/// Sends the text of rank 0 to all ranks.
void broadcast(std::string& text, MPI_Comm comm);
/// The message of the lowest rank that has one, known on all ranks afterwards.
[[nodiscard]] std::optional<std::string> first_message(const std::optional<std::string>& own, MPI_Comm comm);

}  // namespace wa::mpi
