// The mpiio backend: explicit offsets, independent or collective, blocking or posted. Operations of several
// pieces use a file view.
#include <fmt/format.h>

#include <climits>
#include <optional>
#include <utility>

#include "backends/backend.hpp"
#include "errors.hpp"
#include "io/mpi_file.hpp"
#include "io/posix.hpp"

namespace wa {
namespace {

/// Writes that are posted before the first of them is waited for.
constexpr std::size_t most_posted = 256;

int mode_of(const FileContext& context) {
    if (!context.writes) return MPI_MODE_RDONLY;
    if (!context.creates) return MPI_MODE_RDWR;
    return MPI_MODE_RDWR | MPI_MODE_CREATE | (context.exclusive ? MPI_MODE_EXCL : 0);
}

class MpiioFile final : public OpenFile {
  public:
    explicit MpiioFile(const FileContext& context)
        : file_(context.path, context.comm, mode_of(context), context.family->hints) {}

    void begin_dump(const FileContext& context) override {
        phase_ = context.phase;
        buffers_ = context.buffers;
        alignment_ = context.family->buffer_alignment;
    }

    void begin_section(const Section& section) override {
        if (!section.view) return;
        view_base_ = section.view_base;
        round_ = section.round;
        const mpi::Datatype type =
            mpi::blocks(section.pieces, section.piece_size, section.piece_stride, section.round);
        file_.set_view(section.view_base, type.get());
        viewed_ = true;
    }

    void end_section() override {
        complete_writes();
        if (!viewed_) return;
        file_.set_view(0, MPI_BYTE);
        viewed_ = false;
    }

    std::int64_t transfer(const Operation& operation) override {
        std::int64_t offset = operation.offset;
        // In a view, the pieces of a round follow each other: round k starts k operations after the start of
        // the view.
        if (viewed_ && !operation.joins && round_ > 0)
            offset = (offset - view_base_) / round_ * operation.size;
        if (operation.joins) offset = 0;
        if (operation.nonblocking) return post(operation);
        if (operation.direction == Direction::write) {
            // Pieces are contiguous in memory, as in an application that writes its part of a larger array.
            file_.write(offset, buffers_->arena.at(phase_, operation.offset), extent(operation.size, true),
                        operation.collective);
            return operation.size;
        }
        return file_.read(offset, buffers_->landing.at(operation.size, alignment_),
                          extent(operation.size, false), operation.collective);
    }

    void flush() override { file_.sync(); }
    void sync() override { file_.sync(); }
    void close() override { file_.close(); }

  private:
    /// Writes wait for each other at the end of the section; their memory is not changed before. All reads
    /// land in the same memory, so each is waited for.
    std::int64_t post(const Operation& operation) {
        if (operation.direction == Direction::read) {
            complete_writes();
            file_.post_read(operation.offset, buffers_->landing.at(operation.size, alignment_),
                            extent(operation.size, false));
            return file_.wait();
        }
        const mpi::Extent memory = extent(operation.size, true);
        file_.post_write(operation.offset, buffers_->arena.at(phase_, operation.offset), memory);
        posted_bytes_ += operation.size;
        // The datatype of large memory is made anew for the next operation.
        if (memory.type != MPI_BYTE || file_.posted() >= most_posted) complete_writes();
        return operation.size;
    }

    void complete_writes() {
        const std::int64_t wanted = std::exchange(posted_bytes_, 0);
        const std::int64_t done = file_.wait();
        if (done < wanted)
            throw CallFailed("write", fmt::format("only {} of {} bytes were written", done, wanted));
    }

    /// Memory of `size` bytes. A derived type is used only if a 32-bit count or the reach of the payload is
    /// too small.
    mpi::Extent extent(std::int64_t size, bool write) {
        const std::int64_t reach = write ? buffers_->arena.reach() : buffers_->landing.size();
        if (size <= INT_MAX && size <= reach) return {static_cast<int>(size), MPI_BYTE, size};
        large_.emplace(mpi::repeated(size, reach));
        return {1, large_->get(), size};
    }

    mpi::File file_;
    std::int64_t phase_ = 0;
    const Buffers* buffers_ = nullptr;
    std::int64_t alignment_ = 0;
    std::int64_t posted_bytes_ = 0;
    bool viewed_ = false;
    std::int64_t view_base_ = 0;
    std::int64_t round_ = 0;
    std::optional<mpi::Datatype> large_;
};

class MpiioBackend final : public Backend {
  public:
    std::unique_ptr<OpenFile> open(const FileContext& context) override {
        return std::make_unique<MpiioFile>(context);
    }
    void stat(const FileContext& context) override { (void)posix::size_of(context.path); }
};

}  // namespace

std::unique_ptr<Backend> make_mpiio(const BackendOptions& options);
std::unique_ptr<Backend> make_mpiio(const BackendOptions& /*options*/) {
    return std::make_unique<MpiioBackend>();
}

}  // namespace wa
