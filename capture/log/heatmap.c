#include "log/heatmap.h"

#include <string.h>

#include "core/hash.h"
#include "core/records.h"
#include "log/cpu_time.h"

static const char* const names[HEATMAP_APIS] = {"heatmap:POSIX", "heatmap:MPIIO", "heatmap:STDIO"};

static const double first_width = 0.1;

static _Atomic(struct heatmap_entry*) entries[HEATMAP_APIS][HEATMAP_LEVELS];
static spin_lock entries_lock;

static double width_of(unsigned level) {
    return first_width * (double)(1u << level);
}

static struct heatmap_entry* make(enum heatmap_api api, unsigned level) {
    spin_acquire(&entries_lock);
    struct heatmap_entry* entry = atomic_load(&entries[api][level]);
    if (!entry) {
        records_enter_name(names[api]);
        entry = (struct heatmap_entry*)mapping_add(ENTRY_HEATMAP, MODULE_HEATMAP, sizeof *entry);
        if (entry) {
            entry->api = api;
            entry->level = level;
            atomic_store(&entry->head.counted, 1);
            mapping_ready(&entry->head);
            atomic_store(&entries[api][level], entry);
        }
    }
    spin_release(&entries_lock);
    return entry;
}

static void spread_over_bins(struct heatmap_entry* entry, bool write, int64_t size, struct span span,
                             double width) {
    _Atomic(int64_t)* bins = entry->bins[write ? 0 : 1];
    const int last = (int)(span.end / width);
    int bin = span.start > 0 ? (int)(span.start / width) : 0;
    int64_t left = size;
    for (; bin < last && left > 0; ++bin) {
        const double from = span.start > bin * width ? span.start : bin * width;
        const double share = ((bin + 1) * width - from) / (span.end - span.start);
        int64_t part = (int64_t)((double)size * share);
        if (part > left) part = left;
        atomic_fetch_add_explicit(&bins[bin], part, memory_order_relaxed);
        left -= part;
    }
    atomic_fetch_add_explicit(&bins[last], left, memory_order_relaxed);
}

void heatmap_count(enum heatmap_api api, bool write, int64_t size, struct span span) {
    unsigned level = 0;
    if (size <= 0) return;
    cpu_time_pass(span.end);
    while (level < HEATMAP_LEVELS - 1 && span.end >= HEATMAP_BINS * width_of(level)) ++level;
    struct heatmap_entry* entry = atomic_load_explicit(&entries[api][level], memory_order_acquire);
    if (!entry) entry = make(api, level);
    const double width = width_of(level);
    if (!entry || span.end >= HEATMAP_BINS * width) return;
    const int bin = (int)(span.end / width);
    if (span.start >= bin * width) {
        atomic_fetch_add_explicit(&entry->bins[write ? 0 : 1][bin], size, memory_order_relaxed);
    } else {
        spread_over_bins(entry, write, size, span, width);
    }
}

struct heatmap_frame heatmap_frame(const struct job_times* job) {
    const double run =
        (double)(job->end_sec - job->start_sec) + (double)(job->end_nsec - job->start_nsec) * 1e-9;
    unsigned level = 0;
    while (level < HEATMAP_LEVELS - 1 && run > HEATMAP_BINS * width_of(level)) ++level;
    int64_t count = (int64_t)(run / width_of(level)) + 1;
    return (struct heatmap_frame){width_of(level), count < HEATMAP_BINS ? count : HEATMAP_BINS};
}

static void add_level(const struct heatmap_entry* entry, int64_t* bins, struct heatmap_frame frame,
                      double late) {
    const double width = width_of(entry->level);
    for (int kind = 0; kind < 2; ++kind) {
        for (int i = 0; i < HEATMAP_BINS; ++i) {
            const int64_t bytes = atomic_load(&entry->bins[kind][i]);
            int64_t bin = (int64_t)(((i + 0.5) * width + late) / frame.width);
            if (!bytes) continue;
            if (bin >= frame.count) bin = frame.count - 1;
            bins[kind * frame.count + (bin > 0 ? bin : 0)] += bytes;
        }
    }
}

static void collect(enum heatmap_api api, struct buffer* records, int64_t rank, struct heatmap_frame frame,
                    double late) {
    struct {
        struct base_record base;
        double width;
        int64_t count;
        uint64_t unused[2];
    } head = {{record_id(names[api]), rank}, frame.width, frame.count, {0, 0}};
    buffer_append(records, &head, sizeof head);
    const size_t bytes = 2 * (size_t)frame.count * sizeof(int64_t);
    int64_t* bins = buffer_add(records, bytes);
    if (!bins) return;
    memset(bins, 0, bytes);
    for (int level = 0; level < HEATMAP_LEVELS; ++level) {
        const struct heatmap_entry* entry = atomic_load(&entries[api][level]);
        if (entry) add_level(entry, bins, frame, late);
    }
    records_mark_name(head.base.id);
}

void heatmap_collect(struct buffer* records, int64_t rank, const struct job_times* job, double late) {
    const struct heatmap_frame frame = heatmap_frame(job);
    for (int api = 0; api < HEATMAP_APIS; ++api) {
        bool used = false;
        for (int level = 0; level < HEATMAP_LEVELS; ++level)
            used |= atomic_load(&entries[api][level]) != NULL;
        if (used) collect((enum heatmap_api)api, records, rank, frame, late);
    }
}

void heatmap_after_fork(void) {
    memset(entries, 0, sizeof entries);
    entries_lock = 0;
}
