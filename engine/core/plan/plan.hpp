// The plan as data. docs/plan-format.md explains the fields; read.cpp fills them and check.cpp checks them.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/hdf5_settings.hpp"
#include "sharing/rank_set.hpp"

namespace wa {

class OperationRows;
struct Traits;

enum class Role { checkpoint, visualization, restart, input, scratch, output, log, other };
enum class Interface { posix, stdio, mpiio, hdf5, typhonio, pnetcdf, adios2 };
enum class Level { posix, stdio, mpiio, h5d, pnetcdf };
enum class SharingMode { shared, per_rank, groups, subset, root };
enum class Lifetime { per_dump, appended, reused };
enum class Direction { read, write };
enum class Pattern { contiguous, interleaved, strided, random, shuffled, same, replicated, table };

/// Whether the places of operations follow no rule that continues from one to the next.
[[nodiscard]] constexpr bool is_random(Pattern pattern) {
    return pattern == Pattern::random || pattern == Pattern::shuffled;
}
/// Through which stream of the C library operations of a POSIX file move: none, one on the open descriptor,
/// or one that opens the file by its name.
enum class Buffered { none, descriptor, name };
enum class ClockKind { gap, deadline };
enum class GapFill { sleep, busy, memory, mpi };
enum class MeshType { uniform, rectilinear, curvilinear, unstructured, arbitrary, point };
enum class Centring { zone, node, edge, face };
enum class ValueType { float32, float64, int32, int64 };
enum class SampleOrder { sequential, shuffled, shuffled_each_epoch };

/// The ranks of a stream or a family. "all" in a stream means all members of the family.
struct Ranks {
    bool all = true;
    RankSet set;
};

struct Sharing {
    SharingMode mode = SharingMode::shared;
    std::int64_t files = 1;
    bool baton = false;
    Ranks ranks;
    bool gather = false;
};

/// Ranks that begin with a direction later than the others, in each dump of a family or in one.
struct Skew {
    Ranks ranks;
    double delay_s = 0;
    /// The index of the one dump in which it counts, instead of that of each dump.
    std::optional<std::int64_t> dump;
};

/// The folders that the files of a family are spread over, below their directory.
struct Folders {
    std::int64_t files = 0;  // of each folder, one after the other; 0: any number
    bool per_rank = false;   // each rank has folders of its own

    [[nodiscard]] bool used() const { return files > 0 || per_rank; }
};

struct Family {
    std::int64_t id = 0;
    std::int64_t number = 0;
    const Traits* backend = nullptr;  // never null in a plan that was read
    std::int64_t keep = 0;
    std::int64_t shift = 0;             // a rank reads what the member so many places further wrote
    std::int64_t aggregators = 0;       // processes that write in ADIOS2; 0: the default of the library
    std::int64_t buffer_alignment = 0;  // of the memory that is read into, bytes; 0: as malloc places it
    std::string directory;              // the name of the directory of its files; empty: that of the run
    std::vector<std::pair<std::string, std::string>> hints;
    std::array<std::vector<Skew>, 2> skew;  // by direction; of one dump, or of each, the ranks are disjoint
    Sharing sharing;
    Hdf5Settings hdf5;
    Folders folders;
    Role role = Role::other;
    Interface interface = Interface::posix;
    Level level = Level::posix;
    Lifetime lifetime = Lifetime::per_dump;
    bool rename = false;
    bool backup = false;    // each file but the last is renamed, as a backup of the one that takes its place
    bool truncate = false;  // each dump that writes empties its file, which one rank has
    bool drop_caches = false;
    bool direct = false;              // its files are opened with O_DIRECT
    bool removed = false;             // each file is deleted after the last dump that uses it
    bool sparse = false;              // its dumps may read holes of a file, which are zeros
    bool typhonio_optimised = false;  // fewer and larger calls than the library's own
};

/// Whether each dump of a family that writes makes a new file, which takes the name of the one before.
[[nodiscard]] inline bool replaces_its_file(const Family& family) {
    return family.lifetime == Lifetime::reused && (family.rename || family.backup);
}

/// Whether all files of a family are made under one name, and become backups when it is needed again.
[[nodiscard]] inline bool gives_up_its_name(const Family& family) {
    return family.lifetime == Lifetime::reused && family.backup;
}

struct Entry {
    std::int64_t operations = 0;
    std::int64_t size = 0;
};

struct Stream {
    Ranks ranks;
    Direction direction = Direction::write;
    Pattern pattern = Pattern::contiguous;
    bool collective = false;
    bool nonblocking = false;  // independent calls are posted, and completed at the end of the stream
    std::int64_t base = 0;
    std::vector<Entry> entries;
    bool mixed = false;
    std::int64_t stride = 0;
    std::int64_t pieces = 1;
    std::string table;
    std::int64_t first_row = 0;                 // of `table`
    std::optional<std::int64_t> row_count;      // nullopt: all that follow
    std::shared_ptr<const OperationRows> rows;  // the rows of `table`, set by load_tables()
    Buffered buffered = Buffered::none;
    std::int64_t buffer_seeks = 0;    // of the buffered streams of all ranks
    std::int64_t buffer_flushes = 0;  // the same
};

struct Slab {
    std::int64_t operations = 0;
    std::vector<std::int64_t> count;
    std::vector<std::int64_t> stride;
    /// The number of elements of a selection.
    [[nodiscard]] std::int64_t elements() const {
        std::int64_t product = 1;
        for (const std::int64_t c : count) product *= c;
        return product;
    }
};

struct Access {
    Ranks ranks;
    Direction direction = Direction::write;
    bool collective = false;
    bool nonblocking = false;  // posted, and completed together at the end of the dump
    std::vector<Slab> slabs;
};

struct Array {
    std::int64_t datasets = 0;
    std::int64_t element = 1;
    std::vector<std::int64_t> dims;
    std::vector<std::int64_t> chunk;  // empty: none
    bool extendible = false;
    std::size_t unlimited = 0;  // the dimension in which it is extended
    bool fill_values = false;   // the library writes fill values when it allocates space
    std::int64_t members = 1;   // of a compound element, all of equal size
    bool multi = false;         // a call moves a slab of each dataset
    std::vector<Access> access;
    [[nodiscard]] std::int64_t bytes() const {
        std::int64_t product = element;
        for (const std::int64_t d : dims) product *= d;
        return product;
    }
};

struct Fit {
    std::int64_t bytes = 0;
    std::int64_t datasets = 1;
    std::int64_t element = 1;
    bool collective = false;
    std::optional<std::int64_t> operations;
};

/// Consecutive variables of the same kind.
struct VariableRun {
    std::int64_t count = 1;
    Centring centring = Centring::zone;
    ValueType type = ValueType::float64;
};

/// The parts of a mesh and the variables on it (MACSio's model).
struct Mesh {
    MeshType type = MeshType::unstructured;
    int dimensions = 2;
    std::int64_t parts = 1;  // over all ranks
    std::int64_t nodes = 0;  // over all parts
    std::optional<std::int64_t>
        bytes;  // instead of nodes: the bytes that the dump must move, including those of the library
    std::vector<std::int64_t> part_dims;  // the nodes of a part in each dimension, if they are given
    std::vector<VariableRun> variables;
    bool shared_nodes = false;  // neighbouring parts share a plane of nodes
    bool wide_ids = false;      // numbers of nodes and cells need 64 bits
    std::int64_t materials = 0;
    double mixed = 0;          // the share of a part's cells with more than one material
    std::int64_t ghost = 0;    // layers of ghost elements around a part
    std::int64_t globals = 0;  // variables that belong to no mesh
    bool geometry = true;      // the mesh itself is written too
    Direction direction = Direction::write;
    bool collective = false;
    [[nodiscard]] std::int64_t variable_count() const {
        std::int64_t sum = 0;
        for (const VariableRun& run : variables) sum += run.count;
        return sum;
    }
};

/// Calls amid the writes of a rank: so many after every `writes` of its writes.
struct AmidWrites {
    std::int64_t writes = 0;  // 0: none
    std::int64_t calls = 1;
    /// The calls that are due after so many writes.
    [[nodiscard]] std::int64_t due(std::int64_t done) const { return writes > 0 ? done / writes * calls : 0; }
};

/// A data set of equal files that an epoch, which is a dump, reads once (docs/plan-format.md).
struct Dataset {
    std::int64_t files = 1;
    std::int64_t samples = 1;    // of a file
    std::int64_t bytes = 0;      // of all samples
    std::int64_t deviation = 0;  // standard deviation of a sample's size, in bytes
    std::int64_t header = 0;     // bytes of a file before its first sample
    std::int64_t transfer = 0;   // the largest read; 0: a sample is one read
    SampleOrder file_order = SampleOrder::sequential;
    SampleOrder sample_order = SampleOrder::sequential;
    std::int64_t deal = 0;      // samples that a reader gets at a time; 0: each reads all of them
    std::int64_t readers = 0;   // members that read in an epoch, the next ones in the next; 0: all
    std::int64_t batch = 1;     // samples after which a rank computes
    std::int64_t prefetch = 0;  // samples that a rank reads before it begins to compute
    std::int64_t opens = 1;     // of a file by each rank that reads of it
    std::int64_t stats = 0;
    std::int64_t seeks = 0;
};

struct Content {
    std::int64_t opens = 0;
    std::int64_t stats = 0;
    std::int64_t seeks = 0;
    std::int64_t fsyncs = 0;   // at the end of the dump
    std::int64_t flushes = 0;  // at the end of the dump
    std::int64_t maps = 0;     // of its files into memory, before the first operation
    std::int64_t renames = 0;  // of its files, after the dump has closed them
    bool seek_each = false;    // a seek before each operation, instead of `seeks`
    bool reopen = false;       // the opens are spread over the operations, instead of all before them
    AmidWrites sync;
    AmidWrites flush;
    std::vector<Stream> streams;
    std::vector<Array> arrays;
    std::optional<Fit> fit;
    std::optional<Mesh> mesh;
    std::optional<Dataset> dataset;
    /// The ranks that any stream names, where each stream names its ranks; empty: all members take part, or
    /// not known.
    RankSet users;
    /// Whether the bytes are a target that includes what the library adds.
    [[nodiscard]] bool sized() const { return fit || (mesh && mesh->bytes); }
};

/// When a rank moves data in a dump, in seconds after the dump's start, and how long it spends in the calls.
struct Window {
    double first = 0;
    double last = 0;
    double busy = 0;
};

struct Dump {
    std::size_t family = 0;  // position in Plan::families, not the id
    std::int64_t index = 0;
    std::int64_t file = 0;
    std::size_t content = 0;
    std::int64_t base = 0;
    double start_s = 0;
    double end_s = 0;
    double compute_s = 0;  // seconds of compute time of a rank between its operations of the dump
    std::optional<Window> writes;
    std::optional<Window> reads;
    double metadata_s = 0;  // that a rank spends in opens and closes
    bool barrier = false;   // the ranks wait for each other before they begin
    bool prepare = false;
};

/// What every rank computes at each dump, in units of work of a level.
struct Compute {
    std::int64_t level = 1;
    std::int64_t units = 1;
};

/// When processes that are ranks of the run lived, in seconds of the original run.
struct Life {
    double start_s = 0;
    double end_s = std::numeric_limits<double>::infinity();
};

/// Ranks that began and ended together.
struct Processes {
    RankSet ranks;
    Life life;
};

struct Plan {
    std::string id;  // eight hexadecimal digits from a hash of the content; part of every file name
    std::int64_t ranks = 1;
    std::uint64_t seed = 1;
    ClockKind clock = ClockKind::gap;
    double time_scale = 0;
    GapFill gap_fill = GapFill::sleep;
    double cpu_share = 1;  // of the time of busy ranks; they sleep for the rest
    std::optional<Compute> compute;
    std::vector<Processes> processes;  // their ranks are disjoint; other ranks live during the whole run
    double compressibility = 0;
    double scale_ranks = 1;
    double scale_bytes = 1;
    double scale_time = 0;
    bool scale_weak = false;  // the bytes per rank stay constant
    std::vector<Family> families;
    std::vector<Content> contents;
    std::vector<Dump> dumps;
};

}  // namespace wa
