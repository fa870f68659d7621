/* architecture.h: a model as data. config.json (or GGUF keys) becomes this one plain struct; the
 * engine's graph builder reads nothing else. A new model type is a new reader, seldom new graph
 * code.
 *
 * The block that all supported types share, with what the struct switches on and off:
 *
 *   h = x + [post-attention norm] (Wo attention(rope([q-norm] Wq n(x) [+ b]), rope(...), Wv ...))
 *   x = h + [post-ffn norm] (Wdown (act(Wgate n(h)) * Wup n(h)))
 */
#ifndef QKS_MODEL_ARCHITECTURE_H
#define QKS_MODEL_ARCHITECTURE_H

#include "base/memory.h"
#include "qkscope/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum layer_kind {
    LAYER_FULL,    /* causal attention over everything before */
    LAYER_SLIDING, /* a query sees keys with 0 <= i - j < window */
    LAYER_SKIPPED, /* no self attention over text (mllama's cross-attention): the layer is passed by
                      and yields no heads */
} layer_kind;

/* A rotary embedding, worked out: pair p is turned by position * frequency[p]. */
typedef struct rope {
    int dimensions;   /* the first so many of each head are turned; even */
    bool interleaved; /* pairs (2p, 2p + 1); else (p, p + dimensions / 2) */
    float *frequency; /* [dimensions / 2] radians per token, with all scaling in */
    float factor;     /* multiplies cos and sin (YaRN's attention factor); else 1 */
    const char *text; /* for people: "yarn x4 from 32768, theta 1000000" */
} rope;

typedef struct layer_facts {
    layer_kind kind;
    int window;       /* of LAYER_SLIDING */
    const rope *rope; /* NULL: no rotary embedding */
} layer_facts;

typedef enum activation { ACTIVATION_SILU, ACTIVATION_GELU, ACTIVATION_GELU_TANH } activation;

typedef struct architecture {
    const char *type; /* model_type of the (text) config, such as "qwen3" */
    int n_layers, hidden, q_heads, kv_heads, head_dim, intermediate;
    int64_t embedding_rows; /* token ids are below this */
    int64_t max_positions;  /* the config's max_position_embeddings; 0: not said */
    layer_facts *layers;    /* [n_layers] */
    float norm_epsilon;
    bool norm_plus_one; /* norms multiply by 1 + w (gemma) */
    bool q_k_norm;      /* RMS norm of each head's q and k before rope */
    bool norms_after;   /* norms after attention and after the ffn too (gemma3, glm4) */
    bool qkv_bias, o_bias, ffn_bias; /* which products have a bias */
    activation activation;
    float embedding_scale; /* gemma: sqrt(hidden), rounded as transformers rounds it; else 1 */
    float score_scale;     /* of q.k in the softmax; not part of the captured query */
    /* Ministral 3: after rope, q *= 1 + beta ln(1 + floor(t / original)); beta 0: none */
    float query_beta;
    int64_t query_original;
    arena memory; /* of everything the struct points to */
} architecture;

/* What the command line overrides: 0 or NULL = as the config says. */
typedef struct rope_override {
    double theta;
    const char *scaling; /* a JSON object as `rope_scaling` in config.json; "null": none */
} rope_override;

/* From a Hugging Face config.json: either spelling (rope_theta and rope_scaling, or
 * rope_parameters), wrappers opened (mistral3, gemma3, mllama). Refuses what it does not know by
 * name: field, value, and the supported ones. */
QKS_MUST_CHECK qks_status architecture_read(architecture *a, const char *config_path,
                                            const rope_override *override, qks_error *error);
void architecture_close(architecture *a);

/* The supported model types, for messages: "llama, mistral, ...". */
const char *architecture_types(void);

#endif
