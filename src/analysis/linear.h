/* linear.h: the few dense operations the analysis needs, on symmetric matrices of which the lower
 * triangle is stored (column-major), by BLAS and LAPACK. */
#ifndef QKS_ANALYSIS_LINEAR_H
#define QKS_ANALYSIS_LINEAR_H

#include "qkscope/status.h"

#include <stddef.h>

/* Room for eigen-decompositions up to a dimension; one per thread. */
typedef struct eigen_room eigen_room;

QKS_MUST_CHECK qks_status eigen_open(eigen_room **out, int d, qks_error *error);
void eigen_close(eigen_room *room); /* NULL is fine */

/* The `count` largest eigenvalues of a ([d, d], lower triangle; destroyed), falling, and their unit
 * eigenvectors as rows of vectors ([count, d]). */
QKS_MUST_CHECK qks_status eigen_top(eigen_room *room, int d, double *a, int stride, int count,
                                    double *values, double *vectors, qks_error *error);

double dot(int n, const double *x, const double *y);

/* v^T A v, A [d, d] of which the lower triangle is stored. */
double quadratic_form(int d, const double *a, int stride, const double *v);

/* A v for `count` vectors at once: out [count, d] = vectors [count, d] times A. */
void symmetric_times(int d, const double *a, int stride, int count, const double *vectors,
                     double *out);
/* The same for the lower triangle alone, as if zeros stood above it. */
void triangle_times(int d, const double *a, int stride, int count, const double *vectors,
                    double *out);

#endif
