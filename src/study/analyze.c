/* analyze.c: the library's verbs analyze and merge: options in, files out. */
#include "qkscope/analyze.h"

#include "base/file.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "study/results.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)QKS_PER_DOCUMENT == (int)GROUPS_PER_DOCUMENT, "one meaning");
_Static_assert((int)QKS_NO_PAIRS == (int)PAIRS_NONE, "one meaning");
_Static_assert((int)QKS_ALL_PAIRS == (int)PAIRS_ALL, "one meaning");

typedef struct task { /* what both verbs need */
    const qks_analyze_options *options;
    int threads;
    store *store;
    model_shape shape;
    bool has_shape;
    source **sources;
    size_t count;
    arena memory;
} task;

static bool is_table(const char *path)
{
    return (ends_with(path, ".csv") || ends_with(path, ".parquet")) && is_file(path);
}

static qks_status check_options(const qks_analyze_options *o, qks_error *error)
{
    const struct {
        const char *name;
        int64_t value, least, most;
    } limits[] = {
        {"components", o->components, 0, QKS_COMPONENTS_MAX},
        {"context", o->context, 0, INT32_MAX},
        {"bucket", o->bucket, 0, INT32_MAX},
        {"groups", o->groups, QKS_PER_DOCUMENT, QKS_GROUPS_MAX},
        {"pairs", o->pairs, QKS_ALL_PAIRS, QKS_PAIRS_MAX},
        {"threads", o->threads, 0, QKS_THREADS_MAX},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].value < limits[i].least || limits[i].value > limits[i].most)
            return qks_fail(error, QKS_USAGE, "%s cannot be %lld; it is at most %lld",
                            limits[i].name, (long long)limits[i].value, (long long)limits[i].most);
    if (o->shape && o->config)
        return qks_fail(error, QKS_USAGE, "a shape and a config were given; one is enough");
    return QKS_OK;
}

static qks_status task_open(task *t, const qks_analyze_options *options, qks_error *error)
{
    *t = (task){.options = options, .threads = parallel_threads(options->threads)};
    qks_status status = check_options(options, error);
    t->has_shape = options->shape || options->config;
    if (status == QKS_OK && options->shape)
        status = shape_parse(&t->shape, options->shape, error);
    if (status == QKS_OK && options->config)
        status = shape_read(&t->shape, options->config, &t->memory, error);
    if (status == QKS_OK)
        status = store_open(&t->store, t->threads, error);
    return status;
}

static qks_status task_sources(task *t, const char *const *inputs, size_t count, qks_error *error)
{
    const qks_analyze_options *o = t->options;
    source_options how = {.model = o->model,
                          .shape = t->has_shape ? &t->shape : NULL,
                          .context = o->context,
                          .bucket = o->bucket,
                          .groups = o->groups,
                          .pairs = o->pairs,
                          .seed = o->seed};
    return sources_open(&t->sources, &t->count, t->store, inputs, count, &how, error);
}

static void task_close(task *t)
{
    sources_close(t->sources, t->count);
    store_close(t->store);
    arena_free(&t->memory);
}

/* ---- analyze ---- */

static qks_status analyze_inputs(task *t, const char *const *inputs, size_t count, results *r,
                                 qks_error *error)
{
    qks_status status = task_sources(t, inputs, count, error);
    if (status != QKS_OK)
        return status;
    uint64_t heads = 0;
    for (size_t i = 0; i < t->count; i++) {
        const unit_info *info = source_info(t->sources[i]);
        for (size_t side = 0; side < info->n_sides; side++)
            heads += info->sides[side].kind == 'q';
    }
    analyze_options how = {.threads = t->threads,
                           .components = t->options->components,
                           .all_pairs = t->options->pairs == QKS_ALL_PAIRS,
                           .seed = (int64_t)t->options->seed};
    how.progress = t->options->progress
                       ? progress_start(t->options->progress, "analyze", heads, "heads")
                       : NULL;
    status = analyze_sources(r, t->sources, t->count, &how, error);
    progress_end(how.progress);
    return status;
}

static qks_status analyze_qk(task *t, const char *path, const study_row *study, size_t n_study,
                             results *r, qks_error *error)
{
    void *rows = NULL;
    size_t count = 0;
    qks_status status = table_read(t->store, &QK_TABLE, path, &t->memory, &rows, &count, error);
    if (status != QKS_OK)
        return status;
    status = analyze_table(r, rows, count, study, n_study, t->has_shape ? t->shape.layers : 0,
                           error);
    return status == QKS_OK ? QKS_OK : qks_prefix(error, status, "'%s'", path);
}

static void put_report(qks_analyze_report *report, const results *r)
{
    *report = (qks_analyze_report){.models = r->count,
                                   .heads_without_keys = r->heads_without_keys,
                                   .heads_flagged = r->heads_flagged};
    for (size_t i = 0; i < r->count; i++)
        report->heads += r->models[i].n_heads;
}

/* The study's table: every model once, with a number of layers that a model can have. */
static qks_status read_study(task *t, void **study, size_t *count, qks_error *error)
{
    const char *path = t->options->study;
    qks_status status = table_read(t->store, &STUDY_TABLE, path, &t->memory, study, count, error);
    const study_row *rows = *study;
    for (size_t i = 0; status == QKS_OK && i < *count; i++) {
        if (!rows[i].model || rows[i].layers < 1 || rows[i].layers > SHAPE_LAYERS_MAX)
            return qks_fail(error, QKS_INVALID,
                            "'%s', row %zu: a model needs a name and 1 to %d layers", path, i + 1,
                            SHAPE_LAYERS_MAX);
        for (size_t j = 0; j < i; j++)
            if (strcmp(rows[i].model, rows[j].model) == 0)
                return qks_fail(error, QKS_INVALID, "'%s' names model '%s' twice", path,
                                rows[i].model);
    }
    return status;
}

qks_status qks_analyze(const char *const *inputs, size_t count, const char *out,
                       const qks_analyze_options *options, qks_analyze_report *report,
                       qks_error *error)
{
    static const qks_analyze_options defaults = {0};
    task t;
    results r = {0};
    void *study = NULL;
    size_t n_study = 0;
    if (count == 0)
        return qks_fail(error, QKS_USAGE, "nothing to analyze was given");
    qks_status status = task_open(&t, options ? options : &defaults, error);
    if (status == QKS_OK && t.options->study)
        status = read_study(&t, &study, &n_study, error);
    if (status == QKS_OK && count == 1 && is_table(inputs[0]))
        status = analyze_qk(&t, inputs[0], study, n_study, &r, error);
    else if (status == QKS_OK)
        status = analyze_inputs(&t, inputs, count, &r, error);
    if (status == QKS_OK && study)
        status = results_order(&r, study, n_study, error);
    if (status == QKS_OK)
        status = results_write(&r, t.store, out, error);
    if (status == QKS_OK && report)
        put_report(report, &r);
    results_free(&r);
    task_close(&t);
    return status;
}

/* ---- merge ---- */

typedef struct merge {
    const source *source;
    side (*rooms)[2]; /* [threads] of queries, of keys */
    int threads;
    size_t first; /* side of this turn */
} merge;

static side *room_for(const merge *m, size_t side_number)
{
    bool keys = source_info(m->source)->sides[side_number].kind == 'k';
    return &m->rooms[side_number - m->first][keys];
}

static qks_status merge_load(void *context, size_t index, int thread, qks_error *error)
{
    const merge *m = context;
    size_t side_number = m->first + index;
    return source_load(m->source, thread, side_number, room_for(m, side_number), error);
}

/* As many sides as there are threads are read at once, then written in order. */
static qks_status merge_sides(merge *m, unit_writer *writer, progress *p, qks_error *error)
{
    size_t count = source_info(m->source)->n_sides, turn = (size_t)m->threads;
    qks_status status = QKS_OK;
    for (m->first = 0; status == QKS_OK && m->first < count; m->first += turn) {
        size_t n = count - m->first < turn ? count - m->first : turn;
        status = parallel_for(n, m->threads, merge_load, m, error);
        for (size_t i = 0; status == QKS_OK && i < n; i++)
            status = unit_put(writer, room_for(m, m->first + i), error);
        progress_add(p, n);
    }
    return status;
}

static qks_status merge_source(const source *s, int threads, const char *out, progress *p,
                               qks_error *error)
{
    merge m = {.source = s, .threads = threads};
    unit_writer *writer = NULL;
    qks_status status = memory_zeroed(&m.rooms, (size_t)threads, sizeof *m.rooms, error);
    for (int t = 0; status == QKS_OK && t < threads; t++) {
        status = source_side(s, 'q', &m.rooms[t][0], error);
        if (status == QKS_OK)
            status = source_side(s, 'k', &m.rooms[t][1], error);
        for (int kind = 0; status == QKS_OK && kind < 2; kind++)
            status = side_sample_open(&m.rooms[t][kind], source_info(s)->samples, error);
    }
    if (status == QKS_OK)
        status = unit_create(&writer, out, source_info(s), error);
    if (status == QKS_OK)
        status = merge_sides(&m, writer, p, error);
    for (int t = 0; m.rooms && t < threads; t++) {
        side_close(&m.rooms[t][0]);
        side_close(&m.rooms[t][1]);
    }
    free(m.rooms);
    if (status != QKS_OK) {
        unit_discard(writer);
        return status;
    }
    return unit_commit(writer, error);
}

qks_status qks_merge(const char *const *inputs, size_t count, const char *out,
                     const qks_analyze_options *options, qks_error *error)
{
    static const qks_analyze_options defaults = {0};
    task t;
    if (count == 0)
        return qks_fail(error, QKS_USAGE, "nothing to merge was given");
    qks_status status = task_open(&t, options ? options : &defaults, error);
    if (status == QKS_OK && t.options->pairs == QKS_ALL_PAIRS)
        status = qks_fail(error, QKS_USAGE,
                          "a unit file holds a sample of key pairs, not all; give a number");
    if (status == QKS_OK)
        status = task_sources(&t, inputs, count, error);
    if (status == QKS_OK && t.count > 1)
        status = qks_fail(
            error, QKS_INVALID, "these are of %zu models ('%s', '%s', ...); a unit file is of one",
            t.count, source_info(t.sources[0])->model, source_info(t.sources[1])->model);
    if (status == QKS_OK) {
        progress *p = t.options->progress
                          ? progress_start(t.options->progress, "merge",
                                           source_info(t.sources[0])->n_sides, "heads")
                          : NULL;
        status = merge_source(t.sources[0], t.threads, out, p, error);
        progress_end(p);
    }
    task_close(&t);
    return status;
}
