#include "backends/mesh_rehearsal.hpp"

#include "expand/dump.hpp"
#include "expand/split.hpp"
#include "io/mpi.hpp"
#include "io/mpiio_tally.hpp"
#include "io/posix.hpp"
#include "plan/limits.hpp"
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

/// The positions of the dumps that write meshes into the file of the context, from the context's dump on.
std::vector<std::size_t> dumps_of_file(const FileContext& context, std::size_t most) {
    std::vector<std::size_t> out;
    for (std::size_t d = context.position; d < context.plan->dumps.size() && out.size() < most; ++d) {
        const Dump& dump = context.plan->dumps[d];
        const Content& content = context.plan->contents[dump.content];
        if (dump.family != context.dump->family || dump.file != context.dump->file) continue;
        if (!content.mesh || !moves(content, Direction::write)) continue;
        out.push_back(d);
        if (context.use->first && context.use->last) break;
    }
    return out;
}

/// A plan with only the dumps of one file, whose meshes are as small as possible.
Plan small_plan(const FileContext& context, const std::vector<std::size_t>& dumps) {
    Plan out;
    out.ranks = context.plan->ranks;
    out.seed = context.plan->seed;
    out.families = {*context.family};
    for (std::size_t i = 0; i < dumps.size(); ++i) {
        Dump dump = context.plan->dumps[dumps[i]];
        Content content = context.plan->contents[dump.content];
        dump.family = 0;
        dump.content = i;
        Mesh& mesh = content.mesh.value();
        mesh.bytes = 0;  // still a stated size, so that the library is used in the same way
        out.contents.push_back(std::move(content));
        out.dumps.push_back(dump);
    }
    return out;
}

/// Writes one dump through the library and returns the bytes of its tables.
std::int64_t write(OpenFile& file, FileContext& context, DumpOperations& operations) {
    context.mesh = operations.mesh();
    file.begin_dump(context);
    std::int64_t moved = 0;
    Section section;
    while (operations.next_section(section)) {
        file.begin_section(section);
        for (Operation operation; operations.next(operation);) {
            const std::int64_t done = file.transfer(operation);
            moved += operation.joins ? 0 : done;
        }
        file.end_section();
    }
    const CallCounts& calls = operations.calls();
    for (std::int64_t f = 0; f < calls.flushes + calls.fsyncs; ++f) file.flush();
    file.end_dump();
    return moved;
}

}  // namespace

DumpStructures mesh_structures_of_file(const FileContext& context, std::size_t most) {
    DumpStructures out;
    const auto calls = [&context](std::int64_t total) { return share_of(total, context.layout->size(), 0); };
    for (const std::size_t d : dumps_of_file(context, most)) {
        const Content& content = context.plan->contents[context.plan->dumps[d].content];
        const Mesh& mesh = *content.mesh;
        constexpr std::int64_t types = 8;
        const PartRange parts = parts_of(mesh, context.place.all, context.place.first, context.place.here);
        out.push_back({tables_of(mesh) * types + static_cast<std::int64_t>(mesh.type), parts.count,
                       mesh.globals * (limits::materials + 1) + mesh.materials, calls(content.opens),
                       calls(content.flushes) + calls(content.fsyncs)});
    }
    return out;
}

std::vector<std::int64_t> rehearse_meshes(const FileContext& original, std::size_t dumps,
                                          const FileOpener& open) {
    const Plan plan = small_plan(original, dumps_of_file(original, dumps));
    FileContext context = original;
    context.plan = &plan;
    context.family = plan.families.data();
    context.path = original.path.substr(0, original.path.rfind('/') + 1) +
                   calibration_name(*original.plan, *original.family, original.slot.file);
    context.creates = context.writes = true;
    context.exclusive = false;
    const bool held = context.family->lifetime == Lifetime::appended;
    std::vector<std::int64_t> costs;
    std::unique_ptr<OpenFile> file;
    for (std::size_t i = 0; i < plan.dumps.size(); ++i) {
        FileUse use;
        use.first = i == 0;
        use.last = i + 1 == plan.dumps.size();
        context.use = &use;
        context.position = i;
        context.dump = &plan.dumps[i];
        context.content = &plan.contents[i];
        DumpOperations::Options options;
        options.collective_files = context.family->backend->collective_files;
        options.file_is_open = file != nullptr;
        options.whole_elements = true;
        DumpOperations operations(plan, i, *context.layout, context.place.index, options);
        const std::int64_t before = bytes_written();
        for (std::int64_t n = 1; n < operations.calls().opens; ++n) open(context)->close();
        if (!file) file = open(context);
        const std::int64_t moved = write(*file, context, operations);
        if (!held || use.last) {
            file->close();
            file.reset();
        }
        costs.push_back(sum(bytes_written() - before - moved, context.comm));
    }
    if (mpi::rank(context.comm) == 0) posix::remove(context.path);
    return costs;
}

}  // namespace wa
