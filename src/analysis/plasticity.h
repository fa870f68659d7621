/* plasticity.h: attention plasticity of one query head (spec: method.md, "Attention plasticity"):
 * how far the query decides which of two keys wins. Takes the queries' moments and, block by block,
 * key differences; keeps only sums per (query bucket, key bucket). */
#ifndef QKS_ANALYSIS_PLASTICITY_H
#define QKS_ANALYSIS_PLASTICITY_H

#include "capture/moments.h"
#include "capture/side.h"
#include "qkscope/status.h"
#include "qkscope/tables.h"

#include <stddef.h>
#include <stdint.h>

/* How the residual variance of a query along a key difference is taken: variant, name. */
#define PLASTICITY_LIST(X)                                                                         \
    X(PLASTICITY_DIAGONAL, "diagonal")                                                             \
    X(PLASTICITY_ORIENTED, "diagonal_oriented")                                                    \
    X(PLASTICITY_FULL, "full")

typedef enum plasticity_variant {
#define X(code, name) code,
    PLASTICITY_LIST(X)
#undef X
        PLASTICITY_VARIANTS
} plasticity_variant;

typedef struct plasticity plasticity;

/* `q`: all of the head's queries; buckets as captured; `window`: sliding window, 0 = full. */
QKS_MUST_CHECK qks_status plasticity_open(plasticity **out, const moments *q, const side *queries,
                                          const side *keys, int64_t window, qks_error *error);
void plasticity_close(plasticity *p);

/* Add n key differences, [n, d], of keys in bucket c. Differences of 0 are left out. */
QKS_MUST_CHECK qks_status plasticity_add(plasticity *p, int bucket, size_t n,
                                         const double *differences, qks_error *error);

/* The head's numbers by one variant; deciles are of `context`. `row` has the head's names already.
 * What is not defined is blank. */
void plasticity_row(const plasticity *p, plasticity_variant variant, int64_t context,
                    qks_plasticity_row *row);

/* The mean over pairs for query bucket b and key bucket c; NaN if there are none. */
double plasticity_cell(const plasticity *p, plasticity_variant variant, int b, int c);

#endif
