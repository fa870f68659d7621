/* pack.c: JSON for a <script type="application/json"> element. */
#include "report/pack.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

static const int REAL_DIGITS = 5;
/* Far beyond any correlation or share; keeps a senseless one within int64_t. */
static const double SCALED_MOST = 1e15;

/* ---- text ---- */

static bool is_plain(utf8proc_int32_t c)
{
    bool markup = c == '<' || c == '>' || c == '&' || c == '\'';
    bool json = c == '"' || c == '\\' || c < 0x20 || c == 0x7f;
    /* U+2028 and U+2029 end a line of JavaScript; the C1 controls show as nothing. */
    bool unseen = c == 0x2028 || c == 0x2029 || (c >= 0x80 && c < 0xa0);
    return !markup && !json && !unseen;
}

void pack_bytes(text *t, const char *bytes, size_t length)
{
    text_add(t, "\"");
    for (size_t at = 0; at < length;) {
        utf8proc_int32_t c = 0;
        utf8proc_ssize_t used = utf8proc_iterate((const utf8proc_uint8_t *)bytes + at,
                                                 (utf8proc_ssize_t)(length - at), &c);
        if (used < 1) {
            text_add(t, "\\ufffd");
            used = 1;
        } else if (is_plain(c)) {
            text_append(t, bytes + at, (size_t)used);
        } else {
            text_addf(t, "\\u%04x", (unsigned)c);
        }
        at += (size_t)used;
    }
    text_add(t, "\"");
}

void pack_string(text *t, const char *string)
{
    if (string)
        pack_bytes(t, string, strlen(string));
    else
        text_add(t, "null");
}

void pack_json(text *t, const char *json)
{
    /* These stand only within strings, where the escape means the same. */
    for (; *json; json++)
        if (strchr("<>&'", *json))
            text_addf(t, "\\u%04x", (unsigned)*json);
        else
            text_append(t, json, 1);
}

void pack_base64(text *t, const void *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = bytes;
    text_add(t, "\"");
    for (size_t at = 0; at < length; at += 3) {
        size_t n = length - at < 3 ? length - at : 3;
        uint32_t group = (uint32_t)b[at] << 16 | (n > 1 ? (uint32_t)b[at + 1] << 8 : 0) |
                         (n > 2 ? b[at + 2] : 0);
        const char out[4] = {digits[group >> 18], digits[group >> 12 & 63],
                             n > 1 ? digits[group >> 6 & 63] : '=',
                             n > 2 ? digits[group & 63] : '='};
        text_append(t, out, sizeof out);
    }
    text_add(t, "\"");
}

/* ---- numbers ---- */

void pack_integer(text *t, int64_t value)
{
    char buffer[24];
    int length = snprintf(buffer, sizeof buffer, "%" PRId64, value);
    if (value == INT64_MIN)
        text_add(t, "null");
    else
        text_append(t, buffer, (size_t)length);
}

void pack_scaled(text *t, double value, int decimals)
{
    double scaled = round(value * pow(10, decimals));
    pack_integer(t,
                 isnan(value) ? INT64_MIN : (int64_t)fmax(-SCALED_MOST, fmin(SCALED_MOST, scaled)));
}

/* The digits as one whole number and an exponent, 0.8997 as 8997e-4: there is no decimal point that
 * a locale could make a comma. */
void pack_real(text *t, double value)
{
    char buffer[40];
    if (!isfinite(value) || value == 0) {
        text_add(t, value == 0 ? "0" : "null");
        return;
    }
    (void)snprintf(buffer, sizeof buffer, "%.*e", REAL_DIGITS - 1, value);
    int length = 0;
    const char *e = strchr(buffer, 'e');
    long exponent = strtol(e + 1, NULL, 10) - (REAL_DIGITS - 1);
    for (const char *c = buffer; c < e; c++)
        if (*c == '-' || (*c >= '0' && *c <= '9'))
            buffer[length++] = *c;
    for (; buffer[length - 1] == '0'; exponent++)
        length--;
    text_append(t, buffer, (size_t)length);
    if (exponent)
        text_addf(t, "e%ld", exponent);
}
