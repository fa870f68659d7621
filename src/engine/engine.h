/* engine.h: the forward pass, one layer at a time, as far as queries and keys need it.
 *
 * Layers are the outer loop, documents and chunks of them the inner one, so memory is the hidden
 * states of the documents in hand, keys and values of one document in one layer, and the weights of
 * one layer. Short documents go through a layer together. After the last wanted layer's Q and K
 * nothing more is computed. Arithmetic is float32 throughout, whatever the weights are stored in.
 */
#ifndef QKS_ENGINE_ENGINE_H
#define QKS_ENGINE_ENGINE_H

#include "base/progress.h"
#include "model/weights.h"
#include "qkscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ENGINE_CHUNK = 1536 }; /* tokens that go through a layer at once, by default */

typedef struct engine_options {
    const char *backend; /* NULL: "cpu"; "rpc:HOST:PORT"; or a device's name as ggml has it */
    int threads;         /* of the cpu backend; 0: all cores */
    int chunk;           /* 0: ENGINE_CHUNK */
} engine_options;

typedef struct engine engine;

/* `a` and `w` must outlive the engine. */
QKS_MUST_CHECK qks_status engine_open(engine **out, const architecture *a, const weights *w,
                                      const engine_options *options, qks_error *error);
void engine_close(engine *e); /* NULL is fine */

typedef struct engine_document {
    const int32_t *ids; /* [n] token ids, from position 0 */
    int32_t n;
} engine_document;

/* Queries and keys of a stretch of one document in one layer, dimensions in the checkpoint's order.
 */
typedef struct engine_rows {
    int layer;
    size_t document;  /* number in the list given */
    int32_t first, n; /* positions first .. first + n - 1 */
    const float *q;   /* [n, q_heads * head_dim] */
    const float *k;   /* [n, kv_heads * head_dim] */
} engine_rows;

typedef qks_status engine_visit(void *context, const engine_rows *rows, qks_error *error);

typedef struct engine_task {
    const engine_document *documents;
    size_t count;
    const bool *layers; /* [n_layers] wanted ones; NULL: all */
    bool pre_rope;      /* Q and K just before the rotary embedding */
    progress *progress; /* counts tokens x layers */
} engine_task;

/* Run all documents through the layers; `visit` sees every chunk of every wanted layer, a layer at
 * a time, a document at a time, positions rising. */
QKS_MUST_CHECK qks_status engine_run(engine *e, const engine_task *task, engine_visit *visit,
                                     void *context, qks_error *error);

/* How many of `count` documents, from the first on, go through a layer together: as many as a chunk
 * holds, at least one. Who runs documents in several tasks parts them there, so that the same
 * products are computed whatever the memory. */
size_t engine_together(const engine *e, const engine_document *documents, size_t count);

/* Bytes the engine needs: what does not depend on the documents (weights of a layer, a chunk's
 * results), and for documents of `tokens` altogether, the longest of `longest`. */
size_t engine_fixed_bytes(const engine *e);
size_t engine_document_bytes(const engine *e, int64_t tokens, int64_t longest);

/* Name of the device in use. */
const char *engine_device(const engine *e);

#endif
