/* moments.h: all that qkscope keeps of a set of vectors with positions.
 *
 * For vectors x in R^d at token positions t, the moments hold the count, the mean of (x, t) and the
 * scatter matrix sum (z - mean)(z - mean)^T of z = (x, t). They decide every number qkscope
 * reports, add up over documents and machines, and need no vector to be kept.
 *
 *     qks_moments *m;
 *     qks_moments_new(&m, 128, &error);
 *     qks_moments_add_f32(m, n, vectors, positions, &error);    (as often as there is data)
 *     qks_moments_free(m);
 *
 * Numerically the updates are Chan's: each block is centred on its own mean, so a large mean costs
 * no digits. Sums are float64 whatever the input is. */
#ifndef QKSCOPE_MOMENTS_H
#define QKSCOPE_MOMENTS_H

#include "qkscope/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { QKS_DIMENSION_MAX = 4096 };

typedef struct qks_moments qks_moments;

/* Moments of no vectors, of dimension 1 to QKS_DIMENSION_MAX. The caller frees. */
QKS_MUST_CHECK qks_status qks_moments_new(qks_moments **out, int dimension, qks_error *error);
void qks_moments_free(qks_moments *m); /* NULL is fine */

/* Add n vectors, row-major [n, dimension], with their positions [n]. If one of them holds NaN,
 * infinity or a number beyond 1e60, all are refused (QKS_INVALID) and the moments stay as they
 * were. */
QKS_MUST_CHECK qks_status qks_moments_add_f32(qks_moments *m, size_t n, const float *vectors,
                                              const int32_t *positions, qks_error *error);
QKS_MUST_CHECK qks_status qks_moments_add_f64(qks_moments *m, size_t n, const double *vectors,
                                              const int32_t *positions, qks_error *error);

/* into += from; both of one dimension. */
QKS_MUST_CHECK qks_status qks_moments_merge(qks_moments *into, const qks_moments *from,
                                            qks_error *error);

int qks_moments_dimension(const qks_moments *m);
int64_t qks_moments_count(const qks_moments *m);
double qks_moments_mean(const qks_moments *m, int i);              /* of x_i */
double qks_moments_covariance(const qks_moments *m, int i, int j); /* of x_i, x_j, with 1/n */
double qks_moments_position_mean(const qks_moments *m);
double qks_moments_position_variance(const qks_moments *m);          /* with 1/n */
double qks_moments_position_covariance(const qks_moments *m, int i); /* of x_i and t, with 1/n */

#ifdef __cplusplus
}
#endif
#endif
