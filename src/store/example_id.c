/* example_id.c: example ids, the same as the reference computes in Python. */
#include "store/example_id.h"

#include "base/hash.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t example_id_of_text(const char *bytes, size_t length)
{
    return (int64_t)hash64(bytes, length);
}

int64_t example_id_of_digits(const char *bytes, size_t length)
{
    char digits[32];
    if (length && *bytes == '+')
        bytes++, length--;
    if (length < sizeof digits) {
        memcpy(digits, bytes, length);
        digits[length] = '\0';
        errno = 0;
        long long number = strtoll(digits, NULL, 10);
        if (errno == 0)
            return number;
    }
    return example_id_of_text(bytes, length);
}

/* The shortest digits that read back as `value`, and the power of ten of the first. */
static size_t shortest_digits(double value, char digits[32], int *power)
{
    char text[32];
    int precision = 0;
    do
        (void)snprintf(text, sizeof text, "%.*e", precision, value);
    while (strtod(text, NULL) != value && ++precision <= 16);
    size_t count = 0;
    const char *at = text;
    for (; *at != 'e'; at++) /* whatever the locale's decimal point is, it is no digit */
        if (isdigit((unsigned char)*at))
            digits[count++] = *at;
    *power = (int)strtol(at + 1, NULL, 10);
    digits[count] = '\0';
    return count;
}

size_t python_text_of_real(double value, char out[REAL_TEXT_SIZE])
{
    if (!isfinite(value))
        return (size_t)snprintf(out, REAL_TEXT_SIZE, "%s",
                                isnan(value) ? "nan"
                                : value < 0  ? "-inf"
                                             : "inf");
    char digits[32];
    int power = 0;
    const char *sign = signbit(value) ? "-" : "";
    int count = (int)shortest_digits(fabs(value), digits, &power);
    int length = 0;
    if (power < -4 || power >= 16)
        length = snprintf(out, REAL_TEXT_SIZE, "%s%c%s%se%+03d", sign, digits[0],
                          count > 1 ? "." : "", digits + 1, power);
    else if (power < 0)
        length = snprintf(out, REAL_TEXT_SIZE, "%s0.%.*s%s", sign, -power - 1, "000", digits);
    else if (power + 1 >= count)
        length = snprintf(out, REAL_TEXT_SIZE, "%s%s%.*s.0", sign, digits, power + 1 - count,
                          "0000000000000000");
    else
        length = snprintf(out, REAL_TEXT_SIZE, "%s%.*s.%s", sign, power + 1, digits,
                          digits + power + 1);
    return (size_t)length;
}

int64_t example_id_of_real(double value)
{
    static const double TWO_63 = 9223372036854775808.0;
    if (value >= -TWO_63 && value < TWO_63 && value == floor(value))
        return (int64_t)value;
    char text[REAL_TEXT_SIZE];
    size_t length = python_text_of_real(value, text);
    return example_id_of_text(text, length);
}
