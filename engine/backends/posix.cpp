// The posix backend: one descriptor per rank. Transfers are pwrite and pread, so that seeks occur only where
// the plan has them. A buffered section has a stream of its own, on the descriptor or by the file's name.
#include "io/posix.hpp"

#include <fcntl.h>

#include <algorithm>
#include <optional>
#include <string>

#include "backends/backend.hpp"
#include "backends/stream_transfer.hpp"
#include "io/direct.hpp"
#include "io/stdio.hpp"

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
        path_ = context.path;
    }

    void begin_section(const Section& section) override {
        buffered_ = section.buffered;
        writes_ = section.direction == Direction::write;
    }
    void end_section() override {
        if (stream_) stream_->close();
        stream_.reset();
        buffered_ = Buffered::none;
    }

    std::int64_t transfer(const Operation& operation) override {
        if (buffered_ != Buffered::none)
            return transfer_by(stream_at(operation.offset), operation, phase_, *buffers_, alignment_);
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

    void seek(std::int64_t offset) override {
        if (buffered_ != Buffered::none) return stream_at(offset).seek(offset);
        posix::seek(fd_.get(), offset);
    }
    void flush() override {
        if (buffered_ != Buffered::none) return stream_at(0).flush();
        posix::sync(fd_.get());
    }
    void sync() override { posix::sync(fd_.get()); }
    void map() override { page_.map(fd_.get()); }
    void close() override {
        page_.unmap();
        fd_.close();
    }

  private:
    /// The stream of the section. One on the descriptor begins at `offset`.
    [[nodiscard]] stdio::File& stream_at(std::int64_t offset) {
        if (!stream_) {
            const bool by_name = buffered_ == Buffered::name;
            stream_.emplace(!by_name  ? stdio::on_descriptor(fd_.get(), writes_, offset)
                            : writes_ ? stdio::open_update(path_, false)
                                      : stdio::open_read(path_));
        }
        return *stream_;
    }
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
    posix::MappedPage page_;
    std::int64_t phase_ = 0;
    const Buffers* buffers_ = nullptr;
    std::int64_t alignment_ = 0;
    std::string path_;
    Buffered buffered_ = Buffered::none;
    bool writes_ = false;
    std::optional<stdio::File> stream_;
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
