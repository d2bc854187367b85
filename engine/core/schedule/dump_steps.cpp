#include "schedule/dump_steps.hpp"

#include <algorithm>

namespace wa {
namespace {

constexpr auto reads = static_cast<std::size_t>(Direction::read);
constexpr auto writes = static_cast<std::size_t>(Direction::write);

/// Whether no other rank waits for a rank within a dump, so that it may make its calls at other moments.
bool calls_are_its_own(const Family& family, const DumpOperations& operations, const DumpTurns& turns) {
    if (family.sharing.gather || family.sharing.baton || operations.together()) return false;
    const bool both = turns.of(Direction::read) > 0 && turns.of(Direction::write) > 0;
    return operations.slot().members == 1 || !(both || turns.alternate);
}

}  // namespace

DumpSteps::DumpSteps(const Plan& plan, std::size_t position, const DumpTimes& times, const OwnTime& own,
                     DumpOperations& operations, RankCalls& calls, bool joins_sections)
    : operations_(operations), calls_(calls), joins_sections_(joins_sections && !operations.uses_file()) {
    const Dump& dump = plan.dumps[position];
    const Family& family = plan.families[dump.family];
    const auto& dataset = plan.contents[dump.content].dataset;
    dataset_ = dataset ? &*dataset : nullptr;
    const PartTimes part = part_times(family, times, operations.slot(), operations.acting_member());
    const DumpTurns turns = operations.turns();
    Alive alive{part.begin_s, part.end_s};
    const bool its_own = calls_are_its_own(family, operations, turns);
    if (its_own) alive = alive_in(own.life, part.begin_s, part.end_s);
    const double length_s = part.end_s - part.begin_s;
    const double share = length_s > 0 ? (alive.end_s - alive.begin_s) / length_s : 1;
    end_s_ = alive.end_s;
    for (std::size_t direction = 0; direction < from_s_.size(); ++direction)
        from_s_[direction] = std::min(alive.begin_s + (its_own ? own.delays_s[direction] : 0), end_s_);
    begin_s_ = at_s_ = from_s_[static_cast<std::size_t>(turns.first)];
    over_s_ = family.sharing.gather ? end_s_ : times.end_s;
    takes_turn_ = passes_turn_ = family.sharing.baton;
    compute_s_ = std::min(dump.compute_s, end_s_ - begin_s_);
    edge_s_ = dump.metadata_s / 2;
    plan_stretches(dump, turns, length_s < dump.end_s - dump.start_s, share);
}

/// The operations of a direction have the span of the log; without one, all share the time of the dump. A
/// rank that lives for a share of the dump has it in that share.
void DumpSteps::plan_stretches(const Dump& dump, const DumpTurns& turns, bool in_turn, double share) {
    const auto known = [&](Direction d, const std::optional<Window>& window) {
        return turns.of(d) == 0 || window.has_value();
    };
    const bool whole =
        !known(Direction::read, dump.reads) || !known(Direction::write, dump.writes) || in_turn;
    const auto stretch = [](double first_s, double last_s, double busy_s, double count, double last_weight) {
        const double each = count > 0 ? busy_s / count : 0;
        return Stretch{first_s, std::max(last_s - each * last_weight, first_s), each, count, last_weight, 0};
    };
    const double all = turns.of(Direction::read) + turns.of(Direction::write);
    if (whole) {
        one_stretch_ = true;
        stretches_[0] =
            stretch(begin_s_, end_s_, end_s_ - begin_s_ - compute_s_, all, turns.very_last_weight);
        return;
    }
    const auto of_log = [&](const Window& window, Direction direction) {
        const double from_s = from_s_[static_cast<std::size_t>(direction)];
        const double first_s = std::min(from_s + window.first * share, end_s_);
        const double last_s = std::min(from_s + window.last * share, end_s_);
        return stretch(first_s, last_s, std::min(window.busy, last_s - first_s), turns.of(direction),
                       turns.last_weight[static_cast<std::size_t>(direction)]);
    };
    if (turns.of(Direction::read) > 0) stretches_[reads] = of_log(*dump.reads, Direction::read);
    if (turns.of(Direction::write) > 0) stretches_[writes] = of_log(*dump.writes, Direction::write);
    Stretch& earlier = stretches_[static_cast<std::size_t>(turns.first)];
    Stretch& later = stretches_[1 - static_cast<std::size_t>(turns.first)];
    // Counters do not say how reads and writes of one time alternate: the order of the streams holds.
    one_stretch_ = turns.alternate || (later.turns > 0 && later.first_s < earlier.last_s);
    if (one_stretch_) {
        stretches_[0] = {std::max(begin_s_, std::min(earlier.first_s, later.first_s)),
                         std::max(earlier.last_s, later.last_s),
                         (earlier.busy_s * earlier.turns + later.busy_s * later.turns) / all,
                         all,
                         turns.very_last_weight,
                         0};
    }
}

double DumpSteps::Stretch::at(double turn) const {
    return std::min(first_s + step_s() * turn, last_s);
}

/// From one turn to the next.
double DumpSteps::Stretch::step_s() const {
    const double before_last = turns - last_weight;
    return before_last > 0 ? (last_s - first_s) / before_last : last_s - first_s;
}

void DumpSteps::move_to(double seconds, double busy_s) {
    at_s_ = std::max(at_s_, seconds);
    busy_s_ = busy_s;
}

void DumpSteps::enter(const Section& section) {
    section_ = section;
    in_section_ = true;
    stretch_ = &stretches_[one_stretch_ ? 0 : static_cast<std::size_t>(section.direction)];
    move_to(stretch_->at(stretch_->passed));
    section_at_s_ = stretch_->first_s + stretch_->step_s() * stretch_->passed;
    const double turns = static_cast<double>(section.turns) * section.weight;
    section_end_s_ = stretch_->at(stretch_->passed + turns);
    turn_s_ = section.own_turns > 0 ? stretch_->step_s() * turns / static_cast<double>(section.own_turns) : 0;
}

/// When the turn of the section comes that follows `turn` others of this rank.
double DumpSteps::in_section(double turn) const {
    // Not even by rounding may a rank's own calls end later than the section does on all ranks.
    return std::min(section_at_s_ + turn_s_ * turn, section_end_s_);
}

/// Of a data set, whole batches are computed once they and those that are fetched ahead have been read.
double DumpSteps::in_epoch(std::int64_t samples_read) const {
    const auto all = static_cast<double>(std::max<std::int64_t>(operations_.dataset()->samples(), 1));
    const std::int64_t batches =
        std::max<std::int64_t>(samples_read - dataset_->prefetch, 0) / dataset_->batch;
    const double computed = static_cast<double>(batches * dataset_->batch) / all;
    const double read = static_cast<double>(samples_read) / all;
    return std::min(begin_s_ + compute_s_ * computed + (end_s_ - begin_s_ - compute_s_) * read, end_s_);
}

void DumpSteps::leave_section() {
    in_section_ = false;
    stretch_->passed += static_cast<double>(section_.turns) * section_.weight;
    move_to(section_end_s_);
}

bool DumpSteps::next_call(Call& call) {
    if (calls_.next(call)) return true;
    if (!joins_sections_) return false;
    if (in_section_) leave_section();
    call.kind = Call::Kind::begin_section;
    return operations_.next_section(call.section);
}

bool DumpSteps::next(Call& call) {
    if (takes_turn_) {
        takes_turn_ = false;
        call.kind = Call::Kind::take_turn;
        move_to(begin_s_);
        return true;
    }
    if (!next_call(call)) {
        move_to(end_s_);
        if (passes_turn_) {
            passes_turn_ = false;
            call.kind = Call::Kind::pass_turn;
            return true;
        }
        move_to(over_s_);
        return false;
    }
    switch (call.kind) {
        case Call::Kind::begin_file:
        case Call::Kind::stat:
        case Call::Kind::map:
        case Call::Kind::open:
        case Call::Kind::begin_dump:
            if (call.again) {
                busy_s_ = 0;
                break;
            }
            move_to(dataset_ != nullptr ? in_epoch(operations_.dataset()->samples_done()) : begin_s_,
                    call.kind == Call::Kind::open ? edge_s_ : 0);
            break;
        case Call::Kind::begin_section:
            if (dataset_ == nullptr) enter(call.section);
            break;
        case Call::Kind::end_section:
            if (dataset_ == nullptr) leave_section();
            break;
        case Call::Kind::begin_operation:
        case Call::Kind::transfer:
            if (dataset_ != nullptr) {
                move_to(in_epoch(operations_.dataset()->samples_begun()));
            } else {
                const bool moves = call.kind == Call::Kind::transfer;
                move_to(in_section(static_cast<double>(call.operation.turn)),
                        moves ? stretch_->busy_s * section_.weight : 0);
            }
            break;
        case Call::Kind::end_operation:
        case Call::Kind::seek:
        case Call::Kind::complete:
            busy_s_ = 0;
            break;
        case Call::Kind::flush:
        case Call::Kind::sync:
            busy_s_ = 0;
            // Members that sync together do so after as many writes of the busiest, each at the same moment.
            if (in_section_ && operations_.together())
                move_to(in_section(static_cast<double>(calls_.writes_before(call.kind))));
            break;
        case Call::Kind::end_dump:
        case Call::Kind::take_turn:
        case Call::Kind::pass_turn:
            busy_s_ = 0;
            break;
        case Call::Kind::close:
            busy_s_ = 0;
            if (!call.extra && !call.again && dataset_ == nullptr) move_to(end_s_ - edge_s_, edge_s_);
            break;
    }
    return true;
}

}  // namespace wa
