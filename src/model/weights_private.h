/* weights_private.h: what is behind a `weights`, for the files of this room. */
#ifndef QKS_MODEL_WEIGHTS_PRIVATE_H
#define QKS_MODEL_WEIGHTS_PRIVATE_H

#include "model/checkpoint.h"
#include "model/weights.h"

struct weights {
    checkpoint checkpoint;
    const char *prefix; /* of the text model's tensors */
    int n_layers;
    weight (*layers)[WEIGHT_ROLES]; /* [n_layers] */
    weight embedding;
};

#endif
