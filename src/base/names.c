/* names.c: the nearest of some names. */
#include "qkscope/names.h"

#include <stddef.h>
#include <string.h>

enum { LONGEST = 64 }; /* longer names are near to nothing */

static size_t distance(const char *a, const char *b)
{
    size_t row[LONGEST + 1], n = strlen(b);
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }
    return row[n];
}

const char *qks_nearest(const char *typed, const char *const *names)
{
    const char *best = NULL;
    size_t least = strlen(typed) / 3 + 2;
    for (; *names && strlen(typed) <= LONGEST; names++) {
        size_t d = strlen(*names) <= LONGEST ? distance(typed, *names) : least;
        if (d < least) {
            least = d;
            best = *names;
        }
    }
    return best;
}
