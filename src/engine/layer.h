/* layer.h: the weights of one layer where the device computes with them, as float32. On the cpu
 * backend matrices stay where they are mapped: float32 ones are used there, others are widened a
 * tile at a time, as a product comes to it. */
#ifndef QKS_ENGINE_LAYER_H
#define QKS_ENGINE_LAYER_H

#include "engine/device.h"
#include "model/weights.h"
#include "qkscope/status.h"

#include <ggml.h>

typedef struct layer_weight {
    struct ggml_tensor *tensor; /* on the device; NULL: none, or a matrix of the cpu backend */
    int64_t rows, columns;
    /* a matrix of the cpu backend */
    const weight *stored;
    const float *host; /* [rows, columns] as it is stored; NULL: layer_tile widens it */
    const architecture *a;
    float *tiles; /* [threads, tile_rows, WIDEN_COLUMNS] */
    int64_t tile_rows;
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

/* Rows of a matrix that each thread of the cpu backend takes. */
int64_t layer_slice(int64_t rows, int threads);

/* Rows first .. end - 1 (no more than a tile's) and n columns from `column` on (WIDEN_COLUMNS at
 * most, a multiple of which `column` is) of a matrix that is not `host`: [end - first, n], the
 * thread's until its next tile. */
const float *layer_tile(const layer_weight *w, int64_t first, int64_t end, int64_t column,
                        int64_t n, int thread);

#endif
