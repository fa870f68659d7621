/* captured.h: look into what was captured, head by head: a folder that qks_capture wrote, a unit
 * file, or a dataset of vectors that another program captured.
 *
 *     qks_captured *c;
 *     qks_head_numbers *numbers;
 *     if (qks_captured_open(&c, "captured", NULL, &error) == QKS_OK &&
 *         qks_captured_head(c, (qks_head){.layer = 3, .head = 5}, 0, &numbers, &error) == QKS_OK)
 *         printf("r_q %.3f\n", numbers->pcs[0].r_q);
 *     qks_head_numbers_free(numbers);
 *     qks_captured_close(c);
 *
 * For the tables of all heads see analyze.h. */
#ifndef QKSCOPE_CAPTURED_H
#define QKSCOPE_CAPTURED_H

#include "qkscope/analyze.h"
#include "qkscope/head.h"
#include "qkscope/moments.h"
#include "qkscope/sample.h"
#include "qkscope/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For one thread at a time. */
typedef struct qks_captured qks_captured;

/* `path` must hold one model. Of the options (NULL: none) those that analyze.h names for inputs
 * count: model, shape, config, context, bucket, groups. The caller closes. */
QKS_MUST_CHECK qks_status qks_captured_open(qks_captured **out, const char *path,
                                            const qks_analyze_options *options, qks_error *error);
void qks_captured_close(qks_captured *c); /* NULL is fine */

typedef struct qks_captured_facts {
    const char *model;
    int layers, q_heads, kv_heads;  /* of the model */
    int dimension;                  /* of its heads */
    size_t groups;                  /* of documents */
    const qks_head *queries, *keys; /* the heads captured, by layer, then head */
    size_t n_queries, n_keys;
} qks_captured_facts;

/* Good until the captured is closed. */
const qks_captured_facts *qks_captured_facts_of(const qks_captured *c);

/* Add the moments of one side of a head, `kind` 'q' or 'k', to `into`, which has the facts'
 * dimension. QKS_MISSING if that head was not captured. */
QKS_MUST_CHECK qks_status qks_captured_moments(const qks_captured *c, char kind, qks_head head,
                                               qks_moments *into, qks_error *error);

/* The numbers of a query head with the keys of the key head that it attends to, with standard
 * errors over the document groups. `components` 0: QKS_COMPONENTS_DEFAULT. The caller frees. */
QKS_MUST_CHECK qks_status qks_captured_head(const qks_captured *c, qks_head head, int components,
                                            qks_head_numbers **out, qks_error *error);

/* Write the moments of all captured heads as a safetensors file, which numpy reads; the names in
 * it are in docs/formats.md. */
QKS_MUST_CHECK qks_status qks_captured_export(const qks_captured *c, const char *file,
                                              qks_error *error);

#ifdef __cplusplus
}
#endif
#endif
