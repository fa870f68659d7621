/* turning.h: what ggml's rotary embedding needs of each layer on a device that is not the host. */
#ifndef QKS_ENGINE_TURNING_H
#define QKS_ENGINE_TURNING_H

#include "engine/device.h"
#include "model/architecture.h"

#include <ggml.h>

typedef struct turning {
    struct ggml_tensor **frequencies; /* [n_layers] 1 / frequency of each pair; NULL: no rope */
    struct ggml_context *context;
    ggml_backend_buffer_t buffer;
} turning; /* zero is closed */

/* Layers that share a rope share its numbers. */
QKS_MUST_CHECK qks_status turning_open(turning *t, const architecture *a, const device *d,
                                       qks_error *error);
void turning_close(turning *t);

#endif
