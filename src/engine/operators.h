/* operators.h: what the cpu backend computes with qkscope's own operators inside the ggml graph:
 * matrix products by OpenBLAS, causal attention in blocks that touch only what the mask shows, and
 * gelu in float32, which ggml takes from a table of float16.
 * Each is split over ggml's threads; OpenBLAS runs one thread inside each. */
#ifndef QKS_ENGINE_OPERATORS_H
#define QKS_ENGINE_OPERATORS_H

#include "engine/layer.h"

#include <ggml.h>
#include <stdatomic.h>

/* x [columns, n] -> [rows, n]: the weight's matrix times each column of x. */
struct ggml_tensor *multiply_on_host(struct ggml_context *g, const layer_weight *w,
                                     struct ggml_tensor *x);

enum { QUERY_BLOCK = 128, KEY_BLOCK = 256 };

typedef struct attention_facts {
    int q_heads, kv_heads, head_dim;
    int64_t first;  /* position of the first query */
    int64_t window; /* a query sees keys with 0 <= i - j < window; 0: all before it */
    float scale;
    float *scratch;    /* [threads, attention_scratch()] */
    atomic_llong next; /* task to be taken; 0 before the graph is computed */
} attention_facts;

/* Floats that one thread needs. */
size_t attention_scratch(int head_dim);

/* q [q_heads * head_dim, n]; keys and values [kv_heads * head_dim, positions] of which
 * first + n are filled -> [q_heads * head_dim, n]. `facts` must live until the graph is computed.
 */
struct ggml_tensor *attention_on_host(struct ggml_context *g, attention_facts *facts,
                                      struct ggml_tensor *q, struct ggml_tensor *keys,
                                      struct ggml_tensor *values);

/* gelu (its form with tanh) of the gate times up; both [width, n]. */
struct ggml_tensor *gated_gelu_on_host(struct ggml_context *g, struct ggml_tensor *gate,
                                       struct ggml_tensor *up);

#endif
