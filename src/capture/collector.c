/* collector.c: chunks of queries and keys into moments, samples and vectors. */
#include "capture/collector.h"

#include "base/numbers.h"
#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The keys of the document, layer and bucket at hand, until the bucket is full. */
typedef struct cell {
    float *keys; /* [capacity, d] */
    uint32_t n;
    size_t capacity;
} cell;

struct collector {
    collector_options o;
    /* the unit file */
    unit_info unit; /* o.info with o.group as its only group */
    unit_group group;
    unit_writer *writer; /* NULL: moments are not kept */
    side *sides;         /* [n_sides], open from a layer's first rows to the record in the file */
    size_t written;      /* how many are in the file */
    cell *cells;         /* [kv_heads] of the layer at hand */
    /* the document and layer at hand */
    const collector_document *document;
    int layer;
    int32_t *kept[2];        /* positions kept of queries and of keys */
    size_t n_kept[2], at[2]; /* how many; the first not yet seen */
    int32_t bucket;          /* of the cells */
    /* the chunk at hand */
    uint32_t *pick[2];    /* rows kept */
    int32_t *position[2]; /* and their positions, by row of the chunk */
    size_t n_pick[2];
    size_t room;
};

enum { QUERIES, KEYS };

static qks_status open_unit(collector *c, qks_error *error)
{
    c->group = *c->o.group;
    c->unit = *c->o.info;
    c->unit.groups = &c->group;
    c->unit.n_groups = 1;
    qks_status status = memory_zeroed(&c->sides, c->unit.n_sides, sizeof *c->sides, error);
    return status == QKS_OK ? unit_create(&c->writer, c->o.unit, &c->unit, error) : status;
}

qks_status collector_open(collector **out, const collector_options *options, qks_error *error)
{
    collector *c = NULL;
    qks_status status = memory_zeroed(&c, 1, sizeof *c, error);
    if (status != QKS_OK)
        return status;
    c->o = *options;
    c->layer = -1;
    status = memory_zeroed(&c->cells, (size_t)options->info->kv_heads, sizeof *c->cells, error);
    if (status == QKS_OK && options->unit)
        status = open_unit(c, error);
    if (status != QKS_OK)
        collector_close(c);
    else
        *out = c;
    return status;
}

void collector_close(collector *c)
{
    if (!c)
        return;
    unit_discard(c->writer);
    for (size_t i = 0; c->sides && i < c->unit.n_sides; i++)
        side_close(&c->sides[i]);
    free(c->sides);
    for (int h = 0; c->cells && h < c->o.info->kv_heads; h++)
        free(c->cells[h].keys);
    free(c->cells);
    for (int kind = 0; kind < 2; kind++) {
        free(c->kept[kind]);
        free(c->pick[kind]);
        free(c->position[kind]);
    }
    free(c);
}

/* Sides of the layer that has the most. */
static size_t widest(const unit_info *info)
{
    size_t most = 0;
    for (size_t i = 0, first = 0; i < info->n_sides; i++) {
        if (info->sides[i].layer != info->sides[first].layer)
            first = i;
        most = i + 1 - first > most ? i + 1 - first : most;
    }
    return most;
}

size_t collector_bytes(const unit_info *info, bool one_pass)
{
    size_t d = (size_t)info->d, moments_bytes = (d + 1) * (d + 9) * sizeof(double);
    size_t pair_bytes = (size_t)info->n_buckets * info->pairs *
                        (d * sizeof(float) + sizeof(double));
    size_t sample_bytes = info->samples * ((d + 1) * sizeof(float) + sizeof(double));
    return (one_pass ? widest(info) : info->n_sides) *
           (moments_bytes + pair_bytes / 2 + sample_bytes);
}

static int64_t window_of(const collector *c, int layer)
{
    return c->o.windows ? c->o.windows[layer] : 0;
}

/* ---- sides ---- */

static qks_status open_side(collector *c, size_t number, qks_error *error)
{
    const unit_info *info = &c->unit;
    side *s = &c->sides[number];
    const side_id *id = &info->sides[number];
    if (s->d)
        return QKS_OK;
    qks_status status = side_open(s, info->d, 1, info->n_buckets, id->kind == 'k' ? info->pairs : 0,
                                  error);
    if (status == QKS_OK)
        status = side_sample_open(s, info->samples, error);
    s->window = window_of(c, id->layer);
    return status;
}

/* Records up to side `end`, whose rows have all been seen. */
static qks_status write_sides(collector *c, size_t end, qks_error *error)
{
    qks_status status = QKS_OK;
    for (; status == QKS_OK && c->written < end; c->written++) {
        status = open_side(c, c->written, error); /* one that saw no rows is empty */
        if (status == QKS_OK)
            status = unit_put(c->writer, &c->sides[c->written], error);
        side_close(&c->sides[c->written]);
    }
    return status;
}

/* The sides of a layer: *first .. *end - 1. */
static void sides_of(const unit_info *info, int layer, size_t *first, size_t *end)
{
    for (*first = 0; *first < info->n_sides && info->sides[*first].layer < layer;)
        ++*first;
    for (*end = *first; *end < info->n_sides && info->sides[*end].layer == layer;)
        ++*end;
}

static qks_status begin_layer(collector *c, int layer, qks_error *error)
{
    size_t first = 0, end = 0;
    sides_of(&c->unit, layer, &first, &end);
    qks_status status = c->o.one_pass ? write_sides(c, first, error) : QKS_OK;
    for (size_t i = first; status == QKS_OK && i < end; i++)
        status = open_side(c, i, error);
    return status;
}

/* ---- the document and layer at hand ---- */

static qks_status draw_pairs(collector *c, qks_error *error)
{
    const unit_info *info = c->o.info;
    if (!c->document)
        return QKS_OK;
    for (int h = 0; h < info->kv_heads; h++) {
        cell *now = &c->cells[h];
        ptrdiff_t number = unit_find(info, (side_id){.layer = c->layer, .head = h, .kind = 'k'});
        if (now->n > 1 && number >= 0) {
            uint64_t seed = pair_seed(c->o.seed, c->document->example_id, c->layer, h, c->bucket);
            qks_status status = pair_reservoir_add(&c->sides[number].pairs[c->bucket], seed, now->n,
                                                   now->keys, error);
            if (status != QKS_OK)
                return status;
        }
        now->n = 0;
    }
    return QKS_OK;
}

static qks_status begin(collector *c, const collector_rows *rows, qks_error *error)
{
    qks_status status = c->writer && rows->layer != c->layer ? begin_layer(c, rows->layer, error)
                                                             : QKS_OK;
    if (status != QKS_OK)
        return status;
    c->document = rows->document;
    c->layer = rows->layer;
    c->bucket = 0;
    for (int kind = 0; kind < 2; kind++) {
        free(c->kept[kind]);
        c->kept[kind] = NULL;
        c->n_kept[kind] = c->at[kind] = 0;
        if (c->o.positions.sampler == QKS_SAMPLE_ALL)
            continue;
        qks_mask_of of = {.example_id = rows->document->example_id,
                          .layer = rows->layer,
                          .kind = kind == KEYS ? 'k' : 'q'};
        size_t n = (size_t)rows->document->n;
        status = memory_zeroed(&c->kept[kind], n, sizeof *c->kept[kind], error);
        if (status == QKS_OK)
            status = qks_draw_positions(&c->o.positions, of, n, c->kept[kind], &c->n_kept[kind],
                                        error);
        if (status != QKS_OK)
            return status;
    }
    return QKS_OK;
}

/* Which rows of the chunk are kept. */
static qks_status choose(collector *c, const collector_rows *rows, qks_error *error)
{
    size_t n = (size_t)rows->n;
    for (int kind = 0; kind < 2; kind++) {
        if (n > c->room) {
            free(c->pick[kind]);
            free(c->position[kind]);
            c->pick[kind] = NULL;
            c->position[kind] = NULL;
            qks_status status = memory_zeroed(&c->pick[kind], n, sizeof *c->pick[kind], error);
            if (status == QKS_OK)
                status = memory_zeroed(&c->position[kind], n, sizeof *c->position[kind], error);
            if (status != QKS_OK)
                return status;
        }
        c->n_pick[kind] = 0;
        for (size_t i = 0; i < n; i++) {
            int32_t position = rows->first + (int32_t)i;
            c->position[kind][i] = position;
            bool all = c->o.positions.sampler == QKS_SAMPLE_ALL;
            bool kept = all ||
                        (c->at[kind] < c->n_kept[kind] && c->kept[kind][c->at[kind]] == position);
            c->at[kind] += kept && !all;
            if (kept)
                c->pick[kind][c->n_pick[kind]++] = (uint32_t)i;
        }
    }
    c->room = n > c->room ? n : c->room;
    return QKS_OK;
}

/* ---- one side ---- */

typedef struct adding {
    collector *c;
    const collector_rows *rows;
    size_t first; /* side number of the layer's first */
} adding;

static const float *values_of(const collector *c, const collector_rows *rows, const side_id *id,
                              size_t *stride)
{
    bool key = id->kind == 'k';
    size_t d = (size_t)c->o.info->d;
    *stride = d * (size_t)(key ? c->o.info->kv_heads : c->o.info->q_heads);
    return (key ? rows->k : rows->q) + (size_t)id->head * d;
}

static qks_status check_finite(const collector *c, const collector_rows *rows, const side_id *id,
                               qks_error *error)
{
    size_t stride = 0, d = (size_t)c->o.info->d;
    const float *x = values_of(c, rows, id, &stride);
    for (int32_t i = 0; i < rows->n; i++, x += stride) {
        if (!all_finite(x, d))
            return qks_fail(error, QKS_INVALID,
                            "NaN or infinity in layer %d, %s head %d, document '%s', token %d",
                            id->layer, id->kind == 'k' ? "key" : "query", id->head,
                            rows->document->name, rows->first + i);
    }
    return QKS_OK;
}

/* Offers rows to the side's sample; after the first few documents hardly any is taken. */
static qks_status sample_side(side *s, uint64_t seed, const moments_rows *part, qks_error *error)
{
    pair_draws noted = {0};
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < part->n; i++) {
        uint32_t row = part->pick[i];
        status = side_sample_note(s, seed, part->position[row], row, &noted, error);
    }
    if (status == QKS_OK)
        side_sample_take(s, &noted, part);
    free(noted.data);
    return status;
}

static qks_status add_side(void *context, size_t index, int thread, qks_error *error)
{
    (void)thread;
    const adding *job = context;
    collector *c = job->c;
    size_t number = job->first + index, stride = 0;
    const side_id *id = &c->o.info->sides[number];
    int kind = id->kind == 'k' ? KEYS : QUERIES;
    qks_status status = check_finite(c, job->rows, id, error);
    if (status != QKS_OK || !c->writer || c->n_pick[kind] == 0)
        return status;
    side *s = &c->sides[number];
    const float *x = values_of(c, job->rows, id, &stride);
    moments_rows part = {.n = c->n_pick[kind],
                         .f32 = x,
                         .position = c->position[kind],
                         .pick = c->pick[kind],
                         .stride = stride,
                         .finite = true};
    for (size_t i = 0; s->n_buckets && i < part.n; i++) {
        uint32_t row = part.pick[i];
        side_count(s, qks_bucket_of(&c->o.positions, c->position[kind][row]),
                   c->position[kind][row], x[row * stride]);
    }
    if (s->sample.capacity) {
        uint64_t seed = side_sample_seed(c->o.seed, job->rows->document->example_id, *id);
        status = sample_side(s, seed, &part, error);
    }
    return status == QKS_OK ? moments_add(s->groups[0], &part, error) : status;
}

/* ---- cells ---- */

static qks_status fill_cells(collector *c, const collector_rows *rows, qks_error *error)
{
    const unit_info *info = c->o.info;
    size_t d = (size_t)info->d, stride = d * (size_t)info->kv_heads;
    for (size_t i = 0; i < c->n_pick[KEYS]; i++) {
        uint32_t row = c->pick[KEYS][i];
        int32_t bucket = qks_bucket_of(&c->o.positions, rows->first + (int32_t)row);
        qks_status status = bucket != c->bucket ? draw_pairs(c, error) : QKS_OK;
        c->bucket = bucket;
        for (int h = 0; status == QKS_OK && h < info->kv_heads; h++) {
            cell *now = &c->cells[h];
            status = array_reserve_bytes((void *)&now->keys, &now->capacity, now->n * d, d,
                                         sizeof *now->keys, error);
            if (status == QKS_OK)
                memcpy(now->keys + now->n++ * d, rows->k + row * stride + (size_t)h * d,
                       d * sizeof *now->keys);
        }
        if (status != QKS_OK)
            return status;
    }
    return QKS_OK;
}

/* ---- vectors ---- */

static qks_status keep_vectors(collector *c, const collector_rows *rows, const side_id *id,
                               qks_error *error)
{
    size_t stride = 0, d = (size_t)c->o.info->d;
    int kind = id->kind == 'k' ? KEYS : QUERIES;
    size_t n = c->n_pick[kind];
    const float *x = values_of(c, rows, id, &stride);
    arena a = {0};
    float *vectors = arena_alloc(&a, n * d + 1, sizeof *vectors);
    int32_t *bucket = arena_alloc(&a, n + 1, sizeof *bucket);
    int32_t *position = arena_alloc(&a, n + 1, sizeof *position);
    int32_t *window = arena_alloc(&a, n + 1, sizeof *window);
    int64_t *document = arena_alloc(&a, n + 1, sizeof *document);
    qks_status status = vectors && bucket && position && window && document
                            ? QKS_OK
                            : out_of_memory(error, "kept vectors");
    for (size_t i = 0; status == QKS_OK && i < n; i++) {
        uint32_t row = c->pick[kind][i];
        memcpy(vectors + i * d, x + row * stride, d * sizeof *vectors);
        position[i] = rows->first + (int32_t)row;
        bucket[i] = qks_bucket_of(&c->o.positions, position[i]);
        window[i] = (int32_t)window_of(c, id->layer);
        document[i] = rows->document->example_id;
    }
    dataset_rows kept = {.n = n,
                         .dimension = (int)d,
                         .f32 = vectors,
                         .position = position,
                         .bucket = bucket,
                         .document = document,
                         .window = window};
    if (status == QKS_OK && n)
        status = dataset_append(c->o.vectors, id->layer, id->head, id->kind, &kept, NULL, error);
    arena_free(&a);
    return status;
}

/* ---- a chunk ---- */

qks_status collector_add(collector *c, const collector_rows *rows, qks_error *error)
{
    const unit_info *info = c->o.info;
    qks_status status = QKS_OK;
    if (rows->document != c->document || rows->layer != c->layer || rows->first == 0)
        status = begin(c, rows, error);
    if (status == QKS_OK)
        status = choose(c, rows, error);
    if (status != QKS_OK)
        return status;
    size_t first = 0, end = 0;
    sides_of(info, rows->layer, &first, &end);
    adding job = {c, rows, first};
    status = parallel_for(end - first, c->o.threads, add_side, &job, error);
    for (size_t i = first; status == QKS_OK && c->o.vectors && i < end; i++)
        status = keep_vectors(c, rows, &info->sides[i], error);
    if (status == QKS_OK && c->writer && info->pairs) {
        status = fill_cells(c, rows, error);
        if (status == QKS_OK && rows->first + rows->n == rows->document->n)
            status = draw_pairs(c, error);
    }
    return status;
}

qks_status collector_finish(collector *c, qks_error *error)
{
    qks_status status = write_sides(c, c->unit.n_sides, error);
    if (status == QKS_OK) {
        status = unit_commit(c->writer, error);
        c->writer = NULL;
    }
    return status;
}
