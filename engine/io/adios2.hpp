// Thin checked wrappers over ADIOS2: BP5 files, which are directories. Making, opening, ending a step and
// closing are collective over the communicator of the file; writing and reading a part of a variable are not.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wa::bp {

using Extents = std::vector<std::size_t>;

/// A variable of a step: its type by its bytes (1, 2, 4 or 8) and its extents over all ranks.
struct Variable {
    std::string name;
    std::int64_t type_bytes = 1;
    Extents dims;
};

/// Elements of a variable.
struct Selection {
    Extents start;
    Extents count;
};

/// "2.10.2"
[[nodiscard]] std::string version();

class Writer {
  public:
    Writer();
    // A rank that fails must not wait for the others, so nothing is closed implicitly.
    ~Writer();
    Writer(Writer&&) = delete;
    Writer& operator=(Writer&&) = delete;
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    /// Makes a file, or adds to one. `aggregators`: processes that write, 0: the library's own choice.
    void open(const std::string& path, MPI_Comm comm, bool adds, std::int64_t aggregators);
    void begin_step();
    /// The data must stay until the step's end, which writes it.
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
    ~Reader();  // as above
    Reader(Reader&&) = delete;
    Reader& operator=(Reader&&) = delete;
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    /// All steps that are in the file, which another may still write.
    void open(const std::string& path, MPI_Comm comm);
    void get(const Variable& variable, std::size_t step, const Selection& part, void* data);
    void close();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace wa::bp
