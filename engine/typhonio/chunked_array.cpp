#include <fmt/format.h>

#include <algorithm>

#include "typhonio/mesh.hpp"

namespace wa::typhonio {
namespace {

constexpr Block mixed_components{Block::Kind::mixed_components, Centring::cell, no_ghosts};

}  // namespace

void ChunkedArray::create(const Storage& storage, const h5::Shared& parent, Layout& layout) {
    std::int64_t total = layout.total(block_);
    if (mixed_ && __builtin_add_overflow(total, layout.total(mixed_components), &total))
        refuse("create dataset", name_ + " has more elements than 63 bits count");
    if (total == 0) return;
    dataset_ = storage.create_array(parent, name_, type_, {static_cast<hsize_t>(total)});
}

std::pair<h5::Local, h5::Local> ChunkedArray::selected(const Span& span, bool takes_part) const {
    h5::Local file = h5::space_of(dataset_);
    const bool some = takes_part && span.count > 0;
    h5::Local memory = h5::space({static_cast<hsize_t>(std::max<std::int64_t>(1, span.count))});
    if (some) {
        h5::select(file, {{static_cast<hsize_t>(span.first)}, {}, {static_cast<hsize_t>(span.count)}, {}});
    } else {
        h5::select_nothing(file);
        h5::select_nothing(memory);
    }
    return {std::move(memory), std::move(file)};
}

void ChunkedArray::write(const Storage& storage, Layout& layout, std::int64_t chunk, Transfer transfer,
                         const void* data, const void* mixed) const {
    if (!dataset_.open()) return;  // no elements in any chunk
    const auto move = [&](const Span& span, const void* from) {
        const auto [memory, file] = selected(span, from != nullptr);
        h5::write(dataset_, native(type_), memory, file, storage.list(transfer), from);
    };
    const bool joins = data == nullptr;
    move(joins ? Span{} : layout.span(block_, chunk), data);
    const std::int64_t components = mixed_ ? layout.total(mixed_components) : 0;
    if (components == 0) return;
    Span span = mixed == nullptr ? Span{} : layout.span(mixed_components, chunk);
    span.first += layout.total(block_);
    move(span, mixed);
}

void ChunkedArray::read(const Storage& storage, Layout& layout, std::int64_t chunk, Transfer transfer,
                        void* data, void* mixed) const {
    if (!dataset_.open()) return;
    const auto move = [&](const Span& span, void* to) {
        const auto [memory, file] = selected(span, to != nullptr);
        h5::read(dataset_, native(type_), memory, file, storage.list(transfer), to);
    };
    move(data == nullptr ? Span{} : layout.span(block_, chunk), data);
    const std::int64_t components = mixed_ ? layout.total(mixed_components) : 0;
    if (components == 0) return;
    Span span = mixed == nullptr ? Span{} : layout.span(mixed_components, chunk);
    span.first += layout.total(block_);
    move(span, mixed);
}

}  // namespace wa::typhonio
