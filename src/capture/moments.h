/* moments.h: streaming moments of (x, t), the inside of include/qkscope/moments.h.
 *
 * The position is treated as one more coordinate: z = (x_0 .. x_{d-1}, t), so that one mean and one
 * scatter matrix carry everything, and one symmetric rank-k product per block updates them. */
#ifndef QKS_CAPTURE_MOMENTS_H
#define QKS_CAPTURE_MOMENTS_H

#include "qkscope/moments.h"

#include <stdbool.h>

struct qks_moments {
    int d;      /* dimension of x; z has d + 1 */
    int stride; /* leading dimension of scatter, d + 1 rounded up */
    int64_t n;
    double *mean;    /* [d + 1]; mean[d] is the mean position */
    double *rest;    /* [d + 1]; what rounding took from the mean */
    double *scatter; /* [stride, d + 1] column-major, lower triangle: sum (z - mean)(z - mean)^T */
};
typedef struct qks_moments moments;

/* Rows as they come: exactly one of f32 and f64 is set. `pick` chooses rows (NULL: 0 .. n - 1);
 * `stride` numbers lie between the beginnings of two rows (0: d). */
typedef struct moments_rows {
    size_t n;
    const float *f32;  /* [rows, d] */
    const double *f64; /* [rows, d] */
    const int32_t *position;
    const uint32_t *pick; /* [n] row numbers */
    size_t stride;
    bool finite; /* known to be; else they are looked at first */
} moments_rows;

QKS_MUST_CHECK qks_status moments_add(moments *m, const moments_rows *rows, qks_error *error);

void moments_clear(moments *m);                         /* no vectors again */
void moments_copy(moments *into, const moments *from);  /* of one dimension */
void moments_merge(moments *into, const moments *from); /* of one dimension */

static inline double moments_scatter(const moments *m, int row, int column)
{
    return row >= column ? m->scatter[(size_t)column * (size_t)m->stride + (size_t)row]
                         : m->scatter[(size_t)row * (size_t)m->stride + (size_t)column];
}

/* From one mean to the other in coordinate j, right also where both are large. */
static inline double moments_step(const moments *from, const moments *to, int j)
{
    return (to->mean[j] - from->mean[j]) + (to->rest[j] - from->rest[j]);
}

/* A flat form for files: n, mean, rest, lower triangle by columns. moments_flat_size counts
 * doubles. */
size_t moments_flat_size(int d);
void moments_to_flat(const moments *m, double *flat);
/* Refuses counts that are no counts and values that are not finite. */
QKS_MUST_CHECK qks_status moments_from_flat(moments *m, const double *flat, qks_error *error);

/* An array of `count` moments of one dimension; freed by moments_array_free. */
QKS_MUST_CHECK qks_status moments_array(moments ***out, size_t count, int d, qks_error *error);
void moments_array_free(moments **array, size_t count);

#endif
