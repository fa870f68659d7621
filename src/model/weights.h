/* weights.h: a checkpoint's tensors by role, mapped from disk and checked before any is used:
 * names, shapes and types against the architecture, offsets and lengths against the files. */
#ifndef QKS_MODEL_WEIGHTS_H
#define QKS_MODEL_WEIGHTS_H

#include "model/architecture.h"
#include "qkscope/status.h"

#include <stddef.h>
#include <stdint.h>

/* Role, shape as [rows, columns] (row-major: the columns of a row are neighbours in memory). */
#define WEIGHT_LIST(X)                                                                             \
    X(WEIGHT_ATTENTION_NORM)      /* [1, hidden] before attention */                               \
    X(WEIGHT_Q)                   /* [q_heads * head_dim, hidden] */                               \
    X(WEIGHT_K)                   /* [kv_heads * head_dim, hidden] */                              \
    X(WEIGHT_V)                   /* [kv_heads * head_dim, hidden] */                              \
    X(WEIGHT_O)                   /* [hidden, q_heads * head_dim] */                               \
    X(WEIGHT_Q_BIAS)              /* [1, q_heads * head_dim], optional as all below are */         \
    X(WEIGHT_K_BIAS)              /* [1, kv_heads * head_dim] */                                   \
    X(WEIGHT_V_BIAS)              /* [1, kv_heads * head_dim] */                                   \
    X(WEIGHT_O_BIAS)              /* [1, hidden] */                                                \
    X(WEIGHT_Q_NORM)              /* [1, head_dim] */                                              \
    X(WEIGHT_K_NORM)              /* [1, head_dim] */                                              \
    X(WEIGHT_POST_ATTENTION_NORM) /* [1, hidden] after attention, before the sum */                \
    X(WEIGHT_FFN_NORM)            /* [1, hidden] before the ffn */                                 \
    X(WEIGHT_GATE)                /* [intermediate, hidden] */                                     \
    X(WEIGHT_UP)                  /* [intermediate, hidden]; of a fused gate_up the second half */ \
    X(WEIGHT_DOWN)                /* [hidden, intermediate] */                                     \
    X(WEIGHT_GATE_BIAS)           /* [1, intermediate] */                                          \
    X(WEIGHT_UP_BIAS)             /* [1, intermediate] */                                          \
    X(WEIGHT_DOWN_BIAS)           /* [1, hidden] */                                                \
    X(WEIGHT_POST_FFN_NORM)       /* [1, hidden] after the ffn, before the sum */

typedef enum weight_role {
#define X(code) code,
    WEIGHT_LIST(X)
#undef X
        WEIGHT_ROLES
} weight_role;

/* A tensor where it lies on disk. `type` is a ggml_type (GGML_TYPE_F32, F16, BF16, or a GGUF
 * quantisation); rows of it are independent and row_bytes long. data NULL: not there. The data of a
 * safetensors file may lie at any address, aligned for nothing. */
typedef struct weight {
    const char *name; /* in the file, for messages */
    int type;
    int64_t rows, columns;
    size_t row_bytes;
    const void *data;
    /* GGUF files of the llama family hold each head's rows of q and k in the order of interleaved
     * pairs: row 2p is dimension p, row 2p + 1 dimension p + head_dim / 2. Whoever loads the tensor
     * puts the rows back (weight_stored). */
    bool interleaved_rows;
} weight;

typedef struct weights weights;

/* A Hugging Face directory (config.json, model.safetensors or shards by their index) or a .gguf
 * file. Fills `a`, too; on failure nothing is left open. */
QKS_MUST_CHECK qks_status weights_open(weights **out, architecture *a, const char *path,
                                       const rope_override *override, qks_error *error);
void weights_close(weights *w); /* NULL is fine */

/* The tensor of a role in a layer, data NULL if the model has none. */
const weight *weights_get(const weights *w, int layer, weight_role role);
const weight *weights_embedding(const weights *w); /* [embedding_rows, hidden] */

/* Which row of the file is row `i` of the matrix; of a bias, which element. */
int64_t weight_stored(const architecture *a, const weight *t, int64_t i);

/* The disk pages of a layer's tensors: fetch them soon; forget them. Hints, never failures. */
void weights_prefetch(const weights *w, int layer);
void weights_forget(const weights *w, int layer);

/* Bytes of all tensors of a layer, for planning. */
size_t weights_layer_bytes(const weights *w, int layer);

/* A hash of everything in the checkpoint that decides its numbers, as hex; size 16 bytes. */
enum { WEIGHTS_KEY_SIZE = 33 };
QKS_MUST_CHECK qks_status weights_key(const weights *w, char key[WEIGHTS_KEY_SIZE],
                                      qks_error *error);

/* Where MODEL is: a directory, a .gguf file, or org/name[@revision] in the local Hugging Face cache
 * (HF_HUB_CACHE, HF_HOME, ~/.cache/huggingface). If it is not there the message has the exact
 * `hf download` command. `*path` is in the arena. */
QKS_MUST_CHECK qks_status model_find(const char *model, arena *a, const char **path,
                                     qks_error *error);

#endif
