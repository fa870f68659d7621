/* plan.c: planning by asking a worker process about each model. */
#include "study/plan.h"

#include "base/file.h"
#include "capture/unit.h"

#include <stdlib.h>
#include <string.h>

enum { WAIT_MILLISECONDS = 200 };

void plan_event(const plan *p, json_t *event)
{
    FILE *out = p->options->events;
    if (out && event && json_dumpf(event, out, JSON_COMPACT) == 0) {
        (void)fputc('\n', out);
        (void)fflush(out);
    }
    json_decref(event);
}

bool plan_stopped(const plan *p)
{
    return p->options->stop && *p->options->stop;
}

/* Wait for an answer with `key`; progress and the like are passed over. */
static qks_status wait_plan(const plan *p, child *c, json_t **facts, text *reason, qks_error *error)
{
    for (;;) {
        json_t *message = NULL;
        bool ended = false;
        qks_status status = child_hear(c, WAIT_MILLISECONDS, &message, &ended, error);
        if (status != QKS_OK)
            return status;
        if (plan_stopped(p)) {
            json_decref(message);
            return qks_fail(error, QKS_INTERRUPTED, "interrupted");
        }
        if (ended)
            return QKS_PARTIAL;
        const char *fault = json_string_value(json_object_get(message, "error"));
        json_t *plan_facts = json_object_get(message, "plan");
        if (fault)
            text_add(reason, fault);
        if (plan_facts)
            *facts = json_incref(plan_facts);
        json_decref(message);
        if (fault || *facts)
            return fault ? QKS_PARTIAL : QKS_OK;
    }
}

qks_status plan_ask(const plan *p, size_t number, const char *folder, child *c, qks_error *error)
{
    json_t *request = json_pack("{s:s, s:I, s:i, s:I, s:s*, s:b, s:s*}", "study", p->study->path,
                                "model", (json_int_t)number, "threads", p->options->threads,
                                "memory", (json_int_t)p->options->memory, "backend",
                                p->options->backend, "calibrate", p->calibrate, "out", folder);
    qks_status status = child_start(c, p->options->program, error);
    if (status == QKS_OK)
        status = request ? child_tell(c, request, error) : out_of_memory(error, "request");
    json_decref(request);
    return status;
}

qks_status plan_worker(const plan *p, size_t number, child *c, json_t **facts, text *reason,
                       qks_error *error)
{
    *facts = NULL;
    qks_status status = plan_ask(p, number, NULL, c, error);
    if (status == QKS_OK)
        status = wait_plan(p, c, facts, reason, error);
    if (status != QKS_OK) {
        text how = text_new(4096);
        child_end(c, status != QKS_PARTIAL, &how);
        if (reason->length == 0)
            text_add(reason, how.length ? text_string(&how) : "its worker ended without a word");
        text_free(&how);
    }
    return status;
}

/* To the last byte: a damaged unit is computed again. */
static bool unit_is_whole(const char *path)
{
    unit u;
    if (unit_open(&u, path, NULL) != QKS_OK)
        return false;
    bool whole = unit_check(&u, NULL) == QKS_OK;
    unit_close(&u);
    return whole;
}

static qks_status put_units(plan *p, plan_model *m, qks_error *error)
{
    char slug[SLUG_SIZE];
    slug_of(m->model->label, slug);
    const json_t *groups = json_object_get(m->facts, "groups");
    m->n_units = json_array_size(groups);
    m->units = arena_alloc(&p->memory, m->n_units, sizeof *m->units);
    if (!m->units)
        return out_of_memory(error, "units");
    for (size_t g = 0; g < m->n_units; g++) {
        const json_t *group = json_array_get(groups, g);
        plan_unit *u = &m->units[g];
        u->path = arena_format(&p->memory, "%s/units/%s/%s.unit", p->out, slug,
                               json_string_value(json_object_get(group, "key")));
        if (!u->path)
            return out_of_memory(error, "units");
        u->documents = json_integer_value(json_object_get(group, "documents"));
        u->tokens = json_integer_value(json_object_get(group, "tokens"));
        u->work = (uint64_t)json_integer_value(json_object_get(group, "work"));
        u->seconds = json_number_value(json_object_get(group, "seconds"));
        u->done = u->before = unit_is_whole(u->path);
    }
    return QKS_OK;
}

static qks_status plan_one(plan *p, size_t number, qks_error *error)
{
    plan_model *m = &p->models[number];
    m->model = &p->study->models[number];
    child c;
    text reason = text_new(QKS_MESSAGE_SIZE);
    qks_status status = plan_worker(p, number, &c, &m->facts, &reason, error);
    if (status == QKS_OK) {
        child_end(&c, false, NULL);
        status = put_units(p, m, error);
    } else if (status == QKS_PARTIAL) {
        m->failure = arena_string(&p->memory, text_string(&reason));
        status = m->failure ? QKS_OK : out_of_memory(error, "plan");
    }
    text_free(&reason);
    return status;
}

qks_status plan_open(plan *p, study *s, const char *path, const qks_run_options *options,
                     qks_error *error)
{
    *p = (plan){.study = s, .options = options, .out = options->out};
    text faults = text_new(1 << 20);
    qks_status status = study_read(s, path, &faults, error);
    if (options->messages && faults.length)
        (void)fputs(text_string(&faults), options->messages);
    text_free(&faults);
    if (status == QKS_OK && !p->out) {
        char slug[SLUG_SIZE];
        slug_of(s->name, slug);
        p->out = arena_format(&p->memory, "%s/runs/%s", s->folder, slug);
        status = p->out ? QKS_OK : out_of_memory(error, "output folder");
    }
    return status;
}

qks_status plan_make(plan *p, qks_error *error)
{
    p->models = arena_alloc(&p->memory, p->study->n_models, sizeof *p->models);
    qks_status status = p->models ? QKS_OK : out_of_memory(error, "plan");
    for (size_t i = 0; status == QKS_OK && i < p->study->n_models; i++)
        status = plan_one(p, i, error);
    return status;
}

double plan_seconds(const plan_model *m)
{
    double sum = 0;
    for (size_t u = 0; u < m->n_units; u++)
        sum += m->units[u].done ? 0 : m->units[u].seconds;
    return sum;
}

void plan_close(plan *p)
{
    for (size_t i = 0; p->models && i < p->study->n_models; i++)
        json_decref(p->models[i].facts);
    arena_free(&p->memory);
    p->models = NULL;
}
