// Thin checked wrappers of ADIOS2 for BP5 files, which are directories. Making, opening, ending a step and
// closing are collective over the communicator of the file. Writing and reading a part of a variable are not.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wa::bp {

using Extents = std::vector<std::size_t>;

/// A variable of a step: the type by its size in bytes (1, 2, 4 or 8), and the extents over all ranks.
struct Variable {
    std::string name;
    std::int64_t type_bytes = 1;
    Extents dims;
};

/// A selection of elements of a variable.
struct Selection {
    Extents start;
    Extents count;
};

/// The version, such as "2.10.2".
[[nodiscard]] std::string version();

class Writer {
  public:
    Writer();
    // The destructor closes nothing, because a rank that fails must not wait for the others.
    ~Writer();
    Writer(Writer&&) = delete;
    Writer& operator=(Writer&&) = delete;
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    /// Makes a file or appends to it. `aggregators` is the number of processes that write; 0 is the library's
    /// choice.
    void open(const std::string& path, MPI_Comm comm, bool adds, std::int64_t aggregators);
    void begin_step();
    /// The data must stay valid until end_step(), which writes it.
    void put(const Variable& variable, const Selection& part, const void* data);
    void end_step();
    void close();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

class Reader {
  public:
    Reader();
    ~Reader();  // closes nothing, like ~Writer()
    Reader(Reader&&) = delete;
    Reader& operator=(Reader&&) = delete;
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    /// Opens all steps that are in the file, which another process may still write.
    void open(const std::string& path, MPI_Comm comm);
    void get(const Variable& variable, std::size_t step, const Selection& part, void* data);
    void close();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace wa::bp
