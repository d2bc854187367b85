#include "log/deflate.h"

#include <stdint.h>
#include <string.h>

enum { WINDOW = 32768, MATCH_LEAST = 4, MATCH_MOST = 258, HASH_BITS = 14, END_OF_BLOCK = 256 };

struct bits {
    struct buffer* out;
    uint64_t pending;
    unsigned count;
};

static void put(struct bits* bits, uint32_t value, unsigned count) {
    bits->pending |= (uint64_t)value << bits->count;
    bits->count += count;
    while (bits->count >= 8) {
        unsigned char* place = buffer_add(bits->out, 1);
        if (place) *place = (unsigned char)bits->pending;
        bits->pending >>= 8;
        bits->count -= 8;
    }
}

/* Huffman codes are stored with their highest bit first. */
static void put_code(struct bits* bits, uint32_t code, unsigned count) {
    uint32_t turned = 0;
    for (unsigned i = 0; i < count; ++i) turned |= (code >> i & 1) << (count - 1 - i);
    put(bits, turned, count);
}

/* The fixed code of literals, lengths and the end of a block (RFC 1951, 3.2.6). */
static void put_symbol(struct bits* bits, unsigned symbol) {
    if (symbol < 144) {
        put_code(bits, 0x30 + symbol, 8);
    } else if (symbol < 256) {
        put_code(bits, 0x190 + symbol - 144, 9);
    } else if (symbol < 280) {
        put_code(bits, symbol - 256, 7);
    } else {
        put_code(bits, 0xc0 + symbol - 280, 8);
    }
}

static void put_match(struct bits* bits, unsigned length, unsigned distance) {
    static const uint16_t lengths[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                       31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint16_t distances[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                         33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                         1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    unsigned code = sizeof lengths / sizeof *lengths - 1;
    while (lengths[code] > length) --code;
    put_symbol(bits, 257 + code);
    if (code >= 8 && code < 28) put(bits, length - lengths[code], (code - 4) / 4);
    code = sizeof distances / sizeof *distances - 1;
    while (distances[code] > distance) --code;
    put_code(bits, code, 5);
    if (code >= 4) put(bits, distance - distances[code], (code - 2) / 2);
}

static uint32_t hash_of(const unsigned char* at) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word * 2654435761u >> (32 - HASH_BITS);
}

static unsigned match_length(const unsigned char* text, const unsigned char* other, size_t most) {
    unsigned length = 0;
    if (most > MATCH_MOST) most = MATCH_MOST;
    while (length < most && text[length] == other[length]) ++length;
    return length;
}

static uint32_t adler32(const unsigned char* data, size_t bytes) {
    uint32_t low = 1, high = 0;
    for (size_t i = 0; i < bytes; ++i) {
        low = (low + data[i]) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}

/* At each place takes the latest match with the same hash of its first bytes, if it is long enough.
   `last_seen` holds places plus one. */
static void put_block(struct bits* bits, const unsigned char* data, size_t bytes, uint64_t* last_seen) {
    size_t at = 0;
    while (at < bytes) {
        unsigned length = 0;
        size_t distance = 0;
        if (at + MATCH_LEAST <= bytes) {
            uint64_t* seen = &last_seen[hash_of(data + at)];
            distance = at + 1 - *seen;
            if (*seen && distance <= WINDOW)
                length = match_length(data + at, data + at - distance, bytes - at);
            *seen = at + 1;
        }
        if (length >= MATCH_LEAST) {
            put_match(bits, length, (unsigned)distance);
            at += length;
        } else {
            put_symbol(bits, data[at++]);
        }
    }
}

void deflate_stream(struct buffer* out, const unsigned char* data, size_t bytes) {
    const size_t memory = sizeof(uint64_t) << HASH_BITS;
    uint64_t* last_seen = memory_pages(memory);
    if (!last_seen) {
        out->failed = true;
        return;
    }
    struct bits bits = {out, 0, 0};
    put(&bits, 0x78, 8); /* deflate, with a window of 32 KiB */
    put(&bits, 0x01, 8); /* the fastest level; makes the two bytes a multiple of 31 */
    put(&bits, 1, 1);    /* the last block */
    put(&bits, 1, 2);    /* fixed codes */
    put_block(&bits, data, bytes, last_seen);
    put_symbol(&bits, END_OF_BLOCK);
    put(&bits, 0, (8 - bits.count) % 8);
    const uint32_t sum = adler32(data, bytes);
    for (int shift = 24; shift >= 0; shift -= 8) put(&bits, sum >> shift & 0xff, 8);
    memory_release(last_seen, memory);
}
