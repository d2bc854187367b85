// The binary columnar operation table: a file in the folder of the plan, mapped and never copied, or bytes
// that the caller has. Its content is untrusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"

namespace wa {

class OperationTable {
  public:
    struct Row {
        std::int64_t rank = 0;
        bool write = false;
        bool collective = false;
        std::int64_t offset = 0;
        std::int64_t length = 0;
    };

    /// Maps a table. Raises PlanError that names `place`.
    static std::shared_ptr<const OperationTable> open(const std::string& path, const std::string& place);
    /// A table in memory. Raises PlanError that names `place`.
    static std::shared_ptr<const OperationTable> of(std::string bytes, const std::string& place);
    ~OperationTable();
    OperationTable(const OperationTable&) = delete;
    OperationTable& operator=(const OperationTable&) = delete;
    OperationTable(OperationTable&&) = delete;
    OperationTable& operator=(OperationTable&&) = delete;

    [[nodiscard]] std::int64_t rows() const { return rows_; }
    [[nodiscard]] std::int64_t rank_of(std::int64_t row) const;
    [[nodiscard]] std::uint8_t direction_of(std::int64_t row) const;
    [[nodiscard]] Row row(std::int64_t row) const;

  private:
    OperationTable() = default;
    /// Checks that the bytes are those of a table.
    void check(const std::string& place);

    void* map_ = nullptr;  // what is to be unmapped
    std::string bytes_;
    const std::byte* data_ = nullptr;
    std::size_t length_ = 0;
    std::int64_t rows_ = 0;
};

/// The rows of a table that one stream performs.
class OperationRows {
  public:
    /// Checks every row from `first` on, `count` of them (nullopt: all that follow), against `ranks`. Raises
    /// PlanError that names `place`.
    OperationRows(std::shared_ptr<const OperationTable> table, std::int64_t first,
                  std::optional<std::int64_t> count, const std::string& place, std::int64_t ranks);

    [[nodiscard]] std::int64_t rank_of(std::int64_t row) const { return table_->rank_of(row); }
    [[nodiscard]] OperationTable::Row row(std::int64_t row) const { return table_->row(row); }
    /// The row at a place among these, from 0.
    [[nodiscard]] OperationTable::Row row_at(std::int64_t place) const { return table_->row(first_ + place); }
    /// A range of rows that includes all rows of a rank; it is exact if the rows are sorted by rank.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> range_of(std::int64_t rank) const;
    [[nodiscard]] std::int64_t count_of(std::int64_t rank) const;
    /// How many ranks have rows, and the place of one of them among these; nullopt for a rank without rows.
    [[nodiscard]] std::int64_t users() const { return static_cast<std::int64_t>(users_.size()); }
    [[nodiscard]] std::optional<std::int64_t> place_of(std::int64_t rank) const;
    [[nodiscard]] std::int64_t collective_of(std::int64_t rank) const;
    /// The collective calls of the rank that has the most.
    [[nodiscard]] std::int64_t most_collective() const { return most_collective_; }
    [[nodiscard]] std::int64_t largest() const { return largest_; }
    [[nodiscard]] bool moves(Direction direction) const { return end(direction) >= 0; }
    /// One past the largest byte in a direction, or -1 without a row in it.
    [[nodiscard]] std::int64_t end(Direction direction) const {
        return end_[static_cast<std::size_t>(direction)];
    }
    /// One past the largest byte.
    [[nodiscard]] std::int64_t end() const;
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    [[nodiscard]] std::int64_t rows() const { return last_ - first_; }
    [[nodiscard]] bool sorted() const { return sorted_; }
    /// The writes of the rank that has the most.
    [[nodiscard]] std::int64_t most_writes() const { return most_writes_; }
    /// One past the largest byte that a rank reads, or writes; 0 if it does not.
    [[nodiscard]] std::int64_t end_of(Direction direction, std::int64_t rank) const;

  private:
    std::shared_ptr<const OperationTable> table_;
    std::int64_t first_;
    std::int64_t last_;
    bool sorted_ = true;
    std::int64_t largest_ = 0;  // the longest operation
    std::int64_t most_collective_ = 0;
    std::int64_t most_writes_ = 0;
    std::vector<std::int64_t> users_;  // ascending
    std::int64_t end_[2] = {-1, -1};
    std::int64_t bytes_ = 0;
};

}  // namespace wa
