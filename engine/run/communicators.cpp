#include "run/communicators.hpp"

#include <algorithm>
#include <tuple>

#include "io/mpi.hpp"

namespace wa {

bool Communicators::Key::operator<(const Key& other) const {
    const auto less = [](const RankSpan& x, const RankSpan& y) {
        return std::tie(x.first, x.last, x.step) < std::tie(y.first, y.last, y.step);
    };
    if (std::tie(files, shift) != std::tie(other.files, other.shift)) {
        return std::tie(files, shift) < std::tie(other.files, other.shift);
    }
    return std::lexicographical_compare(ranks.begin(), ranks.end(), other.ranks.begin(), other.ranks.end(),
                                        less);
}

void Communicators::start() {
    mpi::check(MPI_Comm_dup(MPI_COMM_WORLD, &everyone_), "MPI_Comm_dup");
}

Communicators::~Communicators() {
    if (everyone_ != MPI_COMM_NULL) MPI_Comm_free(&everyone_);
    for (auto& [key, comm] : made_) {
        if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    }
}

MPI_Comm Communicators::make(const Layout& layout, std::int64_t files, std::int64_t shift) {
    const auto [found, fresh] = made_.try_emplace(Key{layout.members().spans(), files, shift}, MPI_COMM_NULL);
    if (!fresh) return found->second;
    const int rank = mpi::rank(MPI_COMM_WORLD);
    const auto member = layout.members().index_of(rank);
    int color = MPI_UNDEFINED;
    if (member) {
        const std::int64_t slot = layout.slot_of_member(layout.acting_member(*member, shift)).file;
        color = files == 1 ? 0 : static_cast<int>(slot);
    }
    mpi::check(MPI_Comm_split(MPI_COMM_WORLD, color, rank, &found->second), "MPI_Comm_split");
    return found->second;
}

void Communicators::add(const Family& family, const Layout& layout) {
    FamilyCommunicators comms;
    const SharingMode mode = family.sharing.mode;
    if (mode == SharingMode::root) {
        comms = {MPI_COMM_SELF, MPI_COMM_SELF, MPI_COMM_SELF};
    } else {
        comms.members = make(layout, 1, 0);
        comms.file = comms.shifted = comms.members;
        if (mode == SharingMode::per_rank) comms.file = comms.shifted = MPI_COMM_SELF;
        if (mode == SharingMode::groups) {
            comms.file = make(layout, family.sharing.files, 0);
            comms.shifted = family.shift > 0 ? make(layout, family.sharing.files, family.shift) : comms.file;
        }
    }
    families_[family.id] = comms;
}

MPI_Comm Communicators::file(const Family& family, bool shifted) const {
    const FamilyCommunicators& comms = families_.at(family.id);
    return shifted ? comms.shifted : comms.file;
}

MPI_Comm Communicators::members(const Family& family) const {
    return families_.at(family.id).members;
}

}  // namespace wa
