#include "run/failure.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "folder/cleanup.hpp"
#include "plan/enum_words.hpp"

namespace wa {
namespace {

volatile std::sig_atomic_t caught = 0;

void on_signal(int signal) {
    caught = signal;
    // In a call that does not end, such as a collective whose other ranks are gone, the flag is never
    // checked.
    ::alarm(3);
}

void append_failure(const Setup& setup, const FailureLine& failure) {
    if (setup.options.record.empty()) return;
    try {
        LineFile(setup.options.record, false).append(error_line(setup.plan, failure));
    } catch (const std::exception&) {
        // The record cannot be written either; stderr has the line.
    }
}

[[noreturn]] void abort_all(Setup& setup) {
    // With --keep the lock file stays beside the files of the failed run and does not disturb later runs.
    // Without the lock, files of the plan belong to another run.
    if (setup.locks.held() && !setup.options.keep && !setup.options.verify_only) {
        for (const std::string& folder : setup.folders()) remove_files_of_plan(setup.plan, folder);
        // Other processes may still make files.
        setup.locks.leave(setup.plan);
    }
    // A launcher must forward the output of the ranks before it is asked to end them.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::_Exit(1);
}

std::string where(const Setup& setup, std::optional<std::size_t> dump) {
    if (!dump) return "before the first dump";
    const Family& family = setup.family(*dump);
    return fmt::format("{} {}, dump {}", word_of(family.role), family.number, setup.plan.dumps[*dump].index);
}

bool is_full(const std::string& folder) {
    constexpr std::uint64_t little = std::uint64_t{1} << 20;
    struct statvfs status {};
    // File systems without a size of their own report no blocks.
    return ::statvfs(folder.c_str(), &status) == 0 && status.f_blocks != 0 &&
           status.f_bavail * status.f_frsize < little;
}

/// Libraries lose the reason of a failed write, but a full file system can still be recognised.
std::string full_disk(const Setup& setup, const CallFailed& error, std::optional<std::size_t> dump) {
    const std::string no_space = std::strerror(ENOSPC);
    if (std::string_view(error.what()).find(no_space) != std::string_view::npos) return "";
    if (!setup.performs) return "";
    std::vector<std::string> folders = setup.folders();
    if (dump) folders = {setup.options.directories.of(setup.family(*dump))};
    return std::any_of(folders.begin(), folders.end(), is_full) ? ": " + no_space : "";
}

}  // namespace

void catch_signals() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

void check_signals() {
    if (caught != 0) throw Interrupted(caught);
}

void end_all(Setup& setup, Collector* collector, const CallFailed& error, std::int64_t rank,
             std::optional<std::size_t> dump) {
    // A signal reaches all processes, often because another rank has failed. One line is enough, and it is
    // not the cause.
    if (dynamic_cast<const Interrupted*>(&error) != nullptr && setup.process != 0) abort_all(setup);
    const FailureLine failure{rank, error.operation, error.what() + full_disk(setup, error, dump), dump};
    fmt::print(stderr, "workalike-engine: rank {}: {}: {} failed: {}\n", rank, where(setup, dump),
               failure.operation, failure.reason);
    std::fflush(stderr);
    if (collector != nullptr && setup.process == 0) {
        // Summaries of dumps that have ended on other processes may still be on their way.
        try {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            collector->poll();
        } catch (const std::exception&) {
        }
    }
    // Process 0 completes the record and ends all. If it does not receive the report because it waits for
    // this process, this process ends all.
    if (collector != nullptr && collector->report_failure(failure, 1.0)) {
        std::this_thread::sleep_for(std::chrono::seconds(3));
        abort_all(setup);
    }
    append_failure(setup, failure);
    abort_all(setup);
}

void end_all_for(Setup& setup, const FailureLine& failure) {
    append_failure(setup, failure);
    abort_all(setup);
}

}  // namespace wa
