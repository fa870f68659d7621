/* session.c: opening a checkpoint and a corpus, and bringing documents through the engine to the
 * collector, as many at once as the memory allows. */
#include "study/session.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "capture/collector.h"
#include "engine/cost.h"
#include "engine/engine.h"
#include "model/weights.h"
#include "qkscope/version.h"
#include "study/chosen.h"
#include "study/documents.h"
#include "study/source.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LENGTH_MAX = 131072,
    CALIBRATION_TOKENS = 1024,
};

struct session {
    const qks_capture_options *o;
    arena memory;
    architecture a;
    weights *w;
    engine *engine;
    documents documents;
    engine_document *inputs; /* [documents] */
    unit_info info;
    dataset_card card;
    int64_t *windows;
    bool *layers; /* [n_layers] with a head to keep */
    qks_position_options positions;
    char weights_key[WEIGHTS_KEY_SIZE];
    qks_capture_report report;
    double speed; /* operations a second, once measured */
    /* the batch at hand */
    collector *collector;
    collector_document *facts; /* [documents] */
    size_t first;              /* its first document */
};

/* ---- what is measured, as the unit files say it ---- */

static qks_status put_layers(session *c, qks_error *error)
{
    size_t layers = (size_t)c->a.n_layers;
    int *rope = arena_alloc(&c->memory, layers, sizeof *rope);
    c->windows = arena_alloc(&c->memory, layers, sizeof *c->windows);
    if (!rope || !c->windows)
        return out_of_memory(error, "layers");
    for (size_t i = 0; i < layers; i++) {
        rope[i] = c->a.layers[i].rope != NULL;
        c->windows[i] = c->a.layers[i].kind == LAYER_SLIDING ? c->a.layers[i].window : 0;
    }
    c->info.rope = rope;
    return QKS_OK;
}

/* What decided the content, so that a unit file can be told from another. */
static qks_status put_provenance(session *c, const char *path, qks_error *error)
{
    qks_status status = weights_key(c->w, c->weights_key, error);
    if (status != QKS_OK)
        return status;
    const qks_capture_options *o = c->o;
    const qks_capture_report *r = &c->report;
    json_t *facts = json_pack(
        "{s:s, s:s, s:s, s:s, s:i, s:b, s:s, s:i, s:f, s:f, s:s*,"
        " s:{s:I, s:I, s:I, s:I, s:I, s:I}}",
        "program", qks_version(), "checkpoint", path, "weights", c->weights_key, "text", o->text,
        "max_length", (int)c->positions.max_length, "pre_rope", o->pre_rope, "sampler",
        qks_sampler_name(c->positions.sampler), "bucket_size", (int)c->positions.bucket_size,
        "base_rate", c->positions.base_rate, "rope_theta", o->rope_theta, "rope_scaling",
        o->rope_scaling, "corpus", "documents", (json_int_t)r->documents, "tokens",
        (json_int_t)r->tokens, "truncated", (json_int_t)r->truncated, "too_short",
        (json_int_t)r->too_short, "empty", (json_int_t)r->empty, "not_utf8",
        (json_int_t)r->not_utf8);
    char *text = facts ? json_dumps(facts, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(facts);
    c->info.provenance = text ? arena_string(&c->memory, text) : NULL;
    free(text);
    return c->info.provenance ? QKS_OK : out_of_memory(error, "provenance");
}

/* A checkpoint's name in tables, as `init` labels it. */
static const char *name_of(const char *model, arena *a)
{
    const char *title = path_title(a, model);
    return title && ends_with(title, ".gguf")
               ? arena_copy(a, title, strlen(title) - strlen(".gguf"))
               : title;
}

static qks_status put_info(session *c, const char *model, qks_error *error)
{
    const qks_capture_options *o = c->o;
    unit_info *info = &c->info;
    info->model = o->model_name ? o->model_name : name_of(model, &c->memory);
    info->layers = c->a.n_layers;
    info->q_heads = c->a.q_heads;
    info->kv_heads = c->a.kv_heads;
    info->d = c->a.head_dim;
    info->context = c->positions.max_length;
    info->bucket_size = c->positions.bucket_size;
    info->pairs = o->pairs < 0 ? 0 : o->pairs ? (size_t)o->pairs : PAIRS_DEFAULT;
    info->n_buckets = qks_bucket_of(&c->positions, c->positions.max_length - 1) + 1;
    if (!info->model)
        return out_of_memory(error, "model name");
    if (info->n_buckets > BUCKETS_MAX)
        return qks_fail(error, QKS_USAGE, "%d buckets are more than %d; give a larger bucket",
                        info->n_buckets, BUCKETS_MAX);
    qks_status status = put_layers(c, error);
    if (status == QKS_OK)
        status = chosen_heads(&c->a, c->o, &c->memory, info, &c->layers, error);
    return status;
}

/* ---- batches of documents ---- */

static size_t memory_allowed(const session *c)
{
    if (c->o->memory)
        return c->o->memory;
    long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size / 2 : (size_t)4 << 30;
}

static size_t documents_memory(const session *c, size_t first, size_t end, bool one_pass)
{
    int64_t tokens = 0, longest = 0;
    for (size_t i = first; i < end; i++) {
        tokens += c->documents.list[i].n;
        longest = c->documents.list[i].n > longest ? c->documents.list[i].n : longest;
    }
    return engine_fixed_bytes(c->engine) + engine_document_bytes(c->engine, tokens, longest) +
           collector_bytes(&c->info, one_pass);
}

/* Do all documents of a group fit? Then its moments need not wait for further ones. */
static bool fits_at_once(const session *c, size_t first, size_t end)
{
    return documents_memory(c, first, end, true) <= memory_allowed(c);
}

/* The documents from `first` on that go through a layer together: `first` .. the result - 1. */
static size_t together_end(const session *c, size_t first, size_t end)
{
    return first + engine_together(c->engine, c->inputs + first, end - first);
}

/* As many of the documents first .. end - 1 as fit, at least those that go together. */
static size_t batch_end(const session *c, size_t first, size_t end)
{
    size_t batch = together_end(c, first, end), allowed = memory_allowed(c);
    while (batch < end) {
        size_t next = together_end(c, batch, end);
        if (documents_memory(c, first, next, false) > allowed)
            break;
        batch = next;
    }
    return batch;
}

static qks_status take_rows(void *context, const engine_rows *rows, qks_error *error)
{
    session *c = context;
    collector_rows chunk = {.document = &c->facts[c->first + rows->document],
                            .layer = rows->layer,
                            .first = rows->first,
                            .n = rows->n,
                            .q = rows->q,
                            .k = rows->k};
    return collector_add(c->collector, &chunk, error);
}

static void group_range(const session *c, int group, size_t *first, size_t *end)
{
    for (*first = 0; *first < c->documents.count && c->documents.list[*first].group < group;)
        ++*first;
    for (*end = *first; *end < c->documents.count && c->documents.list[*end].group == group;)
        ++*end;
}

static qks_status run_documents(session *c, size_t first, size_t end, bool at_once,
                                progress *progress, qks_error *error)
{
    qks_status status = QKS_OK;
    for (size_t next; status == QKS_OK && first < end; first = next) {
        next = at_once ? end : batch_end(c, first, end);
        engine_task task = {.documents = c->inputs + first,
                            .count = next - first,
                            .layers = c->layers,
                            .pre_rope = c->o->pre_rope,
                            .progress = progress};
        c->first = first;
        status = engine_run(c->engine, &task, take_rows, c, error);
    }
    return status;
}

qks_status session_run(session *c, int group, const char *unit, dataset_writer *vectors,
                       progress *progress, qks_error *error)
{
    size_t first = 0, end = 0;
    group_range(c, group, &first, &end);
    bool at_once = fits_at_once(c, first, end);
    collector_options how = {.info = &c->info,
                             .windows = c->windows,
                             .positions = c->positions,
                             .seed = (uint64_t)c->o->seed,
                             .threads = parallel_threads(c->o->threads),
                             .unit = unit,
                             .group = &c->info.groups[group],
                             .one_pass = at_once,
                             .vectors = vectors};
    qks_status status = collector_open(&c->collector, &how, error);
    if (status == QKS_OK)
        status = run_documents(c, first, end, at_once, progress, error);
    if (status == QKS_OK && unit)
        status = collector_finish(c->collector, error);
    collector_close(c->collector);
    c->collector = NULL;
    return status;
}

/* ---- opening ---- */

static qks_status put_documents(session *c, qks_error *error)
{
    documents *d = &c->documents;
    c->facts = arena_alloc(&c->memory, d->count, sizeof *c->facts);
    c->inputs = arena_alloc(&c->memory, d->count, sizeof *c->inputs);
    c->info.groups = arena_alloc(&c->memory, (size_t)d->n_groups, sizeof *c->info.groups);
    if (!c->facts || !c->inputs || !c->info.groups)
        return out_of_memory(error, "documents");
    c->info.n_groups = (size_t)d->n_groups;
    c->info.samples = (SAMPLES_WHOLE + c->info.n_groups - 1) / c->info.n_groups;
    if (c->info.samples < SAMPLES_UNIT_LEAST)
        c->info.samples = SAMPLES_UNIT_LEAST;
    c->report = (qks_capture_report){.documents = d->counts.documents,
                                     .tokens = d->counts.tokens,
                                     .truncated = d->counts.truncated,
                                     .too_short = d->counts.too_short,
                                     .not_utf8 = d->counts.not_utf8,
                                     .empty = d->counts.empty,
                                     .max_length = c->positions.max_length,
                                     .context = c->a.max_positions};
    for (size_t i = d->count; i-- > 0;) {
        const document *from = &d->list[i];
        c->facts[i] = (collector_document){
            .example_id = from->example_id, .name = from->name, .n = from->n};
        c->inputs[i] = (engine_document){from->ids, from->n};
        unit_group *g = &c->info.groups[from->group];
        g->id = (int32_t)from->example_id; /* in the end that of its first, as datasets store it */
        g->documents++;
        g->tokens += from->n;
        c->report.beyond_context += c->a.max_positions > 0 && from->n > c->a.max_positions;
    }
    return QKS_OK;
}

static void put_counts(session *c)
{
    for (size_t i = 0; i < c->info.n_sides; i++)
        *(c->info.sides[i].kind == 'q' ? &c->report.query_heads : &c->report.key_heads) += 1;
    c->card = (dataset_card){.model = c->info.model,
                             .sampler = qks_sampler_name(c->positions.sampler),
                             .bucket_size = c->positions.bucket_size,
                             .context = c->info.context,
                             .layers = c->a.n_layers,
                             .q_heads = c->a.q_heads,
                             .kv_heads = c->a.kv_heads};
}

static qks_status open_all(session *c, const char *model, qks_error *error)
{
    const qks_capture_options *o = c->o;
    const char *path = NULL;
    rope_override turned = {.theta = o->rope_theta, .scaling = o->rope_scaling};
    qks_status status = model_find(model, &c->memory, &path, error);
    if (status == QKS_OK)
        status = weights_open(&c->w, &c->a, path, &turned, error);
    if (status != QKS_OK)
        return status;
    if (o->max_length == 1)
        return qks_fail(error, QKS_USAGE,
                        "a maximum length of 1 leaves no document: position needs "
                        "2 tokens at least");
    int64_t context = c->a.max_positions;
    c->positions = (qks_position_options){.sampler = o->sampler,
                                          .bucket_size = o->bucket,
                                          .base_rate = o->rate,
                                          .max_length = o->max_length ? o->max_length
                                                        : context > 0 && context < LENGTH_MAX
                                                            ? (int32_t)context
                                                            : LENGTH_MAX};
    status = qks_position_options_resolve(&c->positions, error);
    if (status == QKS_OK)
        status = put_info(c, model, error);
    if (status == QKS_OK)
        status = documents_load(&c->documents, path, o, c->positions.max_length, error);
    if (status == QKS_OK)
        status = put_documents(c, error);
    if (status == QKS_OK)
        status = put_provenance(c, path, error);
    engine_options how = {.backend = o->backend, .threads = o->threads, .chunk = o->chunk};
    if (status == QKS_OK)
        status = engine_open(&c->engine, &c->a, c->w, &how, error);
    if (status == QKS_OK)
        put_counts(c);
    return status;
}

qks_status session_open(session **out, const char *model, const qks_capture_options *options,
                        qks_error *error)
{
    session *c = NULL;
    if (!options->text)
        return qks_fail(error, QKS_USAGE, "no text was given");
    qks_status status = memory_zeroed(&c, 1, sizeof *c, error);
    if (status != QKS_OK)
        return status;
    c->o = options;
    status = open_all(c, model, error);
    if (status != QKS_OK)
        session_close(c);
    else
        *out = c;
    return status;
}

void session_close(session *c)
{
    if (!c)
        return;
    collector_close(c->collector);
    engine_close(c->engine);
    weights_close(c->w);
    architecture_close(&c->a);
    documents_free(&c->documents);
    arena_free(&c->memory);
    free(c);
}

const unit_info *session_info(const session *c)
{
    return &c->info;
}

const dataset_card *session_card(const session *c)
{
    return &c->card;
}

const qks_capture_report *session_report(const session *c)
{
    return &c->report;
}

uint64_t session_work(const session *c, int group)
{
    uint64_t layers = 0;
    int last = 0;
    for (int i = 0; i < c->a.n_layers; i++)
        last = c->layers[i] ? i : last;
    for (int i = 0; i <= last; i++)
        layers += c->a.layers[i].kind != LAYER_SKIPPED;
    return (uint64_t)c->info.groups[group].tokens * layers;
}

/* ---- how long it will take ---- */

static qks_status pass_by(void *context, const engine_rows *rows, qks_error *error)
{
    (void)context;
    (void)rows;
    (void)error;
    return QKS_OK;
}

/* One whole layer and the queries and keys of the next, over a stretch of the first document: once
 * to bring the weights into memory, once by the clock. */
qks_status session_calibrate(session *c, qks_error *error)
{
    engine_document stretch = c->inputs[0];
    stretch.n = stretch.n < CALIBRATION_TOKENS ? stretch.n : CALIBRATION_TOKENS;
    bool *two = arena_alloc(&c->memory, (size_t)c->a.n_layers, sizeof *two);
    if (!two)
        return out_of_memory(error, "layers");
    for (int i = 0, met = 0; i < c->a.n_layers && met < 2; i++)
        if (c->a.layers[i].kind != LAYER_SKIPPED)
            two[i] = ++met;
    engine_task task = {.documents = &stretch, .count = 1, .layers = two};
    qks_status status = engine_run(c->engine, &task, pass_by, NULL, error);
    double start = clock_seconds();
    if (status == QKS_OK)
        status = engine_run(c->engine, &task, pass_by, NULL, error);
    double seconds = clock_seconds() - start;
    c->speed = engine_cost(&c->a, two, stretch.n) / (seconds > 0 ? seconds : 1e-9);
    return status;
}

double session_seconds(const session *c, int group)
{
    size_t first = 0, end = 0;
    double cost = 0;
    group_range(c, group, &first, &end);
    for (size_t i = first; i < end; i++)
        cost += engine_cost(&c->a, c->layers, c->documents.list[i].n);
    return c->speed > 0 ? cost / c->speed : 0;
}

size_t session_memory(const session *c)
{
    size_t most = 0;
    for (int group = 0; group < (int)c->info.n_groups; group++) {
        size_t first = 0, end = 0;
        group_range(c, group, &first, &end);
        bool at_once = fits_at_once(c, first, end);
        for (size_t next; first < end; first = next) {
            next = at_once ? end : batch_end(c, first, end);
            size_t need = documents_memory(c, first, next, at_once);
            most = need > most ? need : most;
        }
    }
    return most;
}

void session_key(const session *c, int group, char key[UNIT_KEY_SIZE])
{
    unsigned char digest[(UNIT_KEY_SIZE - 1) / 2];
    size_t first = 0, end = 0;
    const uint64_t numbers[] = {UNIT_VERSION,
                                (uint64_t)c->info.pairs,
                                (uint64_t)c->info.samples,
                                (uint64_t)c->o->seed,
                                (uint64_t)c->info.context,
                                (uint64_t)c->info.bucket_size,
                                (uint64_t)c->positions.sampler,
                                (uint64_t)c->o->pre_rope};
    hash h;
    hash_start(&h, sizeof digest);
    hash_add(&h, numbers, sizeof numbers);
    hash_add_string(&h, qks_version());
    hash_add_string(&h, c->info.model);
    hash_add_string(&h, c->weights_key);
    hash_add_string(&h, c->o->rope_scaling ? c->o->rope_scaling : "");
    hash_add(&h, &c->o->rope_theta, sizeof c->o->rope_theta);
    hash_add(&h, &c->positions.base_rate, sizeof c->positions.base_rate);
    for (size_t i = 0; i < c->info.n_sides; i++) {
        const int32_t side[] = {c->info.sides[i].layer, c->info.sides[i].head,
                                c->info.sides[i].kind};
        hash_add(&h, side, sizeof side);
    }
    group_range(c, group, &first, &end);
    for (size_t i = first; i < end; i++) {
        const document *d = &c->documents.list[i];
        hash_add(&h, &d->example_id, sizeof d->example_id);
        hash_add(&h, d->ids, (size_t)d->n * sizeof *d->ids);
        hash_add(&h, &d->n, sizeof d->n);
    }
    hash_end(&h, digest);
    hex_of(digest, sizeof digest, key);
}
