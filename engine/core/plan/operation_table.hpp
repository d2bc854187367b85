// The binary columnar operation table: a file in the folder of the plan, mapped and never copied. Its content
// is untrusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace wa {

class OperationTable {
  public:
    struct Row {
        std::int64_t rank = 0;
        bool write = false;
        std::int64_t offset = 0;
        std::int64_t length = 0;
    };

    /// Maps the table and checks every row against `ranks`. Raises PlanError that names `place`.
    static std::shared_ptr<const OperationTable> open(const std::string& path, const std::string& place,
                                                      std::int64_t ranks);
    ~OperationTable();
    OperationTable(const OperationTable&) = delete;
    OperationTable& operator=(const OperationTable&) = delete;
    OperationTable(OperationTable&&) = delete;
    OperationTable& operator=(OperationTable&&) = delete;

    [[nodiscard]] std::int64_t rows() const { return rows_; }
    [[nodiscard]] std::int64_t rank_of(std::int64_t row) const;
    [[nodiscard]] Row row(std::int64_t row) const;
    /// A range of rows that includes all rows of a rank; it is exact if the table is sorted by rank.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> range_of(std::int64_t rank) const;
    [[nodiscard]] std::int64_t count_of(std::int64_t rank) const;
    [[nodiscard]] std::int64_t largest() const { return largest_; }
    [[nodiscard]] std::int64_t end() const { return end_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  private:
    OperationTable(void* map, std::size_t length, std::int64_t rows)
        : map_(static_cast<const std::byte*>(map)), length_(length), rows_(rows) {}
    void check(const std::string& place, std::int64_t ranks);

    const std::byte* map_;
    std::size_t length_;
    std::int64_t rows_;
    bool sorted_ = true;
    std::int64_t largest_ = 0;  // the longest operation
    std::int64_t end_ = 0;      // one past the largest byte
    std::int64_t bytes_ = 0;
};

}  // namespace wa
