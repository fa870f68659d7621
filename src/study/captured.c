/* captured.c: what was captured, head by head: include/qkscope/captured.h over a source. */
#include "study/captured.h"

#include "analysis/numbers.h"
#include "model/shape.h"

#include <stdlib.h>

/* ---- opening ---- */

static qks_status take_shape(qks_captured *c, const qks_analyze_options *o, source_options *how,
                             model_shape *shape, qks_error *error)
{
    if (o->shape && o->config)
        return qks_fail(error, QKS_USAGE, "a shape and a config were given; one is enough");
    if (!o->shape && !o->config)
        return QKS_OK;
    how->shape = shape;
    return o->shape ? shape_parse(shape, o->shape, error)
                    : shape_read(shape, o->config, &c->memory, error);
}

static qks_status open_source(qks_captured *c, const char *path, const qks_analyze_options *o,
                              qks_error *error)
{
    model_shape shape = {0};
    source_options how = {
        .context = o->context, .bucket = o->bucket, .groups = o->groups, .pairs = PAIRS_NONE};
    how.model = o->model ? arena_string(&c->memory, o->model) : NULL;
    if (o->model && !how.model)
        return out_of_memory(error, "model name");
    qks_status status = take_shape(c, o, &how, &shape, error);
    if (status == QKS_OK)
        status = store_open(&c->store, 1, error);
    if (status == QKS_OK)
        status = sources_open(&c->sources, &c->n_sources, c->store, &path, 1, &how, error);
    if (status == QKS_OK && c->n_sources != 1)
        status = qks_fail(error, QKS_INVALID,
                          "'%s' holds %zu models; open the folder or the unit file of one", path,
                          c->n_sources);
    return status;
}

/* The captured heads of one kind; NULL when out of memory. */
static const qks_head *heads_of(qks_captured *c, char kind, size_t *count)
{
    const unit_info *info = source_info(c->sources[0]);
    qks_head *heads = arena_alloc(&c->memory, info->n_sides + 1, sizeof *heads);
    for (size_t i = 0; heads && i < info->n_sides; i++)
        if (info->sides[i].kind == kind)
            heads[(*count)++] = (qks_head){info->sides[i].layer, info->sides[i].head};
    return heads;
}

static qks_status put_facts(qks_captured *c, qks_error *error)
{
    const unit_info *info = source_info(c->sources[0]);
    qks_captured_facts *f = &c->facts;
    *f = (qks_captured_facts){.model = info->model,
                              .layers = info->layers,
                              .q_heads = info->q_heads,
                              .kv_heads = info->kv_heads,
                              .dimension = info->d,
                              .groups = info->n_groups};
    f->queries = heads_of(c, 'q', &f->n_queries);
    f->keys = heads_of(c, 'k', &f->n_keys);
    return f->queries && f->keys ? QKS_OK : out_of_memory(error, "heads");
}

qks_status qks_captured_open(qks_captured **out, const char *path,
                             const qks_analyze_options *options, qks_error *error)
{
    static const qks_analyze_options defaults = {0};
    qks_captured *c = NULL;
    *out = NULL;
    qks_status status = memory_zeroed(&c, 1, sizeof *c, error);
    if (status != QKS_OK)
        return status;
    status = open_source(c, path, options ? options : &defaults, error);
    if (status == QKS_OK)
        status = put_facts(c, error);
    if (status != QKS_OK) {
        qks_captured_close(c);
        return status;
    }
    *out = c;
    return QKS_OK;
}

void qks_captured_close(qks_captured *c)
{
    if (!c)
        return;
    sources_close(c->sources, c->n_sources);
    store_close(c->store);
    arena_free(&c->memory);
    free(c);
}

const qks_captured_facts *qks_captured_facts_of(const qks_captured *c)
{
    return &c->facts;
}

/* ---- one head ---- */

/* A side with its moments. The caller closes it, also when this fails. */
static qks_status load_side(const qks_captured *c, char kind, qks_head head, side *into,
                            qks_error *error)
{
    const source *s = c->sources[0];
    side_id id = {.layer = head.layer, .head = head.head, .kind = kind};
    ptrdiff_t number = unit_find(source_info(s), id);
    if (number < 0)
        return qks_fail(error, QKS_MISSING,
                        "the %s of layer %d, head %d of model '%s' were not captured",
                        kind == 'k' ? "keys" : "queries", head.layer, head.head, c->facts.model);
    qks_status status = source_side(s, kind, into, error);
    return status == QKS_OK ? source_load(s, 0, (size_t)number, into, error) : status;
}

qks_status qks_captured_moments(const qks_captured *c, char kind, qks_head head, qks_moments *into,
                                qks_error *error)
{
    side loaded = {0};
    qks_status status = load_side(c, kind, head, &loaded, error);
    for (int g = 0; status == QKS_OK && g < loaded.n_groups; g++)
        status = qks_moments_merge(into, loaded.groups[g], error);
    side_close(&loaded);
    return status;
}

qks_status qks_captured_head(const qks_captured *c, qks_head head, int components,
                             qks_head_numbers **out, qks_error *error)
{
    const unit_info *info = source_info(c->sources[0]);
    qks_head keys = {head.layer, head.head / (info->q_heads / info->kv_heads)};
    side q = {0}, k = {0};
    *out = NULL;
    qks_status status = load_side(c, 'q', head, &q, error);
    if (status == QKS_OK)
        status = load_side(c, 'k', keys, &k, error);
    if (status == QKS_OK) {
        int rope = info->rope ? info->rope[head.layer] : -1;
        qks_head_row id = {.model = info->model,
                           .layer = head.layer,
                           .head = head.head,
                           .k_head = keys.head,
                           .rope = rope < 0 ? QKS_BLANK : rope};
        status = numbers_of(&id, q.groups, k.groups, q.n_groups, components, out, error);
    }
    side_close(&q);
    side_close(&k);
    return status;
}
