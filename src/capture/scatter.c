/* scatter.c: a tile of the scatter stays in registers while all rows pass by. dsyrk of this size
 * (65 columns) takes half as long again: it packs, and computes squares on the diagonal. */
#include "capture/scatter.h"

#include <string.h>

/* All functions with vectors are inlined: how they would be passed is no matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

#ifdef __AVX512F__
enum { LANES = 8, WIDE = 3, COLUMNS = 8 }; /* accumulators: 24 of 32 registers */
#else
enum { LANES = 4, WIDE = 3, COLUMNS = 4 }; /* 12 of 16 */
#endif
enum { ROWS = WIDE * LANES };
typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));
_Static_assert(SCATTER_ALIGN % LANES == 0 && COLUMNS % LANES == 0, "tiles begin on vectors");

static inline doubles load(const double *x)
{
    doubles v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* to += y^T x for `columns` columns of y and `wide` vectors of x: constants wherever this is
 * inlined. */
static inline __attribute__((always_inline)) void add_tile(const double *x, const double *y,
                                                           size_t n, size_t stride, double *to,
                                                           int columns, int wide)
{
    doubles sum[COLUMNS][WIDE] = {0};
    for (size_t k = 0; k < n; k++, x += stride, y += stride) {
        doubles row[WIDE] = {0};
        for (int v = 0; v < wide; v++)
            row[v] = load(x + (ptrdiff_t)v * LANES);
        for (int c = 0; c < columns; c++)
            for (int v = 0; v < wide; v++)
                sum[c][v] += row[v] * y[c];
    }
    for (int c = 0; c < columns; c++, to += stride)
        for (int v = 0; v < wide; v++) {
            doubles all = load(to + (ptrdiff_t)v * LANES) + sum[c][v];
            memcpy(to + (ptrdiff_t)v * LANES, &all, sizeof all);
        }
}

void scatter_add(const double *z, size_t n, size_t size, size_t stride, double *scatter)
{
    size_t whole = size / COLUMNS * COLUMNS;
    for (size_t j = 0; j < whole; j += COLUMNS) {
        size_t i = j;
        double *to = scatter + j * stride;
        for (; i + ROWS - LANES < size; i += ROWS)
            add_tile(z + i, z + j, n, stride, to + i, COLUMNS, WIDE);
        for (; i < size; i += LANES)
            add_tile(z + i, z + j, n, stride, to + i, COLUMNS, 1);
    }
    for (size_t j = whole; j < size; j++)
        for (size_t i = whole; i < size; i += LANES)
            add_tile(z + i, z + j, n, stride, scatter + j * stride + i, 1, 1);
}
