#include "run/failure.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/statvfs.h>
#include <unistd.h>

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
    // In a call that does not end (a collective whose other ranks are gone), the flag is never seen.
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
    // With --keep the lock file stays beside the files: they are of a run that failed, and in nobody's way.
    // Without the lock, files of the plan are another run's.
    if (setup.lock.held() && !setup.options.keep && !setup.options.verify_only) {
        remove_files_of_plan(setup.plan, setup.options.dir);
        // Others may still make files.
        setup.lock.leave(setup.plan, setup.options.dir);
    }
    // A launcher forwards what ranks print; it must have done so before it is told to end them.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::_Exit(1);
}

std::string where(const Setup& setup, std::optional<std::size_t> dump) {
    if (!dump) return "before the first dump";
    const Family& family = setup.family(*dump);
    return fmt::format("{} {}, dump {}", word_of(family.role), family.number, setup.plan.dumps[*dump].index);
}

/// Libraries on top of the system's calls lose the reason of a failed write; a full file system can still be
/// seen.
std::string full_disk(const Setup& setup, const CallFailed& error) {
    constexpr std::uint64_t little = std::uint64_t{1} << 20;
    const std::string no_space = std::strerror(ENOSPC);
    struct statvfs status {};
    if (std::string_view(error.what()).find(no_space) != std::string_view::npos) return "";
    if (!setup.performs || ::statvfs(setup.options.dir.c_str(), &status) != 0) return "";
    // File systems without sizes of their own report none.
    if (status.f_blocks == 0 || status.f_bavail * status.f_frsize >= little) return "";
    return ": " + no_space;
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
    // A signal comes to all, often because another rank has failed: one line is enough, and that is not the
    // cause.
    if (dynamic_cast<const Interrupted*>(&error) != nullptr && setup.process != 0) abort_all(setup);
    const FailureLine failure{rank, error.operation, error.what() + full_disk(setup, error), dump};
    fmt::print(stderr, "workalike-engine: rank {}: {}: {} failed: {}\n", rank, where(setup, dump),
               failure.operation, failure.reason);
    std::fflush(stderr);
    if (collector != nullptr && setup.process == 0) {
        // Dumps that have ended elsewhere are still under way to this process.
        try {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            collector->poll();
        } catch (const std::exception&) {
        }
    }
    // Process 0 completes the record and ends all; if it does not listen (it waits for this one), this one
    // does.
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
