// The posix backend: one descriptor per rank. Transfers are pwrite and pread, so that seeks occur only where
// the plan has them.
#include "io/posix.hpp"

#include <fcntl.h>

#include <algorithm>

#include "backends/backend.hpp"
#include "io/direct.hpp"

namespace wa {
namespace {

int flags_of(const FileContext& context) {
    if (!context.writes) return O_RDONLY;
    // Ranks that share a file race to create it. A file of a single rank must be new at its first use.
    const bool exclusive = context.exclusive && context.alone;
    return O_RDWR | O_NOFOLLOW | (context.creates ? O_CREAT : 0) | (exclusive ? O_EXCL : 0) |
           (context.empties ? O_TRUNC : 0);
}

class PosixFile final : public OpenFile {
  public:
    explicit PosixFile(const FileContext& context)
        : direct_(context.family->direct),
          fd_(direct_ ? posix::open_direct(context.path, flags_of(context))
                      : posix::open(context.path, flags_of(context))) {}

    void begin_dump(const FileContext& context) override {
        phase_ = context.phase;
        buffers_ = context.buffers;
        alignment_ = direct_ ? Landing::page : context.family->buffer_alignment;
    }

    std::int64_t transfer(const Operation& operation) override {
        // Linux moves at most 2 GiB per call; the payload reaches at least as far.
        if (operation.direction == Direction::write) {
            std::int64_t done = 0;
            do {
                const std::int64_t part = std::min(operation.size - done, whole(buffers_->arena.reach()));
                write(buffers_->arena.at(phase_, operation.offset + done), part, operation.offset + done);
                done += part;
            } while (done < operation.size);
            return done;
        }
        std::int64_t done = 0;
        do {
            const std::int64_t part = std::min(operation.size - done, whole(buffers_->landing.size()));
            const std::int64_t got =
                read(buffers_->landing.at(part, alignment_), part, operation.offset + done);
            done += got;
            if (got < part) break;
        } while (done < operation.size);
        return done;
    }

    void seek(std::int64_t offset) override { posix::seek(fd_.get(), offset); }
    void flush() override { posix::sync(fd_.get()); }
    void sync() override { posix::sync(fd_.get()); }
    void close() override { fd_.close(); }

  private:
    /// The whole pages of a length, as far as only these can be moved.
    [[nodiscard]] std::int64_t whole(std::int64_t size) const {
        return direct_ ? size / Landing::page * Landing::page : size;
    }
    void write(const std::byte* data, std::int64_t size, std::int64_t offset) {
        if (direct_) return posix::write_direct(fd_, data, size, offset);
        posix::write_at(fd_.get(), data, size, offset);
    }
    [[nodiscard]] std::int64_t read(std::byte* data, std::int64_t size, std::int64_t offset) {
        if (direct_) return posix::read_direct(fd_, data, size, offset);
        return posix::read_at(fd_.get(), data, size, offset);
    }

    bool direct_;
    posix::Fd fd_;
    std::int64_t phase_ = 0;
    const Buffers* buffers_ = nullptr;
    std::int64_t alignment_ = 0;
};

class PosixBackend final : public Backend {
  public:
    std::unique_ptr<OpenFile> open(const FileContext& context) override {
        return std::make_unique<PosixFile>(context);
    }
    // Applications also call stat before they make a file, so a missing file is no error.
    void stat(const FileContext& context) override { (void)posix::size_of(context.path); }
};

}  // namespace

std::unique_ptr<Backend> make_posix(const BackendOptions& options);
std::unique_ptr<Backend> make_posix(const BackendOptions& /*options*/) {
    return std::make_unique<PosixBackend>();
}

}  // namespace wa
