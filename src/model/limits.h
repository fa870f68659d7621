/* limits.h: the largest numbers a checkpoint may claim. They are far above any model there is, and
 * small enough that products of two of them fit 64 bits and of their heads an int. */
#ifndef QKS_MODEL_LIMITS_H
#define QKS_MODEL_LIMITS_H

#include "model/architecture.h"

enum {
    LAYERS_MAX = 4096,
    HIDDEN_MAX = 1 << 20,
    HEADS_MAX = 1 << 16,
    HEAD_DIM_MAX = 1 << 14,
    HEADS_WIDTH_MAX = 1 << 24, /* q_heads * head_dim */
    INTERMEDIATE_MAX = 1 << 24,
    VOCABULARY_MAX = 1 << 28,
    WINDOW_MAX = 1 << 30,
};
#define POSITIONS_MAX ((int64_t)1 << 40)
#define FACTOR_MAX 1e6 /* of rope scaling */
#define THETA_MIN 1.0001
#define THETA_MAX 1e15

/* What no single field says: that the heads go together. `what` names the file. */
QKS_MUST_CHECK qks_status architecture_check(const architecture *a, const char *what,
                                             qks_error *error);

#endif
