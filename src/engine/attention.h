/* attention.h: causal attention on the cpu backend, as an operator inside the ggml graph. Works in
 * blocks of queries and keys, touches only what the mask shows, and never holds a row of scores
 * longer than a block of keys. */
#ifndef QKS_ENGINE_ATTENTION_H
#define QKS_ENGINE_ATTENTION_H

#include <ggml.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { ATTENTION_QUERIES = 192 }; /* of one head that a thread takes at once */

/* Neighbouring rows of a chunk, ATTENTION_QUERIES at most, that belong to one document. */
typedef struct attention_block {
    int64_t row, n;   /* rows row .. row + n - 1 of the chunk */
    int64_t position; /* of the first of them in the document */
    int64_t key;      /* where the document's first key is among the stored ones */
} attention_block;

typedef struct attention_facts {
    int q_heads, kv_heads, head_dim;
    int64_t window; /* a query sees keys with 0 <= i - j < window; 0: all before it */
    float scale;
    const attention_block *blocks; /* the whole chunk */
    int64_t n_blocks;
    float *scratch;    /* [threads, attention_scratch()] */
    atomic_llong next; /* task to be taken; 0 before the graph is computed */
} attention_facts;

/* Floats that one thread needs. */
size_t attention_scratch(int head_dim);

/* q [q_heads * head_dim, n]; keys and values [head_dim, places, kv_heads], filled as far as the
 * blocks' queries see -> [q_heads * head_dim, n]. `facts` must live until the graph is computed. */
struct ggml_tensor *attention_on_host(struct ggml_context *g, attention_facts *facts,
                                      struct ggml_tensor *q, struct ggml_tensor *keys,
                                      struct ggml_tensor *values);

#endif
