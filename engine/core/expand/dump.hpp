// The operations of one rank in one dump. This is the only place where rules become operations: null, record
// and every real backend read the same sequence.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <variant>

#include "expand/arrays.hpp"
#include "expand/dataset.hpp"
#include "expand/mesh.hpp"
#include "expand/operation.hpp"
#include "expand/stream.hpp"
#include "plan/plan.hpp"
#include "sharing/layout.hpp"

namespace wa {

/// Whether a content has any operation in this direction.
[[nodiscard]] bool moves(const Content& content, Direction direction);

/// How many places further the member is whose part a rank reads in a dump of the content.
[[nodiscard]] std::int64_t shift_of(const Family& family, const Content& content);

/// One past the largest byte that the dump touches in a file, in one direction or (nullopt) in both.
[[nodiscard]] Wide dump_end(const Plan& plan, const Dump& dump, const Layout& layout, const FileSlot& slot,
                            std::optional<Direction> direction);

/// How often a rank makes the calls that are not transfers.
struct CallCounts {
    std::int64_t opens = 0;
    std::int64_t lone_opens =
        0;  // of a file that all members open together: further ones, by this rank alone
    std::int64_t stats = 0;
    std::int64_t seeks = 0;
    std::int64_t flushes = 0;
    std::int64_t fsyncs = 0;
    std::int64_t maps = 0;
};

/// The operations of the busiest member of a file, by direction, each with its weight (Section). They are the
/// same on all members.
struct DumpTurns {
    std::array<double, 2> by_direction{};
    std::array<double, 2> last_weight{1, 1};  // of the last operation
    double very_last_weight = 1;              // of both directions
    Direction first = Direction::write;
    bool alternate = false;  // operations of one direction do not all precede those of the other
    [[nodiscard]] double of(Direction direction) const {
        return by_direction[static_cast<std::size_t>(direction)];
    }
    void add(Direction direction, double turns, double weight = 1);
};

class DumpOperations {
  public:
    struct Options {
        bool collective_files = false;  // all members open, sync and close together
        bool lone_opens = false;        // a rank can also open such a file alone
        bool file_is_open = false;      // this rank holds an appended file open
        std::optional<std::int64_t>
            fit_bytes;                // what a library is to be given, where it differs from the plan
        bool whole_elements = false;  // a fit is split only between elements
    };

    DumpOperations(const Plan& plan, std::size_t position, const Layout& layout, std::int64_t member,
                   const Options& options);

    /// The parts of the file, if the content is a mesh.
    [[nodiscard]] const MeshShare* mesh() const { return mesh_ ? &*mesh_ : nullptr; }
    [[nodiscard]] const CallCounts& calls() const { return calls_; }
    /// Syncs and flushes amid the writes.
    [[nodiscard]] const AmidWrites& sync() const { return content_.sync; }
    [[nodiscard]] const AmidWrites& flush() const { return content_.flush; }
    /// Whether the opens are spread over the operations. Members that open a file together open it once, and
    /// a file of datasets stays open.
    [[nodiscard]] bool reopens() const { return content_.reopen && !together_ && !options_.whole_elements; }
    /// Whether the members of the file sync it together, and so after equally many writes of the busiest.
    [[nodiscard]] bool together() const { return together_; }
    /// The slot of the file; with shifted reads it is the neighbour's.
    [[nodiscard]] const FileSlot& slot() const { return slot_; }
    [[nodiscard]] std::int64_t acting_member() const { return acting_; }
    [[nodiscard]] bool shifted() const { return acting_ != member_; }
    /// The number of transfers, without those that only join a collective call.
    [[nodiscard]] std::int64_t own_operations() const { return own_; }
    /// Whether the rank uses the file: it transfers data, or joins ranks that do.
    [[nodiscard]] bool uses_file() const { return calls_.opens > 0 || uses_; }
    [[nodiscard]] bool idle() const { return !uses_file() && calls_.stats == 0; }

    [[nodiscard]] DumpTurns turns() const;

    /// Whether the dump goes through the files of a data set, one after the other.
    [[nodiscard]] bool many_files() const { return epoch_.has_value(); }
    /// The next file of a data set, whose calls, operations and sections follow.
    bool next_file();
    /// The number of the file; that of the dump, unless there are several.
    [[nodiscard]] std::int64_t file() const { return epoch_ ? epoch_->file() : dump_.file; }
    /// The transfers in the present file, without those of buffered streams.
    [[nodiscard]] std::int64_t operations_of_file() const {
        return epoch_ ? file_operations_ : own_ - buffered_;
    }
    /// The data set's share of this rank; null for any other content.
    [[nodiscard]] const DatasetOperations* dataset() const { return epoch_ ? &*epoch_ : nullptr; }

    /// Sections have the same order on all members of a file.
    bool next_section(Section& section);
    bool next(Operation& operation);
    /// What follows the operation that next() gave, where that can be counted without making each.
    [[nodiscard]] EqualRun ahead() const;
    /// Leaves out operations of the run ahead.
    void skip(std::int64_t count);

  private:
    void count_calls();
    void begin_stream(Section& section);
    [[nodiscard]] double weight_of(const Stream& stream, std::optional<std::size_t> only) const;
    [[nodiscard]] std::int64_t own_turns(const Stream& stream, const Section& section,
                                         const Place& place) const;
    bool next_table(Section& section);

    const Plan& plan_;
    const Dump& dump_;
    const Family& family_;
    const Content& content_;
    const Layout& layout_;
    const std::size_t position_;
    const std::int64_t member_;
    const Options options_;
    std::int64_t acting_;
    FileSlot slot_;
    double largest_size_;  // of the mean sizes of streams; 0: all operations weigh the same
    CallCounts calls_;
    std::int64_t own_ = 0;
    std::int64_t buffered_ = 0;  // of these, through buffered streams
    bool uses_ = false;
    bool together_ = false;
    std::size_t part_ = 0;
    std::size_t entry_ = 0;
    std::int64_t dataset_ = 0;
    std::int64_t array_base_ = 0;
    std::int64_t turn_ = 0;  // of the next operation in its section
    std::variant<std::monostate, StreamOperations, ArrayOperations, FitOperations, MeshOperations>
        operations_;
    std::optional<MeshShare> mesh_;
    std::optional<DatasetOperations> epoch_;  // of a data set
    std::int64_t file_operations_ = 0;        // in the present file of a data set
    bool in_file_ = false;                    // its section was not entered yet
};

}  // namespace wa
