/* layer.h: the weights of one layer where the device computes with them, as float32. On the cpu
 * backend, matrices that are float32 on disk are used where they are mapped; others are widened
 * once per layer, not per chunk. */
#ifndef QKS_ENGINE_LAYER_H
#define QKS_ENGINE_LAYER_H

#include "engine/device.h"
#include "model/weights.h"
#include "qkscope/status.h"

#include <ggml.h>

typedef struct layer_weight {
    struct ggml_tensor *tensor; /* on the device; NULL: none, or `host` is set */
    const float *host;          /* [rows, columns] a matrix of the cpu backend */
    int64_t rows, columns;
} layer_weight;

typedef struct layer {
    int number;
    layer_weight weight[WEIGHT_ROLES];
} layer;

/* Room for any one layer of the model at a time. */
typedef struct layer_room layer_room;

QKS_MUST_CHECK qks_status layer_room_open(layer_room **out, const architecture *a, const weights *w,
                                          const device *d, qks_error *error);
void layer_room_close(layer_room *room);
size_t layer_room_bytes(const layer_room *room);

/* Load layer `number` in place of the last one; `only_q_k`: no more than Q and K need. A weight
 * that is NaN or infinite is refused with its tensor's name. */
QKS_MUST_CHECK qks_status layer_load(layer_room *room, int number, bool only_q_k, layer *out,
                                     qks_error *error);

#endif
