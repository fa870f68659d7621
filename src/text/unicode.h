/* unicode.h: UTF-8 one character at a time, and the classes of characters that tokenizers ask for,
 * as the tokenizers library has them (its tables and utf8proc's agree up to Unicode 14). */
#ifndef QKS_TEXT_UNICODE_H
#define QKS_TEXT_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All of this takes valid UTF-8 only (base/utf8.h). */

/* Bytes of the character that begins with `first`. */
static inline size_t utf8_size(char first)
{
    unsigned char c = (unsigned char)first;
    return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

static inline bool utf8_starts(char byte) /* a character, or is it a later byte of one? */
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

uint32_t utf8_decode(const char *bytes, size_t *size);
/* The character before `bytes + at`; at > 0. */
uint32_t utf8_decode_before(const char *bytes, size_t at, size_t *size);

enum { UTF8_MAX = 4 };
size_t utf8_encode(uint32_t character, char out[UTF8_MAX]);

bool is_white_space(uint32_t character);    /* property White_Space */
bool is_numeric(uint32_t character);        /* categories N* */
bool is_word(uint32_t character);           /* \w of Rust's regex crate */
bool is_punctuation(uint32_t character);    /* ASCII's, and categories P* of Unicode 8 */
bool is_combining_mark(uint32_t character); /* categories M* of Unicode 9 */

/* The lower-case form, one or two characters. */
enum { LOWERCASE_MAX = 2 };
size_t lowercase_of(uint32_t character, uint32_t out[LOWERCASE_MAX]);

/* A text for a message: on one line, cut where it is long; returns `out`. */
enum { SHOWN_SIZE = 64 };
const char *shown(const char *bytes, size_t length, char out[SHOWN_SIZE]);

/* Sorted ranges of characters, for the tables of what changed between versions of Unicode. */
typedef struct character_range {
    uint32_t first, last;
} character_range;
bool in_ranges(uint32_t character, const character_range *ranges, size_t count);

#endif
