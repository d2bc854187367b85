// Tables that list the content of a group: names, types, units and scalars, one element each. Source:
// docs/reference/typhonio-format.md#reference-tables and #variables; docs/reference/typhonio-calls.md#flush.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "typhonio/storage.hpp"

namespace wa::typhonio {

/// When a table is stored: its group remains open (and may grow), is closed but may be opened again, or is
/// complete.
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

    /// Collective. Does nothing while the table is empty. The pattern faithful creates or extends a table
    /// with chunks of one element. Rank 0 then writes all elements, one write each, and after a flush all
    /// ranks read them again. In the pattern optimised, rank 0 writes the new elements in one piece.
    void store(const Storage& storage, const h5::Shared& parent, Moment moment);
    /// The same, but each rank writes the elements that it set; `own` has one byte per element that marks
    /// them.
    void store_own(const Storage& storage, const h5::Shared& parent, Moment moment,
                   const std::vector<char>& own);

    /// Reads the table on all ranks. A missing table is empty.
    void load(const Storage& storage, const h5::Shared& parent);

  private:
    void prepare(const Storage& storage, const h5::Shared& parent, Moment moment);
    void settle(const Storage& storage, const h5::Shared& parent, Moment moment);
    void write_from(const Storage& storage, std::size_t first, std::size_t count);

    std::string name_;
    Datatype type_;
    std::vector<std::byte> cells_;
    h5::Shared dataset_;
    bool made_ = false;       // the file has a dataset
    std::size_t stored_ = 0;  // elements in the file
};

}  // namespace wa::typhonio
