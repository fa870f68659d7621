/* head.h: one attention head, without files: moments of its queries and keys in, its numbers out.
 *
 *     qks_moments *q, *k;                            (moments.h; filled with vectors)
 *     qks_head_numbers *numbers;
 *     if (qks_head_analyze(&q, &k, 1, 10, &numbers, &error) == QKS_OK)
 *         printf("r_q %.3f  r_k %.3f\n", numbers->pcs[0].r_q, numbers->pcs[0].r_k);
 *     qks_head_numbers_free(numbers);
 *
 * Vectors from documents kept apart (one pair of moments per group of documents) give standard
 * errors, too. */
#ifndef QKSCOPE_HEAD_H
#define QKSCOPE_HEAD_H

#include "qkscope/moments.h"
#include "qkscope/status.h"
#include "qkscope/tables.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { QKS_COMPONENTS_DEFAULT = 10 };

/* The rows that the tables `heads` and `qk` have of a head (tables.h). */
typedef struct qks_head_numbers {
    qks_head_row head;     /* of moments alone: model NULL; layer, head, k_head, rope blank */
    const qks_qk_row *pcs; /* [n_pcs], by falling explained variance */
    size_t n_pcs;          /* as many as wanted, but at most min(vectors, dimension) */
} qks_head_numbers;

/* `queries` and `keys`: moments of one dimension, one of each per group of documents, 1 to
 * QKS_HEAD_GROUPS_MAX groups; with 2 groups and more there are standard errors (jackknife), else
 * they are NaN. Group g of the queries and group g of the keys are of the same documents.
 * `components` 0: QKS_COMPONENTS_DEFAULT. The caller frees. */
enum { QKS_HEAD_GROUPS_MAX = 1 << 20 };
QKS_MUST_CHECK qks_status qks_head_analyze(qks_moments *const *queries, qks_moments *const *keys,
                                           size_t groups, int components, qks_head_numbers **out,
                                           qks_error *error);
void qks_head_numbers_free(qks_head_numbers *numbers); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
