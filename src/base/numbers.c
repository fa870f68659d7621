/* numbers.c: by the bits, which the compiler may put into vectors; of float sums it may not. */
#include "base/numbers.h"

#include <stdint.h>
#include <string.h>

bool all_finite(const float *x, size_t n)
{
    static const uint32_t EXPONENT = 0x7F800000; /* all ones: NaN or infinity */
    uint32_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bad |= (bits & EXPONENT) == EXPONENT;
    }
    return !bad;
}
