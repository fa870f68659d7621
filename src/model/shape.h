/* shape.h: how many layers and heads a model has and which layers have RoPE: what the analysis must
 * know of a checkpoint, from "LAYERS/QHEADS/KVHEADS" or from its config.json. */
#ifndef QKS_MODEL_SHAPE_H
#define QKS_MODEL_SHAPE_H

#include "base/memory.h"
#include "qkscope/status.h"

typedef struct model_shape {
    int layers, q_heads, kv_heads;
    const int *rope; /* [layers] 1, 0; NULL: not known */
} model_shape;

enum { SHAPE_LAYERS_MAX = 4096, SHAPE_HEADS_MAX = 65536 };

/* QKS_INVALID unless the numbers can be a model's. `what` names their origin. */
QKS_MUST_CHECK qks_status shape_check(const model_shape *shape, const char *what, qks_error *error);

/* "36/16/4" */
QKS_MUST_CHECK qks_status shape_parse(model_shape *shape, const char *text, qks_error *error);

/* A Hugging Face config.json; of a wrapper, its text_config. */
QKS_MUST_CHECK qks_status shape_read(model_shape *shape, const char *path, arena *a,
                                     qks_error *error);

#endif
