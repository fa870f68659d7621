/* fonts.c: asks fontconfig which characters there are. */
#include "figures/fonts.h"

#include "figures/process.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum { FONTS_SAID_MAX = 1 << 26 };

typedef struct range {
    long first, last;
} range;

/* Latin, Greek, Cyrillic, Armenian; punctuation, arrows, mathematics; boxes and shapes. */
static const range DEJAVU[] = {
    {0, 0x52f},       {0x531, 0x556},   {0x561, 0x587},   {0x1d00, 0x1dff}, {0x1e00, 0x1eff},
    {0x2010, 0x2027}, {0x2030, 0x205e}, {0x2070, 0x2094}, {0x20a0, 0x20b5}, {0x2100, 0x214f},
    {0x2190, 0x23ae}, {0x2500, 0x27bf}, {0xfffd, 0xfffd}};

static bool in_dejavu(long c)
{
    for (size_t i = 0; i < sizeof DEJAVU / sizeof *DEJAVU; i++)
        if (c >= DEJAVU[i].first && c <= DEJAVU[i].last)
            return true;
    return false;
}

/* `charsets`: per font a line of "20-7e a0 a2-ff ..." in hexadecimal. */
static bool in_fonts(const char *charsets, long c)
{
    while (*charsets) {
        char *end = NULL;
        long first = strtol(charsets, &end, 16), last = first;
        if (end == charsets) {
            charsets++;
            continue;
        }
        if (*end == '-')
            last = strtol(end + 1, &end, 16);
        if (c >= first && c <= last)
            return true;
        charsets = end;
    }
    return false;
}

/* The next character and its length in bytes; what is no UTF-8 is one byte. */
static long character_at(const char *at, size_t left, size_t *length)
{
    utf8proc_int32_t c = 0;
    utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)at, (utf8proc_ssize_t)left, &c);
    *length = n > 0 ? (size_t)n : 1;
    return n > 0 ? c : 0;
}

static bool all_in_dejavu(const text *script)
{
    size_t length = 0;
    for (size_t i = 0; i < script->length; i += length)
        if (!in_dejavu(character_at(script->data + i, script->length - i, &length)))
            return false;
    return true;
}

static void replace_missing(text *script, const char *charsets)
{
    text kept = text_new(script->maximum);
    size_t length = 0;
    for (size_t i = 0; i < script->length; i += length) {
        long c = character_at(script->data + i, script->length - i, &length);
        if (in_dejavu(c) || in_fonts(charsets, c))
            text_append(&kept, script->data + i, length);
        else
            text_add(&kept, "□");
    }
    text_free(script);
    *script = kept;
}

qks_status fonts_check(text *script, qks_error *error)
{
    char *arguments[] = {"fc-list", "--format=%{charset}\\n", NULL};
    text charsets = text_new(FONTS_SAID_MAX);
    int code = 0;
    if (all_in_dejavu(script))
        return QKS_OK;
    /* Without fontconfig's tool nothing is known: then nothing beyond DejaVu is drawn. */
    if (process_run(arguments, NULL, &charsets, &code, NULL) != QKS_OK || code != 0)
        text_clear(&charsets);
    replace_missing(script, text_string(&charsets));
    text_free(&charsets);
    return text_status(script, "figure", error);
}
