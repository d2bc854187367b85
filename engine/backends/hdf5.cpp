// The hdf5 backend: parallel HDF5 over MPI-IO. Datasets are in hdf5_file.cpp; the overhead of the library is
// in hdf5_overhead.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "backends/backend.hpp"
#include "backends/hdf5_file.hpp"
#include "backends/hdf5_overhead.hpp"
#include "errors.hpp"
#include "io/hdf5_features.hpp"
#include "io/posix.hpp"

namespace wa {
namespace {

class Hdf5Backend final : public Backend {
  public:
    Hdf5Backend() { h5::start(); }
    // HDF5 must free its MPI objects before MPI_Finalize.
    ~Hdf5Backend() override { h5::finish(); }
    Hdf5Backend(const Hdf5Backend&) = delete;
    Hdf5Backend& operator=(const Hdf5Backend&) = delete;
    Hdf5Backend(Hdf5Backend&&) = delete;
    Hdf5Backend& operator=(Hdf5Backend&&) = delete;

    std::unique_ptr<OpenFile> open(const FileContext& context) override {
        return std::make_unique<Hdf5File>(context);
    }
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

    void refuse(const Family& family, const Layout& layout, const Content& content,
                const std::string& place) const override {
        const h5::Features has = h5::features();
        const auto no = [&](std::string_view what, std::string_view hint) {
            throw PlanError(place, fmt::format("{} (this is HDF5 {})", what, has.version), std::string(hint));
        };
        const Hdf5Settings& settings = family.hdf5;
        const bool multi = std::any_of(content.arrays.begin(), content.arrays.end(),
                                       [](const Array& array) { return array.multi; });
        if (multi && !has.multi)
            no("one call over several datasets needs HDF5 1.14", "leave out `multi` or use a newer HDF5");
        if (settings.subfiling && !has.subfiling)
            no("subfiling needs an HDF5 that was built with it", "leave it out or use another HDF5");
        if (settings.deflate > 0 && !has.deflate)
            no("deflate needs an HDF5 that was built with zlib", "leave it out or use another HDF5");
        if (!settings.filters()) return;
        if (layout.slot(0).members == 1 || family.sharing.baton) return;
        if (!has.filtered_writes)
            no("filters in a file of several ranks need HDF5 1.10.2", "leave them out or use a newer HDF5");
    }

  private:
    /// Whether the bytes of the dump include those of the library. With a baton, ranks open the file one
    /// after the other, so no rank can know the sum.
    static bool counts_library(const FileContext& context) {
        return context.content->sized() && context.family->level != Level::h5d &&
               !context.family->sharing.baton;
    }

    Hdf5Overhead overhead_{[](const FileContext& context) { return std::make_unique<Hdf5File>(context); }};
};

}  // namespace

std::unique_ptr<Backend> make_hdf5(const BackendOptions& options);
std::unique_ptr<Backend> make_hdf5(const BackendOptions& /*options*/) {
    return std::make_unique<Hdf5Backend>();
}

}  // namespace wa
