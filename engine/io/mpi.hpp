// Thin checked wrappers over MPI calls (communication; files are in mpi_file.hpp).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wa::mpi {

/// Raises CallFailed when a call did not succeed.
void check(int code, const char* operation);
[[nodiscard]] std::string error_text(int code);

[[nodiscard]] int rank(MPI_Comm comm);
[[nodiscard]] int size(MPI_Comm comm);

/// A derived datatype, freed at the end of its life.
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

/// `bytes` contiguous bytes as one element: counts of MPI are 32-bit, sizes are not.
[[nodiscard]] Datatype contiguous(std::int64_t bytes);
/// `bytes` in memory that repeats every `reach` bytes: for data that is longer than the memory it comes from.
[[nodiscard]] Datatype repeated(std::int64_t bytes, std::int64_t reach);
/// `count` blocks of `block` bytes, `stride` bytes from start to start, with an extent of count * stride.
[[nodiscard]] Datatype blocks(std::int64_t count, std::int64_t block, std::int64_t stride);

/// The text of rank 0 on all ranks.
void broadcast(std::string& text, MPI_Comm comm);
/// The message of the lowest rank that has one, on all ranks.
[[nodiscard]] std::optional<std::string> first_message(const std::optional<std::string>& own, MPI_Comm comm);

}  // namespace wa::mpi
