/* engine.c: the loops: layers, documents, chunks. */
#include "engine/engine.h"

#include "engine/graph.h"
#include "engine/widen.h"
#include "model/mapping.h"

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct engine {
    const architecture *a;
    const weights *w;
    device device;
    int chunk;
    layer_room *weights_room;
    /* on another device for as long as the engine: rope frequencies, shared by layers */
    struct ggml_context *constants;
    ggml_backend_buffer_t constants_buffer;
    struct ggml_tensor **frequencies; /* [n_layers]; the cpu's NULL */
    /* one chunk's graph */
    ggml_gallocr_t results;
    void *graph_memory;
    size_t graph_bytes;
    attention_facts attention;
    float *q, *k; /* [chunk, heads * head_dim] copied from another device; the cpu's NULL */
};

/* One engine_run. */
typedef struct pass {
    engine *e;
    const engine_task *task;
    engine_visit *visit;
    void *context;
    float **hidden; /* [documents] each [n, hidden] */
    struct ggml_context *store_context;
    ggml_backend_buffer_t store_buffer;
    graph_store store;
    layer layer;
    bool wanted, last; /* of the layer at work */
    float *mask;
    size_t mask_floats;
} pass;

/* ---- opening ---- */

static qks_status put_frequencies(engine *e, qks_error *error)
{
    const architecture *a = e->a;
    struct ggml_init_params how = {.mem_size = ((size_t)a->n_layers + 1) * ggml_tensor_overhead(),
                                   .no_alloc = true};
    e->constants = ggml_init(how);
    e->frequencies = calloc((size_t)a->n_layers, sizeof(struct ggml_tensor *));
    if (!e->constants || !e->frequencies)
        return out_of_memory(error, "rope frequencies");
    bool any = false;
    for (int i = 0; i < a->n_layers; i++) {
        const rope *r = a->layers[i].rope;
        for (int j = 0; r && j < i && !e->frequencies[i]; j++)
            if (a->layers[j].rope == r)
                e->frequencies[i] = e->frequencies[j];
        if (r && !e->frequencies[i])
            e->frequencies[i] = ggml_new_tensor_1d(e->constants, GGML_TYPE_F32, r->dimensions / 2);
        any = any || r;
    }
    if (!any)
        return QKS_OK;
    e->constants_buffer = ggml_backend_alloc_ctx_tensors(e->constants, e->device.backend);
    if (!e->constants_buffer)
        return out_of_memory(error, "rope frequencies on the device");
    for (int i = 0; i < a->n_layers; i++) {
        const rope *r = a->layers[i].rope;
        if (!r)
            continue;
        size_t bytes = (size_t)(r->dimensions / 2) * sizeof(float);
        float *inverse = malloc(bytes);
        if (!inverse)
            return out_of_memory(error, "rope frequencies");
        for (int p = 0; p < r->dimensions / 2; p++)
            inverse[p] = 1.0F / r->frequency[p];
        ggml_backend_tensor_set(e->frequencies[i], inverse, 0, bytes);
        free(inverse);
    }
    return QKS_OK;
}

static qks_status open_rooms(engine *e, qks_error *error)
{
    const architecture *a = e->a;
    size_t d = (size_t)a->head_dim, chunk = (size_t)e->chunk;
    qks_status status = layer_room_open(&e->weights_room, a, e->w, &e->device, error);
    bool elsewhere = !e->device.host;
    if (status == QKS_OK && elsewhere)
        status = put_frequencies(e, error);
    if (status == QKS_OK && elsewhere)
        status = memory_zeroed(&e->q, chunk * d * (size_t)a->q_heads, sizeof(float), error);
    if (status == QKS_OK && elsewhere)
        status = memory_zeroed(&e->k, chunk * d * (size_t)a->kv_heads, sizeof(float), error);
    if (status == QKS_OK && e->device.host)
        status = memory_zeroed(&e->attention.scratch,
                               (size_t)e->device.threads * attention_scratch(a->head_dim),
                               sizeof(float), error);
    e->graph_bytes = GRAPH_NODES * ggml_tensor_overhead() +
                     ggml_graph_overhead_custom(GRAPH_NODES, false);
    if (status == QKS_OK)
        status = memory_zeroed(&e->graph_memory, 1, e->graph_bytes, error);
    e->results = ggml_gallocr_new(ggml_backend_get_default_buffer_type(e->device.backend));
    return status == QKS_OK && !e->results ? out_of_memory(error, "graph allocator") : status;
}

qks_status engine_open(engine **out, const architecture *a, const weights *w,
                       const engine_options *options, qks_error *error)
{
    engine *e = NULL;
    qks_status status = memory_zeroed(&e, 1, sizeof *e, error);
    if (status != QKS_OK)
        return status;
    e->a = a;
    e->w = w;
    e->chunk = options->chunk ? options->chunk : ENGINE_CHUNK;
    status = device_open(&e->device, options->backend, options->threads, error);
    if (status == QKS_OK)
        status = open_rooms(e, error);
    if (status != QKS_OK)
        engine_close(e);
    else
        *out = e;
    return status;
}

void engine_close(engine *e)
{
    if (!e)
        return;
    layer_room_close(e->weights_room);
    if (e->constants_buffer)
        ggml_backend_buffer_free(e->constants_buffer);
    if (e->constants)
        ggml_free(e->constants);
    if (e->results)
        ggml_gallocr_free(e->results);
    free(e->frequencies);
    free(e->attention.scratch);
    free(e->graph_memory);
    free(e->q);
    free(e->k);
    device_close(&e->device);
    free(e);
}

const char *engine_device(const engine *e)
{
    return ggml_backend_name(e->device.backend);
}

size_t engine_fixed_bytes(const engine *e)
{
    const architecture *a = e->a;
    size_t heads = (size_t)(a->q_heads + a->kv_heads) * (size_t)a->head_dim;
    /* a chunk's live results: x twice, q, k and their copies, gate, up and in some models their
     * product */
    size_t per_token = 4 * (size_t)a->hidden + 6 * heads + 3 * (size_t)a->intermediate;
    return layer_room_bytes(e->weights_room) + (size_t)e->chunk * per_token * sizeof(float);
}

size_t engine_document_bytes(const engine *e, int64_t tokens, int64_t longest)
{
    const architecture *a = e->a;
    size_t kept = 2 * (size_t)a->kv_heads * (size_t)a->head_dim;
    return ((size_t)tokens * (size_t)a->hidden + (size_t)longest * kept) * sizeof(float);
}

/* ---- hidden states ---- */

static qks_status embed(const engine *e, const engine_document *document, size_t number, float *out,
                        qks_error *error)
{
    const weight *t = weights_embedding(e->w);
    size_t hidden = (size_t)e->a->hidden;
    qks_status status = widen_check(t, error);
    if (status != QKS_OK)
        return status;
    for (int32_t i = 0; i < document->n; i++, out += hidden) {
        int32_t id = document->ids[i];
        if (id < 0 || id >= t->rows)
            return qks_fail(error, QKS_INVALID,
                            "document %zu, token %d: id %d is not below the model's %lld; is the "
                            "tokenizer this model's?",
                            number, i, id, (long long)t->rows);
        widen_part(t, id, 0, (int64_t)hidden, out);
        if (e->a->embedding_scale != 1)
            for (size_t j = 0; j < hidden; j++)
                out[j] *= e->a->embedding_scale;
    }
    return QKS_OK;
}

static qks_status pass_open(pass *p, qks_error *error)
{
    const architecture *a = p->e->a;
    int32_t longest = 1;
    qks_status status = memory_zeroed(&p->hidden, p->task->count, sizeof(float *), error);
    for (size_t i = 0; status == QKS_OK && i < p->task->count; i++) {
        const engine_document *document = &p->task->documents[i];
        longest = document->n > longest ? document->n : longest;
        status = memory_zeroed(&p->hidden[i], (size_t)document->n * (size_t)a->hidden,
                               sizeof(float), error);
        if (status == QKS_OK)
            status = embed(p->e, document, i, p->hidden[i], error);
    }
    if (status != QKS_OK)
        return status;
    const weight *embedding = weights_embedding(p->e->w);
    mapping_forget(embedding->data, (size_t)embedding->rows * embedding->row_bytes);
    struct ggml_init_params how = {.mem_size = 3 * ggml_tensor_overhead(), .no_alloc = true};
    p->store_context = ggml_init(how);
    if (!p->store_context)
        return out_of_memory(error, "keys and values");
    const int64_t shape[] = {a->head_dim, longest, a->kv_heads};
    p->store.keys = ggml_new_tensor(p->store_context, GGML_TYPE_F32, 3, shape);
    p->store.values = ggml_new_tensor(p->store_context, GGML_TYPE_F32, 3, shape);
    p->store.frequencies = p->e->frequencies;
    p->store_buffer = ggml_backend_alloc_ctx_tensors(p->store_context, p->e->device.backend);
    return p->store_buffer ? QKS_OK : out_of_memory(error, "keys and values on the device");
}

static void pass_close(pass *p)
{
    for (size_t i = 0; p->hidden && i < p->task->count; i++)
        free(p->hidden[i]);
    free(p->hidden);
    free(p->mask);
    if (p->store_buffer)
        ggml_backend_buffer_free(p->store_buffer);
    if (p->store_context)
        ggml_free(p->store_context);
}

/* ---- one chunk ---- */

static qks_status set_mask(pass *p, const graph *g, int32_t first, qks_error *error)
{
    if (!g->mask)
        return QKS_OK;
    const layer_facts *facts = &p->e->a->layers[p->layer.number];
    int64_t keys = g->mask->ne[0], n = g->mask->ne[1];
    size_t floats = (size_t)(keys * n);
    if (floats > p->mask_floats) {
        free(p->mask);
        p->mask = NULL;
        p->mask_floats = 0;
        qks_status status = memory_zeroed(&p->mask, floats, sizeof(float), error);
        if (status != QKS_OK)
            return status;
        p->mask_floats = floats;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < keys; j++) {
            int64_t back = first + i - (g->first_key + j);
            bool seen = back >= 0 && (facts->kind != LAYER_SLIDING || back < facts->window);
            p->mask[i * keys + j] = seen ? 0 : -INFINITY;
        }
    ggml_backend_tensor_set(g->mask, p->mask, 0, floats * sizeof(float));
    return QKS_OK;
}

static qks_status set_inputs(pass *p, const graph *g, const float *x, int32_t first, int32_t n,
                             qks_error *error)
{
    const architecture *a = p->e->a;
    if (!p->e->device.host)
        ggml_backend_tensor_set(g->x, x, 0, (size_t)n * (size_t)a->hidden * sizeof *x);
    if (g->positions) {
        int32_t *positions = malloc((size_t)n * sizeof *positions);
        if (!positions)
            return out_of_memory(error, "positions");
        for (int32_t i = 0; i < n; i++)
            positions[i] = first + i;
        ggml_backend_tensor_set(g->positions, positions, 0, (size_t)n * sizeof *positions);
        free(positions);
    }
    if (g->query_scale) {
        float *scale = malloc((size_t)n * sizeof *scale);
        if (!scale)
            return out_of_memory(error, "query scaling");
        for (int32_t i = 0; i < n; i++) {
            int64_t step = (first + i) / a->query_original;
            scale[i] = 1 + a->query_beta * logf(1 + (float)step);
        }
        ggml_backend_tensor_set(g->query_scale, scale, 0, (size_t)n * sizeof *scale);
        free(scale);
    }
    return set_mask(p, g, first, error);
}

/* A result's numbers, copied to `room` from a device that is not the host. */
static const float *on_host(const engine *e, const struct ggml_tensor *t, float *room)
{
    if (e->device.host)
        return t->data;
    ggml_backend_tensor_get(t, room, 0, ggml_nbytes(t));
    return room;
}

static qks_status run_chunk(pass *p, size_t document, int32_t first, int32_t n, qks_error *error)
{
    engine *e = p->e;
    float *x = p->hidden[document] + (size_t)first * (size_t)e->a->hidden;
    struct ggml_init_params how = {
        .mem_size = e->graph_bytes, .mem_buffer = e->graph_memory, .no_alloc = true};
    struct ggml_context *context = ggml_init(how);
    if (!context)
        return out_of_memory(error, "graph");
    graph_request want = {.a = e->a,
                          .layer = &p->layer,
                          .store = &p->store,
                          .host = e->device.host,
                          .pre_rope = p->task->pre_rope,
                          .only_q_k = p->last,
                          .first = first,
                          .n = n,
                          .hidden = x,
                          .attention = &e->attention};
    graph g = graph_build(context, &want);
    qks_status status = QKS_OK;
    if (!ggml_gallocr_alloc_graph(e->results, g.nodes))
        status = qks_fail(error, QKS_MEMORY, "the device has no room for a chunk of %d tokens", n);
    if (status == QKS_OK)
        status = set_inputs(p, &g, x, first, n, error);
    if (status == QKS_OK &&
        ggml_backend_graph_compute(e->device.backend, g.nodes) != GGML_STATUS_SUCCESS)
        status = qks_fail(error, QKS_INTERNAL, "ggml could not compute layer %d", p->layer.number);
    if (status == QKS_OK && p->wanted) {
        engine_rows rows = {.layer = p->layer.number,
                            .document = document,
                            .first = first,
                            .n = n,
                            .q = on_host(e, g.q, e->q),
                            .k = on_host(e, g.k, e->k)};
        status = p->visit(p->context, &rows, error);
    }
    if (status == QKS_OK && g.out && !e->device.host)
        ggml_backend_tensor_get(g.out, x, 0, ggml_nbytes(g.out));
    ggml_free(context);
    progress_add(p->task->progress, (uint64_t)n);
    return status;
}

/* ---- the loops ---- */

static qks_status run_layer(pass *p, int number, qks_error *error)
{
    engine *e = p->e;
    qks_status status = layer_load(e->weights_room, number, p->last, &p->layer, error);
    if (!p->last)
        weights_prefetch(e->w, number + 1);
    progress_note(p->task->progress, "layer %d of %d", number + 1, e->a->n_layers);
    for (size_t i = 0; status == QKS_OK && i < p->task->count; i++)
        for (int32_t first = 0; status == QKS_OK && first < p->task->documents[i].n;
             first += e->chunk) {
            int32_t left = p->task->documents[i].n - first;
            status = run_chunk(p, i, first, left < e->chunk ? left : e->chunk, error);
        }
    weights_forget(e->w, number);
    return status;
}

qks_status engine_run(engine *e, const engine_task *task, engine_visit *visit, void *context,
                      qks_error *error)
{
    pass p = {.e = e, .task = task, .visit = visit, .context = context};
    int last = -1;
    for (int i = 0; i < e->a->n_layers; i++)
        if (e->a->layers[i].kind != LAYER_SKIPPED && (!task->layers || task->layers[i]))
            last = i;
    if (last < 0)
        return qks_fail(error, QKS_INVALID, "no layer with self attention is wanted");
    qks_status status = pass_open(&p, error);
    for (int i = 0; status == QKS_OK && i <= last; i++) {
        if (e->a->layers[i].kind == LAYER_SKIPPED)
            continue;
        p.wanted = !task->layers || task->layers[i];
        p.last = i == last;
        status = run_layer(&p, i, error);
    }
    pass_close(&p);
    return status;
}
