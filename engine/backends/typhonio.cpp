// typhonio: meshes as files that the TyphonIO library reads. The format is in engine/typhonio, what a dump
// becomes in typhonio_file.cpp.
#include <fmt/format.h>

#include "backends/all.hpp"
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

    /// The pattern decides how the library underneath works; a setting that changes nothing would be a silent
    /// wrong.
    void refuse(const Family& family, const Layout& /*layout*/, const Content& content,
                const std::string& place) const override {
        if (!content.mesh) {
            throw PlanError("", fmt::format("{}: a TyphonIO file holds meshes, and this content is none; "
                                            "use the backend hdf5, or describe the dump as a mesh",
                                            place));
        }
        const Hdf5Settings& set = family.hdf5;
        const bool other = set.chunked || set.filters() || set.subfiling || set.collective_metadata ||
                           set.individual_io || set.metadata_block || set.sieve_buffer || set.page_bytes ||
                           set.file_space != FileSpace::standard || set.libver != LibraryBounds::earliest;
        if (other) {
            throw PlanError(
                "", fmt::format("{}: a TyphonIO file takes alignment, threshold and MPI-IO hints; leave "
                                "out the other settings of HDF5, or say `typhonio: optimised`",
                                place));
        }
    }

  private:
    static bool counts_library(const FileContext& context) {
        return context.content->sized() && context.content->mesh->direction == Direction::write &&
               context.family->level != Level::h5d && !context.family->sharing.baton;
    }

    Hdf5Overhead overhead_{open_file};
};

}  // namespace

std::unique_ptr<Backend> make_typhonio(const BackendOptions& /*options*/) {
    return std::make_unique<TyphonioBackend>();
}

}  // namespace wa
