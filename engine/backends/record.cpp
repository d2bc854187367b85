// record: writes the operations that other backends would perform, one text line each:
//   rank <TAB> dump <TAB> file name <TAB> operation <TAB> offset <TAB> size <TAB> collective|independent
// `dump` is the position in the plan. Offset and size are "-" for calls that have none, the offset also for
// ranks that only join a collective call. Operations of several pieces say so in an eighth column: pieces x
// stride.
#include <fcntl.h>
#include <fmt/format.h>

#include <cstdio>
#include <iterator>

#include "backends/backend.hpp"
#include "errors.hpp"
#include "io/posix.hpp"
#include "record/jsonl.hpp"

namespace wa {
namespace {

/// Appends whole lines, so that several processes can share one file.
class Lines {
  public:
    explicit Lines(const std::string& path) : fd_(open_to_append(path)) {}
    ~Lines() = default;
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;
    Lines(Lines&&) = delete;
    Lines& operator=(Lines&&) = delete;

    [[nodiscard]] fmt::memory_buffer& buffer() { return buffer_; }
    void line_done() {
        if (buffer_.size() > enough) flush();
    }
    void flush() {
        std::size_t done = 0;
        while (done < buffer_.size()) {
            const ssize_t moved = ::write(fd_.get(), buffer_.data() + done, buffer_.size() - done);
            if (moved < 0) posix::fail("write of --operations", errno);
            done += static_cast<std::size_t>(moved);
        }
        buffer_.clear();
    }

  private:
    static constexpr std::size_t enough = 1U << 18U;
    posix::Fd fd_;
    fmt::memory_buffer buffer_;
};

void call(Lines& lines, const FileContext& context, const char* name) {
    const std::string_view path(context.path);
    fmt::format_to(std::back_inserter(lines.buffer()), "{}\t{}\t{}\t{}\t-\t-\tindependent\n", context.rank,
                   context.position, path.substr(path.rfind('/') + 1), name);
    lines.line_done();
}

class RecordFile final : public OpenFile {
  public:
    RecordFile(const FileContext& context, Lines& lines) : context_(context), lines_(lines) {
        call(lines_, context_, "open");
    }
    void begin_dump(const FileContext& context) override { context_ = context; }
    std::int64_t transfer(const Operation& operation) override {
        const std::string_view path(context_.path);
        const auto out = std::back_inserter(lines_.buffer());
        fmt::format_to(out, "{}\t{}\t{}\t{}\t", context_.rank, context_.position,
                       path.substr(path.rfind('/') + 1),
                       operation.direction == Direction::write ? "write" : "read");
        if (operation.joins) {
            fmt::format_to(out, "-\t0");
        } else {
            fmt::format_to(out, "{}\t{}", operation.offset, operation.size);
        }
        fmt::format_to(out, "\t{}", operation.collective ? "collective" : "independent");
        if (operation.pieces > 1) fmt::format_to(out, "\t{}x{}", operation.pieces, operation.piece_stride);
        lines_.buffer().push_back('\n');
        lines_.line_done();
        return operation.size;
    }
    void seek(std::int64_t offset) override {
        const std::string_view path(context_.path);
        fmt::format_to(std::back_inserter(lines_.buffer()), "{}\t{}\t{}\tseek\t{}\t-\tindependent\n",
                       context_.rank, context_.position, path.substr(path.rfind('/') + 1), offset);
        lines_.line_done();
    }
    void flush() override { call(lines_, context_, "flush"); }
    void sync() override { call(lines_, context_, "fsync"); }
    void close() override { call(lines_, context_, "close"); }

  private:
    FileContext context_;
    Lines& lines_;
};

class RecordBackend final : public Backend {
  public:
    explicit RecordBackend(const std::string& path) : lines_(path) {}
    std::unique_ptr<OpenFile> open(const FileContext& context) override {
        return std::make_unique<RecordFile>(context, lines_);
    }
    void stat(const FileContext& context) override { call(lines_, context, "stat"); }
    void finish() override { lines_.flush(); }

  private:
    Lines lines_;
};

}  // namespace

std::unique_ptr<Backend> make_record(const BackendOptions& options);
std::unique_ptr<Backend> make_record(const BackendOptions& options) {
    if (options.operations_path.empty()) throw UsageError("the backend record needs --operations FILE");
    return std::make_unique<RecordBackend>(options.operations_path);
}

}  // namespace wa
