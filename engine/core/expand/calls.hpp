// The calls of one rank in one dump, in order: its operations with the opens, seeks, syncs and closes around
// them. Counting, the operation text and performing all read this sequence.
#pragma once

#include <cstdint>

#include "counters/counters.hpp"
#include "expand/dump.hpp"
#include "expand/operation.hpp"

namespace wa {

struct Call {
    enum class Kind {
        begin_file,  // of a data set; the calls that follow are of this file
        stat,
        map,  // of a page of the file into memory
        open,
        close,
        begin_dump,  // the file is open; the calls that follow belong to the dump
        begin_section,
        begin_operation,  // an operation of this rank; its seeks and transfers follow
        transfer,
        end_operation,
        end_section,
        complete,  // waits for transfers that were posted
        seek,
        flush,
        sync,
        end_dump,
        // Not of a file: where ranks take turns, a rank waits for the one before it and passes the turn on.
        take_turn,
        pass_turn
    };
    Kind kind = Kind::stat;
    bool extra = false;  // an open that is closed again at once, or that close
    bool alone = false;  // an open by this rank alone of a file that its members have open
    /// Of a transfer, seek or flush: the stream that makes it, and whether it is that stream's first call.
    Buffered buffered = Buffered::none;
    bool opens_buffer = false;
    bool again = false;   // a close between two operations of a section, or the open that follows it
    Section section;      // for begin_section, and for an open between two operations
    Operation operation;  // for begin_operation, transfer and end_operation; in a transfer, one piece of it
    std::int64_t offset = 0;  // of a seek
    std::int64_t file = 0;    // for begin_file
};

/// How the library of a backend is called.
struct CallRules {
    bool positioned = false;    // there is a file position, so an operation elsewhere needs a seek first
    bool whole_pieces = false;  // operations of several pieces are one call
    bool whole_slabs = false;   // slabs of several datasets are one call
};

class RankCalls {
  public:
    /// The state of the file before and after the dump.
    struct File {
        bool held = false;    // open since an earlier dump, in the given state
        bool closes = true;   // the dump closes the file
        AccessState state{};  // the state of a held file
    };

    RankCalls(DumpOperations& operations, const CallRules& rules, const File& file);

    /// The next call; false when the dump is over.
    bool next(Call& call);
    /// Leaves out what follows at once and is the same again as what next() gave: stats, maps, seeks,
    /// flushes, syncs, or, after the close of an extra open, both. How many were left out.
    std::int64_t skip_alike(const Call& call);

    struct TransferRun {
        std::int64_t count = 0;
        std::int64_t step = 0;   // from one to the next, in bytes
        std::int64_t seeks = 0;  // between them
        std::int64_t flushes = 0;
        std::int64_t syncs = 0;
    };
    /// Leaves out the transfers that follow the one that next() gave and differ from it in their offsets
    /// alone, with what lies between them: the last of them is now the one that next() gave.
    TransferRun skip_run();

    [[nodiscard]] AccessState& state() { return state_; }
    /// The state that a call is counted by: that of the file, or of its buffered stream.
    [[nodiscard]] AccessState& state_of(const Call& call) {
        return call.buffered == Buffered::none ? state_ : buffer_;
    }
    /// The writes in the present section after which the flush or sync that next() gave is due.
    [[nodiscard]] std::int64_t writes_before(Call::Kind flush_or_sync) const;

  private:
    enum class Phase {
        file,
        opens,
        lone_opens,
        stats,
        maps,
        sections,
        seeks,
        flushes,
        syncs,
        end,
        close,
        over
    };
    void begin();
    bool next_in_section(Call& call);
    bool seek_if_due(Call& call);
    bool sync_if_due(Call& call);
    bool reopen_if_due(Call& call);
    [[nodiscard]] std::int64_t opens_due(std::int64_t operation) const;
    bool next_of_buffer(Call& call);
    void of_buffer(Call& call);
    [[nodiscard]] std::int64_t seeks_due(std::int64_t operations) const;
    void seek(Call& call, std::int64_t offset);
    void transfer(Call& call);
    [[nodiscard]] std::int64_t calls_of(const Operation& operation) const;
    [[nodiscard]] Operation piece(std::int64_t index) const;

    DumpOperations& operations_;
    CallRules rules_;
    File file_;
    AccessState state_;
    AccessState buffer_;           // of the buffered stream of the section
    bool buffer_is_open_ = false;  // it has made a call
    Phase phase_ = Phase::over;
    std::int64_t left_ = 0;    // remaining calls of the phase
    bool close_next_ = false;  // the next call closes an extra open
    bool open_next_ = false;   // the next call opens the file again
    std::int64_t opens_ = 0;   // made, where they are spread over the operations
    bool in_section_ = false;
    bool in_operation_ = false;
    bool positioned_seek_ = true;     // true until the seek of the next transfer is decided
    Operation operation_;             // the current operation
    std::int64_t calls_ = 0;          // how many calls the operation needs
    std::int64_t call_ = 0;           // how many of them were made
    std::int64_t done_ = 0;           // operations of this rank that have ended
    std::int64_t seeks_ = 0;          // seeks made in the dump, or in the present file of several
    Section section_;                 // the current one
    std::int64_t writes_ = 0;         // that flushes and syncs amid writes are counted by
    std::int64_t writes_before_ = 0;  // the section
    std::int64_t flushes_ = 0;        // made amid writes
    std::int64_t syncs_ = 0;
    std::int64_t before_ = 0;  // operations that had ended when the present file was begun
};

}  // namespace wa
