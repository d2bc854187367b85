#include "expand/calls.hpp"

#include <algorithm>

namespace wa {

RankCalls::RankCalls(DumpOperations& operations, const CallRules& rules, const File& file)
    : operations_(operations), rules_(rules), file_(file), state_(file.held ? file.state : AccessState{}) {
    begin();
    const bool only_closes = file.held && file.closes && operations.idle();
    if (operations.idle()) {
        phase_ = only_closes ? Phase::close : Phase::over;
    } else if (operations.many_files()) {
        phase_ = Phase::file;
    }
}

/// A rank that opens the file calls stat afterwards: only calls that succeed are in a log, so the file
/// existed.
void RankCalls::begin() {
    const bool opens = operations_.uses_file();
    phase_ = opens ? Phase::opens : Phase::stats;
    if (operations_.reopens()) opens_ = opens_due(0);
    left_ = !opens ? operations_.calls().stats : operations_.reopens() ? opens_ : operations_.calls().opens;
}

bool RankCalls::next(Call& call) {
    call.extra = call.alone = call.again = call.opens_buffer = false;
    call.buffered = Buffered::none;
    while (true) {
        switch (phase_) {
            case Phase::file:
                if (!operations_.next_file()) {
                    phase_ = Phase::over;
                    break;
                }
                begin();
                seeks_ = 0;
                before_ = done_;
                state_ = {};
                call.kind = Call::Kind::begin_file;
                call.file = operations_.file();
                return true;
            case Phase::opens:
                // The last open serves the data; every earlier one is followed by a close.
                if (close_next_) {
                    close_next_ = false;
                    call.kind = Call::Kind::close;
                    call.extra = true;
                    if (file_.held) state_ = {};
                    return true;
                }
                if (left_ > 0) {
                    --left_;
                    call.kind = Call::Kind::open;
                    call.extra = close_next_ = file_.held || left_ > 0;
                    if (!call.extra) state_ = {};
                    return true;
                }
                phase_ = Phase::lone_opens;
                left_ = operations_.calls().lone_opens;
                break;
            case Phase::lone_opens:
                if (close_next_) {
                    close_next_ = false;
                    call.kind = Call::Kind::close;
                    call.extra = true;
                    return true;
                }
                if (left_ > 0) {
                    --left_;
                    call.kind = Call::Kind::open;
                    call.extra = call.alone = close_next_ = true;
                    return true;
                }
                phase_ = Phase::stats;
                left_ = operations_.calls().stats;
                call.kind = Call::Kind::begin_dump;
                return true;
            case Phase::stats:
                if (left_-- > 0) {
                    call.kind = Call::Kind::stat;
                    return true;
                }
                if (operations_.uses_file()) {
                    phase_ = Phase::maps;
                    left_ = operations_.calls().maps;
                } else {
                    phase_ = file_.held && file_.closes ? Phase::close : Phase::over;
                }
                break;
            case Phase::maps:
                if (left_-- > 0) {
                    call.kind = Call::Kind::map;
                    return true;
                }
                phase_ = Phase::sections;
                break;
            case Phase::sections:
                if (in_section_) {
                    if (next_in_section(call)) return true;
                    in_section_ = false;
                    call.kind = Call::Kind::end_section;
                    return true;
                }
                if (operations_.next_section(call.section)) {
                    in_section_ = true;
                    section_ = call.section;
                    writes_before_ = writes_;
                    buffer_ = {};
                    buffer_is_open_ = false;
                    call.kind = Call::Kind::begin_section;
                    return true;
                }
                phase_ = Phase::seeks;
                call.kind = Call::Kind::complete;
                return true;
            case Phase::seeks:
                if (seeks_ < operations_.calls().seeks) {
                    seek(call, state_.position);
                    return true;
                }
                phase_ = Phase::flushes;
                left_ = operations_.calls().flushes;
                break;
            case Phase::flushes:
                if (left_-- > 0) {
                    call.kind = Call::Kind::flush;
                    return true;
                }
                phase_ = Phase::syncs;
                left_ = operations_.calls().fsyncs;
                break;
            case Phase::syncs:
                if (left_-- > 0) {
                    call.kind = Call::Kind::sync;
                    return true;
                }
                phase_ = Phase::end;
                break;
            case Phase::end:
                phase_ = file_.closes ? Phase::close : Phase::over;
                call.kind = Call::Kind::end_dump;
                return true;
            case Phase::close:
                phase_ = operations_.many_files() ? Phase::file : Phase::over;
                call.kind = Call::Kind::close;
                return true;
            case Phase::over:
                return false;
        }
    }
}

bool RankCalls::next_in_section(Call& call) {
    if (section_.buffered != Buffered::none) return next_of_buffer(call);
    while (true) {
        if (call_ < calls_) {
            if (!operation_.joins && seek_if_due(call)) return true;
            transfer(call);
            return true;
        }
        if (in_operation_) {
            in_operation_ = false;
            ++done_;
            if (operation_.direction == Direction::write) ++writes_;
            call.kind = Call::Kind::end_operation;
            call.operation = operation_;
            return true;
        }
        if (sync_if_due(call) || reopen_if_due(call)) return true;
        if (!operations_.next(operation_)) {
            // Those with fewer writes than the busiest join its syncs.
            writes_ = std::max(writes_, writes_before_ + section_.most_writes);
            return sync_if_due(call);
        }
        calls_ = calls_of(operation_);
        call_ = 0;
        positioned_seek_ = true;
        if (operation_.joins) continue;
        in_operation_ = true;
        call.kind = Call::Kind::begin_operation;
        call.operation = operation_;
        return true;
    }
}

/// The calls of a buffered stream. It seeks where an operation does not follow the one before; on the file's
/// descriptor, it begins at its first operation unless it has seeks. Further seeks and flushes are at its
/// end.
bool RankCalls::next_of_buffer(Call& call) {
    if (in_operation_) {
        if (call_ < calls_) {
            const bool turns = buffer_.moved && buffer_.last_direction != operation_.direction;
            const bool anywhere =
                !buffer_is_open_ && section_.buffered == Buffered::descriptor && section_.buffer_seeks <= 0;
            if (turns || (!anywhere && buffer_.position != operation_.offset)) {
                call.kind = Call::Kind::seek;
                call.offset = operation_.offset;
                --section_.buffer_seeks;
                buffer_.position = operation_.offset;
                buffer_.moved = false;
            } else {
                call.kind = Call::Kind::transfer;
                call.operation = operation_;
                ++call_;
                buffer_.position = operation_.offset + operation_.size;
                buffer_.moved = true;
                buffer_.last_direction = operation_.direction;
            }
            of_buffer(call);
            return true;
        }
        in_operation_ = false;
        call.kind = Call::Kind::end_operation;
        call.operation = operation_;
        return true;
    }
    if (operations_.next(operation_)) {
        calls_ = 1;
        call_ = 0;
        in_operation_ = true;
        call.kind = Call::Kind::begin_operation;
        call.operation = operation_;
        return true;
    }
    if (section_.buffer_seeks > 0) {
        --section_.buffer_seeks;
        call.kind = Call::Kind::seek;
        call.offset = buffer_.position;
    } else if (section_.buffer_flushes > 0) {
        --section_.buffer_flushes;
        call.kind = Call::Kind::flush;
    } else {
        return false;
    }
    of_buffer(call);
    return true;
}

void RankCalls::of_buffer(Call& call) {
    call.buffered = section_.buffered;
    call.opens_buffer = !buffer_is_open_;
    buffer_is_open_ = true;
}

/// A backend that cannot move several pieces in one call needs one call per piece. Slabs of several datasets
/// need a backend that has datasets.
std::int64_t RankCalls::calls_of(const Operation& operation) const {
    const bool whole = rules_.whole_pieces && (operation.slab == nullptr || rules_.whole_slabs);
    return whole ? 1 : operation.pieces;
}

Operation RankCalls::piece(std::int64_t index) const {
    Operation out = operation_;
    if (calls_ == 1 || operation_.joins) return out;
    out.pieces = 1;
    out.size = operation_.size / operation_.pieces;
    out.offset = operation_.offset + index * operation_.piece_stride;
    return out;
}

bool RankCalls::seek_if_due(Call& call) {
    const std::int64_t offset = piece(call_).offset;
    if (positioned_seek_) {
        positioned_seek_ = false;
        // A buffered file must also seek when it changes between reading and writing.
        const bool turns = state_.moved && state_.last_direction != operation_.direction;
        if (rules_.positioned && (turns || state_.position != offset)) {
            seek(call, offset);
            return true;
        }
    }
    if (seeks_ >= seeks_due(done_ + 1)) return false;
    seek(call, offset);
    return true;
}

bool RankCalls::sync_if_due(Call& call) {
    if (flushes_ < operations_.flush().due(writes_)) {
        ++flushes_;
        call.kind = Call::Kind::flush;
        return true;
    }
    if (syncs_ < operations_.sync().due(writes_)) {
        ++syncs_;
        call.kind = Call::Kind::sync;
        return true;
    }
    return false;
}

/// The file is closed and opened again before the next operation of this rank.
bool RankCalls::reopen_if_due(Call& call) {
    if (!operations_.reopens() || done_ >= operations_.own_operations()) return false;
    if (!open_next_ && opens_ >= opens_due(done_)) return false;
    call.kind = open_next_ ? Call::Kind::open : Call::Kind::close;
    call.again = true;
    call.section = section_;
    if (open_next_) {
        ++opens_;
        state_ = {};
    }
    open_next_ = !open_next_;
    return true;
}

/// Opens made before an operation of this rank, which is counted from 0: they are spread evenly, and one
/// comes before the first. Without operations, all come at once.
std::int64_t RankCalls::opens_due(std::int64_t operation) const {
    const std::int64_t opens = operations_.calls().opens;
    const std::int64_t operations = operations_.own_operations();
    if (operations == 0) return opens;
    return static_cast<std::int64_t>((Wide{opens} * (operation + 1) + operations - 1) / operations);
}

std::int64_t RankCalls::writes_before(Call::Kind flush_or_sync) const {
    const bool flush = flush_or_sync == Call::Kind::flush;
    const AmidWrites& amid = flush ? operations_.flush() : operations_.sync();
    const std::int64_t made = flush ? flushes_ : syncs_;
    const std::int64_t due = (made + amid.calls - 1) / amid.calls * amid.writes;
    return std::clamp<std::int64_t>(due - writes_before_, 0, section_.most_writes);
}

/// Seeks made before so many operations have ended: they are spread evenly.
std::int64_t RankCalls::seeks_due(std::int64_t operations) const {
    const std::int64_t seeks = operations_.calls().seeks;
    if (seeks == 0) return 0;
    return static_cast<std::int64_t>(Wide{seeks} * (operations - before_) / operations_.operations_of_file());
}

void RankCalls::seek(Call& call, std::int64_t offset) {
    call.kind = Call::Kind::seek;
    call.offset = offset;
    ++seeks_;
    state_.position = offset;
    state_.moved = false;
}

void RankCalls::transfer(Call& call) {
    call.kind = Call::Kind::transfer;
    call.operation = piece(call_++);
    if (operation_.joins) {
        if (section_.writes) ++writes_;
        return;
    }
    positioned_seek_ = true;
    state_.position = call.operation.offset + call.operation.size;
    state_.moved = true;
    state_.last_direction = call.operation.direction;
}

std::int64_t RankCalls::skip_alike(const Call& call) {
    std::int64_t count = 0;
    if (call.buffered != Buffered::none) return count;
    switch (call.kind) {
        case Call::Kind::flush:
        case Call::Kind::sync:
            if (phase_ == Phase::sections) {
                const bool flush = call.kind == Call::Kind::flush;
                const std::int64_t due = (flush ? operations_.flush() : operations_.sync()).due(writes_);
                std::int64_t& made = flush ? flushes_ : syncs_;
                count = std::max<std::int64_t>(due - made, 0);
                made += count;
                break;
            }
            [[fallthrough]];
        case Call::Kind::stat:
        case Call::Kind::map:
            count = left_;
            left_ = 0;
            break;
        case Call::Kind::close:
            if (!call.extra) break;
            count = std::max<std::int64_t>(file_.held || phase_ == Phase::lone_opens ? left_ : left_ - 1, 0);
            left_ -= count;
            break;
        case Call::Kind::seek: {
            const std::int64_t due =
                phase_ == Phase::seeks ? operations_.calls().seeks : seeks_due(done_ + 1);
            count = std::max<std::int64_t>(due - seeks_, 0);
            seeks_ += count;
            break;
        }
        default:
            break;
    }
    return count;
}

RankCalls::TransferRun RankCalls::skip_run() {
    if (section_.buffered != Buffered::none || !in_operation_ || operation_.joins || calls_ != 1 ||
        call_ != 1)
        return {};
    EqualRun ahead = operations_.ahead();
    if (operations_.reopens() && operations_.calls().opens > 0) {
        // Up to the next open: the last operation that needs no more opens than were made.
        const Wide last = Wide{opens_} * operations_.own_operations() / operations_.calls().opens - 1;
        ahead.count = static_cast<std::int64_t>(std::min<Wide>(ahead.count, last - done_));
    }
    if (ahead.count <= 0) return {};
    const std::int64_t before = seeks_;
    // The present operation has not ended yet, so the next one comes after done_ + 1.
    seeks_ = std::max(seeks_, seeks_due(done_ + 1 + ahead.count));
    if (rules_.positioned && ahead.step != operation_.size) {
        // Each needs a seek, and more where more are due; what is due grows by less than one for each, or by
        // more.
        seeks_ = std::max({seeks_, before + ahead.count, seeks_due(done_ + 2) + ahead.count - 1});
    }
    TransferRun run{ahead.count, ahead.step, seeks_ - before};
    if (operation_.direction == Direction::write) {
        writes_ += ahead.count;
        run.flushes = std::max<std::int64_t>(operations_.flush().due(writes_) - flushes_, 0);
        run.syncs = std::max<std::int64_t>(operations_.sync().due(writes_) - syncs_, 0);
        flushes_ += run.flushes;
        syncs_ += run.syncs;
    }
    operations_.skip(ahead.count);
    done_ += ahead.count;
    operation_.offset += ahead.count * ahead.step;
    state_.position = operation_.offset + operation_.size;
    return run;
}

}  // namespace wa
