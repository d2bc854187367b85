#include "plan/operation_table.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "errors.hpp"
#include "plan/limits.hpp"

namespace wa {
namespace {

constexpr std::size_t head = 16;
constexpr std::int64_t row_bytes = 4 + 1 + 8 + 8;

/// The columns need not be aligned.
template <typename T>
T load(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

}  // namespace

std::shared_ptr<const OperationTable> OperationTable::open(const std::string& path, const std::string& place,
                                                           std::int64_t ranks) {
    // A link is refused: the plan may only name a file in its own folder.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) throw PlanError(place, fmt::format("the table cannot be opened: {}", std::strerror(errno)));
    struct stat status {};
    const bool regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    const auto size = static_cast<std::int64_t>(status.st_size);
    void* map = regular && size >= static_cast<std::int64_t>(head)
                    ? ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, fd, 0)
                    : MAP_FAILED;
    ::close(fd);
    if (map == MAP_FAILED) throw PlanError(place, "the table is not a regular file of at least 16 bytes");
    const auto* bytes = static_cast<const std::byte*>(map);
    const std::uint64_t rows = load<std::uint64_t>(bytes + 8);
    const std::shared_ptr<OperationTable> table(
        new OperationTable(map, static_cast<std::size_t>(size), static_cast<std::int64_t>(rows)));
    if (std::memcmp(bytes, "WAOPTAB1", 8) != 0)
        throw PlanError(place, "the table does not start with WAOPTAB1");
    const std::int64_t room = (size - static_cast<std::int64_t>(head)) / row_bytes;
    if (rows > static_cast<std::uint64_t>(room) ||
        static_cast<std::int64_t>(rows) * row_bytes + static_cast<std::int64_t>(head) != size) {
        throw PlanError(
            place, fmt::format("the table announces {} rows, but its {} bytes do not hold them", rows, size));
    }
    table->check(place, ranks);
    return table;
}

OperationTable::~OperationTable() {
    ::munmap(const_cast<std::byte*>(map_), length_);
}

void OperationTable::check(const std::string& place, std::int64_t ranks) {
    std::int64_t previous = 0;
    for (std::int64_t i = 0; i < rows_; ++i) {
        const Row r = row(i);
        const auto direction = load<std::uint8_t>(map_ + head + rows_ * 4 + i);
        if (r.rank >= ranks || direction > 1 || r.offset < 0 || r.length < 0 ||
            r.length > limits::operation_bytes || r.offset > limits::offset - r.length) {
            throw PlanError(
                place,
                fmt::format("row {} of the table has an impossible rank, direction, offset or length", i));
        }
        sorted_ = sorted_ && r.rank >= previous;
        previous = r.rank;
        largest_ = std::max(largest_, r.length);
        end_ = std::max(end_, r.offset + r.length);
        bytes_ += r.length;
        if (bytes_ > limits::offset) throw PlanError(place, "the table moves more bytes than a plan may");
    }
}

std::int64_t OperationTable::rank_of(std::int64_t row) const {
    return static_cast<std::int64_t>(load<std::uint32_t>(map_ + head + row * 4));
}

OperationTable::Row OperationTable::row(std::int64_t row) const {
    const std::byte* columns = map_ + head;
    return {rank_of(row), load<std::uint8_t>(columns + rows_ * 4 + row) != 0,
            load<std::int64_t>(columns + rows_ * 5 + row * 8),
            load<std::int64_t>(columns + rows_ * 13 + row * 8)};
}

std::pair<std::int64_t, std::int64_t> OperationTable::range_of(std::int64_t rank) const {
    if (!sorted_) return {0, rows_};
    const auto first_not_below = [this](std::int64_t wanted) {
        std::int64_t low = 0;
        std::int64_t high = rows_;
        while (low < high) {
            const std::int64_t middle = low + (high - low) / 2;
            if (rank_of(middle) < wanted) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    };
    return {first_not_below(rank), first_not_below(rank + 1)};
}

std::int64_t OperationTable::count_of(std::int64_t rank) const {
    const auto [first, last] = range_of(rank);
    if (sorted_) return last - first;
    std::int64_t count = 0;
    for (std::int64_t i = first; i < last; ++i) count += rank_of(i) == rank ? 1 : 0;
    return count;
}

}  // namespace wa
