/* The CPU time of each process, and how long it waited for a core, for the side file: a replica is as busy
   between its operations. */
#include <stdio.h>

#include "core/clock.h"
#include "core/module.h"
#include "core/sandbox.h"
#include "log/cpu_time.h"
#include "log/heatmap.h"
#include "log/log.h"

static void add_number(struct buffer* text, const char* form, double number) {
    char words[48];
    snprintf(words, sizeof words, form, number);
    side_add(text, words);
}

/* The seconds of CPU time in each bin of the heatmap. */
static void add_bins(struct buffer* text, struct cpu_time_point end, struct heatmap_frame frame,
                     double late) {
    double before = 0;
    add_number(text, ", \"bin_s\": %g, \"bins\": [", frame.width);
    for (int64_t bin = 0; bin < frame.count; ++bin) {
        const double used = cpu_time_at((double)(bin + 1) * frame.width - late, end);
        add_number(text, bin ? ", %.4g" : "%.4g", used - before);
        before = used;
    }
    side_add(text, "]");
}

/* The object of this process: its start and end in the job, its CPU time and its waiting, in seconds. */
static void add_process(struct log_content* content, const struct job_times* job, int64_t rank,
                        struct buffer* part) {
    (void)content;
    if (sandboxed()) return;
    const double late = log_seconds_late(job);
    const struct cpu_time_point end = {clock_seconds(clock_ns()), cpu_time_used()};
    side_add(part, part->used ? ",\n" : "");
    add_number(part, "  {\"rank\": %.0f", (double)rank);
    add_number(part, ", \"start\": %.6f", late);
    add_number(part, ", \"end\": %.6f", late + end.at);
    add_number(part, ", \"cpu_s\": %.6f", end.used);
    add_number(part, ", \"waited_s\": %.6f", cpu_time_waited());
    add_bins(part, end, heatmap_frame(job), late);
    side_add(part, "}");
}

const struct capture_module cpu_module = {
    .name = "cpu",
    .part = "processes",
    .start = cpu_time_begin,
    .fork = cpu_time_begin,
    .log = add_process,
};
