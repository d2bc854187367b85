#include <algorithm>
#include <array>
#include <utility>

#include "io/mpi.hpp"
#include "typhonio/mesh.hpp"

namespace wa::typhonio {
namespace {

constexpr Block mixed_components{Block::Kind::mixed_components, Centring::cell, no_ghosts};

/// Blocks up to this mean size are gathered, if the array is small enough for rank 0.
constexpr std::int64_t small_block = 4096;
constexpr std::int64_t small_array = std::int64_t{64} * 1024;

bool worth_gathering(const Storage& storage, std::int64_t bytes) {
    return bytes <= std::min(small_array, small_block * mpi::size(storage.comm()));
}

}  // namespace

void ChunkedArray::create(const Storage& storage, const h5::Shared& parent, Layout& layout) {
    std::int64_t total = layout.total(block_);
    if (mixed_ && __builtin_add_overflow(total, layout.total(mixed_components), &total))
        refuse("create dataset", name_ + " has more elements than 63 bits count");
    elements_ = total;
    if (total > 0) dataset_ = storage.create_array(parent, name_, type_, {static_cast<hsize_t>(total)});
}

std::pair<h5::Local, h5::Local> ChunkedArray::selected(const Span& span, bool takes_part) const {
    h5::Local file = h5::space_of(dataset_);
    h5::Local memory = h5::space({static_cast<hsize_t>(std::max<std::int64_t>(1, span.count))});
    if (takes_part && span.count > 0) {
        h5::select(file, {{static_cast<hsize_t>(span.first)}, {}, {static_cast<hsize_t>(span.count)}, {}});
    } else {
        h5::select_nothing(file);
        h5::select_nothing(memory);
    }
    return {std::move(memory), std::move(file)};
}

void ChunkedArray::write_block(const Storage& storage, const Span& span, Transfer transfer,
                               const void* data) const {
    if (!storage.faithful() && transfer == Transfer::collective &&
        worth_gathering(storage, elements_ * static_cast<std::int64_t>(size_of(type_)))) {
        write_gathered(storage, data == nullptr ? Span{} : span, data);
        return;
    }
    const auto [memory, file] = selected(span, data != nullptr);
    h5::write(dataset_, native(type_), memory, file, storage.list(transfer), data);
}

void ChunkedArray::write_gathered(const Storage& storage, const Span& span, const void* data) const {
    constexpr const char* operation = "gather";
    const auto ranks = static_cast<std::size_t>(mpi::size(storage.comm()));
    const auto width = static_cast<std::int64_t>(size_of(type_));
    std::vector<Span> spans(ranks);
    mpi::check(MPI_Gather(&span, 2, MPI_INT64_T, spans.data(), 2, MPI_INT64_T, 0, storage.comm()), operation);
    std::vector<int> counts(ranks);
    std::vector<int> places(ranks);
    std::int64_t total = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
        counts[r] = static_cast<int>(spans[r].count * width);
        places[r] = static_cast<int>(total);
        total += counts[r];
    }
    std::vector<std::byte> all(static_cast<std::size_t>(total));
    mpi::check(MPI_Gatherv(data, static_cast<int>(span.count * width), MPI_BYTE, all.data(), counts.data(),
                           places.data(), MPI_BYTE, 0, storage.comm()),
               operation);
    if (!storage.writes_tables()) return;
    for (std::size_t r = 0; r < ranks;) {
        Span run = spans[r];
        const std::size_t first = r++;
        while (r < ranks && spans[r].first == run.first + run.count) run.count += spans[r++].count;
        if (run.count == 0) continue;
        const auto [memory, file] = selected(run, true);
        h5::write(dataset_, native(type_), memory, file, storage.list(Transfer::independent),
                  all.data() + places[first]);
    }
}

void ChunkedArray::write(const Storage& storage, Layout& layout, std::int64_t chunk, Transfer transfer,
                         const void* data, const void* mixed) const {
    if (!dataset_.open()) return;  // no chunk has elements
    write_block(storage, data == nullptr ? Span{} : layout.span(block_, chunk), transfer, data);
    if (!mixed_ || layout.total(mixed_components) == 0) return;
    Span span = mixed == nullptr ? Span{} : layout.span(mixed_components, chunk);
    span.first += layout.total(block_);
    write_block(storage, span, transfer, mixed);
}

void ChunkedArray::read(const Storage& storage, Layout& layout, std::int64_t chunk, Transfer transfer,
                        void* data, void* mixed) const {
    if (!dataset_.open()) return;
    const auto move = [&](const Span& span, void* to) {
        const auto [memory, file] = selected(span, to != nullptr);
        h5::read(dataset_, native(type_), memory, file, storage.list(transfer), to);
    };
    move(data == nullptr ? Span{} : layout.span(block_, chunk), data);
    if (!mixed_ || layout.total(mixed_components) == 0) return;
    Span span = mixed == nullptr ? Span{} : layout.span(mixed_components, chunk);
    span.first += layout.total(block_);
    move(span, mixed);
}

}  // namespace wa::typhonio
