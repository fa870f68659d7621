/* family.h: what config.json need not say because the model type implies it: one row per model
 * type. Defaults are those of transformers' configuration classes. */
#ifndef QKS_MODEL_FAMILY_H
#define QKS_MODEL_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

/* Which layers look through a window, from which fields. */
typedef enum window_rule {
    WINDOW_NONE,
    WINDOW_ALL,     /* sliding_window, in every layer (mistral) */
    WINDOW_LATE,    /* with use_sliding_window: layer_types, or from max_window_layers on (qwen) */
    WINDOW_NOPE,    /* layer_types, or with use_sliding_window the layers without rope (smollm3) */
    WINDOW_PATTERN, /* layer_types, or all but every sliding_window_pattern-th (gemma3) */
} window_rule;

typedef enum bias_rule {
    BIAS_NONE,
    BIAS_QKV,        /* always on q, k, v (qwen2) */
    BIAS_QKVO_FIELD, /* attention_bias: on q, k, v, o; attention_bias absent: none */
    BIAS_QKV_FIELD,  /* attention_bias: on q, k, v; absent: yes (glm) */
} bias_rule;

/* transformers leaves a size out of a wrapper's text_config when it is the default. */
typedef struct family_sizes {
    int64_t layers, hidden, q_heads, kv_heads, intermediate, vocabulary;
} family_sizes;

typedef struct family {
    const char *type; /* model_type */
    window_rule windows;
    bias_rule biases;
    double theta, norm_epsilon;
    int64_t head_dim;         /* 0: hidden / q_heads */
    int64_t window;           /* 0: none */
    int64_t extra_embeddings; /* rows beyond vocab_size */
    bool ffn_bias_field;      /* mlp_bias */
    bool nope;                /* no_rope_layers, no_rope_layer_interval */
    bool cross_attention;     /* cross_attention_layers */
    bool gemma;               /* 1 + w norms, scaled embeddings, own score scale, two ropes */
    bool q_k_norm, norms_after;
    bool partial_rotary; /* partial_rotary_factor, in interleaved pairs (glm) */
    const char *scaling; /* rope_parameters if there are none, as JSON; NULL: none */
    family_sizes sizes;
} family;

const family *family_find(const char *type); /* NULL: not known */

/* A wrapper's text_config: its model_type if it has none; NULL: `type` is no wrapper. */
const char *wrapper_default(const char *type);
/* May a wrapper hold this type? */
bool wrapper_holds(const char *wrapper, const char *type);

#endif
