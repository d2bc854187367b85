// Checks the shape of data in memory. It changes the time that HDF5 takes, and no byte of a file.
#include <doctest/doctest.h>

#include "backends/hdf5_file.hpp"

using namespace wa;

namespace {

Slab slab(std::vector<std::int64_t> count) {
    Slab out;
    out.count = std::move(count);
    return out;
}

}  // namespace

TEST_CASE("data of a dataset of several dimensions have the shape of the selection in memory") {
    const Slab block = slab({4, 20, 30});
    CHECK(memory_extents(&block, 2400, 0) == h5::Extents{4, 20, 30});
}

TEST_CASE("one step of a dataset that grows in its first dimension keeps that dimension") {
    const Slab step = slab({1, 20, 30});
    CHECK(memory_extents(&step, 600, 0) == h5::Extents{1, 20, 30});
}

TEST_CASE("one step of a dataset that grows in a later dimension lacks it in memory") {
    const Slab last = slab({20, 30, 1});
    CHECK(memory_extents(&last, 600, 2) == h5::Extents{20, 30});
    const Slab middle = slab({20, 1, 30});
    CHECK(memory_extents(&middle, 600, 1) == h5::Extents{20, 30});
}

TEST_CASE("several steps keep the dimension that grows") {
    const Slab steps = slab({20, 30, 5});
    CHECK(memory_extents(&steps, 3000, 2) == h5::Extents{20, 30, 5});
}

TEST_CASE("data of one dimension, and those of a rank that only takes part, are a list") {
    CHECK(memory_extents(nullptr, 600, 0) == h5::Extents{600});
    const Slab block = slab({4, 20, 30});
    CHECK(memory_extents(&block, 0, 0) == h5::Extents{1});
}
