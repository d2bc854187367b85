#include "lustre_layout.h"

#include <string.h>

/* The attribute, little endian as Lustre stores it: magic, pattern, 16 bytes of an object's id, stripe size,
   stripe count (16 bits), generation (16 bits), [v3: name of the pool, 16 bytes,] then for each stripe 16
   bytes of an object's id, a generation, and the number of the OST. */
enum { MAGIC_1 = 0x0BD10BD0, MAGIC_3 = 0x0BD30BD0 };
enum { AT_PATTERN = 4, AT_SIZE = 24, AT_COUNT = 28, AT_POOL = 32, POOL_NAME = 16, OBJECT = 24, AT_OST = 20 };
enum { HEAD_WORDS = 4, POOL_WORD = HEAD_WORDS + 7, FIRST_OST = POOL_WORD + POOL_NAME / 8 };

static uint32_t number_at(const unsigned char* value, size_t at) {
    uint32_t number = 0;
    for (size_t i = 4; i-- > 0;) number = number << 8 | value[at + i];
    return number;
}

size_t lustre_record(const unsigned char* value, size_t length, int64_t record[LUSTRE_RECORD / 8]) {
    if (length < AT_POOL) return 0;
    const uint32_t magic = number_at(value, 0), count = number_at(value, AT_COUNT) & 0xffff;
    const size_t objects = magic == MAGIC_3 ? AT_POOL + POOL_NAME : AT_POOL;
    if ((magic != MAGIC_1 && magic != MAGIC_3) || count == 0 || count > LUSTRE_STRIPES) return 0;
    if (length < objects + (size_t)count * OBJECT) return 0;
    memset(record, 0, FIRST_OST * sizeof *record);
    record[2] = 1;
    record[3] = count;
    const int64_t component[] = {number_at(value, AT_SIZE), count, number_at(value, AT_PATTERN), 0, 0, -1, 0};
    memcpy(&record[HEAD_WORDS], component, sizeof component);
    if (magic == MAGIC_3) memcpy(&record[POOL_WORD], value + AT_POOL, POOL_NAME - 1);
    for (uint32_t i = 0; i < count; ++i) {
        record[FIRST_OST + i] = number_at(value, objects + (size_t)i * OBJECT + AT_OST);
    }
    return (FIRST_OST + (size_t)count) * sizeof *record;
}
