/* head.h: everything qkscope says of one query head, from the moments of its queries and of its key
 * head's keys per document group: rows of the qk and heads tables, and the jackknife replicates
 * that means over heads are built from. */
#ifndef QKS_ANALYSIS_HEAD_H
#define QKS_ANALYSIS_HEAD_H

#include "analysis/pca.h"
#include "base/memory.h"
#include "capture/moments.h"
#include "qkscope/status.h"
#include "qkscope/tables.h"

#include <stdbool.h>

/* What means over heads are made of: PC0 and the drift of a head, of the whole sample or without
 * one document group (then PC0 is aligned with the whole sample's). */
typedef struct head_view {
    bool present;     /* the group has rows in this head; else the numbers are the whole sample's */
    int top_q, top_k; /* the PC with the largest |r_q|, |r_k| */
    double explained_variance, r_q, r_k, bias_strength;
} head_view;

typedef struct head_result {
    qks_head_row row;
    qks_qk_row *pcs; /* [n_pcs] */
    int n_pcs, n_groups;
    head_view whole;
    head_view *replicates; /* [n_groups]; NULL when fewer than 2 groups have rows */
} head_result;

/* Room for one head at a time; one per thread. */
typedef struct head_room head_room;

QKS_MUST_CHECK qks_status head_open(head_room **out, int d, int components, int groups,
                                    qks_error *error);
void head_close(head_room *room);

/* `q` and `k` are arrays of `groups` moments. `id` gives model, layer, head, k_head and rope. What
 * result points to is in the arena. */
QKS_MUST_CHECK qks_status head_analyze(head_room *room, const qks_head_row *id, moments *const *q,
                                       moments *const *k, arena *a, head_result *result,
                                       qks_error *error);

/* All queries of the head last analysed. */
const moments *head_queries(const head_room *room);

/* Head taxonomy on PC0; thresholds are strict, so a value on one is mixed. */
qks_class taxonomy_of(double r_q, double r_k);

/* sqrt((G - 1)/G sum (x_g - mean)^2); NaN for fewer than 2. */
double jackknife_se(const double *x, size_t count);
/* The same of those that are present; `present` NULL: all. */
double replicates_se(const double *x, const bool *present, size_t count);

#endif
