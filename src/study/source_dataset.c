/* source_dataset.c: a captured dataset as a source of moments: rows are dealt to document groups as
 * they stream by, and key pairs are drawn from each (document, bucket) cell. */
#include "study/source_private.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

enum { PAIR_BLOCK = 256 }; /* differences handed on at once */

/* ---- opening ---- */

static qks_status take_shape(source *s, const source_options *options, qks_error *error)
{
    const dataset_card *card = &s->data.card;
    unit_info *info = &s->info;
    model_shape shape = {
        .layers = card->layers, .q_heads = card->q_heads, .kv_heads = card->kv_heads};
    if (options->shape)
        shape = *options->shape;
    int layers = 0, q_heads = 0, kv_heads = 0; /* as far as the captured heads show */
    for (size_t i = 0; i < s->data.n_heads; i++) {
        const dataset_head *h = &s->data.heads[i];
        int *heads = h->kind == 'q' ? &q_heads : &kv_heads;
        layers = h->layer >= layers ? h->layer + 1 : layers;
        *heads = h->head >= *heads ? h->head + 1 : *heads;
    }
    if (shape.layers == 0 || shape.q_heads == 0 || shape.kv_heads == 0)
        return qks_fail(error, QKS_INVALID,
                        "'%s' does not say the model's shape (its heads reach layer %d, query head "
                        "%d, key head %d); give --shape LAYERS/QHEADS/KVHEADS or --config "
                        "config.json",
                        s->data.root, layers - 1, q_heads - 1, kv_heads - 1);
    qks_status status = shape_check(&shape, s->data.root, error);
    if (status != QKS_OK)
        return status;
    if (layers > shape.layers || q_heads > shape.q_heads || kv_heads > shape.kv_heads)
        return qks_fail(
            error, QKS_INVALID,
            "'%s' has heads up to layer %d, query head %d, key head %d; they do not fit "
            "a model of shape %d/%d/%d",
            s->data.root, layers - 1, q_heads - 1, kv_heads - 1, shape.layers, shape.q_heads,
            shape.kv_heads);
    info->layers = shape.layers;
    info->q_heads = shape.q_heads;
    info->kv_heads = shape.kv_heads;
    info->rope = shape.rope;
    info->d = s->data.heads[0].dimension;
    return info->d ? QKS_OK
                   : qks_fail(error, QKS_INVALID, "no head of '%s' has a row", s->data.root);
}

static qks_status take_buckets(source *s, const source_options *options, qks_error *error)
{
    unit_info *info = &s->info;
    info->context = options->context       ? options->context
                    : s->data.card.context ? s->data.card.context
                                           : s->data.last_position + 1;
    info->bucket_size = options->bucket ? options->bucket : s->data.card.bucket_size;
    s->bucket = options->bucket;
    if (options->pairs == PAIRS_NONE)
        return QKS_OK;
    if (options->pairs >= 0)
        info->pairs = options->pairs ? (size_t)options->pairs : PAIRS_DEFAULT;
    int64_t last = s->bucket ? s->data.last_position / s->bucket : s->data.last_bucket;
    if (last < 0 || last >= BUCKETS_MAX)
        return qks_fail(error, QKS_INVALID,
                        "'%s' has position buckets up to %lld, plasticity takes at most %d; give "
                        "a larger --bucket, or --plasticity none",
                        s->data.root, (long long)last, BUCKETS_MAX);
    info->n_buckets = (int)last + 1;
    return QKS_OK;
}

/* Documents are cut into runs of neighbours: what is alike stays together, so that the groups are
 * as independent as they can be. */
static size_t group_of_rank(const source *s, size_t rank)
{
    return rank * s->info.n_groups / s->data.n_documents;
}

static qks_status take_groups(source *s, const source_options *options, qks_error *error)
{
    size_t documents = s->data.n_documents ? s->data.n_documents : 1;
    size_t wanted = options->groups == GROUPS_PER_DOCUMENT ? documents
                    : options->groups                      ? (size_t)options->groups
                                                           : GROUPS_DEFAULT;
    s->info.n_groups = wanted < documents ? wanted : documents;
    s->info.groups = arena_alloc(&s->memory, s->info.n_groups, sizeof *s->info.groups);
    if (!s->info.groups)
        return out_of_memory(error, "document groups");
    for (size_t rank = s->data.n_documents; rank-- > 0;) {
        unit_group *g = &s->info.groups[group_of_rank(s, rank)];
        g->id = s->data.documents[rank]; /* in the end, that of its first */
        g->documents++;
    }
    return QKS_OK;
}

static qks_status take_sides(source *s, qks_error *error)
{
    s->info.n_sides = s->data.n_heads;
    s->info.samples = SAMPLES_WHOLE;
    s->info.sides = arena_alloc(&s->memory, s->data.n_heads, sizeof *s->info.sides);
    if (!s->info.sides)
        return out_of_memory(error, "heads");
    for (size_t i = 0; i < s->data.n_heads; i++)
        s->info.sides[i] = (side_id){.layer = s->data.heads[i].layer,
                                     .head = s->data.heads[i].head,
                                     .kind = s->data.heads[i].kind};
    return QKS_OK;
}

/* ---- cells: the keys of one document in one bucket ---- */

typedef qks_status cell_end(void *context, int bucket, int64_t document, uint32_t m,
                            const double *keys, qks_error *error);

typedef struct cell {
    int bucket;
    int64_t document;
    uint32_t m;
    bool wide;    /* stored as float64 */
    double *keys; /* [m, d], room for `room` doubles */
    size_t room;
    cell_end *end;
    void *context;
} cell;

static qks_status cell_close(cell *c, qks_error *error)
{
    qks_status status = c->m ? c->end(c->context, c->bucket, c->document, c->m, c->keys, error)
                             : QKS_OK;
    c->m = 0;
    return status;
}

static qks_status cell_add(cell *c, const dataset_rows *rows, qks_error *error)
{
    size_t d = (size_t)rows->dimension;
    for (size_t i = 0; i < rows->n; i++) {
        if (c->m && (rows->bucket[i] != c->bucket || rows->document[i] != c->document)) {
            qks_status status = cell_close(c, error);
            if (status != QKS_OK)
                return status;
        }
        if (c->m == INT32_MAX)
            return qks_fail(error, QKS_INVALID, "more than 2^31 keys in one bucket");
        qks_status status = array_reserve_bytes((void *)&c->keys, &c->room, c->m * d, d,
                                                sizeof *c->keys, error);
        if (status != QKS_OK)
            return status;
        c->bucket = rows->bucket[i];
        c->document = rows->document[i];
        c->wide = !rows->f32;
        double *key = c->keys + c->m++ * d;
        for (size_t j = 0; j < d; j++)
            key[j] = rows->f32 ? rows->f32[i * d + j] : rows->f64[i * d + j];
    }
    return QKS_OK;
}

/* ---- moments ---- */

typedef struct load {
    const source *source;
    const side_id *id;
    side *into;
    int64_t last_document; /* and its rank and group, since rows of a document come together */
    size_t last_rank, last_group;
    uint32_t *pick, *group; /* [room] rows by group; the group of each row */
    size_t room;
    size_t *starts; /* [groups + 1] */
    cell cell;
    bool *seen;               /* [documents] met already; NULL: rows come sorted by cell */
    int32_t bucket, position; /* of the row before */
    bool scattered;           /* cells do not lie together in the file */
    float *narrow;            /* keys of a cell as float32 */
    size_t narrow_room;
} load;

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static qks_status find_document(load *l, int64_t document, qks_error *error)
{
    const dataset *data = &l->source->data;
    if (document != l->last_document || l->last_group == SIZE_MAX) {
        const int64_t *found = bsearch(&document, data->documents, data->n_documents,
                                       sizeof document, by_number);
        if (!found)
            return qks_fail(error, QKS_INVALID,
                            "example_id %lld was not there when the dataset was opened",
                            (long long)document);
        l->last_document = document;
        l->last_rank = (size_t)(found - data->documents);
        l->last_group = group_of_rank(l->source, l->last_rank);
    }
    return QKS_OK;
}

/* Captures write document after document, positions rising. Then every cell lies together and its
 * keys are in the order that sorting would give; a row that breaks this ends the scan, and the next
 * one sorts. */
static qks_status check_order(load *l, int32_t bucket, int32_t position, bool new_document,
                              qks_error *error)
{
    bool rises = bucket > l->bucket || (bucket == l->bucket && position >= l->position);
    l->scattered = new_document ? l->seen[l->last_rank] : !rises;
    l->seen[l->last_rank] = true;
    l->bucket = bucket;
    l->position = position;
    return l->scattered ? qks_fail(error, QKS_INTERNAL, "rows are not by cell") : QKS_OK;
}

/* Sort the rows' numbers by group, keeping their order within each. */
static qks_status deal(load *l, const dataset_rows *rows, qks_error *error)
{
    size_t groups = l->source->info.n_groups;
    if (rows->n > l->room) {
        free(l->pick);
        l->pick = NULL;
        l->room = 0;
        qks_status status = memory_zeroed(&l->pick, 2 * rows->n, sizeof *l->pick, error);
        if (status != QKS_OK)
            return status;
        l->room = rows->n;
    }
    l->group = l->pick + l->room;
    memset(l->starts, 0, (groups + 1) * sizeof *l->starts);
    for (size_t i = 0; i < rows->n; i++) {
        bool new_document = rows->document[i] != l->last_document || l->last_group == SIZE_MAX;
        qks_status status = find_document(l, rows->document[i], error);
        if (status == QKS_OK && l->seen)
            status = check_order(l, rows->bucket[i], rows->position[i], new_document, error);
        if (status != QKS_OK)
            return status;
        l->group[i] = (uint32_t)l->last_group;
        l->starts[l->last_group + 1]++;
    }
    for (size_t g = 0; g < groups; g++)
        l->starts[g + 1] += l->starts[g];
    for (size_t i = 0; i < rows->n; i++)
        l->pick[l->starts[l->group[i]]++] = (uint32_t)i;
    memmove(l->starts + 1, l->starts, groups * sizeof *l->starts); /* back to where each begins */
    l->starts[0] = 0;
    return QKS_OK;
}

static qks_status count_buckets(const load *l, const dataset_rows *rows, qks_error *error)
{
    size_t d = (size_t)rows->dimension;
    for (size_t i = 0; i < rows->n; i++) {
        if (rows->bucket[i] < 0 || rows->bucket[i] >= l->into->n_buckets)
            return qks_fail(error, QKS_INVALID, "bucket %d is not one of 0 to %d", rows->bucket[i],
                            l->into->n_buckets - 1);
        side_count(l->into, rows->bucket[i], rows->position[i],
                   rows->f32 ? rows->f32[i * d] : rows->f64[i * d]);
    }
    return QKS_OK;
}

static qks_status sample_rows(const load *l, const dataset_rows *rows, qks_error *error)
{
    pair_draws noted = {0};
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < rows->n; i++) {
        uint64_t seed = side_sample_seed(l->source->seed, rows->document[i], *l->id);
        status = side_sample_note(l->into, seed, rows->position[i], (uint32_t)i, &noted, error);
    }
    if (status == QKS_OK)
        side_sample_take(
            l->into, &noted,
            &(moments_rows){.f32 = rows->f32, .f64 = rows->f64, .position = rows->position});
    free(noted.data);
    return status;
}

static qks_status take_rows(void *context, const dataset_rows *rows, qks_error *error)
{
    load *l = context;
    for (size_t i = 0; i < rows->n; i++)
        if (rows->window[i] > l->into->window)
            l->into->window = rows->window[i];
    qks_status status = deal(l, rows, error);
    for (size_t g = 0; status == QKS_OK && g < l->source->info.n_groups; g++) {
        moments_rows part = {.n = l->starts[g + 1] - l->starts[g],
                             .f32 = rows->f32,
                             .f64 = rows->f64,
                             .position = rows->position,
                             .pick = l->pick + l->starts[g]};
        if (part.n)
            status = moments_add(l->into->groups[g], &part, error);
    }
    if (status == QKS_OK && l->into->n_buckets)
        status = count_buckets(l, rows, error);
    if (status == QKS_OK && l->into->sample.capacity)
        status = sample_rows(l, rows, error);
    if (status == QKS_OK && l->into->pairs)
        status = cell_add(&l->cell, rows, error);
    return status;
}

static qks_status draw_cell(void *context, int bucket, int64_t document, uint32_t m,
                            const double *keys, qks_error *error)
{
    load *l = context;
    size_t numbers = (size_t)m * (size_t)l->into->d;
    if (numbers > l->narrow_room) {
        free(l->narrow);
        l->narrow = NULL;
        l->narrow_room = 0;
        qks_status status = memory_zeroed(&l->narrow, numbers, sizeof *l->narrow, error);
        if (status != QKS_OK)
            return status;
        l->narrow_room = numbers;
    }
    /* float64 ones about the first of them: their differences are the same, and a large mean costs
     * no digits */
    size_t d = (size_t)l->into->d;
    for (size_t i = 0; i < numbers; i++)
        l->narrow[i] = (float)(keys[i] - (l->cell.wide ? keys[i % d] : 0));
    return pair_reservoir_add(
        &l->into->pairs[bucket],
        pair_seed(l->source->seed, document, l->id->layer, l->id->head, bucket), m, l->narrow,
        error);
}

static qks_status scan_side(load *l, int thread, size_t side_number, dataset_order order,
                            qks_error *error)
{
    const source *s = l->source;
    dataset_scan_options how = {.order = order, .bucket_size = s->bucket};
    l->last_group = SIZE_MAX;
    l->cell.m = 0;
    side_clear(l->into);
    qks_status status = dataset_scan(s->store, thread, &s->data.heads[side_number], &how, take_rows,
                                     l, error);
    return status == QKS_OK ? cell_close(&l->cell, error) : status;
}

static qks_status dataset_load(const source *s, int thread, size_t side_number, side *into,
                               qks_error *error)
{
    load l = {.source = s, .id = &s->info.sides[side_number], .into = into};
    l.cell = (cell){.end = draw_cell, .context = &l};
    qks_status status = memory_zeroed(&l.starts, s->info.n_groups + 1, sizeof *l.starts, error);
    if (status == QKS_OK && into->pairs)
        status = memory_zeroed(&l.seen, s->data.n_documents + 1, sizeof *l.seen, error);
    if (status == QKS_OK)
        status = scan_side(&l, thread, side_number, DATASET_AS_STORED, error);
    free(l.seen);
    l.seen = NULL;
    if (l.scattered)
        status = scan_side(&l, thread, side_number, DATASET_BY_CELL, error);
    free(l.starts);
    free(l.pick);
    free(l.cell.keys);
    free(l.narrow);
    return status;
}

/* ---- all pairs ---- */

typedef struct all_pairs {
    cell cell;
    int d, n_buckets;
    double *block; /* [PAIR_BLOCK, d] */
    pair_visit *visit;
    void *context;
} all_pairs;

static qks_status pairs_of_cell(void *context, int bucket, int64_t document, uint32_t m,
                                const double *keys, qks_error *error)
{
    (void)document;
    all_pairs *p = context;
    size_t d = (size_t)p->d, n = 0;
    qks_status status = QKS_OK;
    if (bucket < 0 || bucket >= p->n_buckets)
        return qks_fail(error, QKS_INVALID, "bucket %d is not one of 0 to %d", bucket,
                        p->n_buckets - 1);
    for (size_t second = 1; second < m; second++)
        for (size_t first = 0; first < second && status == QKS_OK; first++) {
            for (size_t j = 0; j < d; j++)
                p->block[n * d + j] = keys[first * d + j] - keys[second * d + j];
            if (++n == PAIR_BLOCK) {
                status = p->visit(p->context, bucket, n, p->block, error);
                n = 0;
            }
        }
    return status == QKS_OK && n ? p->visit(p->context, bucket, n, p->block, error) : status;
}

static qks_status cell_rows(void *context, const dataset_rows *rows, qks_error *error)
{
    return cell_add(&((all_pairs *)context)->cell, rows, error);
}

static qks_status dataset_pairs(const source *s, int thread, size_t side_number, pair_visit *visit,
                                void *context, qks_error *error)
{
    all_pairs p = {
        .d = s->info.d, .n_buckets = s->info.n_buckets, .visit = visit, .context = context};
    p.cell = (cell){.end = pairs_of_cell, .context = &p};
    dataset_scan_options how = {.order = DATASET_BY_CELL, .bucket_size = s->bucket};
    qks_status status = memory_zeroed(&p.block, PAIR_BLOCK * (size_t)p.d, sizeof *p.block, error);
    if (status == QKS_OK)
        status = dataset_scan(s->store, thread, &s->data.heads[side_number], &how, cell_rows, &p,
                              error);
    if (status == QKS_OK)
        status = cell_close(&p.cell, error);
    free(p.block);
    free(p.cell.keys);
    return status;
}

static int64_t dataset_rows_of(const source *s, size_t side_number)
{
    return s->data.heads[side_number].rows;
}

static void dataset_done(source *s)
{
    dataset_close(&s->data);
}

static const source_kind DATASET = {dataset_load, dataset_pairs, dataset_rows_of, dataset_done};

qks_status source_open_dataset(source *s, const char *path, const source_options *options,
                               qks_error *error)
{
    qks_status status = dataset_open(&s->data, s->store, path, error);
    if (status != QKS_OK)
        return status;
    s->kind = &DATASET;
    s->info.model = options->model       ? options->model
                    : s->data.card.model ? s->data.card.model
                                         : path_title(&s->memory, s->data.root);
    status = s->info.model ? take_shape(s, options, error) : out_of_memory(error, "model name");
    if (status == QKS_OK)
        status = take_buckets(s, options, error);
    if (status == QKS_OK)
        status = take_groups(s, options, error);
    if (status == QKS_OK)
        status = take_sides(s, error);
    return status;
}
