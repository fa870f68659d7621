/* graph.h: one layer over one chunk of tokens, of one document or of several, as a ggml graph that
 * is built from the architecture alone. */
#ifndef QKS_ENGINE_GRAPH_H
#define QKS_ENGINE_GRAPH_H

#include "engine/attention.h"
#include "engine/layer.h"
#include "engine/operators.h"
#include "model/architecture.h"

#include <ggml.h>

/* What lives on the device longer than a chunk. */
typedef struct graph_store {
    struct ggml_tensor *keys, *values; /* [head_dim, places, kv_heads] of the documents at hand */
    struct ggml_tensor *const
        *frequencies; /* by layer: [dimensions / 2] seconds per radian; or NULL */
} graph_store;

typedef struct graph_request {
    const architecture *a;
    const layer *layer;
    const graph_store *store;
    bool host;                  /* use the cpu backend's own operators */
    bool pre_rope;              /* give q and k as they are before the rotary embedding */
    bool only_q_k;              /* stop there */
    int64_t place, n;           /* of the chunk's keys and values in the store; tokens */
    float *hidden;              /* [n, hidden] on the host: taken and replaced where it is */
    attention_facts *attention; /* filled here, but for scratch and blocks */
} graph_request;

typedef struct graph {
    struct ggml_cgraph *nodes;
    /* inputs, to be set once the graph has memory; NULL: not part of it */
    struct ggml_tensor *x;           /* [hidden, n]; on the host it is `hidden` already */
    struct ggml_tensor *positions;   /* [n] int32 */
    struct ggml_tensor *query_scale; /* [1, 1, n] */
    struct ggml_tensor *mask;        /* [keys, n] 0 where a query sees a key, else -inf */
    int64_t first_key;               /* of the mask, a place in the store */
    /* outputs */
    struct ggml_tensor *q, *k; /* [heads * head_dim, n] */
    struct ggml_tensor *out;   /* [hidden, n], on the host in `hidden`; NULL with only_q_k */
} graph;

/* Tensors and nodes that any graph stays below. */
enum { GRAPH_NODES = 1024 };

/* `context` is empty, of no_alloc kind, with room for GRAPH_NODES. */
graph graph_build(struct ggml_context *context, const graph_request *want);

#endif
