// The mpiio backend: explicit offsets, independent or collective. Operations of several pieces use a file
// view.
#include <climits>
#include <optional>

#include "backends/backend.hpp"
#include "io/mpi_file.hpp"
#include "io/posix.hpp"

namespace wa {
namespace {

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
        round_ = section.piece_stride * section.pieces;
        const mpi::Datatype type = mpi::blocks(section.pieces, section.piece_size, section.piece_stride);
        file_.set_view(section.view_base, type.get());
        viewed_ = true;
    }

    void end_section() override {
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
