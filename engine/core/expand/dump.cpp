#include "expand/dump.hpp"

#include <algorithm>
#include <utility>

#include "expand/entry_span.hpp"
#include "expand/split.hpp"
#include "plan/operation_table.hpp"

namespace wa {
namespace {

bool stream_moves(const Stream& stream) {
    return std::any_of(stream.entries.begin(), stream.entries.end(),
                       [](const Entry& e) { return e.operations > 0; });
}

bool access_moves(const Access& access) {
    return std::any_of(access.slabs.begin(), access.slabs.end(),
                       [](const Slab& s) { return s.operations > 0; });
}

bool anything(const Content& content) {
    return moves(content, Direction::read) || moves(content, Direction::write);
}

std::int64_t round_up(std::int64_t total, std::int64_t n) {
    return share_of(total, n, 0);
}

/// The operations of the busiest rank in a section of a stream. Those of a table are not known by rank
/// without looking at all, so their mean stands for them.
std::int64_t most_of_stream(const Stream& stream, const Place& place, std::optional<std::size_t> only) {
    if (!stream.rows) return most_operations(stream, place, only);
    const std::int64_t users = std::max<std::int64_t>(stream.rows->users(), 1);
    return std::max(stream.rows->most_collective(), share_of(stream.rows->rows(), users, 0));
}

/// The mean size of a stream's operations, or of those of one of its entries.
double mean_size(const Stream& stream, std::optional<std::size_t> only) {
    if (only) return static_cast<double>(stream.entries[*only].size);
    double bytes = 0;
    double operations = 0;
    for (const Entry& entry : stream.entries) {
        bytes += static_cast<double>(entry.operations) * static_cast<double>(entry.size);
        operations += static_cast<double>(entry.operations);
    }
    return operations > 0 ? bytes / operations : 0;
}

/// The largest mean size of a content's streams; 0 where not all sizes are known.
double largest_mean_size(const Content& content) {
    if (!content.arrays.empty()) return 0;
    double largest = 0;
    for (const Stream& stream : content.streams) {
        if (stream.rows) return 0;
        if (stream.pieces == 1) largest = std::max(largest, mean_size(stream, std::nullopt));
        for (std::size_t e = 0; stream.pieces > 1 && e < stream.entries.size(); ++e)
            largest = std::max(largest, mean_size(stream, e));
    }
    return largest;
}

/// The least weight of an operation: a call takes time also if it moves little.
constexpr double least_weight = 1.0 / 64;

}  // namespace

void DumpTurns::add(Direction direction, double turns, double weight) {
    if (turns <= 0) return;
    const double others = of(direction == Direction::read ? Direction::write : Direction::read);
    if (others == 0 && of(direction) == 0) first = direction;
    alternate = alternate || (direction == first && others > 0);
    by_direction[static_cast<std::size_t>(direction)] += turns * weight;
    last_weight[static_cast<std::size_t>(direction)] = very_last_weight = weight;
}

std::int64_t shift_of(const Family& family, const Content& content) {
    return moves(content, Direction::write) ? 0 : family.shift;
}

bool moves(const Content& content, Direction direction) {
    if (content.fit) return direction == Direction::write;
    if (content.mesh) return direction == content.mesh->direction;
    if (content.dataset) return direction == Direction::read;
    for (const Stream& stream : content.streams) {
        // A table may hold operations of both directions.
        if (stream.rows ? stream.rows->moves(direction)
                        : stream.direction == direction && stream_moves(stream))
            return true;
    }
    for (const Array& array : content.arrays) {
        for (const Access& access : array.access) {
            if (access.direction == direction && access_moves(access)) return true;
        }
    }
    return false;
}

Wide dump_end(const Plan& plan, const Dump& dump, const Layout& layout, const FileSlot& slot,
              std::optional<Direction> direction) {
    const Content& content = plan.contents[dump.content];
    Wide end = 0;
    for (const Stream& stream : content.streams) {
        if (direction && stream.rows) {
            const std::int64_t past = stream.rows->end(*direction);
            if (past > 0) end = std::max(end, stream.base + Wide{past});
            continue;
        }
        if (direction && stream.direction != *direction) continue;
        const Place place = place_of(stream.ranks, layout, slot, slot.first_member);
        const bool bytes = direction && stream.pattern == Pattern::replicated;
        end = std::max(end, bytes ? data_end(stream, place) : stream_end(stream, place));
    }
    Wide arrays = 0;
    for (const Array& array : content.arrays) arrays += Wide{array.bytes()} * array.datasets;
    end = std::max(end, arrays);
    if (content.fit) end = std::max(end, Wide{content.fit->bytes});
    if (content.mesh && (!direction || *direction == content.mesh->direction)) {
        const Place place = place_of(Ranks{}, layout, slot, slot.first_member);
        end = std::max(end, Wide{mesh_share(*content.mesh, place, std::nullopt).layout->bytes()});
    }
    if (content.dataset) end = std::max(end, Wide{content.dataset->bytes} + content.dataset->header);
    return end == 0 ? 0 : end + dump.base;
}

DumpOperations::DumpOperations(const Plan& plan, std::size_t position, const Layout& layout,
                               std::int64_t member, const Options& options)
    : plan_(plan),
      dump_(plan.dumps[position]),
      family_(plan.families[dump_.family]),
      content_(plan.contents[dump_.content]),
      layout_(layout),
      position_(position),
      member_(member),
      options_(options),
      acting_(layout.acting_member(member, shift_of(family_, content_))),
      slot_(layout.slot_of_member(acting_)),
      largest_size_(largest_mean_size(content_)) {
    const std::int64_t rank = layout_.members().at(acting_);
    for (const Stream& stream : content_.streams) {
        const std::int64_t count =
            stream_count(stream, place_of(stream.ranks, layout_, slot_, acting_), rank);
        own_ += count;
        if (stream.buffered != Buffered::none) buffered_ += count;
    }
    for (const Array& array : content_.arrays) own_ += array_count(array, layout_, slot_, acting_);
    if (content_.fit) own_ += fit_count(*content_.fit, place_of(Ranks{}, layout_, slot_, acting_));
    if (content_.mesh) {
        mesh_ = mesh_share(*content_.mesh, place_of(Ranks{}, layout_, slot_, acting_), options_.fit_bytes);
        own_ += mesh_count(*mesh_);
    }
    if (content_.dataset) {
        epoch_.emplace(plan_, family_, *content_.dataset, dump_.index, member_, layout_.size());
        own_ = epoch_->operations();
        uses_ = own_ > 0;
        return;
    }
    count_calls();
}

/// Operations of a stream that moves little, such as headers, take the less of the dump's time.
double DumpOperations::weight_of(const Stream& stream, std::optional<std::size_t> only) const {
    return largest_size_ > 0 ? std::max(mean_size(stream, only) / largest_size_, least_weight) : 1;
}

DumpTurns DumpOperations::turns() const {
    DumpTurns out;
    for (const Stream& stream : content_.streams) {
        const Place place = place_of(stream.ranks, layout_, slot_, slot_.first_member);
        const bool both =
            stream.rows && stream.rows->moves(Direction::read) && stream.rows->moves(Direction::write);
        if (stream.pieces > 1) {
            for (std::size_t e = 0; e < stream.entries.size(); ++e)
                out.add(stream.direction, static_cast<double>(most_of_stream(stream, place, e)),
                        weight_of(stream, e));
        } else {
            const auto most = static_cast<double>(most_of_stream(stream, place, std::nullopt));
            out.add(stream.direction, most, weight_of(stream, std::nullopt));
        }
        out.alternate = out.alternate || both;
    }
    for (const Array& array : content_.arrays) {
        for (const Direction direction : {Direction::write, Direction::read}) {
            const std::int64_t most = most_of_array(array, layout_, slot_, std::nullopt, direction);
            out.add(direction, static_cast<double>(most));
        }
        // Each dataset has the accesses of both.
        const bool both = out.of(Direction::read) > 0 && out.of(Direction::write) > 0;
        out.alternate = out.alternate || both;
    }
    if (content_.fit) {
        const Place place = place_of(Ranks{}, layout_, slot_, slot_.first_member);
        const Fit& fit = *content_.fit;
        const std::int64_t most = fit_share(fit, fit.bytes, 1, 0, place).most;
        out.add(Direction::write, static_cast<double>(most * fit.datasets));
    }
    if (mesh_) {
        const auto tables = static_cast<double>(mesh_->layout->tables().size());
        out.add(content_.mesh->direction, tables * static_cast<double>(mesh_->most));
    }
    return out;
}

bool DumpOperations::next_file() {
    if (!epoch_ || !epoch_->next_file()) return false;
    const Dataset& dataset = *content_.dataset;
    calls_.opens = dataset.opens;
    calls_.stats = dataset.stats;
    calls_.seeks = dataset.seeks;
    file_operations_ = epoch_->operations_of_file();
    in_file_ = true;
    return true;
}

void DumpOperations::count_calls() {
    const std::int64_t n = layout_.size();
    // The ranks that have rows of a table make its dump's calls.
    const OperationRows* rows = content_.streams.empty() ? nullptr : content_.streams.front().rows.get();
    const bool of_rows = rows != nullptr && rows->users() > 0;
    const std::int64_t rank = layout_.members().at(acting_);
    const std::optional<std::int64_t> place = of_rows ? rows->place_of(rank) : member_;
    const auto own_share = [&](std::int64_t total) {
        return place ? share_of(total, of_rows ? rows->users() : n, *place) : 0;
    };
    // If not all ranks open a file, those do that streams name.
    const bool of_streams = !of_rows && !content_.users.empty() && content_.opens > 0 && content_.opens < n;
    const auto users_share = [&](std::int64_t total) -> std::int64_t {
        if (!of_streams) return own_share(total);
        const std::optional<std::int64_t> user = content_.users.index_of(rank);
        return user ? share_of(total, content_.users.size(), *user) : 0;
    };
    calls_.stats = users_share(content_.stats);
    calls_.maps = users_share(content_.maps);
    calls_.seeks = content_.seek_each ? own_ - buffered_ : users_share(content_.seeks);
    const SharingMode mode = family_.sharing.mode;
    const bool together = options_.collective_files && mode != SharingMode::per_rank &&
                          mode != SharingMode::root && !family_.sharing.baton;
    together_ = together;
    if (together) {
        calls_.opens =
            options_.lone_opens && content_.opens > n ? content_.opens / n : round_up(content_.opens, n);
        calls_.lone_opens =
            share_of(std::max<std::int64_t>(content_.opens - calls_.opens * n, 0), n, member_);
        calls_.flushes = round_up(content_.flushes, n);
        calls_.fsyncs = round_up(content_.fsyncs, n);
        uses_ = anything(content_) || calls_.flushes > 0 || calls_.fsyncs > 0;
    } else {
        calls_.opens = users_share(content_.opens);
        calls_.flushes = users_share(content_.flushes);
        calls_.fsyncs = users_share(content_.fsyncs);
        uses_ = own_ > 0 || calls_.seeks > 0 || calls_.flushes > 0 || calls_.fsyncs > 0 || calls_.maps > 0;
    }
    if (uses_ && !options_.file_is_open) calls_.opens = std::max<std::int64_t>(calls_.opens, 1);
}

void DumpOperations::begin_stream(Section& section) {
    const Stream& stream = content_.streams[part_];
    const Place place = place_of(stream.ranks, layout_, slot_, acting_);
    // A rank has a random order of its own; the ranks of a shuffled stream have one order together.
    const bool common = stream.pattern == Pattern::shuffled;
    const std::uint64_t key =
        mix(mix(plan_.seed, position_), common ? part_ : mix(part_, static_cast<std::uint64_t>(acting_)));
    section.part = part_;
    section.writes =
        stream.rows ? stream.rows->moves(Direction::write) : stream.direction == Direction::write;
    std::optional<std::size_t> only;
    if (stream.pieces > 1) {
        const std::int64_t piece = stream.entries[entry_].size / stream.pieces;
        only = entry_;
        section.entry = entry_;
        section.view = true;
        section.pieces = stream.pieces;
        section.piece_size = piece;
        section.piece_stride = std::max<std::int64_t>(place.here, 1) * piece;
        section.round = round_of(stream, stream.entries[entry_], place);
        section.view_base =
            dump_.base + entry_base(stream, place, entry_) + (place.active() ? place.local() * piece : 0);
    }
    if (section.writes && together_)
        section.most_writes = stream.rows ? stream.rows->most_writes() : most_operations(stream, place, only);
    section.direction = stream.direction;
    section.weight = weight_of(stream, only);
    section.turns = most_of_stream(stream, place, only);
    section.buffered = stream.buffered;
    if (place.active()) {
        section.buffer_seeks = share_of(stream.buffer_seeks, place.all, place.index);
        section.buffer_flushes = share_of(stream.buffer_flushes, place.all, place.index);
    }
    section.own_turns = own_turns(stream, section, place);
    turn_ = 0;
    operations_.emplace<StreamOperations>(stream, place, dump_.base, layout_.members().at(acting_), key,
                                          options_.collective_files, only);
    if (only && ++entry_ < stream.entries.size()) return;
    entry_ = 0;
    ++part_;
}

/// Members that call together divide the time of a section equally. The others need not.
std::int64_t DumpOperations::own_turns(const Stream& stream, const Section& section,
                                       const Place& place) const {
    const std::int64_t rank = layout_.members().at(acting_);
    const bool sync_together = together_ && (sync().writes > 0 || flush().writes > 0) && section.writes;
    const bool call_together = sync_together || (stream.collective && options_.collective_files);
    // Ranks have different numbers of independent rows between collective ones, so all rows come at once.
    if (stream.rows) return call_together ? 0 : stream.rows->count_of(rank);
    return call_together || section.view ? section.turns : stream_count(stream, place, rank);
}

bool DumpOperations::next_section(Section& section) {
    section = Section{};
    if (epoch_) return std::exchange(in_file_, false);
    while (part_ < content_.streams.size() && content_.streams[part_].entries.empty()) ++part_;
    if (part_ < content_.streams.size()) {
        begin_stream(section);
        return true;
    }
    const bool joins = options_.collective_files;
    std::size_t index = part_ - content_.streams.size();
    for (; index < content_.arrays.size() && content_.arrays[index].access.empty(); ++index, ++part_) {
        // Another dump uses these datasets; their place in the file stays theirs.
        const Array& array = content_.arrays[index];
        array_base_ += array.bytes() * array.datasets;
    }
    if (index < content_.arrays.size()) {
        const Array& array = content_.arrays[index];
        section.kind = Section::Kind::array;
        section.part = index;
        section.dataset = dataset_;
        section.base = dump_.base + array_base_;
        section.bytes = array.bytes();
        section.pieces = array.multi ? array.datasets : 1;
        section.turns = section.own_turns = most_of_array(array, layout_, slot_, dataset_, std::nullopt);
        const bool writes = most_of_array(array, layout_, slot_, dataset_, Direction::write) > 0;
        section.direction = writes ? Direction::write : Direction::read;
        if (together_) section.most_writes = most_of_array(array, layout_, slot_, dataset_, Direction::write);
        operations_.emplace<ArrayOperations>(array, dataset_, section.base, layout_, slot_, acting_, joins);
        array_base_ += array.bytes() * section.pieces;
        dataset_ += section.pieces;
        if (dataset_ == array.datasets) {
            dataset_ = 0;
            ++part_;
        }
        return true;
    }
    if (content_.fit && dataset_ < content_.fit->datasets) {
        const Fit& fit = *content_.fit;
        const std::int64_t unit = options_.whole_elements ? fit.element : 1;
        const Place place = place_of(Ranks{}, layout_, slot_, acting_);
        const FitShare share = options_.fit_bytes
                                   ? fit_share_of_file(fit, *options_.fit_bytes, unit, dataset_, place)
                                   : fit_share(fit, fit.bytes, unit, dataset_, place);
        section.kind = Section::Kind::fit;
        section.dataset = dataset_;
        section.base = dump_.base + array_base_;
        section.bytes = share.units * unit;
        section.turns = share.most;
        section.own_turns = fit.collective ? share.most : share.end - share.first;
        turn_ = 0;
        operations_.emplace<FitOperations>(fit, share, unit, section.base, joins);
        array_base_ += section.bytes;
        ++dataset_;
        return true;
    }
    return next_table(section);
}

bool DumpOperations::next_table(Section& section) {
    if (!mesh_ || part_ >= mesh_->layout->tables().size()) return false;
    const MeshTable& table = mesh_->layout->tables()[part_];
    section.kind = Section::Kind::mesh;
    section.part = part_;
    section.base = dump_.base + array_base_;
    section.bytes = mesh_->layout->elements(table) * bytes_of(table.type);
    section.direction = content_.mesh->direction;
    section.turns = mesh_->most;
    section.own_turns = content_.mesh->collective ? mesh_->most : mesh_->own.count;
    turn_ = 0;
    operations_.emplace<MeshOperations>(*mesh_, part_, section.base, options_.collective_files);
    array_base_ += section.bytes;
    ++part_;
    return true;
}

bool DumpOperations::next(Operation& operation) {
    if (epoch_) return epoch_->next(operation);
    if (auto* array = std::get_if<ArrayOperations>(&operations_)) return array->next(operation);
    bool found = false;
    if (auto* stream = std::get_if<StreamOperations>(&operations_)) found = stream->next(operation);
    if (auto* fit = std::get_if<FitOperations>(&operations_)) found = fit->next(operation);
    if (auto* mesh = std::get_if<MeshOperations>(&operations_)) found = mesh->next(operation);
    operation.turn = turn_++;
    return found;
}

EqualRun DumpOperations::ahead() const {
    const auto* stream = std::get_if<StreamOperations>(&operations_);
    return stream ? stream->ahead() : EqualRun{};
}

void DumpOperations::skip(std::int64_t count) {
    if (auto* stream = std::get_if<StreamOperations>(&operations_)) stream->skip(count);
    turn_ += count;
}

}  // namespace wa
