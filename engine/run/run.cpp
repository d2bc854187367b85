#include "run/run.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <optional>
#include <set>

#include "errors.hpp"
#include "expand/split.hpp"
#include "io/capture_pause.hpp"
#include "io/mpi.hpp"
#include "plan/check.hpp"
#include "plan/enum_words.hpp"
#include "plan/operation_table.hpp"
#include "plan/read.hpp"
#include "plan/unwritten.hpp"
#include "record/environment.hpp"
#include "run/descriptors.hpp"
#include "run/failure.hpp"
#include "run/made_files.hpp"
#include "run/perform.hpp"
#include "run/prepare.hpp"
#include "run/refuse.hpp"
#include "run/setup.hpp"
#include "run/verify_only.hpp"

namespace wa {
namespace {

/// An error of the plan, the command line or the directory: one line, exit code 2.
class Refused : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Runs a part of the setup on each process. If any process refuses, all stop with the line of the lowest
/// one.
void together(const Setup& setup, const std::function<void()>& part) {
    std::optional<std::string> refusal;
    try {
        part();
    } catch (const PlanError& error) {
        refusal = setup.options.plan + ": " + error.what();
    } catch (const std::exception& error) {
        refusal = error.what();
    }
    if (const auto message = mpi::first_message(refusal, MPI_COMM_WORLD)) throw Refused(*message);
}

void read_plan(Setup& setup) {
    std::string text;
    together(setup, [&] {
        if (setup.process == 0) text = read_plan_text(setup.options.plan);
    });
    mpi::broadcast(text, MPI_COMM_WORLD);
    together(setup, [&] {
        setup.plan = parse_plan(text);
        load_tables(setup.plan, setup.options.plan);
        check_plan(setup.plan);
        setup.uses = file_uses(setup.plan);
        setup.reads_others = dumps_that_read_others(setup.plan);
        setup.times = dump_times(setup.plan);
        for (const Family& family : setup.plan.families) setup.layouts.emplace_back(family, setup.plan.ranks);
    });
}

void choose_backends(Setup& setup) {
    const BackendOptions options{setup.options.operations};
    for (std::size_t i = 0; i < setup.plan.families.size(); ++i) {
        Family& family = setup.plan.families[i];
        const Traits& traits = setup.options.backend != nullptr ? *setup.options.backend : *family.backend;
        auto& backend = setup.backends[&traits];
        if (!backend) backend = make_backend(traits, options);
        setup.performers.push_back({&traits, backend.get(), &counted_as(family, traits)});
        if (!traits.performs) continue;
        setup.performs = true;
        refuse_impossible(setup.plan, i, setup.layouts[i], traits, *backend);
        // File names depend on the backend that makes the file.
        family.backend = &traits;
    }
}

void check_processes_and_folder(const Setup& setup) {
    if (!setup.performs) return;
    if (setup.processes != setup.plan.ranks && !setup.options.verify_only) {
        throw UsageError(fmt::format("the plan has {} ranks and {} processes were started", setup.plan.ranks,
                                     setup.processes),
                         fmt::format("use mpiexec -n {}, or --backend null", setup.plan.ranks));
    }
    setup.options.directories.require_for(setup.plan);
}

/// Process 0 takes the directories, then all processes hold them.
void take_folders(Setup& setup) {
    if (!setup.performs || setup.options.verify_only) return;
    const auto or_end = [&](const std::function<void()>& part) {
        try {
            part();
        } catch (const CallFailed& error) {
            end_all(setup, nullptr, error, setup.process, std::nullopt);
        }
    };
    together(setup, [&] {
        if (setup.process == 0) or_end([&] { setup.locks.take(setup.plan, setup.folders()); });
    });
    together(setup, [&] {
        if (setup.process != 0) or_end([&] { setup.locks.join(setup.plan, setup.folders()); });
    });
}

/// Visits each table of a mesh with the most bytes of a part in it.
template <typename Visit>
void visit_longest_parts(const Mesh& mesh, const Visit& visit) {
    const MeshLayout layout(mesh, planned_parts(mesh, {0, mesh.parts}));
    // A part may be larger if files get other shares, but at most by a row.
    const std::int64_t row = layout.shape(0).row() * corners(mesh) * 8;
    for (const MeshTable& table : layout.tables())
        visit(table, layout.elements(table, 0) * bytes_of(table.type) + row);
}

/// The largest operation of the plan.
std::int64_t longest_operation(const Plan& plan) {
    std::int64_t longest = 0;
    for (const Content& content : plan.contents) {
        for (const Stream& stream : content.streams) {
            if (stream.rows) longest = std::max(longest, stream.rows->largest());
            for (const Entry& entry : stream.entries) {
                if (entry.operations > 0 && !stream.rows) longest = std::max(longest, entry.size);
            }
        }
        for (const Array& array : content.arrays) {
            for (const Access& access : array.access) {
                for (const Slab& slab : access.slabs)
                    longest = std::max(longest, slab.elements() * array.element);
            }
        }
        if (content.fit) {
            const Fit& fit = *content.fit;
            const std::int64_t operations = fit.operations ? *fit.operations / fit.datasets : 1;
            longest = std::max(
                longest, fit.bytes / fit.datasets / std::max<std::int64_t>(operations, 1) + 2 * fit.element);
        }
        if (content.dataset) {
            const Dataset& set = *content.dataset;
            const std::int64_t mean = set.bytes / (set.files * set.samples) + 1;
            const std::int64_t most = set.deviation > 0 ? 2 * mean : mean;  // a deviation leaves a byte
            longest = std::max(longest, set.transfer > 0 ? std::min(most, set.transfer) : most);
        }
        if (content.mesh) {
            visit_longest_parts(*content.mesh, [&](const MeshTable& /*table*/, std::int64_t bytes) {
                longest = std::max(longest, bytes);
            });
        }
    }
    return longest;
}

void make_buffers(Setup& setup) {
    if (!setup.performs) return;
    // Calls that accept pieces of memory need no more than 2 GiB.
    std::int64_t most = std::int64_t{2} << 30;
    const std::int64_t longest = longest_operation(setup.plan);
    for (const auto& [traits, backend] : setup.backends) {
        if (longest > traits->most_bytes) {
            throw PlanError("contents", fmt::format("the backend {} moves at most {} bytes in one operation",
                                                    traits->name, traits->most_bytes));
        }
        if (traits->whole_operations) most = std::max(most, longest);
    }
    // Operations share the memory: it is as large as the longest one. Calls of pieces need a reach beyond it.
    const std::int64_t reach = std::clamp(longest, std::int64_t{4} << 20, most);
    setup.buffers.arena = Arena(setup.plan.seed, setup.plan.compressibility, longest, reach);
    setup.buffers.landing = Landing(Arena::memory_for(longest), reach);
    for (const Content& content : setup.plan.contents) {
        if (!content.mesh) continue;
        visit_longest_parts(*content.mesh, [&](const MeshTable& table, std::int64_t bytes) {
            if (table.kind == TableKind::variable) setup.buffers.mesh->prepare(table, bytes);
        });
    }
}

std::string backend_list(const Setup& setup) {
    std::set<std::string> names;
    for (const Performer& performer : setup.performers) names.emplace(performer.traits->name);
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : ",") + name;
    return out.empty() ? "null" : out;
}

/// The directory whose file system the record states, and those that the plan names.
std::vector<NamedFolder> places_of(const Setup& setup) {
    if (!setup.performs) return {{"", ""}};
    const Directories& directories = setup.options.directories;
    std::vector<NamedFolder> out{{"", directories.first_of_plan(setup.plan)}};
    for (const std::string& name : Directories::names_of_plan(setup.plan))
        out.push_back({name, directories.named(name)});
    return out;
}

void write_head(const Setup& setup, LineFile& record) {
    const bool mpi_io = std::any_of(setup.performers.begin(), setup.performers.end(),
                                    [](const Performer& p) { return p.traits->over_mpiio; });
    const Environment environment = find_environment(places_of(setup), mpi_io);
    if (setup.process == 0)
        record.append(run_line(setup.plan, {setup.processes, backend_list(setup), environment}));
}

void report(const Setup& setup, const VerifyResult& own, LineFile& record, Verified& total) {
    const std::array<std::int64_t, 2> counts{own.bytes, own.errors};
    std::array<std::int64_t, 2> sums{};
    mpi::check(MPI_Allreduce(counts.data(), sums.data(), 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD),
               "MPI_Allreduce");
    total = {sums[0], sums[1]};
    std::optional<std::string> line;
    if (own.first) {
        const Mismatch& m = *own.first;
        const Family& family = setup.family(static_cast<std::size_t>(m.dump));
        const Dump& dump = setup.plan.dumps[static_cast<std::size_t>(m.dump)];
        const std::string found = m.found < 0 ? "missing" : fmt::format("{:#04x}", m.found);
        line = fmt::format("{} {}, dump {}, file {}: byte {} is {}, should be {:#04x}; {} wrong bytes",
                           word_of(family.role), family.number, dump.index, m.file, m.offset, found,
                           m.expected, total.errors);
    }
    const auto first = mpi::first_message(line, MPI_COMM_WORLD);
    if (!first || setup.process != 0) return;
    fmt::print(stderr, "workalike-engine: verification failed: {}\n", *first);
    if (record.open()) {
        record.append(error_line(
            setup.plan,
            {0, "verify", *first,
             own.first ? std::optional(static_cast<std::size_t>(own.first->dump)) : std::nullopt}));
    }
}

/// What was read back after a dump may have come from the page cache, and may have been damaged since: the
/// files that are still there are compared once more.
void verify_again(const Setup& setup, LineFile& record, Verified& total) {
    mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    const FilesVerified own = verify_files(setup, false);
    Verified again;
    report(setup, own.result, record, again);
    mpi::check(
        MPI_Allreduce(&own.storage_bytes, &total.storage_bytes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD),
        "MPI_Allreduce");
    total.end_bytes = again.bytes;
    total.errors = again.errors;
}

int verify_only(Setup& setup) {
    LineFile none;
    Verified total;
    try {
        report(setup, verify_files(setup, true).result, none, total);
    } catch (const CallFailed& error) {
        end_all(setup, nullptr, error, setup.process, std::nullopt);
    }
    if (setup.process == 0) fmt::print("verified {} bytes, {} errors\n", total.bytes, total.errors);
    return total.errors == 0 ? 0 : 1;
}

/// The same moment on all processes of a host. They share a monotonic clock, so that their times can be
/// compared.
Clock::Time latest_on_host() {
    MPI_Comm host = MPI_COMM_NULL;
    mpi::check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
               "MPI_Comm_split_type");
    std::int64_t ticks = std::chrono::steady_clock::now().time_since_epoch().count();
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, &ticks, 1, MPI_INT64_T, MPI_MAX, host), "MPI_Allreduce");
    mpi::check(MPI_Comm_free(&host), "MPI_Comm_free");
    return Clock::Time(Clock::Time::duration(ticks));
}

int run_checked(Setup& setup) {
    std::optional<CapturePause> uncounted(std::in_place);  // everything but the dumps themselves
    read_plan(setup);
    LineFile record;
    std::optional<PerRankTable> per_rank;
    together(setup, [&] {
        if (setup.process == 0 && !setup.options.operations.empty())
            const LineFile fresh(setup.options.operations, true);
        choose_backends(setup);
        check_processes_and_folder(setup);
        if (setup.process == 0 && !setup.options.record.empty())
            record = LineFile(setup.options.record, true);
        per_rank.emplace(setup.process == 0 && !setup.options.verify_only ? setup.options.per_rank : "");
        make_buffers(setup);
        allow_open_files(setup);
    });
    catch_signals();
    if (setup.options.verify_only) return verify_only(setup);
    take_folders(setup);
    Clock::Time zero;
    try {
        if (setup.performs) {
            setup.communicators.start();
            for (std::size_t i = 0; i < setup.plan.families.size(); ++i) {
                setup.communicators.add(setup.plan.families[i], setup.layouts[i]);
            }
            if (setup.plan.compute) setup.computing = std::make_unique<Computing>(*setup.plan.compute);
        }
        write_head(setup, record);
        make_folders(setup);
        mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
        prepare_files(setup);
        calibrate_libraries(setup);
        mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
        zero = latest_on_host();
    } catch (const CallFailed& error) {
        end_all(setup, nullptr, error, setup.process, std::nullopt);
    }
    setup.clock.start(zero);
    uncounted.reset();
    const VerifyResult result = perform_dumps(setup, record, *per_rank);
    uncounted.emplace();
    const double wall_s = setup.clock.now();
    try {
        for (const auto& [kind, backend] : setup.backends) backend->finish();
        Verified total;
        report(setup, result, record, total);
        if (setup.options.verify && setup.performs && total.errors == 0) verify_again(setup, record, total);
        write_end_line(setup, record, wall_s, setup.options.verify ? std::optional(total) : std::nullopt);
        if (!setup.options.keep) remove_own_files(setup);
        mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
        setup.locks.release();
        return total.errors == 0 ? 0 : 1;
    } catch (const CallFailed& error) {
        end_all(setup, nullptr, error, setup.process, std::nullopt);
    }
}

}  // namespace

int run(const Options& options) {
    Setup setup;
    setup.options = options;
    setup.process = mpi::rank(MPI_COMM_WORLD);
    setup.processes = mpi::size(MPI_COMM_WORLD);
    try {
        return run_checked(setup);
    } catch (const Refused& refusal) {
        setup.locks.release();
        if (setup.process == 0) fmt::print(stderr, "workalike-engine: {}\n", refusal.what());
        return 2;
    }
}

}  // namespace wa
