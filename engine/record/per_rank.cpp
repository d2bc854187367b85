#include "record/per_rank.hpp"

#include <fmt/format.h>

#include "plan/enum_words.hpp"

namespace wa {

PerRankTable::PerRankTable(const std::string& path) {
    if (path.empty()) return;
    file_ = LineFile(path, true);
    std::string head =
        "rank,family,role,number,index,file,start_s,end_s,io_s,transfer_s,bytes_written,bytes_read";
    for (std::size_t k = 0; k < kinds; ++k) {
        const std::string_view name = kind_name(static_cast<Kind>(k));
        head += fmt::format(",{0}_count,{0}_s", name);
    }
    file_.append(head);
}

void PerRankTable::add(const Plan& plan, const Summary& s) {
    if (!file_.open() || s.participants == 0) return;
    const Dump& dump = plan.dumps[static_cast<std::size_t>(s.dump)];
    const Family& family = plan.families[dump.family];
    std::string row =
        fmt::format("{},{},{},{},{},{},{:.7f},{:.7f},{:.7f},{:.7f},{},{}", s.rank, family.id,
                    word_of(family.role), family.number, dump.index, dump.file, s.active.first, s.active.last,
                    s.files.length(), s.transfer.length(), s.counters.transfers(Direction::write).bytes,
                    s.counters.transfers(Direction::read).bytes);
    for (const KindTimes& kind : s.times) row += fmt::format(",{},{:.7f}", kind.count, kind.total_s);
    file_.append(row);
}

}  // namespace wa
