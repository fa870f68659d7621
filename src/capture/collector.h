/* collector.h: what becomes of the queries and keys of a group of documents as they stream out of a
 * model: a unit file with moments, bucket counts and a sample of key differences; and, if wanted,
 * the vectors themselves. Knows nothing of models: it is handed chunks of rows. */
#ifndef QKS_CAPTURE_COLLECTOR_H
#define QKS_CAPTURE_COLLECTOR_H

#include "capture/unit.h"
#include "qkscope/sample.h"
#include "qkscope/status.h"
#include "store/dataset.h"

#include <stdint.h>

typedef struct collector_options {
    const unit_info *info;  /* names, shape, sides, buckets, pairs; its groups are not used */
    const int64_t *windows; /* [layers] sliding windows, 0 = full; NULL: all full */
    qks_position_options positions; /* resolved */
    uint64_t seed;                  /* of the key pairs */
    int threads;
    const char *unit;        /* the unit file to write; NULL: none */
    const unit_group *group; /* the documents, as that file says it */
    bool one_pass; /* a layer comes once, with all documents: it goes to the file as the next
                      begins, and memory holds one layer's moments */
    dataset_writer *vectors; /* keep vectors there; NULL: do not */
} collector_options;

typedef struct collector collector;

QKS_MUST_CHECK qks_status collector_open(collector **out, const collector_options *options,
                                         qks_error *error);
void collector_close(collector *c); /* NULL is fine */

typedef struct collector_document {
    int64_t example_id;
    const char *name; /* for messages */
    int32_t n;        /* tokens */
} collector_document;

/* A chunk of one document in one layer. Layers come in order; if not in one pass, again for further
 * documents. Chunks of a document and layer come with positions rising, documents of a layer one
 * after the other. A NaN or infinity is refused with layer, head, token.
 */
typedef struct collector_rows {
    const collector_document *document;
    int layer;
    int32_t first, n;
    const float *q; /* [n, q_heads * d] */
    const float *k; /* [n, kv_heads * d] */
} collector_rows;

QKS_MUST_CHECK qks_status collector_add(collector *c, const collector_rows *rows, qks_error *error);

/* The unit file into place; all documents are done. */
QKS_MUST_CHECK qks_status collector_finish(collector *c, qks_error *error);

/* Bytes that the moments take. */
size_t collector_bytes(const unit_info *info, bool one_pass);

#endif
