/* weights.c: every role of every layer found, checked against the architecture, and handed out. */
#include "model/weights.h"

#include "base/file.h"
#include "model/checkpoint.h"
#include "model/weight_names.h"
#include "model/weights_private.h"

#include <ggml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 160 };

typedef struct role_facts {
    bool needed;
    int64_t rows, columns;
} role_facts;

static role_facts facts_of(const architecture *a, weight_role role)
{
    int64_t q = (int64_t)a->q_heads * a->head_dim, k = (int64_t)a->kv_heads * a->head_dim;
    int64_t hidden = a->hidden, ffn = a->intermediate;
    const role_facts facts[WEIGHT_ROLES] = {
        [WEIGHT_ATTENTION_NORM] = {true, 1, hidden},
        [WEIGHT_Q] = {true, q, hidden},
        [WEIGHT_K] = {true, k, hidden},
        [WEIGHT_V] = {true, k, hidden},
        [WEIGHT_O] = {true, hidden, q},
        [WEIGHT_Q_BIAS] = {a->qkv_bias, 1, q},
        [WEIGHT_K_BIAS] = {a->qkv_bias, 1, k},
        [WEIGHT_V_BIAS] = {a->qkv_bias, 1, k},
        [WEIGHT_O_BIAS] = {a->o_bias, 1, hidden},
        [WEIGHT_Q_NORM] = {a->q_k_norm, 1, a->head_dim},
        [WEIGHT_K_NORM] = {a->q_k_norm, 1, a->head_dim},
        [WEIGHT_POST_ATTENTION_NORM] = {a->norms_after, 1, hidden},
        [WEIGHT_FFN_NORM] = {true, 1, hidden},
        [WEIGHT_GATE] = {true, ffn, hidden},
        [WEIGHT_UP] = {true, ffn, hidden},
        [WEIGHT_DOWN] = {true, hidden, ffn},
        [WEIGHT_GATE_BIAS] = {a->ffn_bias, 1, ffn},
        [WEIGHT_UP_BIAS] = {a->ffn_bias, 1, ffn},
        [WEIGHT_DOWN_BIAS] = {a->ffn_bias, 1, hidden},
        [WEIGHT_POST_FFN_NORM] = {a->norms_after, 1, hidden},
    };
    return facts[role];
}

/* ---- one tensor ---- */

static qks_status wrong_shape(const tensor *t, int64_t rows, int64_t columns, qks_error *error)
{
    char wanted[48], is[48];
    if (rows == 1)
        (void)snprintf(wanted, sizeof wanted, "[%lld]", (long long)columns);
    else
        (void)snprintf(wanted, sizeof wanted, "[%lld, %lld]", (long long)rows, (long long)columns);
    if (t->n_dimensions == 1)
        (void)snprintf(is, sizeof is, "[%lld]", (long long)t->shape[0]);
    else if (t->n_dimensions == 2)
        (void)snprintf(is, sizeof is, "[%lld, %lld]", (long long)t->shape[0],
                       (long long)t->shape[1]);
    else
        (void)snprintf(is, sizeof is, "of %d dimensions", t->n_dimensions);
    return qks_fail(error, QKS_INVALID,
                    "'%s': tensor '%.200s' is %s, but the model's settings want %s", t->file,
                    t->name, is, wanted);
}

/* Vectors (rows 1) are norms and biases, which no format quantises. */
static qks_status check_type(const tensor *t, int64_t rows, qks_error *error)
{
    bool plain = t->type == GGML_TYPE_F32 || t->type == GGML_TYPE_F16 || t->type == GGML_TYPE_BF16;
    if (plain || (t->type >= 0 && rows > 1))
        return QKS_OK;
    return qks_fail(error, QKS_UNSUPPORTED,
                    "'%s': tensor '%.200s' is of type %s; it must be F32, F16 or BF16", t->file,
                    t->name, t->type_name);
}

/* A part of a tensor: rows of a matrix, elements of a vector. */
typedef struct stretch {
    int64_t before, whole;
} stretch;

static stretch stretch_of(const architecture *a, weight_part part, int64_t length)
{
    int64_t q = (int64_t)a->q_heads * a->head_dim, k = (int64_t)a->kv_heads * a->head_dim;
    switch (part) {
    case PART_FIRST_HALF:
        return (stretch){0, 2 * length};
    case PART_SECOND_HALF:
        return (stretch){length, 2 * length};
    case PART_Q:
        return (stretch){0, q + 2 * k};
    case PART_K:
        return (stretch){q, q + 2 * k};
    case PART_V:
        return (stretch){q + k, q + 2 * k};
    case PART_WHOLE:
        break;
    }
    return (stretch){0, length};
}

static qks_status take(const architecture *a, const tensor *t, role_facts facts, weight_part part,
                       weight *out, qks_error *error)
{
    bool vector = facts.rows == 1;
    stretch s = stretch_of(a, part, vector ? facts.columns : facts.rows);
    bool fits = vector ? t->n_dimensions == 1 && t->shape[0] == s.whole
                       : t->n_dimensions == 2 && t->shape[0] == s.whole &&
                             t->shape[1] == facts.columns;
    if (!fits)
        return wrong_shape(t, vector ? 1 : s.whole, vector ? s.whole : facts.columns, error);
    qks_status status = check_type(t, facts.rows, error);
    if (status != QKS_OK)
        return status;
    size_t row_bytes = ggml_row_size((enum ggml_type)t->type, facts.columns);
    size_t step = vector ? ggml_type_size((enum ggml_type)t->type) : row_bytes;
    *out = (weight){.name = t->name,
                    .type = t->type,
                    .rows = facts.rows,
                    .columns = facts.columns,
                    .row_bytes = row_bytes,
                    .data = t->data + (size_t)s.before * step};
    return QKS_OK;
}

/* ---- all of them ---- */

static const tensor *find_named(const weights *w, int layer, const weight_name *named,
                                char name[NAME_SIZE])
{
    (void)snprintf(name, NAME_SIZE, "%s%s.%d.%s", w->prefix,
                   weight_layer_word(w->checkpoint.format), layer, named->suffix);
    return tensor_table_find(&w->checkpoint.tensors, name);
}

static qks_status find_role(weights *w, const architecture *a, int layer, weight_role role,
                            qks_error *error)
{
    role_facts facts = facts_of(a, role);
    if (!facts.needed)
        return QKS_OK;
    const weight_name *named = weight_name_find(w->checkpoint.format, a->type, role);
    const weight_name *fused = weight_name_fused(w->checkpoint.format, role);
    if (!named)
        return qks_fail(error, QKS_INTERNAL, "no name for role %d of a '%s' model", (int)role,
                        a->type);
    char name[NAME_SIZE], other[NAME_SIZE];
    const tensor *t = find_named(w, layer, named, name);
    if (!t && fused) {
        t = find_named(w, layer, fused, other);
        named = fused;
    }
    if (!t)
        return qks_fail(error, QKS_MISSING, "'%s': layer %d has no tensor '%s'", w->checkpoint.name,
                        layer, name);
    weight *place = &w->layers[layer][role];
    qks_status status = take(a, t, facts, named->part, place, error);
    place->interleaved_rows = w->checkpoint.interleaved &&
                              (role == WEIGHT_Q || role == WEIGHT_K || role == WEIGHT_Q_BIAS ||
                               role == WEIGHT_K_BIAS);
    return status;
}

static qks_status find_embedding(weights *w, const architecture *a, qks_error *error)
{
    char name[NAME_SIZE];
    const char *suffix = weight_embedding_suffix(w->checkpoint.format);
    (void)snprintf(name, sizeof name, "%s%s", w->prefix ? w->prefix : "model.", suffix);
    const tensor *t = tensor_table_find(&w->checkpoint.tensors, name);
    if (!t)
        return qks_fail(error, QKS_MISSING, "'%s' has no embedding, such as '%s'",
                        w->checkpoint.name, name);
    role_facts facts = {true, a->embedding_rows, a->hidden};
    return take(a, t, facts, PART_WHOLE, &w->embedding, error);
}

static qks_status find_all(weights *w, const architecture *a, qks_error *error)
{
    w->n_layers = a->n_layers;
    w->layers = arena_alloc(&w->checkpoint.memory, (size_t)a->n_layers, sizeof *w->layers);
    if (!w->layers)
        return out_of_memory(error, "layers");
    w->prefix = weight_prefix(&w->checkpoint);
    qks_status status = find_embedding(w, a, error);
    for (int layer = 0; layer < a->n_layers; layer++)
        for (int role = 0; status == QKS_OK && role < WEIGHT_ROLES; role++)
            if (a->layers[layer].kind != LAYER_SKIPPED)
                status = find_role(w, a, layer, (weight_role)role, error);
    return status;
}

qks_status weights_open(weights **out, architecture *a, const char *path,
                        const rope_override *override, qks_error *error)
{
    *a = (architecture){0};
    weights *w = NULL;
    qks_status status = memory_zeroed(&w, 1, sizeof *w, error);
    if (status != QKS_OK)
        return status;
    if (is_folder(path))
        status = folder_read(&w->checkpoint, a, path, override, error);
    else
        status = gguf_read(&w->checkpoint, a, path, override, error);
    if (status == QKS_OK)
        status = find_all(w, a, error);
    if (status != QKS_OK) {
        weights_close(w);
        architecture_close(a);
        return status;
    }
    *out = w;
    return QKS_OK;
}

void weights_close(weights *w)
{
    if (w)
        checkpoint_close(&w->checkpoint);
    free(w);
}

const weight *weights_get(const weights *w, int layer, weight_role role)
{
    return &w->layers[layer][role];
}

const weight *weights_embedding(const weights *w)
{
    return &w->embedding;
}

int64_t weight_stored(const architecture *a, const weight *t, int64_t i)
{
    if (!t->interleaved_rows)
        return i;
    int64_t d = a->head_dim, half = d / 2, within = i % d;
    return i - within + (within < half ? 2 * within : 2 * (within - half) + 1);
}

size_t weights_layer_bytes(const weights *w, int layer)
{
    size_t bytes = 0;
    for (int role = 0; role < WEIGHT_ROLES; role++)
        bytes += (size_t)w->layers[layer][role].rows * w->layers[layer][role].row_bytes;
    return bytes;
}

void weights_prefetch(const weights *w, int layer)
{
    for (int role = 0; role < WEIGHT_ROLES; role++) {
        const weight *t = &w->layers[layer][role];
        if (t->data)
            mapping_prefetch(t->data, (size_t)t->rows * t->row_bytes);
    }
}

void weights_forget(const weights *w, int layer)
{
    for (int role = 0; role < WEIGHT_ROLES; role++) {
        const weight *t = &w->layers[layer][role];
        if (t->data)
            mapping_forget(t->data, (size_t)t->rows * t->row_bytes);
    }
}
