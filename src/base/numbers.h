/* numbers.h: questions to arrays of numbers. */
#ifndef QKS_BASE_NUMBERS_H
#define QKS_BASE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

/* Is none of them NaN or infinity? As fast as they can be read. */
bool all_finite(const float *x, size_t n);

#endif
