/* scatter.h: sums of products of coordinates, the one thing that moments spend time on. */
#ifndef QKS_CAPTURE_SCATTER_H
#define QKS_CAPTURE_SCATTER_H

#include <stddef.h>

/* Rows of z and columns of a scatter begin this many doubles apart, or a multiple of it. */
enum { SCATTER_ALIGN = 8 };

/* scatter += z^T z in the lower triangle, for z [n, stride] whose first `size` columns count and
 * whose other columns are 0. Column j of the scatter begins at j * stride; what is above its
 * diagonal may change, too. */
void scatter_add(const double *z, size_t n, size_t size, size_t stride, double *scatter);

#endif
