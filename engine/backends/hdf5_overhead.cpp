#include "backends/hdf5_overhead.hpp"

#include <algorithm>

#include "backends/hdf5_rehearsal.hpp"
#include "backends/mesh_rehearsal.hpp"
#include "expand/arrays.hpp"
#include "io/mpi.hpp"

namespace wa {
namespace {

/// The largest number of dumps of a file, and of different files of a family, that are rehearsed.
constexpr std::size_t rehearsed_dumps = 1024;
constexpr std::size_t rehearsed_files = 64;
constexpr std::size_t last_dumps = 5;

/// Later dumps are expected to cost what the last ones did. The median leaves out a dump in which the library
/// extended an index.
std::int64_t usual(std::vector<std::int64_t> costs) {
    const auto middle = costs.begin() + static_cast<std::ptrdiff_t>(costs.size() / 2);
    std::nth_element(costs.begin(), middle, costs.end());
    return *middle;
}

std::size_t family_of(const FileContext& context) {
    return context.plan->dumps[context.position].family;
}

/// The dumps of the file; different families have different keys.
DumpStructures key_of(const FileContext& context) {
    DumpStructures key = context.content->mesh ? mesh_structures_of_file(context, rehearsed_dumps)
                                               : structures_of_file(context, rehearsed_dumps);
    key.insert(key.begin(), {static_cast<std::int64_t>(family_of(context)), 0, 0, 0, 0});
    return key;
}

}  // namespace

Hdf5Overhead::~Hdf5Overhead() {
    for (auto& [family, account] : accounts_) {
        if (account.pending) (void)MPI_Wait(&account.request, MPI_STATUS_IGNORE);
    }
}

void Hdf5Overhead::calibrate(const FileContext& context) {
    // Loads may come first in a file; the sequence starts with the first dump that writes.
    if (context.use->written_before) return;
    const DumpStructures key = key_of(context);
    if (costs_.contains(key)) return;
    const auto same_family = [&key](const auto& item) { return item.first.front() == key.front(); };
    if (static_cast<std::size_t>(std::count_if(costs_.begin(), costs_.end(), same_family)) >= rehearsed_files)
        return;
    costs_[key] = context.content->mesh ? rehearse_meshes(context, key.size() - 1, open_)
                                        : rehearse(context, DumpStructures(key.begin() + 1, key.end()));
}

const std::vector<std::int64_t>* Hdf5Overhead::costs_of(const DumpStructures& key) const {
    const auto found = costs_.lower_bound(key);
    if (found != costs_.end() && found->first.front() == key.front()) return &found->second;
    return &std::prev(found)->second;
}

void Hdf5Overhead::settle(Account& account) {
    if (!account.pending) return;
    mpi::check(MPI_Wait(&account.request, MPI_STATUS_IGNORE), "MPI_Wait");
    account.pending = false;
    account.written += account.sums[0];
    account.last.push_back(account.sums[0] - account.sums[1]);
    if (account.last.size() > last_dumps) account.last.erase(account.last.begin());
}

std::int64_t Hdf5Overhead::payload(const FileContext& context) {
    Account& account = accounts_[family_of(context)];
    settle(account);
    if (!context.use->written_before) {
        account = Account{};
        account.costs = costs_of(key_of(context));
    }
    const auto index = static_cast<std::size_t>(account.index++);
    const bool rehearsed = index < account.costs->size();
    const std::int64_t expected = rehearsed              ? (*account.costs)[index]
                                  : account.last.empty() ? account.costs->back()
                                                         : usual(account.last);
    const Content& content = *context.content;
    account.target += content.fit ? fit_bytes_of_file(*content.fit, context.place)
                                  : mesh_bytes_of_file(*content.mesh, context.place);
    // This dump compensates the bytes by which the file so far is too large or too small. A dataset without
    // elements has no space in the file and cannot be written. If the metadata alone exceeds the target, each
    // dataset still gets one element.
    const std::int64_t least = content.fit ? content.fit->datasets * content.fit->element : 0;
    return std::max(least, account.target - account.written - expected);
}

void Hdf5Overhead::done(const FileContext& context, std::int64_t payload, std::int64_t written) {
    Account& account = accounts_[family_of(context)];
    account.own = {written, payload};
    mpi::check(MPI_Iallreduce(account.own.data(), account.sums.data(), 2, MPI_INT64_T, MPI_SUM, context.comm,
                              &account.request),
               "MPI_Iallreduce");
    account.pending = true;
}

}  // namespace wa
