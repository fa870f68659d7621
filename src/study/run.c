/* run.c: the library's verb run: plan, units, manifest, tables, figures, page. */
#include "qkscope/run.h"

#include "base/file.h"
#include "base/folder.h"
#include "qkscope/figures.h"
#include "qkscope/report.h"
#include "study/manifest.h"
#include "study/plan.h"
#include "study/results.h"
#include "study/schedule.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    study study;
    const qks_run_options *options;
    int lock;
    plan plan;
    ranks ranks;
    arena memory;
} run;

/* ---- the run's directory ---- */

/* What a killed run was writing. Whoever holds the lock is the only writer. */
static void remove_parts(const char *folder, int depth)
{
    arena a = {0};
    name_list names = {0};
    qks_status status = folder_list(&a, folder, &names, NULL);
    for (size_t i = 0; status == QKS_OK && i < names.length; i++) {
        const char *name = names.data[i], *path = arena_format(&a, "%s/%s", folder, name);
        size_t length = strlen(name);
        if (path && *name == '.' && length > 5 && strcmp(name + length - 5, ".part") == 0) {
            file_remove(path);
            folder_remove(path);
        } else if (path && depth > 0 && is_folder(path))
            remove_parts(path, depth - 1);
    }
    free(names.data);
    arena_free(&a);
}

static qks_status save_resolved(run *r, qks_error *error)
{
    text yaml = text_new(1 << 22);
    study_print(&r->study, &yaml);
    const char *path = arena_format(&r->memory, "%s/study.resolved.yaml", r->plan.out);
    qks_status status = text_status(&yaml, "study", error);
    if (status == QKS_OK)
        status = path ? file_put(path, yaml.data, yaml.length, error)
                      : out_of_memory(error, "file name");
    text_free(&yaml);
    return status;
}

static void run_close(run *r)
{
    plan_close(&r->plan);
    folder_unlock(r->lock);
    study_close(&r->study);
    arena_free(&r->memory);
}

/* ---- tables ---- */

static qks_status study_rows(const run *r, study_row **rows, arena *a, qks_error *error)
{
    *rows = arena_alloc(a, r->study.n_models, sizeof **rows);
    if (!*rows)
        return out_of_memory(error, "study");
    for (size_t i = 0; i < r->study.n_models; i++) {
        const study_model *m = &r->study.models[i];
        (*rows)[i] = (study_row){.order = (int64_t)i,
                                 .model = m->label,
                                 .phase = r->study.training ? m->phase : NULL,
                                 .family = m->family};
    }
    return QKS_OK;
}

/* Unit files of every model that has all of its own, in unit order. */
static qks_status finished_units(const run *r, name_list *paths, qks_error *error)
{
    qks_status status = QKS_OK;
    for (size_t i = 0; i < r->study.n_models; i++) {
        const plan_model *m = &r->plan.models[i];
        for (size_t u = 0; status == QKS_OK && !m->failure && u < m->n_units; u++)
            status = array_push(paths, m->units[u].path, error);
    }
    return status;
}

static qks_status write_tables(const run *r, const char *folder, qks_error *error)
{
    name_list paths = {0};
    store *s = NULL;
    source **sources = NULL;
    size_t count = 0;
    results found = {0};
    study_row *rows = NULL;
    arena a = {0};
    source_options how = {0};
    analyze_options analyze = {.threads = r->options->threads, .seed = r->study.capture.seed};
    qks_status status = finished_units(r, &paths, error);
    if (status == QKS_OK)
        status = store_open(&s, 1, error);
    if (status == QKS_OK)
        status = sources_open(&sources, &count, s, paths.data, paths.length, &how, error);
    if (status == QKS_OK)
        status = analyze_sources(&found, sources, count, &analyze, error);
    if (status == QKS_OK)
        status = study_rows(r, &rows, &a, error);
    if (status == QKS_OK)
        status = results_order(&found, rows, r->study.n_models, error);
    found.training = r->study.training;
    if (status == QKS_OK)
        status = results_write(&found, s, folder, error);
    results_free(&found);
    sources_close(sources, count);
    store_close(s);
    free(paths.data);
    arena_free(&a);
    return status;
}

/* ---- run ---- */

static void count_units(const run *r, qks_run_report *report)
{
    for (size_t i = 0; i < r->study.n_models; i++) {
        const plan_model *m = &r->plan.models[i];
        report->models++;
        report->units += m->n_units;
        for (size_t u = 0; u < m->n_units; u++)
            report->units_done_before += m->units[u].before;
    }
}

static void warn_failures(const run *r)
{
    for (size_t i = 0; r->options->messages && i < r->study.n_models; i++)
        if (r->plan.models[i].failure)
            (void)fprintf(r->options->messages, "qkscope: model '%s' failed: %s\n",
                          r->plan.models[i].model->label, r->plan.models[i].failure);
}

static qks_status compute_units(run *r, qks_run_report *report, qks_error *error)
{
    uint64_t total = 0, before = 0;
    plan_event(&r->plan, json_pack("{s:s, s:I, s:I, s:I}", "event", "plan", "models",
                                   (json_int_t)report->models, "units", (json_int_t)report->units,
                                   "done", (json_int_t)report->units_done_before));
    for (size_t i = 0; i < r->study.n_models; i++)
        for (size_t u = 0; u < r->plan.models[i].n_units; u++) {
            const plan_unit *unit_facts = &r->plan.models[i].units[u];
            total += unit_facts->work;
            before += unit_facts->before ? unit_facts->work : 0;
        }
    schedule s = {.plan = &r->plan, .ranks = &r->ranks};
    if (r->options->progress)
        s.progress = progress_start(r->options->progress, "units", total, "token layers");
    progress_skip(s.progress, before);
    qks_status status = schedule_run(&s, error);
    progress_end(s.progress);
    report->units_computed = s.computed;
    return status;
}

static void tell_made(const run *r, const char *what)
{
    plan_event(&r->plan, json_pack("{s:s, s:s}", "event", what, "run", r->plan.out));
}

/* Figures and page. What cannot be drawn (no gnuplot) does not undo the tables: the message is
 * kept, and the run is partly done. */
static qks_status draw(run *r, qks_run_report *report, qks_error *error)
{
    text only = text_new(1 << 16);
    for (size_t i = 0; i < r->study.figures.length; i++)
        text_addf(&only, "%s%s", i ? "," : "", r->study.figures.data[i]);
    qks_figures_options how = {.only = only.length ? text_string(&only) : NULL,
                               .threads = r->options->threads};
    qks_status status = r->study.no_figures ? QKS_OK
                                            : qks_figures(r->plan.out, NULL, &how, NULL, error);
    report->figures = status == QKS_OK && !r->study.no_figures;
    if (report->figures)
        tell_made(r, "figures");
    text_free(&only);
    if (status != QKS_OK && status != QKS_PARTIAL)
        return status;
    qks_status page = qks_report(r->plan.out, NULL, NULL, status == QKS_OK ? error : NULL);
    report->report = page == QKS_OK;
    if (report->report)
        tell_made(r, "report");
    return status == QKS_OK ? page : status;
}

static qks_status finish(run *r, qks_run_report *report, qks_error *error)
{
    const char *tables = arena_format(&r->memory, "%s/tables", r->plan.out);
    if (!tables)
        return out_of_memory(error, "file name");
    for (size_t i = 0; i < report->models; i++)
        report->failed_models += r->plan.models[i].failure != NULL;
    warn_failures(r);
    qks_status status = manifest_save(&r->plan, error);
    if (status == QKS_OK && report->failed_models == report->models)
        return report->models == 1
                   ? qks_fail(error, QKS_INVALID, "the study's only model failed; no tables")
                   : qks_fail(error, QKS_INVALID, "all %zu models failed; the last: %s",
                              report->models, r->plan.models[report->models - 1].failure);
    if (status == QKS_OK)
        status = write_tables(r, tables, error);
    if (status != QKS_OK)
        return status;
    tell_made(r, "tables");
    return draw(r, report, error);
}

static qks_status run_rank_0(run *r, qks_run_report *report, qks_error *error)
{
    qks_status status = folder_lock(r->plan.out, &r->lock, error);
    if (status == QKS_OK) {
        remove_parts(r->plan.out, 2); /* units/<slug> */
        status = save_resolved(r, error);
    }
    if (status == QKS_OK)
        status = plan_make(&r->plan, error);
    if (status == QKS_OK) {
        count_units(r, report);
        status = compute_units(r, report, error);
    }
    if (r->lock >= 0)
        remove_parts(r->plan.out, 2); /* of a worker that was stopped, or died */
    if (status == QKS_OK)
        status = finish(r, report, error);
    if (status == QKS_OK && report->failed_models)
        return qks_fail(error, QKS_PARTIAL, "%zu of %zu models failed; the rest is in %s",
                        report->failed_models, report->models, r->plan.out);
    return status;
}

/* What another rank than 0 does. It leaves the reporting to rank 0, also of its own faults. */
static qks_status serve(run *r, const char *study_path, qks_error *error)
{
    qks_run_options quiet = *r->options;
    qks_error mine = {QKS_OK, ""};
    (void)error;
    quiet.messages = quiet.progress = quiet.events = NULL;
    bool fine = plan_open(&r->plan, &r->study, study_path, &quiet, &mine) == QKS_OK;
    ranks_serve(&r->ranks, fine ? &r->plan : NULL, mine.message);
    return QKS_OK;
}

qks_status qks_run(const char *study_path, const qks_run_options *options, qks_run_report *report,
                   qks_error *error)
{
    run r = {.options = options, .lock = -1};
    qks_run_report unused = {0};
    report = report ? report : &unused;
    *report = (qks_run_report){0};
    qks_status status = ranks_open(&r.ranks, error);
    if (status != QKS_OK)
        return status;
    if (r.ranks.rank > 0) {
        status = serve(&r, study_path, error);
    } else if ((status = plan_open(&r.plan, &r.study, study_path, options, error)) == QKS_OK) {
        status = run_rank_0(&r, report, error);
        if (report != &unused)
            report->out = strdup(r.plan.out);
    }
    run_close(&r);
    ranks_close(&r.ranks);
    return status;
}
