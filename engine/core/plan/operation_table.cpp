#include "plan/operation_table.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

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

std::shared_ptr<const OperationTable> OperationTable::open(const std::string& path,
                                                           const std::string& place) {
    // A link is refused: the plan may only name a file in its own folder.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) throw PlanError(place, fmt::format("the table cannot be opened: {}", std::strerror(errno)));
    struct stat status {};
    const bool regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    const auto size = static_cast<std::size_t>(status.st_size);
    void* map = regular && size >= head ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    ::close(fd);
    if (map == MAP_FAILED) throw PlanError(place, "the table is not a regular file of at least 16 bytes");
    const std::shared_ptr<OperationTable> table(new OperationTable());
    table->map_ = map;
    table->data_ = static_cast<const std::byte*>(map);
    table->length_ = size;
    table->check(place);
    return table;
}

std::shared_ptr<const OperationTable> OperationTable::of(std::string bytes, const std::string& place) {
    if (bytes.size() < head) throw PlanError(place, "the table has less than 16 bytes");
    const std::shared_ptr<OperationTable> table(new OperationTable());
    table->bytes_ = std::move(bytes);
    table->data_ = reinterpret_cast<const std::byte*>(table->bytes_.data());
    table->length_ = table->bytes_.size();
    table->check(place);
    return table;
}

OperationTable::~OperationTable() {
    if (map_ != nullptr) ::munmap(map_, length_);
}

void OperationTable::check(const std::string& place) {
    if (std::memcmp(data_, "WAOPTAB1", 8) != 0)
        throw PlanError(place, "the table does not start with WAOPTAB1");
    const auto rows = load<std::uint64_t>(data_ + 8);
    const auto size = static_cast<std::int64_t>(length_);
    const std::int64_t room = (size - static_cast<std::int64_t>(head)) / row_bytes;
    if (rows > static_cast<std::uint64_t>(room) ||
        static_cast<std::int64_t>(rows) * row_bytes + static_cast<std::int64_t>(head) != size) {
        throw PlanError(
            place, fmt::format("the table announces {} rows, but its {} bytes do not hold them", rows, size));
    }
    rows_ = static_cast<std::int64_t>(rows);
}

std::int64_t OperationTable::rank_of(std::int64_t row) const {
    return static_cast<std::int64_t>(load<std::uint32_t>(data_ + head + row * 4));
}

std::uint8_t OperationTable::direction_of(std::int64_t row) const {
    return load<std::uint8_t>(data_ + head + rows_ * 4 + row);
}

OperationTable::Row OperationTable::row(std::int64_t row) const {
    const std::byte* columns = data_ + head;
    const std::uint8_t kind = direction_of(row);
    return {rank_of(row), (kind & 1) != 0, (kind & 2) != 0, load<std::int64_t>(columns + rows_ * 5 + row * 8),
            load<std::int64_t>(columns + rows_ * 13 + row * 8)};
}

OperationRows::OperationRows(std::shared_ptr<const OperationTable> table, std::int64_t first,
                             std::optional<std::int64_t> count, const std::string& place, std::int64_t ranks)
    : table_(std::move(table)), first_(first), last_(table_->rows()) {
    if (first > last_ || count.value_or(0) > last_ - first) {
        throw PlanError(place, fmt::format("the table has {} rows, fewer than are named", last_));
    }
    if (count) last_ = first + *count;
    std::map<std::int64_t, std::int64_t> collective;  // calls of each rank
    std::map<std::int64_t, std::int64_t> writes;
    std::int64_t previous = 0;
    for (std::int64_t i = first_; i < last_; ++i) {
        const OperationTable::Row r = table_->row(i);
        if (r.rank >= ranks || table_->direction_of(i) > 3 || r.offset < 0 || r.length < 0 ||
            r.length > limits::operation_bytes || r.offset > limits::offset - r.length) {
            throw PlanError(
                place,
                fmt::format("row {} of the table has an impossible rank, direction, offset or length", i));
        }
        sorted_ = sorted_ && r.rank >= previous;
        if (r.write) most_writes_ = std::max(most_writes_, ++writes[r.rank]);
        if (users_.empty() || users_.back() != r.rank) users_.push_back(r.rank);
        if (r.collective) most_collective_ = std::max(most_collective_, ++collective[r.rank]);
        previous = r.rank;
        largest_ = std::max(largest_, r.length);
        std::int64_t& end = end_[static_cast<std::size_t>(r.write ? Direction::write : Direction::read)];
        end = std::max(end, r.offset + r.length);
        bytes_ += r.length;
        if (bytes_ > limits::offset) throw PlanError(place, "the table moves more bytes than a plan may");
    }
    std::sort(users_.begin(), users_.end());
    users_.erase(std::unique(users_.begin(), users_.end()), users_.end());
}

std::optional<std::int64_t> OperationRows::place_of(std::int64_t rank) const {
    const auto found = std::lower_bound(users_.begin(), users_.end(), rank);
    if (found == users_.end() || *found != rank) return std::nullopt;
    return found - users_.begin();
}

std::int64_t OperationRows::end() const {
    return std::max<std::int64_t>(0, std::max(end_[0], end_[1]));
}

std::pair<std::int64_t, std::int64_t> OperationRows::range_of(std::int64_t rank) const {
    if (!sorted_) return {first_, last_};
    const auto first_not_below = [this](std::int64_t wanted) {
        std::int64_t low = first_;
        std::int64_t high = last_;
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

std::int64_t OperationRows::collective_of(std::int64_t rank) const {
    const auto [first, last] = range_of(rank);
    std::int64_t count = 0;
    for (std::int64_t i = first; i < last; ++i) {
        const OperationTable::Row r = row(i);
        count += r.rank == rank && r.collective ? 1 : 0;
    }
    return count;
}

std::int64_t OperationRows::end_of(Direction direction, std::int64_t rank) const {
    const auto [first, last] = range_of(rank);
    std::int64_t end = 0;
    for (std::int64_t i = first; i < last; ++i) {
        if (rank_of(i) != rank) continue;
        const OperationTable::Row r = row(i);
        if (r.length > 0 && r.write == (direction == Direction::write))
            end = std::max(end, r.offset + r.length);
    }
    return end;
}

std::int64_t OperationRows::count_of(std::int64_t rank) const {
    const auto [first, last] = range_of(rank);
    if (sorted_) return last - first;
    std::int64_t count = 0;
    for (std::int64_t i = first; i < last; ++i) count += rank_of(i) == rank ? 1 : 0;
    return count;
}

}  // namespace wa
