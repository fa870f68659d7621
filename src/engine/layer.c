/* layer.c: from tensors on disk to float32 on the device. */
#include "engine/layer.h"

#include "base/memory.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "model/mapping.h"
#include "qkscope/moments.h"

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_AT_ONCE = 64 }; /* widened by one thread at a time */

struct layer_room {
    const architecture *a;
    const weights *w;
    const device *device;
    struct ggml_context *context; /* the device's tensors */
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *tensors[WEIGHT_ROLES]; /* for one layer, filled anew for each */
    float *pool;                               /* widened matrices of the cpu backend */
    size_t pool_floats, staging_floats;
    float *staging; /* one tensor on its way to another device */
};

static bool is_matrix(weight_role role)
{
    switch (role) {
    case WEIGHT_Q:
    case WEIGHT_K:
    case WEIGHT_V:
    case WEIGHT_O:
    case WEIGHT_GATE:
    case WEIGHT_UP:
    case WEIGHT_DOWN:
        return true;
    default:
        return false;
    }
}

static bool is_norm(weight_role role)
{
    switch (role) {
    case WEIGHT_ATTENTION_NORM:
    case WEIGHT_Q_NORM:
    case WEIGHT_K_NORM:
    case WEIGHT_POST_ATTENTION_NORM:
    case WEIGHT_FFN_NORM:
    case WEIGHT_POST_FFN_NORM:
        return true;
    default:
        return false;
    }
}

static bool serves_q_k(weight_role role)
{
    switch (role) {
    case WEIGHT_ATTENTION_NORM:
    case WEIGHT_Q:
    case WEIGHT_K:
    case WEIGHT_Q_BIAS:
    case WEIGHT_K_BIAS:
    case WEIGHT_Q_NORM:
    case WEIGHT_K_NORM:
        return true;
    default:
        return false;
    }
}

/* Used where it is mapped: float32, in order, aligned as a float must be. */
static bool used_in_place(const weight *t)
{
    return t->type == GGML_TYPE_F32 && !t->interleaved_rows &&
           (uintptr_t)t->data % _Alignof(float) == 0;
}

static size_t floats_of(const weight *t)
{
    return t->data ? (size_t)t->rows * (size_t)t->columns : 0;
}

/* ---- opening ---- */

/* The largest of each role over the layers decides the room. */
static void measure(const layer_room *room, weight_role role, int64_t *rows, int64_t *columns,
                    size_t *widened)
{
    *rows = *columns = 0;
    *widened = 0;
    for (int i = 0; i < room->a->n_layers; i++) {
        const weight *t = weights_get(room->w, i, role);
        if (floats_of(t) > (size_t)*rows * (size_t)*columns) {
            *rows = t->rows;
            *columns = t->columns;
        }
        if (!used_in_place(t) && floats_of(t) > *widened)
            *widened = floats_of(t);
    }
}

static qks_status make_tensors(layer_room *room, qks_error *error)
{
    struct ggml_init_params how = {.mem_size = (WEIGHT_ROLES + 1) * ggml_tensor_overhead(),
                                   .no_alloc = true};
    room->context = ggml_init(how);
    if (!room->context)
        return out_of_memory(error, "ggml context");
    for (int role = 0; role < WEIGHT_ROLES; role++) {
        int64_t rows = 0, columns = 0;
        size_t widened = 0;
        measure(room, (weight_role)role, &rows, &columns, &widened);
        if (rows == 0)
            continue;
        size_t floats = (size_t)rows * (size_t)columns;
        if (room->device->host && is_matrix((weight_role)role)) {
            room->pool_floats += widened;
            continue;
        }
        room->tensors[role] = ggml_new_tensor_2d(room->context, GGML_TYPE_F32, columns, rows);
        if (floats > room->staging_floats)
            room->staging_floats = floats;
    }
    room->buffer = ggml_backend_alloc_ctx_tensors(room->context, room->device->backend);
    return room->buffer ? QKS_OK
                        : qks_fail(error, QKS_MEMORY,
                                   "the device has no room for one layer's weights as float32");
}

qks_status layer_room_open(layer_room **out, const architecture *a, const weights *w,
                           const device *d, qks_error *error)
{
    layer_room *room = NULL;
    qks_status status = memory_zeroed(&room, 1, sizeof *room, error);
    if (status != QKS_OK)
        return status;
    *room = (layer_room){.a = a, .w = w, .device = d};
    status = make_tensors(room, error);
    if (status == QKS_OK && room->pool_floats)
        status = memory_zeroed(&room->pool, room->pool_floats, sizeof(float), error);
    if (status == QKS_OK)
        status = memory_zeroed(&room->staging, room->staging_floats, sizeof(float), error);
    if (status != QKS_OK)
        layer_room_close(room);
    else
        *out = room;
    return status;
}

void layer_room_close(layer_room *room)
{
    if (!room)
        return;
    if (room->buffer)
        ggml_backend_buffer_free(room->buffer);
    if (room->context)
        ggml_free(room->context);
    free(room->pool);
    free(room->staging);
    free(room);
}

size_t layer_room_bytes(const layer_room *room)
{
    return (room->pool_floats + room->staging_floats) * sizeof(float) +
           ggml_backend_buffer_get_size(room->buffer);
}

/* ---- loading ---- */

typedef struct widening {
    const architecture *a;
    const weight *from;
    float *to;
} widening;

static qks_status not_finite(const weight *t, int64_t row, qks_error *error)
{
    return qks_fail(error, QKS_INVALID, "tensor '%s' holds NaN or infinity in row %lld", t->name,
                    (long long)row);
}

static qks_status widen_rows(void *context, size_t index, int thread, qks_error *error)
{
    (void)thread;
    const widening *job = context;
    const weight *t = job->from;
    ggml_to_float_t convert = ggml_get_type_traits((enum ggml_type)t->type)->to_float;
    int64_t first = (int64_t)index * ROWS_AT_ONCE;
    int64_t end = first + ROWS_AT_ONCE < t->rows ? first + ROWS_AT_ONCE : t->rows;
    for (int64_t row = first; row < end; row++) {
        const char *source = (const char *)t->data +
                             (size_t)weight_stored(job->a, t, row) * t->row_bytes;
        float *to = job->to + row * t->columns;
        if (t->type == GGML_TYPE_F32)
            memcpy(to, source, (size_t)t->columns * sizeof *to);
        else
            convert(source, to, t->columns);
        if (!all_finite(to, (size_t)t->columns))
            return not_finite(t, row, error);
    }
    return QKS_OK;
}

static qks_status check_rows(void *context, size_t index, int thread, qks_error *error)
{
    (void)thread;
    const weight *t = context;
    int64_t first = (int64_t)index * ROWS_AT_ONCE;
    int64_t end = first + ROWS_AT_ONCE < t->rows ? first + ROWS_AT_ONCE : t->rows;
    for (int64_t row = first; row < end; row++)
        if (!all_finite((const float *)t->data + row * t->columns, (size_t)t->columns))
            return not_finite(t, row, error);
    return QKS_OK;
}

static size_t blocks_of(const weight *t)
{
    return (size_t)((t->rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE);
}

static qks_status widen(const layer_room *room, const weight *t, float *to, qks_error *error)
{
    if (t->type != GGML_TYPE_F32 && !ggml_get_type_traits((enum ggml_type)t->type)->to_float)
        return qks_fail(error, QKS_UNSUPPORTED, "tensor '%s': no conversion from %s to float32",
                        t->name, ggml_type_name((enum ggml_type)t->type));
    widening job = {.a = room->a, .from = t};
    job.to = to;
    return parallel_for(blocks_of(t), room->device->threads, widen_rows, &job, error);
}

/* A matrix of the cpu backend. */
static qks_status load_host(const layer_room *room, const weight *t, float **pool,
                            layer_weight *out, qks_error *error)
{
    if (used_in_place(t)) {
        out->host = t->data;
        return parallel_for(blocks_of(t), room->device->threads, check_rows, (void *)(uintptr_t)t,
                            error);
    }
    out->host = *pool;
    qks_status status = widen(room, t, *pool, error);
    mapping_forget(t->data, (size_t)t->rows * t->row_bytes); /* the widened ones are used */
    *pool += floats_of(t);
    return status;
}

/* A bias in the order of the rows that it is added to. */
static void put_in_order(const layer_room *room, const weight *t)
{
    float head[QKS_DIMENSION_MAX];
    size_t d = (size_t)room->a->head_dim;
    for (float *x = room->staging; x < room->staging + t->columns; x += d) {
        memcpy(head, x, d * sizeof *head);
        for (size_t i = 0; i < d; i++)
            x[i] = head[weight_stored(room->a, t, (int64_t)i)];
    }
}

/* A vector, or a matrix of another device. */
static qks_status load_device(const layer_room *room, const weight *t, weight_role role,
                              layer_weight *out, qks_error *error)
{
    qks_status status = widen(room, t, room->staging, error);
    if (status != QKS_OK)
        return status;
    if (t->interleaved_rows && !is_matrix(role))
        put_in_order(room, t);
    if (is_norm(role) && room->a->norm_plus_one)
        for (size_t i = 0; i < floats_of(t); i++)
            room->staging[i] += 1;
    out->tensor = room->tensors[role];
    ggml_backend_tensor_set(out->tensor, room->staging, 0, floats_of(t) * sizeof(float));
    return QKS_OK;
}

qks_status layer_load(layer_room *room, int number, bool only_q_k, layer *out, qks_error *error)
{
    *out = (layer){.number = number};
    float *pool = room->pool;
    qks_status status = QKS_OK;
    for (int role = 0; status == QKS_OK && role < WEIGHT_ROLES; role++) {
        const weight *t = weights_get(room->w, number, (weight_role)role);
        if (!t->data || (only_q_k && !serves_q_k((weight_role)role)))
            continue;
        layer_weight *place = &out->weight[role];
        place->rows = t->rows;
        place->columns = t->columns;
        status = room->device->host && is_matrix((weight_role)role)
                     ? load_host(room, t, &pool, place, error)
                     : load_device(room, t, (weight_role)role, place, error);
    }
    return status == QKS_OK ? QKS_OK : qks_prefix(error, status, "layer %d", number);
}
