// What the objects of a TyphonIO file share: the pattern, the property lists, and how small objects are
// stored. Source: docs/reference/typhonio-format.md#property-lists.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "io/hdf5.hpp"
#include "typhonio/types.hpp"

namespace wa::typhonio {

class Storage {
  public:
    /// `comm` belongs to the file; its rank 0 writes the tables.
    Storage(Pattern pattern, MPI_Comm comm);

    [[nodiscard]] bool faithful() const { return pattern_ == Pattern::faithful; }
    /// Whether this is the rank that writes the tables and what all ranks know.
    [[nodiscard]] bool writes_tables() const { return rank_ == 0; }
    [[nodiscard]] MPI_Comm comm() const { return comm_; }
    [[nodiscard]] const h5::Local& list(Transfer transfer) const {
        return transfer == Transfer::collective ? collective_ : independent_;
    }

    /// Collective, like everything that creates.
    [[nodiscard]] h5::Shared create_group(const h5::Shared& parent, const std::string& name) const;
    /// A contiguous array; `dims` are in the order of the file.
    [[nodiscard]] h5::Shared create_array(const h5::Shared& parent, const std::string& name, Datatype type,
                                          const h5::Extents& dims) const;
    /// Writes a whole dataset on rank 0 only.
    void write_on_first(const h5::Shared& dataset, Datatype type, const void* data) const;

    void attribute(const h5::Shared& object, const std::string& name, int value) const;
    void attribute(const h5::Shared& object, const std::string& name, std::uint64_t value) const;
    void attribute(const h5::Shared& object, const std::string& name, double value) const;
    void attribute(const h5::Shared& object, const std::string& name, const std::string& value) const;
    /// Writes an attribute of any type of numbers.
    void attribute(const h5::Shared& object, const std::string& name, Datatype type, const void* value) const;

  private:
    Pattern pattern_;
    MPI_Comm comm_;
    int rank_;
    h5::Local collective_;
    h5::Local independent_;
    h5::Local group_list_;
    h5::Local array_list_;
};

}  // namespace wa::typhonio
