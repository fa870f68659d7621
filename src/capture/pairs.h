/* pairs.h: a seeded sample of key differences k1 - k2, both keys of one document and one position
 * bucket, kept while keys stream by, so that plasticity needs no kept vectors.
 *
 * Every pair there is gets a uniform priority; a reservoir keeps those with the smallest, together
 * with the threshold below which it is complete. Reservoirs of other documents or machines join by
 * taking the smaller threshold: what is left is again a simple random sample of all pairs, whatever
 * was cut where, and in whatever order they are joined. */
#ifndef QKS_CAPTURE_PAIRS_H
#define QKS_CAPTURE_PAIRS_H

#include "base/memory.h"
#include "qkscope/status.h"

#include <stddef.h>
#include <stdint.h>

/* ---- which pairs of m keys ---- */
typedef struct pair_draw {
    double priority;        /* uniform in (0, 1); the smallest of the m (m - 1) / 2 first */
    uint32_t first, second; /* first < second < m */
} pair_draw;
typedef ARRAY_OF(pair_draw) pair_draws;

/* The at most `limit` pairs of smallest priority below `threshold`. The seed says which document,
 * layer, head and bucket. */
QKS_MUST_CHECK qks_status pairs_draw(uint64_t seed, uint32_t m, size_t limit, double threshold,
                                     pair_draws *draws, qks_error *error);

/* ---- the reservoir of one key head and bucket ---- */
typedef struct pair_reservoir {
    int d;
    size_t capacity, count;
    double threshold;  /* all pairs of smaller priority are here; 1 = nothing was cut */
    double *priority;  /* [capacity + 1], rising */
    float *difference; /* [capacity + 1, d], in the same order */
} pair_reservoir;

QKS_MUST_CHECK qks_status pair_reservoir_open(pair_reservoir *r, int d, size_t capacity,
                                              qks_error *error);
void pair_reservoir_close(pair_reservoir *r);

/* Offer one difference; it is taken if its priority is among the smallest. */
void pair_reservoir_offer(pair_reservoir *r, double priority, const float *difference);

/* Offer a drawn sample of the pairs of one (document, bucket) cell: keys is [m, d]. */
QKS_MUST_CHECK qks_status pair_reservoir_add(pair_reservoir *r, uint64_t seed, uint32_t m,
                                             const float *keys, qks_error *error);

/* Offer many at once: `draws` in rising order of priority, at most capacity + 1 of them; `fill`
 * writes the row of one that is taken. */
typedef void pair_fill(const void *context, const pair_draw *draw, float *row);
void pair_reservoir_merge(pair_reservoir *r, const pair_draws *draws, pair_fill *fill,
                          const void *context);

void pair_reservoir_join(pair_reservoir *into, const pair_reservoir *from);

/* Number i of a seeded stream of uniforms in (0, 1). */
double pair_uniform(uint64_t seed, uint64_t i);

/* The seed of a cell. */
uint64_t pair_seed(uint64_t seed, int64_t document, int layer, int k_head, int64_t bucket);

#endif
