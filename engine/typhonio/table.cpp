#include "typhonio/table.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace wa::typhonio {
namespace {

/// The number of elements per chunk of a table that may grow, if small writes are to be avoided.
constexpr hsize_t large_chunk = 64;
/// The most elements of a table in a file, which may be damaged.
constexpr hsize_t most_elements = 1 << 24;

}  // namespace

void Table::append(const void* element) {
    const auto* first = static_cast<const std::byte*>(element);
    cells_.insert(cells_.end(), first, first + size_of(type_));
}

void Table::append(const std::string& text) {
    std::array<char, text_bytes> cell{};
    std::copy_n(text.begin(), std::min(text.size(), cell.size() - 1), cell.begin());
    append(cell.data());
}

void Table::set(std::size_t at, const void* element) {
    const auto* first = static_cast<const std::byte*>(element);
    std::copy_n(first, size_of(type_), cells_.begin() + static_cast<std::ptrdiff_t>(at * size_of(type_)));
}

std::vector<std::string> Table::texts() const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < size(); ++i) {
        const auto* text = reinterpret_cast<const char*>(cells_.data()) + i * text_bytes;
        out.emplace_back(text, strnlen(text, text_bytes));
    }
    return out;
}

void Table::prepare(const Storage& storage, const h5::Shared& parent, Moment moment) {
    const hsize_t count = size();
    if (!made_) {
        const bool fixed = !storage.faithful() && moment == Moment::close;
        const h5::Extents chunk = fixed ? h5::Extents{} : h5::Extents{storage.faithful() ? 1 : large_chunk};
        dataset_ = h5::create_dataset(parent, name_, native(type_),
                                      fixed ? h5::space({count}) : h5::growing_space(count),
                                      h5::unfilled_dataset_list(chunk));
        made_ = true;
        return;
    }
    if (!dataset_.open()) dataset_ = h5::find_dataset(parent, name_);
    if (count > stored_) h5::extend(dataset_, {count});
}

void Table::write_from(const Storage& storage, std::size_t first, std::size_t count) {
    if (count == 0) return;
    const h5::Local file = h5::space_of(dataset_);
    h5::select(file, {{first}, {}, {count}, {}});
    h5::write(dataset_, native(type_), h5::space({count}), file, storage.list(Transfer::independent),
              cells_.data() + first * size_of(type_));
}

void Table::settle(const Storage& storage, const h5::Shared& parent, Moment moment) {
    stored_ = size();
    dataset_.close();
    if (moment != Moment::flush) return;
    dataset_ = h5::find_dataset(parent, name_);
    if (!storage.faithful()) return;
    std::vector<std::byte> again(cells_.size());
    h5::read(dataset_, native(type_), h5::whole(), h5::whole(), storage.list(Transfer::collective),
             again.data());
}

void Table::store(const Storage& storage, const h5::Shared& parent, Moment moment) {
    if (size() == 0) return;
    const std::size_t before = stored_;
    prepare(storage, parent, moment);
    if (storage.faithful()) {
        storage.write_on_first(dataset_, type_, cells_.data());
    } else if (storage.writes_tables()) {
        write_from(storage, before, size() - before);
    }
    settle(storage, parent, moment);
}

void Table::store_own(const Storage& storage, const h5::Shared& parent, Moment moment,
                      const std::vector<char>& own) {
    if (size() == 0) return;
    prepare(storage, parent, moment);
    if (storage.faithful()) {
        h5::Extents points;
        std::vector<std::byte> values;
        const std::size_t width = size_of(type_);
        for (std::size_t i = 0; i < own.size(); ++i) {
            if (own[i] == 0) continue;
            points.push_back(i);
            const auto at = cells_.begin() + static_cast<std::ptrdiff_t>(i * width);
            values.insert(values.end(), at, at + static_cast<std::ptrdiff_t>(width));
        }
        if (!points.empty()) {
            const h5::Local file = h5::space_of(dataset_);
            h5::select_points(file, points);
            h5::write(dataset_, native(type_), h5::space({points.size()}), file,
                      storage.list(Transfer::independent), values.data());
        }
    } else {
        for (std::size_t i = 0; i < own.size();) {
            std::size_t end = i;
            while (end < own.size() && own[end] != 0) ++end;
            write_from(storage, i, end - i);
            i = end + 1;
        }
    }
    settle(storage, parent, moment);
}

void Table::load(const Storage& storage, const h5::Shared& parent) {
    dataset_ = h5::find_dataset(parent, name_);
    made_ = dataset_.open();
    if (!made_) return;
    const h5::Extents dims = h5::dims_of(dataset_);
    if (dims.size() != 1) refuse("open", name_ + " is not a list; the file is damaged");
    if (dims[0] > most_elements) refuse("open", name_ + " is too long to be a table; the file is damaged");
    stored_ = dims[0];
    cells_.resize(stored_ * size_of(type_));
    if (stored_ == 0) return;
    h5::read(dataset_, native(type_), h5::whole(), h5::whole(), storage.list(Transfer::collective),
             cells_.data());
}

}  // namespace wa::typhonio
