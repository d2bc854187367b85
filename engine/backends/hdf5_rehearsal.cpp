#include "backends/hdf5_rehearsal.hpp"

#include <algorithm>

#include "backends/hdf5_file.hpp"
#include "expand/split.hpp"
#include "io/mpi.hpp"
#include "io/mpiio_tally.hpp"
#include "io/posix.hpp"
#include "sharing/names.hpp"

namespace wa {
namespace {

std::int64_t bytes_written() {
    return mpiio_tally().by_direction[static_cast<std::size_t>(Direction::write)].bytes;
}

std::int64_t sum(std::int64_t own, MPI_Comm comm) {
    std::int64_t all = 0;
    mpi::check(MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, comm), "MPI_Allreduce");
    return all;
}

std::int64_t divided_up(std::int64_t value, std::int64_t by) {
    return (value + by - 1) / by;
}

/// The elements of a dataset in the rehearsal, and its chunk (0: contiguous).
struct Size {
    std::int64_t elements = 0;
    std::int64_t chunk = 0;
};

class Rehearsal {
  public:
    Rehearsal(const FileContext& context, const DumpStructures& sequence)
        : context_(context), sequence_(sequence) {
        context_.path = context.path.substr(0, context.path.rfind('/') + 1) +
                        calibration_name(*context.plan, *context.family, context.slot.file);
        context_.creates = context_.writes = true;
        context_.exclusive = false;
    }

    std::vector<std::int64_t> run() {
        std::vector<std::int64_t> costs;
        const bool held = context_.family->lifetime == Lifetime::appended;
        std::unique_ptr<Hdf5File> file;
        for (std::size_t i = 0; i < sequence_.size(); ++i) {
            const std::int64_t before = bytes_written();
            std::int64_t moved = 0;
            prepare(i);
            for (std::int64_t open = file ? 0 : 1; open < sequence_[i][3]; ++open) Hdf5File(context_).close();
            if (!file) file = std::make_unique<Hdf5File>(context_);
            moved = write(*file, i);
            if (!held || i + 1 == sequence_.size()) {
                file->close();
                file.reset();
            }
            costs.push_back(sum(bytes_written() - before - moved, context_.comm));
        }
        if (mpi::rank(context_.comm) == 0) posix::remove(context_.path);
        return costs;
    }

  private:
    /// Changes the context to the i-th dump of the sequence.
    void prepare(std::size_t i) {
        const auto& [datasets, element, chunks, opens, flushes] = sequence_[i];
        content_ = *context_.content;
        content_.fit =
            Fit{0, datasets, element, context_.content->fit->collective, context_.content->fit->operations};
        content_.flushes = flushes;
        dump_ = *context_.dump;
        dump_.index = static_cast<std::int64_t>(i);
        use_.first = i == 0;
        use_.last = i + 1 == sequence_.size();
    }

    [[nodiscard]] Size size_of(std::size_t i) const {
        const std::int64_t operations =
            fit_share(*content_.fit, 0, content_.fit->element, 0, context_.place).operations;
        const std::int64_t enough = std::max<std::int64_t>(1, operations);
        if (!context_.family->hdf5.chunked) return {enough, 0};
        // The chunk is the same for all dumps, because an extended dataset keeps its chunk.
        std::int64_t most = 1;
        for (const DumpStructure& structure : sequence_) most = std::max(most, structure[2]);
        const std::int64_t chunk = divided_up(enough, most);
        return {chunk * sequence_[i][2], chunk};
    }

    std::int64_t write(Hdf5File& file, std::size_t i) {
        FileContext context = context_;
        context.content = &content_;
        context.dump = &dump_;
        context.use = &use_;
        const Fit& fit = *content_.fit;
        const Size size = size_of(i);
        const std::int64_t bytes = size.elements * fit.element * fit.datasets;
        file.set_fit_chunk(size.chunk);
        file.begin_dump(context);
        std::int64_t moved = 0;
        Section section;
        section.kind = Section::Kind::fit;
        for (std::int64_t d = 0; d < fit.datasets; ++d) {
            const FitShare share = fit_share_of_file(fit, bytes, fit.element, d, context.place);
            section.dataset = d;
            section.bytes = share.units * fit.element;
            file.begin_section(section);
            FitOperations operations(fit, share, fit.element, section.base, true);
            for (Operation operation; operations.next(operation);) {
                const std::int64_t done = file.transfer(operation);
                moved += operation.joins ? 0 : done;
            }
            file.end_section();
            section.base += section.bytes;
        }
        for (std::int64_t f = 0; f < content_.flushes; ++f) file.flush();
        file.end_dump();
        return moved;
    }

    FileContext context_;
    const DumpStructures& sequence_;
    Content content_;
    Dump dump_;
    FileUse use_;
};

}  // namespace

DumpStructures structures_of_file(const FileContext& context, std::size_t most) {
    DumpStructures out;
    const Hdf5Settings& settings = context.family->hdf5;
    const bool grows = settings.chunked && context.family->lifetime == Lifetime::appended;
    const auto calls = [&context](std::int64_t total) { return share_of(total, context.layout->size(), 0); };
    std::int64_t elements = 0;  // elements of a dataset when it is extended
    std::int64_t chunks = 0;
    for (std::size_t d = context.position; d < context.plan->dumps.size() && out.size() < most; ++d) {
        const Dump& dump = context.plan->dumps[d];
        const Content& content = context.plan->contents[dump.content];
        if (dump.family != context.dump->family || dump.file != context.dump->file || !content.fit) continue;
        const Fit& fit = *content.fit;
        std::int64_t added = 0;
        if (settings.chunked) {
            const std::int64_t chunk = std::max<std::int64_t>(1, settings.chunk_bytes / fit.element);
            elements =
                (grows ? elements : 0) + fit_bytes_of_file(fit, context.place) / fit.datasets / fit.element;
            const std::int64_t needed = std::max<std::int64_t>(1, divided_up(elements, chunk));
            added = grows ? needed - chunks : needed;
            chunks = needed;
        }
        out.push_back({fit.datasets, fit.element, added, calls(content.opens),
                       calls(content.flushes) + calls(content.fsyncs)});
        if (context.use->first && context.use->last) break;
    }
    return out;
}

std::vector<std::int64_t> rehearse(const FileContext& context, const DumpStructures& sequence) {
    return Rehearsal(context, sequence).run();
}

}  // namespace wa
