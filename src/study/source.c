/* source.c: unit files of one model as one source, and which inputs belong together. Captured
 * datasets are in source_dataset.c. */
#include "study/source.h"

#include "base/file.h"
#include "study/source_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- unit files ---- */

static qks_status units_load(const source *s, int thread, size_t side_number, side *into,
                             qks_error *error)
{
    (void)thread;
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < s->n_units; i++)
        status = unit_read(&s->units[i], side_number, into, s->places[i], error);
    return status;
}

static qks_status units_pairs(const source *s, int thread, size_t side_number, pair_visit *visit,
                              void *context, qks_error *error)
{
    (void)thread, (void)side_number, (void)visit, (void)context;
    return qks_fail(error, QKS_UNSUPPORTED,
                    "'%s': a unit file holds a sample of key pairs, not all; leave out "
                    "--plasticity all, or analyze a captured dataset",
                    s->units[0].file.path);
}

static int64_t units_rows(const source *s, size_t side_number)
{
    (void)side_number;
    return (int64_t)s->info.n_groups;
}

static bool same_numbers(const void *a, const void *b, size_t bytes)
{
    return (!a && !b) || (a && b && memcmp(a, b, bytes) == 0);
}

/* Why two units cannot be joined, or NULL. */
static const char *mismatch(const unit_info *a, const unit_info *b)
{
    if (a->layers != b->layers || a->q_heads != b->q_heads || a->kv_heads != b->kv_heads ||
        a->d != b->d)
        return "the model's shape";
    if (a->bucket_size != b->bucket_size || a->pairs != b->pairs)
        return "the position buckets";
    if (!same_numbers(a->rope, b->rope, (size_t)a->layers * sizeof *a->rope))
        return "which layers have RoPE";
    if (a->n_sides != b->n_sides)
        return "the captured heads";
    for (size_t i = 0; i < a->n_sides; i++)
        if (a->sides[i].layer != b->sides[i].layer || a->sides[i].head != b->sides[i].head ||
            a->sides[i].kind != b->sides[i].kind)
            return "the captured heads";
    return NULL;
}

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const unit_group *)a)->id, y = ((const unit_group *)b)->id;
    return x < y ? -1 : x > y;
}

/* All groups of all units in order of id, and where each unit's go. */
static qks_status join_groups(source *s, qks_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < s->n_units; i++)
        count += s->units[i].info.n_groups;
    unit_group *groups = arena_alloc(&s->memory, count, sizeof *groups);
    s->places = arena_alloc(&s->memory, s->n_units, sizeof *s->places);
    if (!groups || !s->places)
        return out_of_memory(error, "document groups");
    size_t at = 0;
    for (size_t i = 0; i < s->n_units; i++) {
        const unit_info *info = &s->units[i].info;
        memcpy(groups + at, info->groups, info->n_groups * sizeof *groups);
        at += info->n_groups;
    }
    qsort(groups, count, sizeof *groups, by_id);
    for (size_t g = 1; g < count; g++)
        if (groups[g].id == groups[g - 1].id)
            return qks_fail(error, QKS_INVALID,
                            "document group %lld of model '%s' is in two unit files; it would "
                            "count twice",
                            (long long)groups[g].id, s->info.model);
    for (size_t i = 0; i < s->n_units; i++) {
        const unit_info *info = &s->units[i].info;
        int *places = arena_alloc(&s->memory, info->n_groups, sizeof *places);
        if (!places)
            return out_of_memory(error, "document groups");
        for (size_t g = 0; g < info->n_groups; g++) {
            unit_group *found = bsearch(&info->groups[g], groups, count, sizeof *groups, by_id);
            places[g] = (int)(found - groups);
        }
        s->places[i] = places;
    }
    s->info.groups = groups;
    s->info.n_groups = count;
    return QKS_OK;
}

static bool groups_fit(const source *s, int64_t wanted)
{
    bool single = true;
    for (size_t g = 0; g < s->info.n_groups; g++)
        single = single && s->info.groups[g].documents <= 1;
    return wanted == GROUPS_PER_DOCUMENT ? single
                                         : wanted == 0 || (size_t)wanted == s->info.n_groups;
}

/* Buckets and groups were chosen at capture; what cannot be had any more is refused. */
static qks_status units_take_options(source *s, const source_options *options, qks_error *error)
{
    const char *path = s->units[0].file.path;
    const model_shape *shape = options->shape;
    unit_info *info = &s->info;
    if (shape && (shape->layers != info->layers || shape->q_heads != info->q_heads ||
                  shape->kv_heads != info->kv_heads))
        return qks_fail(error, QKS_INVALID,
                        "unit file '%s' is of a model of shape %d/%d/%d, not of the one given",
                        path, info->layers, info->q_heads, info->kv_heads);
    if (options->bucket && options->bucket != info->bucket_size)
        return qks_fail(error, QKS_INVALID,
                        "unit file '%s' has position buckets already; leave out --bucket", path);
    if (!groups_fit(s, options->groups))
        return qks_fail(error, QKS_INVALID,
                        "the unit files of model '%s' have %zu document groups already; leave out "
                        "--groups",
                        info->model, info->n_groups);
    if (shape && shape->rope)
        info->rope = shape->rope;
    if (options->context)
        info->context = options->context;
    if (options->pairs == PAIRS_NONE)
        info->pairs = 0;
    else if (options->pairs > 0 && info->pairs)
        info->pairs = (size_t)options->pairs;
    return QKS_OK;
}

static const source_kind UNITS = {units_load, units_pairs, units_rows, NULL};

static qks_status units_finish(source *s, const source_options *options, qks_error *error)
{
    const unit *first = &s->units[0];
    const char *model = options->model ? options->model : first->info.model;
    s->kind = &UNITS;
    s->info = first->info;
    s->info.model = model;
    for (size_t i = 1; i < s->n_units; i++) {
        const char *difference = mismatch(&first->info, &s->units[i].info);
        if (difference)
            return qks_fail(error, QKS_INVALID,
                            "unit files '%s' and '%s' of model '%s' differ in %s; they are not "
                            "parts of one run",
                            first->file.path, s->units[i].file.path, model, difference);
        const unit_info *other = &s->units[i].info;
        s->info.samples += other->samples;
        if (other->context > s->info.context)
            s->info.context = other->context;
        if (other->n_buckets > s->info.n_buckets) /* its documents are longer */
            s->info.n_buckets = other->n_buckets;
    }
    if (s->info.samples > SAMPLES_WHOLE)
        s->info.samples = SAMPLES_WHOLE;
    qks_status status = join_groups(s, error);
    return status == QKS_OK ? units_take_options(s, options, error) : status;
}

/* ---- inputs ---- */

typedef struct opening {
    ARRAY_OF(source *) list;
    store *store;
    const source_options *options;
} opening;

static qks_status add_source(opening *o, source **out, qks_error *error)
{
    source *s = NULL;
    qks_status status = memory_zeroed(&s, 1, sizeof *s, error);
    if (status == QKS_OK)
        status = array_push(&o->list, s, error);
    if (status != QKS_OK) {
        free(s);
        return status;
    }
    s->store = o->store;
    s->seed = o->options->seed;
    *out = s;
    return QKS_OK;
}

static qks_status add_unit(opening *o, const char *path, qks_error *error)
{
    unit u;
    qks_status status = unit_open(&u, path, error);
    if (status != QKS_OK)
        return status;
    source *s = NULL;
    for (size_t i = 0; i < o->list.length; i++)
        if (o->list.data[i]->units &&
            strcmp(o->list.data[i]->units[0].info.model, u.info.model) == 0)
            s = o->list.data[i];
    if (!s)
        status = add_source(o, &s, error);
    unit *grown = s ? realloc(s->units, (s->n_units + 1) * sizeof *grown) : NULL;
    if (!grown) {
        unit_close(&u);
        return status != QKS_OK ? status : out_of_memory(error, "unit files");
    }
    s->units = grown;
    s->units[s->n_units++] = u;
    unit *added = &s->units[s->n_units - 1];
    added->file.path = arena_string(&s->memory, path); /* ours: the caller's may go */
    return added->file.path ? QKS_OK : out_of_memory(error, "unit files");
}

/* Every unit file in a folder and its folders, as capture and run leave them. */
static qks_status add_units(opening *o, const char *folder, int depth, qks_error *error)
{
    arena a = {0};
    name_list names = {0};
    qks_status status = folder_list(&a, folder, &names, error);
    for (size_t i = 0; status == QKS_OK && i < names.length; i++) {
        const char *path = arena_format(&a, "%s/%s", folder, names.data[i]);
        if (!path)
            status = out_of_memory(error, "unit files");
        else if (depth > 0 && is_folder(path))
            status = add_units(o, path, depth - 1, error);
        else if (unit_is(path))
            status = add_unit(o, path, error);
    }
    free(names.data);
    arena_free(&a);
    return status;
}

/* PATH/units, if it is there and all pairs are not asked for: those need the vectors. */
static const char *units_folder(const opening *o, const char *path, arena *a)
{
    const char *folder = arena_format(a, "%s/units", path);
    return folder && is_folder(folder) && o->options->pairs != PAIRS_ALL ? folder : NULL;
}

static qks_status add_folder(opening *o, const char *path, qks_error *error)
{
    arena a = {0};
    const char *units = units_folder(o, path, &a);
    source *s = NULL;
    qks_status status = units ? add_units(o, units, 1, error) : add_source(o, &s, error);
    if (status == QKS_OK && !units)
        status = source_open_dataset(s, path, o->options, error);
    arena_free(&a);
    return status;
}

static qks_status add_input(opening *o, const char *path, qks_error *error)
{
    if (is_folder(path))
        return add_folder(o, path, error);
    if (unit_is(path))
        return add_unit(o, path, error);
    if (!is_file(path))
        return qks_fail(error, QKS_MISSING, "there is no '%s'", path);
    return qks_fail(error, QKS_INVALID,
                    "'%s' is neither a folder of captured vectors nor a unit file; ask 'qkscope "
                    "inspect' what it is",
                    path);
}

static qks_status check_names(const opening *o, qks_error *error)
{
    if (o->options->model && o->list.length > 1)
        return qks_fail(error, QKS_USAGE,
                        "one model name for %zu models; analyze them one by one, or leave out "
                        "--model",
                        o->list.length);
    for (size_t i = 0; i < o->list.length; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(o->list.data[i]->info.model, o->list.data[j]->info.model) == 0)
                return qks_fail(error, QKS_INVALID,
                                "two inputs are of a model called '%s'; analyze one at a time and "
                                "name it with --model",
                                o->list.data[i]->info.model);
    return QKS_OK;
}

qks_status sources_open(source ***sources, size_t *count, store *s, const char *const *paths,
                        size_t n_paths, const source_options *options, qks_error *error)
{
    opening o = {.store = s, .options = options};
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < n_paths; i++)
        status = add_input(&o, paths[i], error);
    for (size_t i = 0; status == QKS_OK && i < o.list.length; i++)
        if (o.list.data[i]->units)
            status = units_finish(o.list.data[i], options, error);
    if (status == QKS_OK && o.list.length == 0)
        status = qks_fail(error, QKS_MISSING, "'%s' holds no unit files", paths[0]);
    if (status == QKS_OK)
        status = check_names(&o, error);
    if (status != QKS_OK) {
        sources_close(o.list.data, o.list.length);
        return status;
    }
    *sources = o.list.data;
    *count = o.list.length;
    return QKS_OK;
}

void sources_close(source **sources, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        source *s = sources[i];
        for (size_t u = 0; u < s->n_units; u++)
            unit_close(&s->units[u]);
        free(s->units);
        if (s->kind && s->kind->close)
            s->kind->close(s);
        arena_free(&s->memory);
        free(s);
    }
    free(sources);
}

const unit_info *source_info(const source *s)
{
    return &s->info;
}

int64_t source_rows(const source *s, size_t side_number)
{
    return s->kind->rows(s, side_number);
}

qks_status source_side(const source *s, char kind, side *out, qks_error *error)
{
    return side_open(out, s->info.d, (int)s->info.n_groups, s->info.n_buckets,
                     kind == 'k' ? s->info.pairs : 0, error);
}

qks_status source_load(const source *s, int thread, size_t side_number, side *into,
                       qks_error *error)
{
    side_clear(into);
    return s->kind->load(s, thread, side_number, into, error);
}

qks_status source_pairs(const source *s, int thread, size_t side_number, pair_visit *visit,
                        void *context, qks_error *error)
{
    return s->kind->pairs(s, thread, side_number, visit, context, error);
}
