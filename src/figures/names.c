/* names.c: one decoder of UTF-8 (utf8proc's) and one rule per destination. */
#include "figures/names.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

static const char ELLIPSIS[] = "…";

/* DejaVu Sans, 1/100 em, from ' ' to '~'. */
static const unsigned char WIDTHS[] = {
    32, 40, 46, 84, 64, 95, 78, 27, 39,  39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79,
    60, 79, 69, 63, 61, 73, 68, 99, 69,  61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63,
    63, 28, 28, 58, 28, 97, 63, 61, 63,  63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
};

/* The next character; bytes that are no UTF-8 count as U+FFFD, one each. */
static utf8proc_int32_t next_character(const char **at)
{
    utf8proc_int32_t c = 0;
    utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)*at, -1, &c);
    *at += n > 0 ? n : 1;
    return n > 0 ? c : 0xfffd;
}

/* What a line of text can do without: line ends, controls, marks that reorder text. */
static bool is_blank(utf8proc_int32_t c)
{
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
        return true;
    default:
        return false;
    }
}

static void add_character(text *line, utf8proc_int32_t c)
{
    utf8proc_uint8_t bytes[4];
    utf8proc_ssize_t n = utf8proc_encode_char(c, bytes);
    text_append(line, (const char *)bytes, (size_t)n);
}

/* Runs of blanks become one space; none at the ends. Returns the number of characters. */
static size_t add_line(text *line, const char *name)
{
    size_t count = 0;
    bool gap = false;
    while (*name) {
        utf8proc_int32_t c = next_character(&name);
        if (is_blank(c)) {
            gap = count > 0;
            continue;
        }
        if (gap)
            text_add(line, " ");
        count += gap + 1U;
        gap = false;
        add_character(line, c);
    }
    return count;
}

static const char *skip_characters(const char *at, size_t count)
{
    while (count-- > 0)
        (void)next_character(&at);
    return at;
}

char *name_line(arena *a, const char *name, size_t most)
{
    text line = text_new(SIZE_MAX / 2);
    size_t count = add_line(&line, name);
    const char *whole = text_string(&line);
    char *kept = NULL;
    if (line.status == QKS_OK && count <= most) {
        kept = arena_string(a, count ? whole : "(no name)");
    } else if (line.status == QKS_OK) {
        size_t head = most / 2, tail = most - head - 1;
        const char *end = skip_characters(whole, head);
        kept = arena_format(a, "%.*s%s%s", (int)(end - whole), whole, ELLIPSIS,
                            skip_characters(whole, count - tail));
    }
    text_free(&line);
    return kept;
}

double name_width(const char *line)
{
    double width = 0;
    while (*line) {
        utf8proc_int32_t c = next_character(&line);
        if (c >= ' ' && c <= '~')
            width += WIDTHS[c - ' '] / 100.0;
        else
            width += utf8proc_charwidth(c) > 1 ? 1 : 0.7;
    }
    return width;
}

static void add_quoted(text *script, const char *string, bool format)
{
    text_add(script, "'");
    for (; *string; string++) {
        if (*string == '\'')
            text_add(script, "’");
        else if (*string == '%' && format)
            text_add(script, "%%");
        else
            text_append(script, (unsigned char)*string < ' ' ? " " : string, 1);
    }
    text_add(script, "'");
}

void gnuplot_string(text *script, const char *string)
{
    add_quoted(script, string, false);
}

void gnuplot_tic(text *script, const char *string)
{
    add_quoted(script, string, true);
}

void csv_string(text *csv, const char *string)
{
    char first = string[strspn(string, "'")];
    text_add(csv, first && strchr("=+-@", first) ? "\"'" : "\"");
    for (; *string; string++) {
        if (*string == '"')
            text_add(csv, "\"\"");
        else
            text_append(csv, (unsigned char)*string < ' ' ? " " : string, 1);
    }
    text_add(csv, "\"");
}

void csv_number(text *csv, double value)
{
    char digits[40] = "";
    for (int precision = 6; isfinite(value) && precision <= 17; precision++) {
        (void)snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    text_add(csv, digits);
}

void markdown_string(text *markdown, const char *string)
{
    for (; *string; string++) {
        if (strchr("\\`*_[]<>&|#~!$", *string))
            text_add(markdown, "\\");
        text_append(markdown, (unsigned char)*string < ' ' ? " " : string, 1);
    }
}

const char *count_words(arena *a, size_t count)
{
    const char *words = count < 1000 ? arena_format(a, "%zu", count)
                                     : arena_format(a, "%s,%03zu", count_words(a, count / 1000),
                                                    count % 1000);
    return words ? words : "";
}
