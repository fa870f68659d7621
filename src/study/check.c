/* check.c: the library's verb check: the plan of a study, for people and for programs. */
#include "qkscope/run.h"

#include "study/manifest.h"

#include <jansson.h>

enum { MINUTE = 60, HOUR = 3600 };

static void print_time(FILE *out, double seconds)
{
    if (seconds < 10)
        (void)fprintf(out, "%.1f s", seconds);
    else if (seconds < 2 * MINUTE)
        (void)fprintf(out, "%.0f s", seconds);
    else if (seconds < 2 * HOUR)
        (void)fprintf(out, "%.0f min", seconds / MINUTE);
    else
        (void)fprintf(out, "%.1f h", seconds / HOUR);
}

static void print_model(const plan_model *m, FILE *out)
{
    if (m->failure) {
        (void)fprintf(out, "%-20.20s %s\n", m->model->label, m->failure);
        return;
    }
    size_t done = 0;
    for (size_t u = 0; u < m->n_units; u++)
        done += m->units[u].done;
    const char *const keys[] = {"layers", "query_heads", "documents", "tokens", "memory"};
    long long v[5];
    for (size_t k = 0; k < 5; k++)
        v[k] = json_integer_value(json_object_get(m->facts, keys[k]));
    (void)fprintf(out, "%-20.20s %7lld %7lld %9lld %12lld %6lld MB %5zu/%-5zu ", m->model->label,
                  v[0], v[1], v[2], v[3], v[4] >> 20, done, m->n_units);
    print_time(out, plan_seconds(m));
    (void)fputc('\n', out);
}

static void print_plan(const plan *p, FILE *out)
{
    double seconds = 0;
    (void)fprintf(out, "study    %s (%s), results in %s\n", p->study->name,
                  p->study->training ? "training" : "models", p->out);
    (void)fprintf(out, "text     %s\n", p->study->text.path);
    (void)fprintf(out, "%-20s %7s %7s %9s %12s %9s %11s %s\n", "model", "layers", "heads",
                  "documents", "tokens", "memory", "units done", "time");
    for (size_t i = 0; i < p->study->n_models; i++) {
        print_model(&p->models[i], out);
        seconds += plan_seconds(&p->models[i]);
    }
    if (seconds > 0) {
        (void)fputs("to do    about ", out);
        print_time(out, seconds);
        (void)fputs(" of forward passes in one process, at the speed just measured\n", out);
    }
}

qks_status qks_check(const char *study_path, const qks_run_options *options, bool json, FILE *out,
                     qks_error *error)
{
    plan p;
    study s;
    size_t failed = 0;
    qks_status status = plan_open(&p, &s, study_path, options, error);
    p.calibrate = true;
    if (status == QKS_OK)
        status = plan_make(&p, error);
    if (status == QKS_OK && json) {
        json_t *manifest = manifest_of(&p);
        if (!manifest || json_dumpf(manifest, out, JSON_INDENT(1)) != 0)
            status = qks_fail(error, QKS_IO, "the plan cannot be written as JSON");
        (void)fputc('\n', out);
        json_decref(manifest);
    } else if (status == QKS_OK) {
        print_plan(&p, out);
    }
    for (size_t i = 0; status == QKS_OK && i < s.n_models; i++)
        failed += p.models[i].failure != NULL;
    if (failed)
        status = qks_fail(error, QKS_USAGE, "%zu of %zu models cannot be run", failed, s.n_models);
    plan_close(&p);
    study_close(&s);
    return status;
}
