// The record backend: writes the operations that other backends would perform, as text (count/operations.hpp
// has the format).
#include <fcntl.h>
#include <fmt/format.h>

#include <cstdio>

#include "backends/backend.hpp"
#include "count/operations.hpp"
#include "errors.hpp"
#include "io/posix.hpp"
#include "record/jsonl.hpp"

namespace wa {
namespace {

/// Appends whole lines, so that several processes can share a file.
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

void write(Lines& lines, const FileContext& context, const Call& call) {
    const std::string_view path(context.path);
    append_line(lines.buffer(), {context.rank, context.position, path.substr(path.rfind('/') + 1), &call});
    lines.line_done();
}

Call call_of(Call::Kind kind) {
    Call call;
    call.kind = kind;
    return call;
}

class RecordFile final : public OpenFile {
  public:
    RecordFile(const FileContext& context, Lines& lines) : context_(context), lines_(lines) {
        write(lines_, context_, call_of(Call::Kind::open));
    }
    void begin_dump(const FileContext& context) override { context_ = context; }
    std::int64_t transfer(const Operation& operation) override {
        Call call = call_of(Call::Kind::transfer);
        call.operation = operation;
        write(lines_, context_, call);
        return operation.size;
    }
    void seek(std::int64_t offset) override {
        Call call = call_of(Call::Kind::seek);
        call.offset = offset;
        write(lines_, context_, call);
    }
    void flush() override { write(lines_, context_, call_of(Call::Kind::flush)); }
    void sync() override { write(lines_, context_, call_of(Call::Kind::sync)); }
    void map() override { write(lines_, context_, call_of(Call::Kind::map)); }
    void close() override { write(lines_, context_, call_of(Call::Kind::close)); }

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
    void stat(const FileContext& context) override { write(lines_, context, call_of(Call::Kind::stat)); }
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
