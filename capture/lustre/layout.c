#include "lustre/layout.h"

#include <stdbool.h>
#include <string.h>

/* The attribute of a plain layout, little endian as Lustre stores it: magic, pattern, 16 bytes of an
   object's id, stripe size, stripe count (16 bits), generation (16 bits). In v3 the 16 bytes of a pool's
   name follow. Then each stripe has 16 bytes of an object's id, a generation, and the number of the OST. */
enum { MAGIC_1 = 0x0BD10BD0, MAGIC_3 = 0x0BD30BD0 };
enum { AT_PATTERN = 4, AT_SIZE = 24, AT_COUNT = 28, AT_POOL = 32, POOL_NAME = 16, OBJECT = 24, AT_OST = 20 };
enum { ON_MDT = 0x100 /* pattern of data that lie with the metadata: no objects */ };

/* The attribute of a composite layout (progressive layouts, mirrors): a head of 32 bytes with the number
   of entries, then entries of 48 bytes. Each entry has the place and length of a plain attribute as above. */
enum { MAGIC_COMPOSITE = 0x0BD60BD0, AT_ENTRIES = 14, COMPOSITE_HEAD = 32, ENTRY = 48 };
enum { ENTRY_ID = 0, ENTRY_FLAGS = 4, ENTRY_START = 8, ENTRY_END = 16, ENTRY_AT = 24, ENTRY_LENGTH = 28 };
enum { INITIALISED = 0x10, MIRROR_MASK = 0x7fff };

/* The record: id, rank, components, stripes; then nine words per component and a word per stripe. */
enum { COMPONENTS = 2, STRIPES = 3, HEAD_WORDS = 4, COMPONENT_WORDS = 9 };
enum { STRIPE_SIZE, STRIPE_COUNT, PATTERN, FLAGS, EXTENT_START, EXTENT_END, MIRROR, POOL };

size_t lustre_words(const int64_t* record) {
    return HEAD_WORDS + COMPONENT_WORDS * (size_t)record[COMPONENTS] + (size_t)record[STRIPES];
}

static uint64_t number_at(const unsigned char* value, size_t at, size_t bytes) {
    uint64_t number = 0;
    for (size_t i = bytes; i-- > 0;) number = number << 8 | value[at + i];
    return number;
}

/* Reads a plain layout into the words of a component and the OSTs of its stripes. Returns the number of
   stripes, or -1. */
static int plain(const unsigned char* value, size_t length, int64_t* component, int64_t* osts, size_t room) {
    if (length < AT_POOL) return -1;
    const uint64_t magic = number_at(value, 0, 4), pattern = number_at(value, AT_PATTERN, 4);
    const size_t count = pattern & ON_MDT ? 0 : number_at(value, AT_COUNT, 2);
    const size_t objects = magic == MAGIC_3 ? AT_POOL + POOL_NAME : AT_POOL;
    if ((magic != MAGIC_1 && magic != MAGIC_3) || count > room) return -1;
    if (length < objects + count * OBJECT) return -1;
    component[STRIPE_SIZE] = (int64_t)number_at(value, AT_SIZE, 4);
    component[STRIPE_COUNT] = (int64_t)count;
    component[PATTERN] = (int64_t)pattern;
    component[EXTENT_END] = -1;
    if (magic == MAGIC_3) memcpy(&component[POOL], value + AT_POOL, POOL_NAME - 1);
    for (size_t i = 0; i < count; ++i) {
        osts[i] = (int64_t)number_at(value, objects + i * OBJECT + AT_OST, 4);
    }
    return (int)count;
}

/* Adds what an entry of a composite layout says about a component. */
static void add_extent(const unsigned char* entry, int64_t* component) {
    component[FLAGS] = (int64_t)number_at(entry, ENTRY_FLAGS, 4);
    component[EXTENT_START] = (int64_t)number_at(entry, ENTRY_START, 8);
    component[EXTENT_END] =
        (int64_t)number_at(entry, ENTRY_END, 8); /* all bits set: to the end of the file */
    component[MIRROR] = (int64_t)(number_at(entry, ENTRY_ID, 4) >> 16 & MIRROR_MASK);
}

/* Whether a component has its objects; a component has none before its first write. */
static bool is_initialised(const unsigned char* entry) {
    return number_at(entry, ENTRY_FLAGS, 4) & INITIALISED;
}

static size_t composite(const unsigned char* value, size_t length, int64_t* record) {
    const size_t entries = length < COMPOSITE_HEAD ? 0 : number_at(value, AT_ENTRIES, 2);
    size_t used = 0, stripes = 0;
    if (length < COMPOSITE_HEAD + entries * ENTRY) return 0;
    for (size_t i = 0; i < entries; ++i) used += is_initialised(value + COMPOSITE_HEAD + i * ENTRY);
    if (used == 0 || used > LUSTRE_COMPONENTS) return 0;
    int64_t *component = record + HEAD_WORDS, *osts = component + used * COMPONENT_WORDS;
    memset(record, 0, (HEAD_WORDS + used * COMPONENT_WORDS) * sizeof *record);
    for (size_t i = 0; i < entries; ++i) {
        const unsigned char* entry = value + COMPOSITE_HEAD + i * ENTRY;
        const size_t at = number_at(entry, ENTRY_AT, 4), bytes = number_at(entry, ENTRY_LENGTH, 4);
        if (!is_initialised(entry)) continue;
        if (at > length || bytes > length - at) return 0;
        const int count = plain(value + at, bytes, component, osts + stripes, LUSTRE_STRIPES - stripes);
        if (count < 0) return 0;
        add_extent(entry, component);
        stripes += (size_t)count;
        component += COMPONENT_WORDS;
    }
    record[COMPONENTS] = (int64_t)used;
    record[STRIPES] = (int64_t)stripes;
    return lustre_words(record) * sizeof *record;
}

size_t lustre_record(const unsigned char* value, size_t length, int64_t record[LUSTRE_RECORD / 8]) {
    if (length >= 4 && number_at(value, 0, 4) == MAGIC_COMPOSITE) return composite(value, length, record);
    memset(record, 0, (HEAD_WORDS + COMPONENT_WORDS) * sizeof *record);
    const int count =
        plain(value, length, record + HEAD_WORDS, record + HEAD_WORDS + COMPONENT_WORDS, LUSTRE_STRIPES);
    if (count <= 0) return 0;
    record[COMPONENTS] = 1;
    record[STRIPES] = count;
    return lustre_words(record) * sizeof *record;
}
