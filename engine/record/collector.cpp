#include "record/collector.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "io/mpi.hpp"

namespace wa {
namespace {

constexpr int tag_summary = 1;
constexpr int tag_failure = 2;

/// A failure in the form in which it is sent.
struct FailureMessage {
    std::int64_t rank = 0;
    std::int64_t dump = -1;
    std::array<char, 48> operation{};
    std::array<char, 464> reason{};
};

template <std::size_t N>
void put(std::array<char, N>& to, const std::string& from) {
    std::memcpy(to.data(), from.data(), std::min(from.size(), N - 1));
}

}  // namespace

Collector::Collector(Sinks sinks) : sinks_(std::move(sinks)) {
    mpi::check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
    root_ = mpi::rank(comm_) == 0;
}

Collector::~Collector() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void Collector::submit(const Summary& summary) {
    if (root_) {
        absorb(summary);
        return;
    }
    release_sent();
    auto message = std::make_unique<Pending>();
    message->summary = summary;
    mpi::check(
        MPI_Isend(&message->summary, sizeof(Summary), MPI_BYTE, 0, tag_summary, comm_, &message->request),
        "MPI_Isend");
    pending_.push_back(std::move(message));
}

void Collector::release_sent() {
    while (!pending_.empty()) {
        int done = 0;
        mpi::check(MPI_Test(&pending_.front()->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done == 0) return;
        pending_.pop_front();
    }
}

void Collector::receive(const MPI_Status& status) {
    if (status.MPI_TAG == tag_failure) {
        FailureMessage message;
        mpi::check(MPI_Recv(&message, sizeof message, MPI_BYTE, status.MPI_SOURCE, tag_failure, comm_,
                            MPI_STATUS_IGNORE),
                   "MPI_Recv");
        FailureLine line{message.rank, message.operation.data(), message.reason.data(), std::nullopt};
        if (message.dump >= 0) line.dump = static_cast<std::size_t>(message.dump);
        sinks_.failed(line);
        return;
    }
    Summary summary;
    mpi::check(MPI_Recv(&summary, sizeof summary, MPI_BYTE, status.MPI_SOURCE, tag_summary, comm_,
                        MPI_STATUS_IGNORE),
               "MPI_Recv");
    absorb(summary);
}

void Collector::absorb(const Summary& summary) {
    if (sinks_.arrived) sinks_.arrived(summary);
    Partial& partial = partial_[summary.dump];
    if (partial.count == 0) {
        partial.summary = Summary{};
        partial.summary.dump = summary.dump;
    }
    partial.summary.merge(summary);
    ++partial.count;
    if (partial.count < sinks_.expected(summary.dump)) return;
    sinks_.dump_done(partial.summary);
    partial_.erase(summary.dump);
    ++complete_;
}

void Collector::poll() {
    if (!root_) {
        release_sent();
        return;
    }
    while (true) {
        int arrived = 0;
        MPI_Status status;
        mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &arrived, &status), "MPI_Iprobe");
        if (arrived == 0) return;
        receive(status);
    }
}

void Collector::finish(std::int64_t dumps) {
    if (!root_) {
        for (const auto& message : pending_) {
            mpi::check(MPI_Wait(&message->request, MPI_STATUS_IGNORE), "MPI_Wait");
        }
        pending_.clear();
        return;
    }
    while (complete_ < dumps) {
        MPI_Status status;
        mpi::check(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &status), "MPI_Probe");
        receive(status);
    }
}

bool Collector::report_failure(const FailureLine& failure, double seconds) {
    if (root_) return false;
    FailureMessage message;
    message.rank = failure.rank;
    message.dump = failure.dump ? static_cast<std::int64_t>(*failure.dump) : -1;
    put(message.operation, failure.operation);
    put(message.reason, failure.reason);
    MPI_Request request = MPI_REQUEST_NULL;
    // MPI_Issend is synchronous: it completes only when process 0 has begun to receive.
    if (MPI_Issend(&message, sizeof message, MPI_BYTE, 0, tag_failure, comm_, &request) != MPI_SUCCESS)
        return false;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
        int done = 0;
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
        if (done != 0) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
}

}  // namespace wa
