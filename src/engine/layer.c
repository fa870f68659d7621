/* layer.c: from tensors on disk to float32 on the device. */
#include "engine/layer.h"

#include "base/memory.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "engine/widen.h"
#include "qkscope/moments.h"

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_AT_ONCE = 64 }; /* looked at by one thread at a time */

struct layer_room {
    const architecture *a;
    const weights *w;
    const device *device;
    struct ggml_context *context; /* the device's tensors */
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *tensors[WEIGHT_ROLES]; /* for one layer, filled anew for each */
    size_t staging_floats;
    float *staging; /* one tensor on its way to the device */
    float *tiles;   /* [threads, tile_rows, WIDEN_COLUMNS] where the cpu backend widens matrices */
    int64_t tile_rows;
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

/* The largest of a role over the layers decides its room. */
static const weight *largest(const layer_room *room, weight_role role)
{
    const weight *most = weights_get(room->w, 0, role);
    for (int i = 1; i < room->a->n_layers; i++)
        if (floats_of(weights_get(room->w, i, role)) > floats_of(most))
            most = weights_get(room->w, i, role);
    return most;
}

int64_t layer_slice(int64_t rows, int threads)
{
    return ((rows + threads - 1) / threads + 15) / 16 * 16;
}

static qks_status make_tensors(layer_room *room, qks_error *error)
{
    struct ggml_init_params how = {.mem_size = (WEIGHT_ROLES + 1) * ggml_tensor_overhead(),
                                   .no_alloc = true};
    room->context = ggml_init(how);
    if (!room->context)
        return out_of_memory(error, "ggml context");
    for (int role = 0; role < WEIGHT_ROLES; role++) {
        const weight *t = largest(room, (weight_role)role);
        if (!t->data)
            continue;
        if (room->device->host && is_matrix((weight_role)role)) {
            int64_t rows = layer_slice(t->rows, room->device->threads);
            room->tile_rows = rows > room->tile_rows ? rows : room->tile_rows;
            continue;
        }
        room->tensors[role] = ggml_new_tensor_2d(room->context, GGML_TYPE_F32, t->columns, t->rows);
        if (floats_of(t) > room->staging_floats)
            room->staging_floats = floats_of(t);
    }
    room->buffer = ggml_backend_alloc_ctx_tensors(room->context, room->device->backend);
    return room->buffer ? QKS_OK
                        : qks_fail(error, QKS_MEMORY,
                                   "the device has no room for one layer's weights as float32");
}

static size_t tiles_floats(const layer_room *room)
{
    return (size_t)room->device->threads * (size_t)room->tile_rows * WIDEN_COLUMNS;
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
    if (status == QKS_OK)
        status = memory_zeroed(&room->tiles, tiles_floats(room), sizeof(float), error);
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
    free(room->tiles);
    free(room->staging);
    free(room);
}

size_t layer_room_bytes(const layer_room *room)
{
    return (tiles_floats(room) + room->staging_floats) * sizeof(float) +
           ggml_backend_buffer_get_size(room->buffer);
}

/* ---- loading ---- */

typedef struct loading {
    const architecture *a;
    const weight *from;
    float *to; /* NULL: nothing is kept */
} loading;

/* Are the numbers of a row, as it is stored, all finite? */
static bool row_is_finite(const weight *t, int64_t row)
{
    if (used_in_place(t))
        return all_finite((const float *)t->data + row * t->columns, (size_t)t->columns);
    float part[WIDEN_COLUMNS];
    for (int64_t column = 0; column < t->columns; column += WIDEN_COLUMNS) {
        int64_t left = t->columns - column, n = left < WIDEN_COLUMNS ? left : WIDEN_COLUMNS;
        widen_part(t, row, column, n, part);
        if (!all_finite(part, (size_t)n))
            return false;
    }
    return true;
}

static qks_status load_rows(void *context, size_t index, int thread, qks_error *error)
{
    (void)thread;
    const loading *job = context;
    const weight *t = job->from;
    int64_t first = (int64_t)index * ROWS_AT_ONCE;
    int64_t end = first + ROWS_AT_ONCE < t->rows ? first + ROWS_AT_ONCE : t->rows;
    for (int64_t row = first; row < end; row++) {
        if (!row_is_finite(t, row))
            return qks_fail(error, QKS_INVALID, "tensor '%s' holds NaN or infinity in row %lld",
                            t->name, (long long)row);
        if (job->to)
            widen_part(t, weight_stored(job->a, t, row), 0, t->columns, job->to + row * t->columns);
    }
    return QKS_OK;
}

/* Every row is looked at, and widened if there is a place for it. */
static qks_status load(const layer_room *room, loading job, qks_error *error)
{
    size_t blocks = (size_t)((job.from->rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE);
    qks_status status = widen_check(job.from, error);
    return status == QKS_OK ? parallel_for(blocks, room->device->threads, load_rows, &job, error)
                            : status;
}

/* A matrix of the cpu backend stays where it is mapped. */
static qks_status load_host(const layer_room *room, const weight *t, layer_weight *out,
                            qks_error *error)
{
    out->a = room->a;
    out->stored = t;
    out->host = used_in_place(t) ? t->data : NULL;
    out->tiles = room->tiles;
    out->tile_rows = room->tile_rows;
    return load(room, (loading){.a = room->a, .from = t}, error);
}

const float *layer_tile(const layer_weight *w, int64_t first, int64_t end, int64_t column,
                        int64_t n, int thread)
{
    float *tile = w->tiles + thread * w->tile_rows * WIDEN_COLUMNS;
    for (int64_t row = first; row < end; row++)
        widen_part(w->stored, weight_stored(w->a, w->stored, row), column, n,
                   tile + (row - first) * n);
    return tile;
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
    qks_status status = load(room, (loading){.a = room->a, .from = t, .to = room->staging}, error);
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
    qks_status status = QKS_OK;
    for (int role = 0; status == QKS_OK && role < WEIGHT_ROLES; role++) {
        const weight *t = weights_get(room->w, number, (weight_role)role);
        if (!t->data || (only_q_k && !serves_q_k((weight_role)role)))
            continue;
        layer_weight *place = &out->weight[role];
        place->rows = t->rows;
        place->columns = t->columns;
        status = room->device->host && is_matrix((weight_role)role)
                     ? load_host(room, t, place, error)
                     : load_device(room, t, (weight_role)role, place, error);
    }
    return status == QKS_OK ? QKS_OK : qks_prefix(error, status, "layer %d", number);
}
