// The typhonio backend: meshes as files that the TyphonIO library reads. The format is in engine/typhonio;
// typhonio_file.cpp maps a dump to it.
#include <fmt/format.h>

#include "backends/backend.hpp"
#include "backends/hdf5_overhead.hpp"
#include "backends/typhonio_file.hpp"
#include "errors.hpp"
#include "io/posix.hpp"

namespace wa {
namespace {

std::unique_ptr<OpenFile> open_file(const FileContext& context) {
    if (context.writes && !context.reading_back) return std::make_unique<TyphonioFile>(context);
    return std::make_unique<TyphonioInput>(context);
}

class TyphonioBackend final : public Backend {
  public:
    TyphonioBackend() { h5::start(); }
    ~TyphonioBackend() override { h5::finish(); }
    TyphonioBackend(const TyphonioBackend&) = delete;
    TyphonioBackend& operator=(const TyphonioBackend&) = delete;
    TyphonioBackend(TyphonioBackend&&) = delete;
    TyphonioBackend& operator=(TyphonioBackend&&) = delete;

    std::unique_ptr<OpenFile> open(const FileContext& context) override { return open_file(context); }
    void stat(const FileContext& context) override { (void)posix::size_of(context.path); }

    void check_closed(const Family& family, const std::string& path) override {
        if (!family.hdf5.subfiling) h5::check_whole(path);
    }
    void calibrate(const FileContext& context) override {
        if (counts_library(context)) overhead_.calibrate(context);
    }
    std::optional<std::int64_t> fit_payload(const FileContext& context) override {
        if (!counts_library(context)) return std::nullopt;
        return overhead_.payload(context);
    }
    void dump_done(const FileContext& context, std::int64_t payload, std::int64_t written) override {
        if (counts_library(context)) overhead_.done(context, payload, written);
    }

  private:
    static bool counts_library(const FileContext& context) {
        return context.content->sized() && context.content->mesh->direction == Direction::write &&
               context.family->level != Level::h5d && !context.family->sharing.baton;
    }

    Hdf5Overhead overhead_{open_file};
};

}  // namespace

std::unique_ptr<Backend> make_typhonio(const BackendOptions& options);
std::unique_ptr<Backend> make_typhonio(const BackendOptions& /*options*/) {
    return std::make_unique<TyphonioBackend>();
}

}  // namespace wa
