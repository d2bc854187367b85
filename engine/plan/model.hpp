// The plan as data. docs/plan-format.md says what the fields mean; read.cpp fills them, check.cpp vouches for
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sharing/rank_set.hpp"

namespace wa {

class OperationTable;

enum class Role { checkpoint, visualization, restart, input, scratch, output, log, other };
enum class Interface { posix, stdio, mpiio, hdf5, typhonio, pnetcdf };
enum class BackendKind { null, record, posix, stdio, mpiio, hdf5 };
enum class Level { posix, stdio, mpiio, h5d, pnetcdf };
enum class SharingMode { shared, per_rank, groups, subset, root };
enum class Lifetime { per_dump, appended, reused };
enum class Direction { read, write };
enum class Pattern { contiguous, interleaved, strided, random, same, replicated, table };
enum class ClockKind { gap, deadline };
enum class GapFill { sleep, busy, memory, mpi };

/// Ranks of a stream or a family. "all" in a stream means all members of the family.
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

struct Hdf5Settings {
    bool chunked = false;
    std::int64_t chunk_bytes = 1048576;
    std::int64_t alignment = 0;
    std::int64_t threshold = 0;
};

struct Family {
    std::int64_t id = 0;
    Role role = Role::other;
    std::int64_t number = 0;
    Interface interface = Interface::posix;
    BackendKind backend = BackendKind::posix;
    Level level = Level::posix;
    Sharing sharing;
    Lifetime lifetime = Lifetime::per_dump;
    std::int64_t keep = 0;
    bool rename = false;
    bool neighbour = false;
    bool drop_caches = false;
    std::vector<std::pair<std::string, std::string>> hints;
    Hdf5Settings hdf5;
};

struct Entry {
    std::int64_t operations = 0;
    std::int64_t size = 0;
};

struct Stream {
    Ranks ranks;
    Direction direction = Direction::write;
    Pattern pattern = Pattern::contiguous;
    bool collective = false;
    std::int64_t base = 0;
    std::vector<Entry> entries;
    bool mixed = false;
    std::int64_t stride = 0;
    std::int64_t pieces = 1;
    std::string table;
    std::shared_ptr<const OperationTable> rows;  // of `table`, set by load_tables()
};

struct Slab {
    std::int64_t operations = 0;
    std::vector<std::int64_t> count;
    std::vector<std::int64_t> stride;
    /// Elements of one selection.
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
    std::vector<Slab> slabs;
};

struct Array {
    std::int64_t datasets = 0;
    std::int64_t element = 1;
    std::vector<std::int64_t> dims;
    std::vector<std::int64_t> chunk;  // empty: none
    bool extendible = false;
    bool filled = false;  // the library writes fill values when it allocates space
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

struct Content {
    std::int64_t opens = 0;
    std::int64_t stats = 0;
    std::int64_t seeks = 0;
    std::int64_t fsyncs = 0;
    std::int64_t flushes = 0;
    std::vector<Stream> streams;
    std::vector<Array> arrays;
    std::optional<Fit> fit;
};

struct Dump {
    std::size_t family = 0;  // position in Plan::families, not the id
    std::int64_t index = 0;
    std::int64_t file = 0;
    std::size_t content = 0;
    std::int64_t base = 0;
    double start_s = 0;
    double end_s = 0;
    double gap_s = 0;
    double think_s = 0;  // that a rank computes between its operations of the dump
    bool prepare = false;
};

struct Plan {
    std::int64_t ranks = 1;
    std::uint64_t seed = 1;
    ClockKind clock = ClockKind::gap;
    double time_scale = 0;
    GapFill gap_fill = GapFill::sleep;
    double compressibility = 0;
    double scale_ranks = 1;
    double scale_bytes = 1;
    double scale_time = 0;
    bool scale_weak = false;  // bytes per rank stay
    std::vector<Family> families;
    std::vector<Content> contents;
    std::vector<Dump> dumps;
};

}  // namespace wa
