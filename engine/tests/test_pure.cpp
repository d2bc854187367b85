// Unit tests of the parts that need no file and no other process.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "backends/traits.hpp"
#include "counters/counters.hpp"
#include "data/arena.hpp"
#include "data/intervals.hpp"
#include "data/landing.hpp"
#include "errors.hpp"
#include "expand/arrays.hpp"
#include "expand/permutation.hpp"
#include "expand/split.hpp"
#include "expand/stream.hpp"
#include "folder/directories.hpp"
#include "predict/transfer_row.hpp"
#include "record/summary.hpp"
#include "schedule/tournament.hpp"
#include "sharing/layout.hpp"
#include "sharing/names.hpp"
#include "sharing/rank_set.hpp"

using namespace wa;

namespace {

std::vector<std::int64_t> members_of(const RankSet& set) {
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < set.size(); ++i) out.push_back(set.at(i));
    return out;
}

}  // namespace

TEST_CASE("shares add up and differ by at most 1") {
    for (const std::int64_t total : {0, 1, 7, 100, 101}) {
        for (const std::int64_t n : {1, 2, 3, 64}) {
            std::int64_t sum = 0;
            for (std::int64_t i = 0; i < n; ++i) {
                CHECK(shares_before(total, n, i) == sum);
                sum += share_of(total, n, i);
                CHECK(share_of(total, n, i) - total / n <= 1);
            }
            CHECK(sum == total);
            CHECK(shares_before(total, n, n) == total);
        }
    }
}

TEST_CASE("rank sets by rule find their members") {
    const RankSet set({{0, 6, 2}, {7, 7, 1}, {10, 20, 5}});
    CHECK(members_of(set) == std::vector<std::int64_t>{0, 2, 4, 6, 7, 10, 15, 20});
    std::int64_t below = 0;
    for (std::int64_t rank = 0; rank < 25; ++rank) {
        CHECK(set.count_below(rank) == below);
        const auto index = set.index_of(rank);
        if (index) {
            CHECK(set.at(*index) == rank);
            ++below;
        }
    }
    CHECK(below == set.size());
    CHECK(RankSet({{3, 11, 4}}).spans().front().last == 11);
    CHECK(RankSet({{3, 12, 4}}).spans().front().last == 11);
    CHECK(RankSet::all(0).empty());
}

TEST_CASE("rank sets that continue each other become one span") {
    CHECK(RankSet({{0, 3, 1}, {4, 7, 1}}) == RankSet::all(8));
    CHECK(RankSet({{0, 0, 1}, {1, 1, 1}, {2, 2, 1}}) == RankSet::all(3));
    CHECK(RankSet({{0, 4, 2}, {6, 8, 2}}) == RankSet({{0, 8, 2}}));
    CHECK(members_of(RankSet({{0, 0, 1}, {5, 5, 1}, {6, 6, 1}})) == std::vector<std::int64_t>{0, 5, 6});
    CHECK(members_of(RankSet({{0, 4, 2}, {5, 6, 1}})) == std::vector<std::int64_t>{0, 2, 4, 5, 6});
}

TEST_CASE("subsets") {
    const RankSet even({{0, 98, 2}});
    CHECK(RankSet({{0, 96, 4}}).subset_of(even));
    CHECK(RankSet({{10, 10, 1}}).subset_of(even));
    CHECK_FALSE(RankSet({{0, 96, 3}}).subset_of(even));
    CHECK_FALSE(RankSet({{0, 100, 2}}).subset_of(even));
    CHECK(RankSet({{0, 4, 4}, {50, 52, 2}}).subset_of(RankSet({{0, 8, 2}, {40, 60, 2}})));
    CHECK(even.subset_of(RankSet::all(99)));
}

TEST_CASE("groups are contiguous, the first ones larger") {
    Family family;
    family.sharing.mode = SharingMode::groups;
    family.sharing.files = 4;
    const Layout layout(family, 11);
    std::vector<std::int64_t> sizes;
    for (std::int64_t g = 0; g < 4; ++g) sizes.push_back(layout.slot(g).members);
    CHECK(sizes == std::vector<std::int64_t>{3, 3, 3, 2});
    for (std::int64_t m = 0; m < 11; ++m) {
        const FileSlot slot = layout.slot_of_member(m);
        CHECK(slot.first_member <= m);
        CHECK(m < slot.first_member + slot.members);
        CHECK(slot == layout.slot(slot.file));
    }
}

TEST_CASE("a permutation visits each index once") {
    for (const std::int64_t n : {1, 2, 3, 17, 64, 1000, 4097}) {
        const Permutation order(n, 42);
        std::set<std::int64_t> seen;
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t value = order(i);
            CHECK(value >= 0);
            CHECK(value < n);
            seen.insert(value);
        }
        CHECK(seen.size() == static_cast<std::size_t>(n));
    }
    const std::int64_t large = std::int64_t{1} << 40;
    const Permutation order(large, 1);
    CHECK(order(large - 1) < large);
}

TEST_CASE("the upper bounds of size bins are inclusive") {
    CHECK(wa::size_bin(0) == 0);
    CHECK(wa::size_bin(100) == 0);
    CHECK(wa::size_bin(101) == 1);
    CHECK(wa::size_bin(1024) == 1);
    CHECK(wa::size_bin(1025) == 2);
    CHECK(wa::size_bin(1 << 20) == 4);
    CHECK(wa::size_bin((1 << 20) + 1) == 5);
    CHECK(wa::size_bin(std::int64_t{1} << 30) == 8);
    CHECK(wa::size_bin((std::int64_t{1} << 30) + 1) == 9);
}

TEST_CASE("sequential and consecutive accesses as in Darshan") {
    Counters counters;
    AccessState state;
    for (int i = 0; i < 128; ++i) counters.note(state, Direction::write, std::int64_t{512} * i, 512, false);
    CHECK(counters.transfers(Direction::write).sequential == 127);
    CHECK(counters.transfers(Direction::write).consecutive == 127);
    CHECK(counters.transfers(Direction::write).max_byte == 128 * 512 - 1);
    // An access after a gap is sequential, one further back is not. Reads have a position of their own.
    counters.note(state, Direction::write, 1'000'000, 10, false);
    counters.note(state, Direction::write, 0, 10, false);
    counters.note(state, Direction::read, 1, 10, false);
    CHECK(counters.transfers(Direction::write).sequential == 128);
    CHECK(counters.transfers(Direction::write).consecutive == 127);
    CHECK(counters.transfers(Direction::read).consecutive == 1);
    state = {};
    counters.note(state, Direction::write, 0, 10, false);
    CHECK(counters.transfers(Direction::write).sequential == 128);
}

TEST_CASE("a run of equal operations counts as each of them does, also where they move nothing") {
    for (const std::int64_t size : {0, 1, 10})
        for (const std::int64_t step : {0, 1, 5, 10, 13})
            for (const std::int64_t offset : {0, 7, 40})
                for (const std::int64_t before : {0, 1, 12, 41, 1000}) {
                    Counters single;
                    Counters at_once;
                    AccessState state;
                    single.note(state, Direction::read, before, before ? 1 : 0, false);
                    single.note(state, Direction::read, offset, size, false);
                    AccessState same = state;
                    at_once = single;
                    for (std::int64_t i = 1; i <= 20; ++i)
                        single.note(state, Direction::read, offset + i * step, size, false);
                    at_once.note_run(same, {Direction::read, offset, size}, false, 20, step);
                    const DirectionCounters& a = single.transfers(Direction::read);
                    const DirectionCounters& b = at_once.transfers(Direction::read);
                    CHECK(a.operations == b.operations);
                    CHECK(a.bytes == b.bytes);
                    CHECK(a.max_byte == b.max_byte);
                    CHECK(a.sequential == b.sequential);
                    CHECK(a.consecutive == b.consecutive);
                    CHECK(a.sizes == b.sizes);
                    CHECK(state.last_byte == same.last_byte);
                }
}

TEST_CASE("summaries merge in any order") {
    std::vector<Summary> parts(3);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        Summary& s = parts[i];
        s.participants = 1;
        const double at = static_cast<double>(i);
        s.active.cover(at, at + 1);
        s.times_of(Kind::write).note(0.5, 10);
        s.times_of(Kind::write).note(i == 1 ? 2.0 : 0.1, i == 1 ? 36 : 1 << 20);
        s.counters.transfers(Direction::write).bytes = 10;
        s.close(static_cast<std::int64_t>(i));
    }
    Summary forward;
    Summary backward;
    for (const Summary& s : parts) forward.merge(s);
    for (auto s = parts.rbegin(); s != parts.rend(); ++s) backward.merge(*s);
    for (const Summary* s : {&forward, &backward}) {
        CHECK(s->participants == 3);
        CHECK(s->active.first == 0);
        CHECK(s->active.last == 3);
        const KindTimes& writes = s->times[static_cast<std::size_t>(Kind::write)];
        CHECK(writes.count == 6);
        CHECK(writes.min_s == doctest::Approx(0.1));
        CHECK(writes.max_s == doctest::Approx(2.0));
        CHECK(writes.max_bytes == 36);
        CHECK(writes.slowest_rank == 1);
        CHECK(s->counters.transfers(Direction::write).bytes == 30);
    }
}

TEST_CASE("of equally slow ranks the lowest is reported") {
    KindTimes a;
    KindTimes b;
    a.note(1.0, 8);
    a.slowest_s = 1.0;
    a.slowest_rank = 7;
    b.note(1.0, 16);
    b.slowest_s = 1.0;
    b.slowest_rank = 3;
    a.merge(b);
    CHECK(a.slowest_rank == 3);
}

TEST_CASE("tiles of a strided grid cover each element once") {
    Slab slab;
    slab.count = {4, 3};
    slab.stride = {2, 4};
    const std::vector<std::int64_t> dims{16, 24};
    const TileGrid grid(dims, slab);
    CHECK(grid.tiles() == 16 * 24 / 12);
    std::set<std::int64_t> seen;
    std::vector<std::int64_t> first;
    for (std::int64_t t = 0; t < grid.tiles(); ++t) {
        grid.start(t, first);
        for (std::int64_t a = 0; a < 4; ++a) {
            for (std::int64_t b = 0; b < 3; ++b) {
                const std::vector<std::int64_t> at{first[0] + a * 2, first[1] + b * 4};
                seen.insert(at[0] * 24 + at[1]);
                const auto spot = grid.spot_of(at);
                REQUIRE(spot);
                CHECK(spot->tile == t);
                CHECK(spot->element == a * 3 + b);
            }
        }
    }
    CHECK(seen.size() == 16 * 24);
    CHECK(*seen.rbegin() < 16 * 24);
}

TEST_CASE("an element that no tile covers") {
    Slab slab;
    slab.count = {4};
    slab.stride = {2};
    const TileGrid grid({19}, slab);
    CHECK(grid.spot_of({15}));
    CHECK(!grid.spot_of({16}));
}

TEST_CASE("a fit is split exactly for any remainder") {
    Fit fit;
    fit.bytes = 1'000'003;
    fit.datasets = 7;
    for (const std::int64_t operations : {0, 7, 40, 1000}) {
        fit.operations.reset();
        if (operations > 0) fit.operations = operations;
        std::int64_t bytes = 0;
        std::int64_t count = 0;
        for (std::int64_t d = 0; d < fit.datasets; ++d) {
            std::int64_t end = 0;
            for (std::int64_t r = 0; r < 5; ++r) {
                const FitShare share = fit_share(fit, fit.bytes, 1, d, Place{5, 0, 5, r});
                FitOperations all(fit, share, 1, 0, false);
                for (Operation op; all.next(op);) {
                    CHECK(op.offset == end);
                    end += op.size;
                    ++count;
                }
            }
            bytes += end;
        }
        CHECK(bytes == fit.bytes);
        CHECK(count == (operations > 0 ? operations : 35));
    }
}

TEST_CASE("operations of a stream are disjoint over ranks") {
    Stream stream;
    stream.entries = {{13, 100}, {5, 7}};
    for (const Pattern pattern :
         {Pattern::contiguous, Pattern::interleaved, Pattern::random, Pattern::shuffled}) {
        stream.pattern = pattern;
        std::set<std::int64_t> bytes;
        std::int64_t moved = 0;
        for (std::int64_t r = 0; r < 4; ++r) {
            StreamOperations operations(stream, Place{4, 0, 4, r}, 1000, r, 5, false);
            for (Operation op; operations.next(op);) {
                for (std::int64_t i = 0; i < op.size; ++i) bytes.insert(op.offset + i);
                moved += op.size;
            }
        }
        CHECK(moved == 1335);
        CHECK(bytes.size() == 1335);
        CHECK(*bytes.begin() == 1000);
        CHECK(static_cast<std::int64_t>(*bytes.rbegin()) + 1 == 1000 + stream_end(stream, Place{4, 0, 4, 0}));
    }
}

TEST_CASE("the names of the engine are parsed, and no others") {
    Plan plan;
    plan.id = "0badcafe";
    Family family;
    family.role = Role::checkpoint;
    family.number = 12;
    family.backend = find_traits("hdf5");
    family.sharing.mode = SharingMode::per_rank;
    CHECK(file_name(plan, family, 5, 3, {}) == "checkpoint-12.0003.r000005.0badcafe.h5");
    const auto parsed = parse_name("checkpoint-12.0003.r000005.0badcafe.h5");
    REQUIRE(parsed);
    CHECK(parsed->role == "checkpoint");
    CHECK(parsed->number == 12);
    CHECK(parsed->file == 3);
    CHECK(parsed->plan == "0badcafe");
    CHECK(parse_name("checkpoint-12.12345.g0007.0badcafe.dat.tmp")->temporary);
    CHECK(parse_name(name_on_the_way("checkpoint-12.0003.0badcafe.dat", 0))->temporary);
    CHECK(parse_name(name_on_the_way("checkpoint-12.0003.0badcafe.dat", 12))->file == 3);
    CHECK(!parse_name("checkpoint-12.0003.0badcafe.dat.tmpx"));
    CHECK(parse_name(calibration_name(plan, family, 2)));
    CHECK(parse_name("checkpoint-12.0003.0badcafe.h5.subfile_4711_1_of_2")->number == 12);
    CHECK(parse_name("checkpoint-12.0003.0badcafe.bp")->file == 3);
    const auto lock = parse_name("checkpoint-12.0003.0badcafe.dat-1-4711.lock");
    REQUIRE(lock);
    CHECK(lock->is_library_lock);
    CHECK(lock->plan == "0badcafe");
    CHECK(parse_name("checkpoint-12.0003.r000001.0badcafe.dat.tmp-1-4711.lock")->is_library_lock);
    CHECK(parse_name("restart-1.0000.r000002.0badcafe.dat.locktest.0")->is_library_lock);
    CHECK_FALSE(parse_name("restart-1.0000.r000002.0badcafe.dat.locktest.0x"));
    CHECK_FALSE(parse_name("restart-1.0000.r000002.0badcafe.dat.locktest."));
    CHECK_FALSE(parsed->is_library_lock);
    for (const char* other :
         {"", "checkpoint", "checkpoint-1", "checkpoint-1.0badcafe.dat", "checkpoint-1.0000.dat",
          "checkpoint-1.0000.0badcaf.dat", "checkpoint-1.0000.0BADCAFE.dat",
          "checkpoint--1.0000.0badcafe.dat", "checkpoint-1.0000.0badcafe.txt",
          "xcheckpoint-1.0000.0badcafe.dat", "checkpoint-1.0000.0badcafe.dat.bak",
          "checkpoint-1.-001.0badcafe.dat", "../checkpoint-1.0000.0badcafe.dat",
          "checkpoint-99999999999999999999.0.0badcafe.dat", "checkpoint-1.0000.0badcafe.dat-1-4711",
          "checkpoint-1.0000.0badcafe.dat-1.lock", "checkpoint-1.0000.0badcafe.dat-x-1.lock",
          "checkpoint-1.0000.0badcafe.dat-1-2.lock~", "checkpoint-1.0000.0badcafe.dat.lock"}) {
        CHECK_FALSE(parse_name(other));
    }
}

TEST_CASE("intervals merge and leave gaps") {
    Intervals set;
    set.add(10, 20);
    set.add(30, 40);
    set.add(20, 25);
    set.add(5, 5);
    CHECK(set.size() == 2);
    std::vector<std::pair<std::int64_t, std::int64_t>> gaps;
    set.each_gap(0, 50, [&gaps](std::int64_t a, std::int64_t b) { gaps.emplace_back(a, b); });
    CHECK(gaps == std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 10}, {25, 30}, {40, 50}});
    gaps.clear();
    set.each_gap(12, 35, [&gaps](std::int64_t a, std::int64_t b) { gaps.emplace_back(a, b); });
    CHECK(gaps == std::vector<std::pair<std::int64_t, std::int64_t>>{{25, 30}});
    set.add(0, 100);
    CHECK(set.size() == 1);
    set.each_gap(0, 100, [](std::int64_t, std::int64_t) { FAIL("no gap"); });
}

TEST_CASE("the payload is the same sequence from any start") {
    const std::int64_t phase = payload_phase(7, 1, 2, 3, 4);
    CHECK(phase % 64 == 0);
    CHECK(payload_phase(7, 1, 2, 3, 5) != phase);
    const Arena reference(7, 0.0, 1, std::int64_t{3} << 20);
    for (const std::int64_t longest : {std::int64_t{1}, Arena::period, std::int64_t{3} << 20}) {
        const Arena arena(7, 0.0, longest, std::int64_t{3} << 20);
        const std::byte* whole = arena.at(phase, 0);
        for (const std::int64_t at :
             {std::int64_t{1}, std::int64_t{4095}, Arena::period - 1, Arena::period + 17}) {
            CHECK(*arena.at(phase, at) == whole[at]);
            CHECK(*reference.at(phase, at) == whole[at]);
        }
        CHECK(arena.reach() >= std::int64_t{3} << 20);
    }
}

TEST_CASE("a name of a directory stands before its path") {
    Directories directories;
    directories.add("./a=b");
    directories.add("fast=/bb/x=y");
    CHECK(directories.named("") == "./a=b");
    CHECK(directories.named("fast") == "/bb/x=y");
    CHECK(directories.named("slow").empty());
    CHECK_THROWS_AS(directories.add("1=b"), UsageError);  // no name, so a second directory without one
    CHECK_THROWS_AS(directories.add("fast=/other"), UsageError);
    CHECK_THROWS_AS(directories.add("slow="), UsageError);
    CHECK(is_directory_name("A-1"));
    CHECK(is_directory_name(std::string(32, 'a')));
    for (const std::string& text :
         {std::string(33, 'a'), std::string("a/b"), std::string(".."), std::string("1a"), std::string(),
          std::string("a\0b", 3), std::string("a_b")})
        CHECK_FALSE(is_directory_name(text));
}

TEST_CASE("a long operation has memory of its own size") {
    CHECK(Arena::memory_for(0) == Arena::period);
    CHECK(Arena::memory_for(Arena::period + 1) == 2 * Arena::period);
    CHECK(Arena::memory_for(std::int64_t{1} << 40) == 32 * Arena::period);
    const Arena small(7, 0.0, 4096, std::int64_t{4} << 20);
    CHECK(small.at(0, Arena::period) == small.at(0, 0));
    const Arena large(7, 0.0, std::int64_t{3} << 20, std::int64_t{4} << 20);
    CHECK(large.at(0, Arena::period) == large.at(0, 0) + Arena::period);
}

TEST_CASE("the payload lies as memory of malloc does") {
    const auto within_line = [](const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at) % 64; };
    const Ring ring(4096, 10000);
    CHECK(reinterpret_cast<std::uintptr_t>(ring.data()) % 4096 == 16);
    CHECK(ring.size() >= 10000);
    ring.data()[0] = std::byte{7};
    CHECK(ring.data()[4096] == std::byte{7});
    const Arena arena(7, 0.0, 1, std::int64_t{4} << 20);
    for (const std::int64_t dump : {1, 2, 3})
        CHECK(within_line(arena.at(payload_phase(7, 1, 2, 3, dump), 0)) == 16);
}

TEST_CASE("the payload of a direct file lies in pages as the file does") {
    const Arena arena(7, 0.0, Arena::period + 1, std::int64_t{4} << 20);
    const auto in_page = [](const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at) % 4096; };
    for (const std::int64_t dump : {1, 2, 3}) {
        const std::int64_t plain = payload_phase(7, 1, 2, 3, dump);
        const std::int64_t phase = page_phase(plain);
        CHECK(phase >= 0);
        CHECK(std::abs(phase - plain) <= 4096);
        for (const std::int64_t at :
             {std::int64_t{0}, std::int64_t{512}, std::int64_t{4096}, Arena::period, 5 * Arena::period - 512})
            CHECK(in_page(arena.at(phase, at)) == static_cast<std::uintptr_t>(at % 4096));
    }
    CHECK(page_phase(payload_phase(7, 1, 2, 3, 4)) != page_phase(payload_phase(7, 1, 2, 3, 5)));
}

TEST_CASE("what is read lands where an application has its buffer") {
    const Landing landing(std::int64_t{1} << 20, std::int64_t{4} << 20);
    const auto in_page = [&](std::int64_t size, std::int64_t alignment) {
        return reinterpret_cast<std::uintptr_t>(landing.at(size, alignment)) % 4096;
    };
    CHECK(in_page(Landing::mapped_from, 0) == 16);
    CHECK(in_page(std::int64_t{1} << 20, 0) == 16);
    for (const std::int64_t size : {1, 4096, 12288, 65536}) CHECK(in_page(size, 0) >= 32);
    for (const std::int64_t alignment : {1, 8, 64, 512, 2048}) {
        CHECK(in_page(100, alignment) % static_cast<std::uintptr_t>(alignment) == 0);
        CHECK(in_page(std::int64_t{1} << 20, alignment) >= 32);
    }
    for (const std::int64_t alignment : {4096, 1 << 20, 1 << 30}) CHECK(in_page(100, alignment) == 0);
    CHECK(landing.size() >= std::int64_t{4} << 20);
    landing.at(1, 2048)[landing.size() - 1] = std::byte{1};  // the last byte that any place reaches
}

TEST_CASE("counters of a row of transfers are those of each") {
    std::mt19937_64 random(std::random_device{}());
    const auto draw = [&](std::int64_t most) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
    };
    for (int round = 0; round < 3000; ++round) {
        std::array<std::int64_t, POSIX_COUNTERS> each{};
        posix_history each_history{};
        each[POSIX_FILE_ALIGNMENT] =
            std::array<std::int64_t, 6>{0, 1, 4096, 512, 1000, 3 << 20}.at(static_cast<std::size_t>(draw(6)));
        auto whole = each;
        posix_history whole_history = each_history;
        for (int part = 0; part < 3; ++part) {
            const std::int64_t size = draw(4) == 0 ? draw(2) : draw(5000);
            const std::int64_t step = draw(3) == 0 ? size : draw(20000) - 5000;
            const TransferRow row{100'000'000 * draw(2) + 50'000 * draw(200) + (step < 0 ? 10'000'000 : 0),
                                  size, step, draw(500)};
            const enum transfer kind = draw(2) == 0 ? TRANSFER_READ : TRANSFER_WRITE;
            for (std::int64_t i = 0; i < row.count; ++i)
                posix_transferred(&each_history, each.data(), kind, row.offset + i * row.step, row.size);
            posix_transferred_row(&whole_history, whole.data(), kind, row);
            std::int64_t aligned = 0;
            for (std::int64_t i = 0; i < row.count; ++i)
                aligned += posix_is_aligned(row.offset + i * row.step, each[POSIX_FILE_ALIGNMENT]) ? 1 : 0;
            CHECK(aligned_of(row, each[POSIX_FILE_ALIGNMENT]) == aligned);
        }
        CHECK(each == whole);
        CHECK(std::memcmp(&each_history, &whole_history, offsetof(posix_history, sizes)) == 0);
        for (const auto& [a, b] : {std::pair(each_history.sizes, whole_history.sizes),
                                   std::pair(each_history.strides, whole_history.strides)}) {
            CHECK(a.used == b.used);
            CHECK(std::equal(std::begin(a.value), std::end(a.value), std::begin(b.value)));
            CHECK(std::equal(std::begin(a.count), std::end(a.count), std::begin(b.count)));
        }
    }
}

TEST_CASE("the payload has exactly as many random bytes as its compressibility leaves") {
    const auto random_bytes = [](double compressibility) {
        const Arena arena(7, compressibility, 0, 0);
        std::int64_t found = 0;
        for (std::int64_t block = 0; block < Arena::period; block += 4096) {
            std::int64_t zeros = 0;
            while (zeros < 4096 && *arena.at(0, block + zeros) == std::byte{0}) ++zeros;
            found += 4096 - zeros;
        }
        return found;
    };
    CHECK(random_bytes(1.0) == 0);
    // A random byte is zero, too, once in 256: the count may lack some of those that follow the zeros.
    for (const std::int64_t expected : {std::int64_t{100}, std::int64_t{10'000}, std::int64_t{263'168}}) {
        const double compressibility = 1 - static_cast<double>(expected) / static_cast<double>(Arena::period);
        CHECK(random_bytes(compressibility) <= expected);
        CHECK(random_bytes(compressibility) >= expected - 10);
    }
}

TEST_CASE("the first of a tournament has the least key, whoever comes, changes and goes") {
    struct Player {
        std::size_t place = 0;
    };
    std::mt19937 dice(7);
    for (const std::size_t most : {1U, 2U, 3U, 40U, 1000U}) {
        std::vector<Player> players(most);
        std::vector<Player*> absent;
        absent.reserve(most);
        for (Player& player : players) absent.push_back(&player);
        Tournament<std::uint64_t, Player> tournament;
        std::map<std::uint64_t, Player*> by_key;
        const auto new_key = [&] {
            std::uint64_t key = 0;
            do {
                key = dice() % (20 * most);
            } while (by_key.contains(key));
            return key;
        };
        const auto any = [&] {
            return std::next(by_key.begin(), static_cast<std::ptrdiff_t>(dice() % by_key.size()));
        };
        for (int turn = 0; turn < 3000; ++turn) {
            const unsigned what = dice() % 4;
            if (what <= 1 && !absent.empty()) {
                Player& player = *absent.back();
                absent.pop_back();
                const std::uint64_t key = new_key();
                player.place = tournament.add(key, player);
                by_key[key] = &player;
            } else if (what == 2 && !by_key.empty()) {
                const auto found = any();
                Player* player = found->second;
                by_key.erase(found);
                const std::uint64_t key = new_key();
                tournament.change(player->place, key);
                by_key[key] = player;
            } else if (what == 3 && !by_key.empty()) {
                const auto found = dice() % 2 == 0 ? by_key.begin() : any();
                tournament.remove(found->second->place);
                absent.push_back(found->second);
                by_key.erase(found);
            }
            REQUIRE(tournament.first() == (by_key.empty() ? nullptr : by_key.begin()->second));
            REQUIRE(tournament.first_key() == (by_key.empty() ? ~std::uint64_t{0} : by_key.begin()->first));
        }
    }
}

int main(int argc, char** argv) {
    // HDF5's property lists hold a communicator; nothing else here calls MPI.
    MPI_Init(&argc, &argv);
    doctest::Context context(argc, argv);
    const int code = context.run();
    MPI_Finalize();
    return code;
}
