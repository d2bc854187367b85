// The command line. Everything else is in run/.
#include <fmt/format.h>
#include <malloc.h>
#include <mpi.h>
#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.hpp"
#include "errors.hpp"
#include "plan/enum_words.hpp"
#include "record/environment.hpp"
#include "run/calibrate_compute.hpp"
#include "run/failure.hpp"
#include "run/options.hpp"
#include "run/refuse.hpp"
#include "run/run.hpp"

namespace {

/// Answers questions that need no MPI, so that they also work where no job may start.
bool answered(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view word(argv[i]);
        if (word == "--version") {
            fmt::print("workalike-engine {}\n", WORKALIKE_VERSION);
            return true;
        }
        if (word == "--list-backends") {
            for (const wa::Traits* traits : wa::all_backends()) {
                if (wa::maker_of(*traits) != nullptr) fmt::print("{:<8} {}\n", traits->name, traits->help);
            }
            return true;
        }
        if (word == "--features") {
            for (const std::string& line : wa::library_features()) fmt::print("{}\n", line);
            return true;
        }
    }
    return false;
}

/// Fills the options. If it returns a code, the program must exit with it.
std::optional<int> parse(int argc, char** argv, bool speaks, wa::Options& options) {
    CLI::App app("Performs the I/O of a workalike plan.", "workalike-engine");
    std::string backend;
    CLI::Option* plan = app.add_option("--plan", options.plan, "the plan (JSON)");
    std::vector<std::string> directories;
    app.add_option("--dir", directories, "directory for the data; NAME=DIR for families with that directory")
        ->allow_extra_args(false);
    app.add_option("--record", options.record, "record to append to (JSON lines)");
    app.add_option("--backend", backend, "backend that performs every family; see --list-backends");
    CLI::Option* calibrate =
        app.add_flag("--calibrate-compute", options.calibrate_compute,
                     "print the seconds per unit of computing for each level; perform no plan");
    calibrate->excludes(plan);
    app.add_flag("--check", options.check, "check the plan and what the libraries can do, without MPI");
    app.add_flag("--verify", options.verify, "read everything back and compare");
    app.add_flag("--verify-only", options.verify_only,
                 "compare files left by --keep with the plan; perform nothing");
    app.add_flag("--keep", options.keep, "keep the data files");
    app.add_flag("--quiet", options.quiet, "no progress line");
    app.add_flag("--progress", options.progress, "print progress lines as on a terminal, not every 10 s");
    app.add_flag("--terminal", options.terminal,
                 "stderr of the launcher is a terminal: update progress in place");
    app.add_flag("--end-with-parent", options.end_with_parent,
                 "end when the process that started this one has ended");
    app.add_option("--per-rank", options.per_rank, "table with one row per rank and dump (CSV)");
    app.add_option("--operations", options.operations, "file for the operations as text (backend record)");
    app.add_flag_callback(
        "--version", [] {}, "print the version");
    app.add_flag_callback(
        "--list-backends", [] {}, "print the backends of this engine");
    app.add_flag_callback(
        "--features", [] {}, "print what the libraries of this engine can do");
    try {
        app.parse(argc, argv);
        if (options.plan.empty() && !options.calibrate_compute) throw CLI::RequiredError("--plan");
    } catch (const CLI::CallForHelp&) {
        if (speaks) fmt::print("{}", app.help());
        return 0;
    } catch (const CLI::ParseError& error) {
        if (speaks) fmt::print(stderr, "workalike-engine: {}; see --help\n", error.what());
        return 2;
    }
    try {
        for (const std::string& text : directories) options.directories.add(text);
    } catch (const wa::UsageError& error) {
        if (speaks) fmt::print(stderr, "workalike-engine: {}\n", error.what());
        return 2;
    }
    if (!backend.empty()) {
        options.backend = wa::find_traits(backend);
        if (options.backend == nullptr) {
            if (speaks) fmt::print(stderr, "workalike-engine: unknown backend; see --list-backends\n");
            return 2;
        }
    }
    return std::nullopt;
}

/// The state that glibc's malloc reaches by itself in a process that has freed a large block: what MPI frees
/// in a call stays in the heap for the next. Otherwise the heap shrinks and grows in each collective write,
/// and the kernel clears its pages each time, which took as long as the write.
void keep_freed_memory() {
#ifdef __GLIBC__
    constexpr int largest_of_heap = 32 << 20;  // the largest threshold that malloc chooses
    mallopt(M_MMAP_THRESHOLD, largest_of_heap);
    mallopt(M_TRIM_THRESHOLD, 2 * largest_of_heap);
#endif
}

}  // namespace

int main(int argc, char** argv) {
    keep_freed_memory();
    try {
        if (answered(argc, argv)) return 0;
        if (std::any_of(argv, argv + argc, [](std::string_view word) { return word == "--check"; })) {
            wa::Options options;
            const std::optional<int> done = parse(argc, argv, true, options);
            return done ? *done : wa::check_only(options);
        }
    } catch (const std::exception& error) {  // standard output cannot be written
        std::fprintf(stderr, "workalike-engine: %s\n", error.what());
        return 1;
    }
    wa::Options before;
    const bool parsed = !parse(argc, argv, false, before);
    if (parsed && before.end_with_parent) {
        // Signals are caught before MPI_Init, so that a process does not end in the middle of it. The process
        // that waits for this one sees the shared memory that it leaves, and removes it.
        wa::catch_signals();
        // A killed launcher cannot end its processes, so they watch for its end.
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    }
    const bool threads = parsed && wa::needs_threads(before);
    int level = MPI_THREAD_SINGLE;  // the level in effect; HDF5's wrapper asks again
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int code = 1;
    try {
        wa::Options options;
        const std::optional<int> done = parse(argc, argv, rank == 0, options);
        code = done ? *done : options.calibrate_compute ? wa::calibrate_compute() : wa::run(options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "workalike-engine: rank %d: %s\n", rank, error.what());
        std::fflush(stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return code;
}
