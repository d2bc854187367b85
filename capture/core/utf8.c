#include "core/utf8.h"

#include <stdint.h>
#include <string.h>

enum { CONTINUED = 0x80, CONTINUED_MASK = 0xC0 };

/* The bytes of the character that begins here, 0 if none does (RFC 3629). The text ends with NUL. */
static size_t character(const unsigned char* at) {
    if (at[0] < 0x80) return 1;
    const size_t bytes = at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < bytes; ++i) {
        if ((at[i] & CONTINUED_MASK) != CONTINUED) return 0;
    }
    /* Characters that use too many bytes, surrogates, and characters beyond the last one. */
    const bool wrong = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] >= 0xA0) ||
                       (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] >= 0x90);
    return wrong ? 0 : bytes;
}

static size_t wrong_bytes(const char* text) {
    size_t wrong = 0;
    for (const unsigned char* at = (const unsigned char*)text; *at;) {
        const size_t bytes = character(at);
        wrong += bytes == 0;
        at += bytes ? bytes : 1;
    }
    return wrong;
}

bool utf8_escape(char* text, size_t room) {
    static const char digits[] = "0123456789ABCDEF";
    const size_t wrong = wrong_bytes(text), length = strlen(text);
    if (!wrong) return true;
    if (length + 2 * wrong + 1 > room) return false;
    /* Reads from a copy at the end of the room, so that what is written never overtakes what is still to
       be read. */
    char* to = text;
    const unsigned char* at = memmove(text + room - length - 1, text, length + 1);
    while (*at) {
        const size_t bytes = character(at);
        if (bytes) {
            memmove(to, at, bytes);
            to += bytes;
            at += bytes;
        } else {
            const unsigned char byte = *at++;
            *to++ = '%';
            *to++ = digits[byte >> 4];
            *to++ = digits[byte & 15];
        }
    }
    *to = '\0';
    return true;
}

void utf8_clean(char* text, size_t room) {
    if (utf8_escape(text, room)) return;
    for (unsigned char* at = (unsigned char*)text; *at;) {
        const size_t bytes = character(at);
        if (!bytes) *at = '?';
        at += bytes ? bytes : 1;
    }
}
