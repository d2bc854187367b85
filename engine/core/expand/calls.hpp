// The calls of one rank in one dump, in order: its operations, with the opens, seeks, syncs and closes around
// them. Counting, writing down and performing all read this sequence.
#pragma once

#include <cstdint>

#include "counters/counters.hpp"
#include "expand/dump.hpp"
#include "expand/operation.hpp"

namespace wa {

struct Call {
    enum class Kind {
        stat,
        open,
        close,
        begin_dump,  // the file is open: what follows belongs to the dump
        begin_section,
        begin_operation,  // one of the rank's own; its seeks and transfers follow
        transfer,
        end_operation,
        end_section,
        complete,  // of what transfers have posted
        seek,
        flush,
        sync,
        end_dump
    };
    Kind kind = Kind::stat;
    bool extra = false;       // an open that is closed again at once, or that close
    Section section;          // of begin_section
    Operation operation;      // of begin_operation, transfer and end_operation: there the piece
    std::int64_t offset = 0;  // of a seek
};

/// How a backend's library is called.
struct CallRules {
    bool positioned = false;    // there is a file position: an operation elsewhere needs a seek first
    bool whole_pieces = false;  // operations of several pieces are one call
    bool whole_slabs = false;   // and so are slabs of several datasets
};

class RankCalls {
  public:
    /// How the file stands before and after the dump.
    struct File {
        bool held = false;    // it is open from an earlier dump, in the state given
        bool closes = true;   // the dump closes it
        AccessState state{};  // of a held file
    };

    RankCalls(DumpOperations& operations, const CallRules& rules, const File& file);

    /// The next call; false when the dump is over.
    bool next(Call& call);
    /// The transfer that next() gave moved fewer bytes than asked for.
    void fell_short(std::int64_t moved);

    [[nodiscard]] AccessState& state() { return state_; }
    [[nodiscard]] std::int64_t operations_done() const { return done_; }

  private:
    enum class Phase { stats, opens, sections, seeks, flushes, syncs, end, close, over };
    bool next_in_section(Call& call);
    bool seek_if_due(Call& call);
    void seek(Call& call, std::int64_t offset);
    void transfer(Call& call);
    [[nodiscard]] std::int64_t calls_of(const Operation& operation) const;
    [[nodiscard]] Operation piece(std::int64_t index) const;

    DumpOperations& operations_;
    CallRules rules_;
    File file_;
    AccessState state_;
    Phase phase_;
    std::int64_t left_ = 0;    // calls of the phase
    bool close_next_ = false;  // the close of an extra open comes next
    bool in_section_ = false;
    bool in_operation_ = false;
    bool positioned_seek_ = true;  // whether the position needs a seek is still to be decided
    Operation operation_;          // the present one
    std::int64_t calls_ = 0;       // how many it takes
    std::int64_t call_ = 0;        // how many of them were made
    std::int64_t done_ = 0;        // own operations that have ended
    std::int64_t seeks_ = 0;       // seeks made in the dump
};

}  // namespace wa
