/* engine.c: the loops: layers, documents, chunks. */
#include "engine/engine.h"

#include "engine/chunk.h"
#include "engine/graph.h"
#include "engine/turning.h"
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
    turning turning; /* of another device; the cpu backend turns by itself */
    /* one chunk's graph */
    ggml_gallocr_t results;
    void *graph_memory;
    size_t graph_bytes;
    attention_facts attention;
    attention_block *blocks; /* [chunk] */
    float *q, *k; /* [chunk, heads * head_dim] copied from another device; the cpu's NULL */
};

/* One engine_run. */
typedef struct pass {
    engine *e;
    const engine_task *task;
    engine_visit *visit;
    void *context;
    float *hidden;  /* [tokens, hidden] of all documents, one after the other */
    size_t *starts; /* [documents] first row of each */
    struct ggml_context *store_context;
    ggml_backend_buffer_t store_buffer;
    graph_store store;
    layer layer;
    bool wanted, last; /* of the layer at work */
    float *mask;
    size_t mask_floats;
} pass;

/* ---- opening ---- */

static qks_status open_rooms(engine *e, qks_error *error)
{
    const architecture *a = e->a;
    size_t d = (size_t)a->head_dim, chunk = (size_t)e->chunk;
    qks_status status = layer_room_open(&e->weights_room, a, e->w, &e->device, error);
    bool elsewhere = !e->device.host;
    if (status == QKS_OK && elsewhere)
        status = turning_open(&e->turning, a, &e->device, error);
    if (status == QKS_OK && elsewhere)
        status = memory_zeroed(&e->q, chunk * d * (size_t)a->q_heads, sizeof(float), error);
    if (status == QKS_OK && elsewhere)
        status = memory_zeroed(&e->k, chunk * d * (size_t)a->kv_heads, sizeof(float), error);
    if (status == QKS_OK && e->device.host)
        status = memory_zeroed(&e->attention.scratch,
                               (size_t)e->device.threads * attention_scratch(a->head_dim),
                               sizeof(float), error);
    if (status == QKS_OK)
        status = memory_zeroed(&e->blocks, chunk, sizeof *e->blocks, error);
    e->attention.blocks = e->blocks;
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
    turning_close(&e->turning);
    if (e->results)
        ggml_gallocr_free(e->results);
    free(e->attention.scratch);
    free(e->blocks);
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

size_t engine_together(const engine *e, const engine_document *documents, size_t count)
{
    return chunk_together(documents, count, e->chunk);
}

/* Places for keys and values: those of the longest document, or of those that share a chunk. */
static int64_t places(const engine *e, int64_t tokens, int64_t longest)
{
    int64_t together = tokens < e->chunk ? tokens : e->chunk;
    return longest > together ? longest : together;
}

size_t engine_document_bytes(const engine *e, int64_t tokens, int64_t longest)
{
    const architecture *a = e->a;
    size_t kept = 2 * (size_t)a->kv_heads * (size_t)a->head_dim;
    return ((size_t)tokens * (size_t)a->hidden + (size_t)places(e, tokens, longest) * kept) *
           sizeof(float);
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

static qks_status open_store(pass *p, int64_t n, qks_error *error)
{
    const architecture *a = p->e->a;
    struct ggml_init_params how = {.mem_size = 3 * ggml_tensor_overhead(), .no_alloc = true};
    p->store_context = ggml_init(how);
    if (!p->store_context)
        return out_of_memory(error, "keys and values");
    const int64_t shape[] = {a->head_dim, n, a->kv_heads};
    p->store.keys = ggml_new_tensor(p->store_context, GGML_TYPE_F32, 3, shape);
    p->store.values = ggml_new_tensor(p->store_context, GGML_TYPE_F32, 3, shape);
    p->store.frequencies = p->e->turning.frequencies;
    p->store_buffer = ggml_backend_alloc_ctx_tensors(p->store_context, p->e->device.backend);
    return p->store_buffer ? QKS_OK : out_of_memory(error, "keys and values on the device");
}

static qks_status pass_open(pass *p, qks_error *error)
{
    const engine_task *task = p->task;
    size_t tokens = 0, hidden = (size_t)p->e->a->hidden;
    int32_t longest = 1;
    qks_status status = memory_zeroed(&p->starts, task->count, sizeof *p->starts, error);
    for (size_t i = 0; status == QKS_OK && i < task->count; i++) {
        p->starts[i] = tokens;
        tokens += (size_t)task->documents[i].n;
        longest = task->documents[i].n > longest ? task->documents[i].n : longest;
    }
    if (status == QKS_OK)
        status = memory_zeroed(&p->hidden, tokens * hidden, sizeof *p->hidden, error);
    for (size_t i = 0; status == QKS_OK && i < task->count; i++)
        status = embed(p->e, &task->documents[i], i, p->hidden + p->starts[i] * hidden, error);
    if (status != QKS_OK)
        return status;
    const weight *embedding = weights_embedding(p->e->w);
    mapping_forget(embedding->data, (size_t)embedding->rows * embedding->row_bytes);
    return open_store(p, places(p->e, (int64_t)tokens, longest), error);
}

static void pass_close(pass *p)
{
    free(p->hidden);
    free(p->starts);
    free(p->mask);
    if (p->store_buffer)
        ggml_backend_buffer_free(p->store_buffer);
    if (p->store_context)
        ggml_free(p->store_context);
}

/* ---- one chunk ---- */

/* Whether the query at a position sees the key at a place of the store. */
static bool sees(const pass *p, const attention_block *block, int64_t position, int64_t place)
{
    const layer_facts *facts = &p->e->a->layers[p->layer.number];
    int64_t back = position - (place - block->key);
    return place >= block->key && back >= 0 &&
           (facts->kind != LAYER_SLIDING || back < facts->window);
}

static qks_status set_mask(pass *p, const graph *g, qks_error *error)
{
    if (!g->mask)
        return QKS_OK;
    int64_t keys = g->mask->ne[0];
    size_t floats = (size_t)(keys * g->mask->ne[1]);
    if (floats > p->mask_floats) {
        free(p->mask);
        p->mask = NULL;
        p->mask_floats = 0;
        qks_status status = memory_zeroed(&p->mask, floats, sizeof(float), error);
        if (status != QKS_OK)
            return status;
        p->mask_floats = floats;
    }
    float *to = p->mask;
    for (int64_t b = 0; b < p->e->attention.n_blocks; b++) {
        const attention_block *block = &p->e->blocks[b];
        for (int64_t i = 0; i < block->n; i++)
            for (int64_t j = 0; j < keys; j++)
                *to++ = sees(p, block, block->position + i, g->first_key + j) ? 0 : -INFINITY;
    }
    ggml_backend_tensor_set(g->mask, p->mask, 0, floats * sizeof(float));
    return QKS_OK;
}

/* What depends on positions alone: they themselves, and the factors of Ministral's queries. */
static void set_positions(const pass *p, const graph *g)
{
    const architecture *a = p->e->a;
    for (int64_t b = 0; b < p->e->attention.n_blocks; b++) {
        const attention_block *block = &p->e->blocks[b];
        int32_t positions[ATTENTION_QUERIES];
        float scale[ATTENTION_QUERIES];
        for (int64_t i = 0; i < block->n; i++) {
            positions[i] = (int32_t)(block->position + i);
            if (g->query_scale) {
                int64_t times = positions[i] / a->query_original; /* whole ones */
                scale[i] = 1 + a->query_beta * logf(1 + (float)times);
            }
        }
        size_t row = (size_t)block->row, n = (size_t)block->n;
        if (g->positions)
            ggml_backend_tensor_set(g->positions, positions, row * sizeof *positions,
                                    n * sizeof *positions);
        if (g->query_scale)
            ggml_backend_tensor_set(g->query_scale, scale, row * sizeof *scale, n * sizeof *scale);
    }
}

/* A result's numbers, copied to `room` from a device that is not the host. */
static const float *on_host(const engine *e, const struct ggml_tensor *t, float *room)
{
    if (e->device.host)
        return t->data;
    ggml_backend_tensor_get(t, room, 0, ggml_nbytes(t));
    return room;
}

static qks_status visit_documents(const pass *p, const chunk *c, const graph *g, qks_error *error)
{
    const engine *e = p->e;
    size_t d = (size_t)e->a->head_dim, row = 0;
    const float *q = on_host(e, g->q, e->q), *k = on_host(e, g->k, e->k);
    qks_status status = QKS_OK;
    for (size_t i = c->document; status == QKS_OK && i < c->end; i++) {
        engine_rows rows = {.layer = p->layer.number,
                            .document = i,
                            .q = q + row * d * (size_t)e->a->q_heads,
                            .k = k + row * d * (size_t)e->a->kv_heads};
        rows.n = chunk_part(c, p->task, i, &rows.first);
        status = p->visit(p->context, &rows, error);
        row += (size_t)rows.n;
    }
    return status;
}

static qks_status run_chunk(pass *p, const chunk *c, qks_error *error)
{
    engine *e = p->e;
    float *x = p->hidden + (p->starts[c->document] + (size_t)c->first) * (size_t)e->a->hidden;
    struct ggml_init_params how = {
        .mem_size = e->graph_bytes, .mem_buffer = e->graph_memory, .no_alloc = true};
    struct ggml_context *context = ggml_init(how);
    if (!context)
        return out_of_memory(error, "graph");
    e->attention.n_blocks = chunk_blocks(c, p->task, e->blocks);
    graph_request want = {.a = e->a,
                          .layer = &p->layer,
                          .store = &p->store,
                          .host = e->device.host,
                          .pre_rope = p->task->pre_rope,
                          .only_q_k = p->last,
                          .place = c->first,
                          .n = c->n,
                          .hidden = x,
                          .attention = &e->attention};
    graph g = graph_build(context, &want);
    qks_status status = QKS_OK;
    if (!ggml_gallocr_alloc_graph(e->results, g.nodes))
        status = qks_fail(error, QKS_MEMORY, "the device has no room for a chunk of %d tokens",
                          c->n);
    if (status == QKS_OK) {
        if (!e->device.host)
            ggml_backend_tensor_set(g.x, x, 0, ggml_nbytes(g.x));
        set_positions(p, &g);
        status = set_mask(p, &g, error);
    }
    if (status == QKS_OK &&
        ggml_backend_graph_compute(e->device.backend, g.nodes) != GGML_STATUS_SUCCESS)
        status = qks_fail(error, QKS_INTERNAL, "ggml could not compute layer %d", p->layer.number);
    if (status == QKS_OK && p->wanted)
        status = visit_documents(p, c, &g, error);
    if (status == QKS_OK && g.out && !e->device.host)
        ggml_backend_tensor_get(g.out, x, 0, ggml_nbytes(g.out));
    ggml_free(context);
    progress_add(p->task->progress, (uint64_t)c->n);
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
    size_t document = 0;
    for (int32_t first = 0; status == QKS_OK && document < p->task->count;) {
        chunk c = chunk_at(p->task, document, first, e->chunk);
        status = run_chunk(p, &c, error);
        first += c.n;
        if (first >= p->task->documents[document].n) {
            document = c.end;
            first = 0;
        }
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
