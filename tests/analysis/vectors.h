/* vectors.h: for the tests of the analysis: moments of a few vectors written down by hand, and of
 * many made by a small generator that is the same on every machine. */
#ifndef QKS_TESTS_VECTORS_H
#define QKS_TESTS_VECTORS_H

#include "capture/moments.h"
#include "testing.h"

/* Vectors [n, d] at positions t[n], or 0, 1, 2, ... for NULL. The caller frees. */
static inline moments *moments_of(int d, size_t n, const double *x, const int32_t *t)
{
    qks_error error;
    moments *m = NULL;
    int32_t *count = calloc(n + 1, sizeof *count);
    assert_non_null(count);
    for (size_t i = 0; i < n; i++)
        count[i] = (int32_t)i;
    assert_ok(qks_moments_new(&m, d, &error), &error);
    assert_ok(qks_moments_add_f64(m, n, x, t ? t : count, &error), &error);
    free(count);
    return m;
}

/* Uniform in (-1, 1). */
static inline double noise(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

#endif
