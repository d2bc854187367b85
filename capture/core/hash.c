#include "core/hash.h"

#include <string.h>

static void stir(uint64_t word[3]) {
    static const unsigned shifts[4][3] = {{43, 9, 8}, {38, 23, 5}, {35, 49, 11}, {12, 18, 22}};
    for (int round = 0; round < 4; ++round) {
        word[0] = (word[0] - word[1] - word[2]) ^ (word[2] >> shifts[round][0]);
        word[1] = (word[1] - word[2] - word[0]) ^ (word[0] << shifts[round][1]);
        word[2] = (word[2] - word[0] - word[1]) ^ (word[1] >> shifts[round][2]);
    }
}

static uint64_t little_endian(const unsigned char* bytes, size_t count) {
    uint64_t value = 0;
    while (count--) value = value << 8 | bytes[count];
    return value;
}

static uint64_t whole_word(const unsigned char* bytes) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t value;
    __builtin_memcpy(&value, bytes, sizeof value); /* one instruction */
    return value;
#else
    return little_endian(bytes, sizeof(uint64_t));
#endif
}

uint64_t record_id(const char* name) {
    const unsigned char* key = (const unsigned char*)name;
    const size_t length = strlen(name);
    uint64_t word[3] = {0, 0, 0x9e3779b97f4a7c13u};
    size_t left = length;
    for (; left >= 24; left -= 24, key += 24) {
        for (int i = 0; i < 3; ++i) word[i] += whole_word(key + 8 * i);
        stir(word);
    }
    word[0] += left < 8 ? little_endian(key, left) : whole_word(key);
    if (left > 8) word[1] += left < 16 ? little_endian(key + 8, left - 8) : whole_word(key + 8);
    /* The lowest byte of the last word holds the length of the key, so the rest of the key starts at the
       second byte. */
    word[2] += length;
    if (left > 16) word[2] += little_endian(key + 16, left - 16) << 8;
    stir(word);
    return word[2];
}
