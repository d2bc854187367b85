#include "run/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "plan/enum_words.hpp"

namespace wa {
namespace {

constexpr double every_s = 0.1;      // a terminal needs no more
constexpr double line_every_s = 10;  // and a file much less

std::string size_text(double bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && unit < 5) {
        bytes /= 1024;
        ++unit;
    }
    return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

}  // namespace

Progress::Progress(const Setup& setup)
    : setup_(setup),
      terminal_(setup.options.terminal || ::isatty(STDERR_FILENO) != 0),
      often_(terminal_ || setup.options.progress),
      shown_(setup.process == 0 && !setup.options.quiet) {}

Progress::~Progress() {
    if (shown_ && terminal_ && done_ > 0) std::fputc('\n', stderr);
}

void Progress::dump_done(const Summary& s) {
    if (!shown_) return;
    ++done_;
    const std::int64_t moved = s.payload[0] + s.payload[1];
    bytes_ += moved;
    const double now = setup_.clock.now();
    const auto total = static_cast<std::int64_t>(setup_.plan.dumps.size());
    if (now - last_ < (often_ ? every_s : line_every_s) && !(often_ && done_ == total)) return;
    last_ = now;
    const Dump& dump = setup_.plan.dumps[static_cast<std::size_t>(s.dump)];
    const Family& family = setup_.plan.families[dump.family];
    const double seconds = s.files.length();
    const double late = s.active.empty() || setup_.plan.time_scale == 0 ? 0 : s.active.first - s.due_s;
    const std::string rate = seconds > 0 ? size_text(static_cast<double>(moved) / seconds) + "/s" : "-";
    fmt::print(stderr, "{}dump {} of {}: {} {}, {} at {}, {:.2f} s late; {} in all{}",
               terminal_ ? "\r\x1b[K" : "", done_, total, word_of(family.role), family.number,
               size_text(static_cast<double>(moved)), rate, late > 0 ? late : 0.0,
               size_text(static_cast<double>(bytes_)), terminal_ ? "" : "\n");
    std::fflush(stderr);
}

}  // namespace wa
