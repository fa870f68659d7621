/* jobs.c: one job per key head: load its keys, then each of its query heads, analyse, forget. So
 * memory is that of a few heads whatever the model's size, and every file is read once. */
#include "study/results.h"

#include "analysis/plasticity.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

enum { PAIR_BLOCK = 256 };

typedef struct job {   /* a key head and the query heads that share it */
    ptrdiff_t k_side;  /* -1: its keys were not captured */
    size_t first, end; /* q sides */
    int k_head;
} job;

typedef struct worker { /* what a thread needs for itself */
    head_room *room;
    side q, k;
} worker;

typedef struct run {
    const source *source;
    const unit_info *info;
    const analyze_options *options;
    job *jobs;
    size_t n_jobs;
    worker *workers;
    arena *arenas;  /* [threads], of the results */
    int *result_of; /* [n_sides] the head_result of a q side */
    model_result *model;
} run;

/* ---- jobs ---- */

static qks_status make_jobs(run *r, arena *a, qks_error *error)
{
    const unit_info *info = r->info;
    int share = info->q_heads / info->kv_heads;
    r->jobs = arena_alloc(a, info->n_sides + 1, sizeof *r->jobs);
    r->result_of = arena_alloc(a, info->n_sides + 1, sizeof *r->result_of);
    if (!r->jobs || !r->result_of)
        return out_of_memory(error, "jobs");
    size_t heads = 0;
    for (size_t i = 0; i < info->n_sides; i++) {
        const side_id *id = &info->sides[i];
        if (id->kind != 'q')
            continue;
        r->result_of[i] = (int)heads++;
        int k_head = id->head / share;
        job *last = r->n_jobs ? &r->jobs[r->n_jobs - 1] : NULL;
        if (last && last->k_head == k_head && last->end == i &&
            info->sides[last->first].layer == id->layer) {
            last->end = i + 1;
            continue;
        }
        side_id keys = {.layer = id->layer, .head = k_head, .kind = 'k'};
        r->jobs[r->n_jobs++] = (job){
            .k_side = unit_find(info, keys), .first = i, .end = i + 1, .k_head = k_head};
    }
    r->model->n_heads = heads;
    r->model->heads = arena_alloc(a, heads + 1, sizeof *r->model->heads);
    r->model->plasticity = arena_alloc(a, PLASTICITY_VARIANTS * heads + 1,
                                       sizeof *r->model->plasticity);
    return r->model->heads && r->model->plasticity ? QKS_OK : out_of_memory(error, "results");
}

/* ---- plasticity of a job's query heads ---- */

typedef struct plastic {
    plasticity **heads; /* [n] */
    size_t n;
} plastic;

static qks_status feed(void *context, int bucket, size_t n, const double *differences,
                       qks_error *error)
{
    plastic *p = context;
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < p->n; i++)
        status = plasticity_add(p->heads[i], bucket, n, differences, error);
    return status;
}

static qks_status feed_sample(plastic *p, const side *keys, qks_error *error)
{
    size_t d = (size_t)keys->d;
    double *block = NULL;
    qks_status status = memory_zeroed(&block, PAIR_BLOCK * d, sizeof *block, error);
    for (int b = 0; status == QKS_OK && b < keys->n_buckets; b++) {
        const pair_reservoir *r = &keys->pairs[b];
        for (size_t first = 0; status == QKS_OK && first < r->count; first += PAIR_BLOCK) {
            size_t n = r->count - first < PAIR_BLOCK ? r->count - first : PAIR_BLOCK;
            for (size_t i = 0; i < n * d; i++)
                block[i] = r->difference[first * d + i];
            status = feed(p, b, n, block, error);
        }
    }
    free(block);
    return status;
}

static qks_status finish_plasticity(const run *r, const job *j, int thread, plastic *p,
                                    qks_error *error)
{
    const worker *w = &r->workers[thread];
    qks_status status = r->options->all_pairs
                            ? source_pairs(r->source, thread, (size_t)j->k_side, feed, p, error)
                            : feed_sample(p, &w->k, error);
    for (size_t i = 0; status == QKS_OK && i < p->n; i++) {
        int head = r->result_of[j->first + i];
        const qks_head_row *id = &r->model->heads[head].row;
        for (int v = 0; v < PLASTICITY_VARIANTS; v++) {
            qks_plasticity_row *row = &r->model->plasticity[head * PLASTICITY_VARIANTS + v];
            *row = (qks_plasticity_row){
                .model = id->model, .layer = id->layer, .head = id->head, .k_head = id->k_head};
            plasticity_row(p->heads[i], (plasticity_variant)v, r->info->context, row);
        }
    }
    return status;
}

/* ---- one job ---- */

static qks_status load_keys(const run *r, const job *j, int thread, qks_error *error)
{
    side *keys = &r->workers[thread].k;
    if (j->k_side < 0) {
        side_clear(keys);
        return QKS_OK;
    }
    return source_load(r->source, thread, (size_t)j->k_side, keys, error);
}

static qks_status work_head(const run *r, const job *j, size_t q_side, int thread, plastic *p,
                            qks_error *error)
{
    worker *w = &r->workers[thread];
    const side_id *id = &r->info->sides[q_side];
    qks_status status = source_load(r->source, thread, q_side, &w->q, error);
    if (status != QKS_OK)
        return status;
    int rope = r->info->rope ? r->info->rope[id->layer] : -1;
    qks_head_row names = {.model = r->info->model,
                          .layer = id->layer,
                          .head = id->head,
                          .k_head = j->k_head,
                          .rope = rope < 0 ? QKS_BLANK : rope};
    head_result *result = &r->model->heads[r->result_of[q_side]];
    status = head_analyze(w->room, &names, w->q.groups, w->k.groups, &r->arenas[thread], result,
                          error);
    if (status != QKS_OK || !p)
        return status;
    int64_t window = w->q.window > w->k.window ? w->q.window : w->k.window;
    status = plasticity_open(&p->heads[p->n], head_queries(w->room), &w->q, &w->k, window, error);
    p->n += status == QKS_OK;
    return status;
}

static qks_status work_job(void *context, size_t index, int thread, qks_error *error)
{
    run *r = context;
    const job *j = &r->jobs[index];
    bool wanted = r->info->n_buckets > 0 && j->k_side >= 0 &&
                  (r->options->all_pairs || r->workers[thread].k.pairs);
    plastic p = {0};
    qks_status status = load_keys(r, j, thread, error);
    if (status == QKS_OK && wanted)
        status = memory_zeroed(&p.heads, j->end - j->first, sizeof *p.heads, error);
    for (size_t q = j->first; status == QKS_OK && q < j->end; q++) {
        status = work_head(r, j, q, thread, wanted ? &p : NULL, error);
        progress_add(r->options->progress, 1);
    }
    if (status == QKS_OK && wanted)
        status = finish_plasticity(r, j, thread, &p, error);
    for (size_t i = 0; i < p.n; i++)
        plasticity_close(p.heads[i]);
    free(p.heads);
    if (status != QKS_OK)
        status = qks_prefix(error, status, "model '%s', layer %d, key head %d", r->info->model,
                            r->info->sides[j->first].layer, j->k_head);
    return status;
}

/* ---- one source ---- */

static void close_workers(worker *workers, int threads)
{
    for (int t = 0; workers && t < threads; t++) {
        head_close(workers[t].room);
        side_close(&workers[t].q);
        side_close(&workers[t].k);
    }
    free(workers);
}

static qks_status open_workers(run *r, int threads, qks_error *error)
{
    int components = r->options->components ? r->options->components : COMPONENTS_DEFAULT;
    qks_status status = memory_zeroed(&r->workers, (size_t)threads, sizeof *r->workers, error);
    for (int t = 0; status == QKS_OK && t < threads; t++) {
        worker *w = &r->workers[t];
        status = head_open(&w->room, r->info->d, components, (int)r->info->n_groups, error);
        if (status == QKS_OK)
            status = source_side(r->source, 'q', &w->q, error);
        if (status == QKS_OK)
            status = source_side(r->source, 'k', &w->k, error);
    }
    return status;
}

/* Rows of heads whose plasticity was not computed are left out. */
static void keep_plasticity(model_result *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < PLASTICITY_VARIANTS * m->n_heads; i++)
        if (m->plasticity[i].model)
            m->plasticity[kept++] = m->plasticity[i];
    m->n_plasticity = kept;
}

static qks_status analyze_source(results *all, model_result *m, const source *s,
                                 const analyze_options *options, int threads, qks_error *error)
{
    run r = {
        .source = s, .info = source_info(s), .options = options, .arenas = all->arenas, .model = m};
    arena *a = &all->arenas[0];
    int64_t *ids = arena_alloc(a, r.info->n_groups, sizeof *ids);
    if (!ids)
        return out_of_memory(error, "document groups");
    for (size_t g = 0; g < r.info->n_groups; g++)
        ids[g] = r.info->groups[g].id;
    *m = (model_result){.model = r.info->model,
                        .layers = r.info->layers,
                        .n_groups = (int)r.info->n_groups,
                        .group_ids = ids};
    qks_status status = make_jobs(&r, a, error);
    if (status == QKS_OK)
        status = open_workers(&r, threads, error);
    if (status == QKS_OK)
        status = parallel_for(r.n_jobs, threads, work_job, &r, error);
    close_workers(r.workers, threads);
    keep_plasticity(m);
    for (size_t i = 0; status == QKS_OK && i < m->n_heads; i++) {
        all->heads_without_keys += m->heads[i].row.n_k == 0;
        all->heads_flagged += m->heads[i].row.flags != NULL;
    }
    return status;
}

qks_status analyze_sources(results *r, source *const *sources, size_t count,
                           const analyze_options *options, qks_error *error)
{
    int threads = parallel_threads(options->threads);
    *r = (results){.n_arenas = (size_t)threads};
    qks_status status = memory_zeroed(&r->arenas, r->n_arenas, sizeof *r->arenas, error);
    if (status == QKS_OK)
        status = memory_zeroed(&r->models, count, sizeof *r->models, error);
    for (size_t i = 0; status == QKS_OK && i < count; i++) {
        status = analyze_source(r, &r->models[i], sources[i], options, threads, error);
        r->models[i].order = (int64_t)i;
        r->count = i + 1;
    }
    if (status == QKS_OK)
        status = collage_of(r, sources, count, options->seed, error);
    if (status != QKS_OK)
        results_free(r);
    return status;
}

void results_free(results *r)
{
    for (size_t i = 0; i < r->n_arenas && r->arenas; i++)
        arena_free(&r->arenas[i]);
    free(r->arenas);
    free(r->models);
    free(r->collage.data);
    *r = (results){0};
}
