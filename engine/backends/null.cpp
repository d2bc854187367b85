// The null backend: performs nothing, so only the engine's counting is left. It is also the smallest example
// of a backend.
#include "backends/backend.hpp"

namespace wa {
namespace {

class NullFile final : public OpenFile {
  public:
    void begin_dump(const FileContext& /*context*/) override {}
    std::int64_t transfer(const Operation& operation) override { return operation.size; }
};

class NullBackend final : public Backend {
  public:
    std::unique_ptr<OpenFile> open(const FileContext& /*context*/) override {
        return std::make_unique<NullFile>();
    }
    void stat(const FileContext& /*context*/) override {}
};

}  // namespace

std::unique_ptr<Backend> make_null(const BackendOptions& options);
std::unique_ptr<Backend> make_null(const BackendOptions& /*options*/) {
    return std::make_unique<NullBackend>();
}

}  // namespace wa
