/* utf8.c: is it UTF-8? Eight bytes at a time while they are ASCII. */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

size_t utf8_character(const char *bytes, size_t left)
{
    const unsigned char *p = (const unsigned char *)bytes;
    /* The range of the second byte keeps out overlong forms, surrogates and what is too large. */
    unsigned char least = 0x80, most = 0xBF;
    size_t size = 0;
    if (*p < 0x80)
        return 1;
    if (*p >= 0xC2 && *p <= 0xDF) {
        size = 2;
    } else if (*p >= 0xE0 && *p <= 0xEF) {
        size = 3;
        least = *p == 0xE0 ? 0xA0 : 0x80;
        most = *p == 0xED ? 0x9F : 0xBF;
    } else if (*p >= 0xF0 && *p <= 0xF4) {
        size = 4;
        least = *p == 0xF0 ? 0x90 : 0x80;
        most = *p == 0xF4 ? 0x8F : 0xBF;
    }
    if (size == 0 || size > left || p[1] < least || p[1] > most)
        return 0;
    for (size_t i = 2; i < size; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return size;
}

bool utf8_valid(const char *bytes, size_t length)
{
    const uint64_t high_bits = 0x8080808080808080U;
    size_t at = 0;
    while (at < length) {
        uint64_t eight = high_bits;
        if (length - at >= sizeof eight)
            memcpy(&eight, bytes + at, sizeof eight);
        if ((eight & high_bits) == 0) {
            at += sizeof eight;
            continue;
        }
        size_t size = utf8_character(bytes + at, length - at);
        if (size == 0)
            return false;
        at += size;
    }
    return true;
}
