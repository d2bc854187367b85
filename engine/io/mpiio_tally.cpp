#include "io/mpiio_tally.hpp"

#include <mpi.h>

namespace {

wa::MpiioTally sums_of_no_dump;
wa::MpiioTally* counted_in = &sums_of_no_dump;

wa::MpiioTally& tally() {
    return *counted_in;
}

void note(wa::Direction direction, bool collective, int count, MPI_Datatype type) {
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    wa::DirectionCounters& counters = tally().by_direction[static_cast<std::size_t>(direction)];
    const std::int64_t bytes = size * count;
    ++counters.operations;
    if (collective) ++counters.collective;
    counters.bytes += bytes;
    ++counters.sizes[wa::size_bin(bytes)];
}

constexpr auto reads = wa::Direction::read;
constexpr auto writes = wa::Direction::write;

}  // namespace

namespace wa {

void MpiioTally::merge(const MpiioTally& other) {
    opens += other.opens;
    syncs += other.syncs;
    views += other.views;
    for (std::size_t d = 0; d < by_direction.size(); ++d) {
        by_direction[d].operations += other.by_direction[d].operations;
        by_direction[d].collective += other.by_direction[d].collective;
        by_direction[d].bytes += other.by_direction[d].bytes;
        for (std::size_t b = 0; b < size_bins; ++b)
            by_direction[d].sizes[b] += other.by_direction[d].sizes[b];
    }
}

const MpiioTally& mpiio_tally() {
    return sums_of_no_dump;
}

void count_mpiio_in(MpiioTally* sums) {
    counted_in = sums != nullptr ? sums : &sums_of_no_dump;
}
}  // namespace wa

// The profiling interface of MPI: these definitions replace those of the library. They cover all variants
// that a library below the engine might use. Each counts the request and makes the original call unchanged.
extern "C" {

int MPI_File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
    ++tally().opens;
    return PMPI_File_open(comm, name, mode, info, file);
}
int MPI_File_sync(MPI_File file) {
    ++tally().syncs;
    return PMPI_File_sync(file);
}
int MPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                      const char* representation, MPI_Info info) {
    ++tally().views;
    return PMPI_File_set_view(file, displacement, etype, filetype, representation, info);
}
int MPI_File_write(MPI_File file, const void* data, int count, MPI_Datatype type, MPI_Status* status) {
    note(writes, false, count, type);
    return PMPI_File_write(file, data, count, type, status);
}
int MPI_File_write_all(MPI_File file, const void* data, int count, MPI_Datatype type, MPI_Status* status) {
    note(writes, true, count, type);
    return PMPI_File_write_all(file, data, count, type, status);
}
int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void* data, int count, MPI_Datatype type,
                      MPI_Status* status) {
    note(writes, false, count, type);
    return PMPI_File_write_at(file, offset, data, count, type, status);
}
int MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void* data, int count, MPI_Datatype type,
                          MPI_Status* status) {
    note(writes, true, count, type);
    return PMPI_File_write_at_all(file, offset, data, count, type, status);
}
int MPI_File_iwrite_at(MPI_File file, MPI_Offset offset, const void* data, int count, MPI_Datatype type,
                       MPI_Request* request) {
    note(writes, false, count, type);
    return PMPI_File_iwrite_at(file, offset, data, count, type, request);
}
int MPI_File_read(MPI_File file, void* data, int count, MPI_Datatype type, MPI_Status* status) {
    note(reads, false, count, type);
    return PMPI_File_read(file, data, count, type, status);
}
int MPI_File_read_all(MPI_File file, void* data, int count, MPI_Datatype type, MPI_Status* status) {
    note(reads, true, count, type);
    return PMPI_File_read_all(file, data, count, type, status);
}
int MPI_File_read_at(MPI_File file, MPI_Offset offset, void* data, int count, MPI_Datatype type,
                     MPI_Status* status) {
    note(reads, false, count, type);
    return PMPI_File_read_at(file, offset, data, count, type, status);
}
int MPI_File_read_at_all(MPI_File file, MPI_Offset offset, void* data, int count, MPI_Datatype type,
                         MPI_Status* status) {
    note(reads, true, count, type);
    return PMPI_File_read_at_all(file, offset, data, count, type, status);
}
int MPI_File_iread_at(MPI_File file, MPI_Offset offset, void* data, int count, MPI_Datatype type,
                      MPI_Request* request) {
    note(reads, false, count, type);
    return PMPI_File_iread_at(file, offset, data, count, type, request);
}

}  // extern "C"
