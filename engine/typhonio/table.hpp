// Tables that list what a group holds: names, types, units and scalars, one element each.
// Source: docs/reference/typhonio-format.md#reference-tables and #variables;
// docs/reference/typhonio-calls.md#flush.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "typhonio/storage.hpp"

namespace wa::typhonio {

/// When a table is stored: its group stays open (so it may grow), is closed but may be opened again, or is
/// done.
enum class Moment { flush, close_growing, close };

class Table {
  public:
    Table(std::string name, Datatype type) : name_(std::move(name)), type_(type) {}

    void append(const void* element);
    void append(const std::string& text);
    void set(std::size_t at, const void* element);
    [[nodiscard]] std::size_t size() const { return cells_.size() / size_of(type_); }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] Datatype type() const { return type_; }
    [[nodiscard]] std::vector<std::string> texts() const;

    /// Collective. Nothing happens while the table is empty. Faithful: a table of chunks of one element is
    /// made or extended, rank 0 writes all of it, one write an element, and after a flush all ranks read it
    /// again. Optimised: rank 0 writes what is new in one piece.
    void store(const Storage& storage, const h5::Shared& parent, Moment moment);
    /// The same, but each rank writes the elements that it gave: one byte an element says which.
    void store_own(const Storage& storage, const h5::Shared& parent, Moment moment,
                   const std::vector<char>& own);

    /// What is in the file; all ranks read. A table that is not there is empty.
    void load(const Storage& storage, const h5::Shared& parent);

  private:
    void prepare(const Storage& storage, const h5::Shared& parent, Moment moment);
    void settle(const Storage& storage, const h5::Shared& parent, Moment moment);
    void write_from(const Storage& storage, std::size_t first, std::size_t count);

    std::string name_;
    Datatype type_;
    std::vector<std::byte> cells_;
    h5::Shared dataset_;
    bool made_ = false;       // there is a dataset in the file
    std::size_t stored_ = 0;  // elements in the file
};

}  // namespace wa::typhonio
