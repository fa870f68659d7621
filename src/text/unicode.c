/* unicode.c: UTF-8, and character classes out of utf8proc's categories. */
#include "text/unicode.h"

#include <string.h>
#include <utf8proc.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- UTF-8 ---- */
uint32_t utf8_decode(const char *bytes, size_t *size)
{
    const unsigned char *p = (const unsigned char *)bytes;
    *size = utf8_size(*bytes);
    switch (*size) {
    case 1:
        return p[0];
    case 2:
        return (p[0] & 0x1FU) << 6 | (p[1] & 0x3FU);
    case 3:
        return (p[0] & 0x0FU) << 12 | (p[1] & 0x3FU) << 6 | (p[2] & 0x3FU);
    default:
        return (p[0] & 0x07U) << 18 | (p[1] & 0x3FU) << 12 | (p[2] & 0x3FU) << 6 | (p[3] & 0x3FU);
    }
}

uint32_t utf8_decode_before(const char *bytes, size_t at, size_t *size)
{
    do
        at--;
    while (at > 0 && !utf8_starts(bytes[at]));
    return utf8_decode(bytes + at, size);
}

size_t utf8_encode(uint32_t character, char out[UTF8_MAX])
{
    return (size_t)utf8proc_encode_char((utf8proc_int32_t)character, (utf8proc_uint8_t *)out);
}

const char *shown(const char *bytes, size_t length, char out[SHOWN_SIZE])
{
    static const char DOTS[] = "...";
    size_t room = SHOWN_SIZE - sizeof DOTS, used = 0;
    for (size_t i = 0; i < length; i++) {
        if (utf8_starts(bytes[i]) && used + UTF8_MAX > room) {
            memcpy(out + used, DOTS, sizeof DOTS);
            return out;
        }
        unsigned char c = (unsigned char)bytes[i];
        out[used++] = c < 0x20 || c == 0x7F ? '?' : bytes[i];
    }
    out[used] = '\0';
    return out;
}

/* ---- classes ---- */
bool in_ranges(uint32_t character, const character_range *ranges, size_t count)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (character > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && character >= ranges[low].first;
}

bool is_white_space(uint32_t c)
{
    if (c < 0x80)
        return c == ' ' || (c >= 0x09 && c <= 0x0D);
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
           c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_numeric(uint32_t c)
{
    if (c < 0x80)
        return c >= '0' && c <= '9';
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

/* Alphabetic, marks, decimal digits, connectors, joiners. Beside the letters, the marks and the
 * letter numbers, only these symbols are alphabetic. */
bool is_word(uint32_t c)
{
    static const character_range CIRCLED_LETTERS[] = {
        {0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
        return true;
    case UTF8PROC_CATEGORY_CF:
        return c == 0x200C || c == 0x200D;
    case UTF8PROC_CATEGORY_SO:
        return in_ranges(c, CIRCLED_LETTERS, COUNT_OF(CIRCLED_LETTERS));
    default:
        return false;
    }
}

/* Punctuation since Unicode 8, and the few characters that have become or ceased to be it. */
static const character_range NOT_YET_PUNCTUATION[] = {
    {0x61D, 0x61D},     {0x9FD, 0x9FD},     {0xA76, 0xA76},     {0xC77, 0xC77},
    {0xC84, 0xC84},     {0x1B7D, 0x1B7E},   {0x2E43, 0x2E4F},   {0x2E52, 0x2E5D},
    {0x10EAD, 0x10EAD}, {0x10F55, 0x10F59}, {0x10F86, 0x10F89}, {0x1144B, 0x1144F},
    {0x1145A, 0x1145B}, {0x1145D, 0x1145D}, {0x11660, 0x1166C}, {0x116B9, 0x116B9},
    {0x1183B, 0x1183B}, {0x11944, 0x11946}, {0x119E2, 0x119E2}, {0x11A3F, 0x11A46},
    {0x11A9A, 0x11A9C}, {0x11A9E, 0x11AA2}, {0x11B00, 0x11B09}, {0x11C41, 0x11C45},
    {0x11C70, 0x11C71}, {0x11EF7, 0x11EF8}, {0x11F43, 0x11F4F}, {0x11FFF, 0x11FFF},
    {0x12FF1, 0x12FF2}, {0x16E97, 0x16E9A}, {0x16FE2, 0x16FE2}, {0x1E95E, 0x1E95F}};

bool is_punctuation(uint32_t c)
{
    if (c < 0x80)
        return c > ' ' && c < 0x7F && !(c >= '0' && c <= '9') &&
               !((c | 0x20U) >= 'a' && (c | 0x20U) <= 'z');
    if (c == 0x166D || c == 0x111C9)
        return true;
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO &&
           !in_ranges(c, NOT_YET_PUNCTUATION, COUNT_OF(NOT_YET_PUNCTUATION));
}

/* Marks since Unicode 9. */
static const character_range NOT_YET_MARKS[] = {
    {0x7FD, 0x7FD},     {0x898, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},
    {0xAFA, 0xAFF},     {0xB55, 0xB55},     {0xC04, 0xC04},     {0xC3C, 0xC3C},
    {0xCF3, 0xCF3},     {0xD00, 0xD00},     {0xD3B, 0xD3C},     {0xD81, 0xD81},
    {0xEBA, 0xEBA},     {0xECE, 0xECE},     {0x1715, 0x1715},   {0x180F, 0x180F},
    {0x1ABF, 0x1ACE},   {0x1CF7, 0x1CF7},   {0x1DF6, 0x1DFA},   {0xA82C, 0xA82C},
    {0xA8FF, 0xA8FF},   {0x10D24, 0x10D27}, {0x10EAB, 0x10EAC}, {0x10EFD, 0x10EFF},
    {0x10F46, 0x10F50}, {0x10F82, 0x10F85}, {0x11070, 0x11070}, {0x11073, 0x11074},
    {0x110C2, 0x110C2}, {0x11145, 0x11146}, {0x111C9, 0x111C9}, {0x111CE, 0x111CF},
    {0x11241, 0x11241}, {0x1133B, 0x1133B}, {0x1145E, 0x1145E}, {0x1182C, 0x1183A},
    {0x11930, 0x11935}, {0x11937, 0x11938}, {0x1193B, 0x1193E}, {0x11940, 0x11940},
    {0x11942, 0x11943}, {0x119D1, 0x119D7}, {0x119DA, 0x119E0}, {0x119E4, 0x119E4},
    {0x11A01, 0x11A0A}, {0x11A33, 0x11A39}, {0x11A3B, 0x11A3E}, {0x11A47, 0x11A47},
    {0x11A51, 0x11A5B}, {0x11A8A, 0x11A99}, {0x11D31, 0x11D36}, {0x11D3A, 0x11D3A},
    {0x11D3C, 0x11D3D}, {0x11D3F, 0x11D45}, {0x11D47, 0x11D47}, {0x11D8A, 0x11D8E},
    {0x11D90, 0x11D91}, {0x11D93, 0x11D97}, {0x11EF3, 0x11EF6}, {0x11F00, 0x11F01},
    {0x11F03, 0x11F03}, {0x11F34, 0x11F3A}, {0x11F3E, 0x11F42}, {0x13440, 0x13440},
    {0x13447, 0x13455}, {0x16F4F, 0x16F4F}, {0x16F7F, 0x16F87}, {0x16FE4, 0x16FE4},
    {0x16FF0, 0x16FF1}, {0x1CF00, 0x1CF2D}, {0x1CF30, 0x1CF46}, {0x1E08F, 0x1E08F},
    {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF}, {0x1E4EC, 0x1E4EF}};

bool is_combining_mark(uint32_t c)
{
    if (c == 0x1CF2 || c == 0x1CF3) /* letters by now */
        return true;
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME &&
           !in_ranges(c, NOT_YET_MARKS, COUNT_OF(NOT_YET_MARKS));
}

size_t lowercase_of(uint32_t c, uint32_t out[LOWERCASE_MAX])
{
    if (c == 0x130) { /* I with a dot keeps it: the one lower case that is two characters */
        out[0] = 'i';
        out[1] = 0x307;
        return 2;
    }
    out[0] = (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
    return 1;
}
