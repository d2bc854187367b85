// The stdio backend: one buffered file per rank. If an operation does not follow the previous one, the engine
// seeks first.
#include "io/stdio.hpp"

#include "backends/backend.hpp"
#include "backends/stream_transfer.hpp"
#include "io/posix.hpp"

namespace wa {
namespace {

stdio::File open_file(const FileContext& context) {
    if (!context.writes) return stdio::open_read(context.path);
    if (context.exclusive && context.alone) return stdio::open_new(context.path);
    if (context.empties) return stdio::open_emptied(context.path);
    return stdio::open_update(context.path, context.creates);
}

class StdioFile final : public OpenFile {
  public:
    explicit StdioFile(const FileContext& context) : file_(open_file(context)) {}

    void begin_dump(const FileContext& context) override {
        phase_ = context.phase;
        buffers_ = context.buffers;
        alignment_ = context.family->buffer_alignment;
    }

    std::int64_t transfer(const Operation& operation) override {
        dirty_ = dirty_ || operation.direction == Direction::write;
        return transfer_by(file_, operation, phase_, *buffers_, alignment_);
    }

    void seek(std::int64_t offset) override { file_.seek(offset); }
    void flush() override {
        file_.flush();
        dirty_ = false;
    }
    void publish() override {
        if (dirty_) flush();
    }
    void sync() override {
        if (dirty_) flush();
        posix::sync(file_.descriptor());
    }
    void map() override { page_.map(file_.descriptor()); }
    void close() override {
        page_.unmap();
        file_.close();
    }

  private:
    stdio::File file_;
    posix::MappedPage page_;
    bool dirty_ = false;  // written since the last flush
    std::int64_t phase_ = 0;
    const Buffers* buffers_ = nullptr;
    std::int64_t alignment_ = 0;
};

class StdioBackend final : public Backend {
  public:
    std::unique_ptr<OpenFile> open(const FileContext& context) override {
        return std::make_unique<StdioFile>(context);
    }
    void stat(const FileContext& context) override { (void)posix::size_of(context.path); }
};

}  // namespace

std::unique_ptr<Backend> make_stdio(const BackendOptions& options);
std::unique_ptr<Backend> make_stdio(const BackendOptions& /*options*/) {
    return std::make_unique<StdioBackend>();
}

}  // namespace wa
