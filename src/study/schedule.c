/* schedule.c: rank 0's loop: its own worker, and the other ranks' messages. */
#include "study/schedule.h"

#include "base/file.h"
#include "capture/unit.h"
#include "study/local.h"

#include <string.h>
#include <time.h>

enum { WAIT_ALONE = 200, WAIT_WITH_RANKS = 1 }; /* milliseconds */

typedef struct unit_place {
    size_t model, group;
} unit_place;

/* The units of one model that are to be handed out, in their order. */
typedef struct queue {
    size_t next;   /* group to look at */
    uint64_t work; /* of those from there on */
    int ranks;     /* that have the model open */
} queue;

enum { HERE = 0 }; /* the rank of this machine's worker */

typedef struct running {
    schedule *s;
    queue *queues;  /* [models] */
    queue **opened; /* [ranks] the model that each has open, or NULL */
    local local;
} running;

static plan_unit *unit_at(const running *r, unit_place at)
{
    return &r->s->plan->models[at.model].units[at.group];
}

/* ---- which unit next ---- */

static qks_status open_queues(running *r, qks_error *error)
{
    plan *p = r->s->plan;
    r->queues = arena_alloc(&p->memory, p->study->n_models, sizeof *r->queues);
    r->opened = arena_alloc(&p->memory, (size_t)r->s->ranks->count, sizeof(queue *));
    if (!r->queues || !r->opened)
        return out_of_memory(error, "plan");
    for (size_t i = 0; i < p->study->n_models; i++)
        for (size_t group = 0; group < p->models[i].n_units; group++)
            if (!p->models[i].units[group].done)
                r->queues[i].work += p->models[i].units[group].work;
    return QKS_OK;
}

static bool has_unit(const running *r, queue *q)
{
    const plan_model *m = &r->s->plan->models[q - r->queues];
    while (q->next < m->n_units && m->units[q->next].done)
        q->next++;
    return q->next < m->n_units && !m->failure;
}

/* Opening a model takes time, so a rank stays with the one that it has open; then it takes one that
 * few others have, and of these the one with the most to do: small ones fill up the end. */
static queue *next_queue(const running *r, int rank)
{
    queue *best = r->opened[rank];
    if (best && has_unit(r, best))
        return best;
    best = NULL;
    for (size_t i = 0; i < r->s->plan->study->n_models; i++) {
        queue *q = &r->queues[i];
        if (has_unit(r, q) &&
            (!best || q->ranks < best->ranks || (q->ranks == best->ranks && q->work > best->work)))
            best = q;
    }
    return best;
}

/* The next unit for a rank to compute; false: none is left. */
static bool next_unit(running *r, int rank, unit_place *out)
{
    queue *q = next_queue(r, rank), **opened = &r->opened[rank];
    if (*opened && *opened != q)
        (*opened)->ranks--;
    if (q && *opened != q)
        q->ranks++;
    *opened = q;
    if (!q)
        return false;
    *out = (unit_place){(size_t)(q - r->queues), q->next++};
    q->work -= unit_at(r, *out)->work;
    return true;
}

static void tell(const running *r, const char *event, unit_place at, const char *reason)
{
    const plan *p = r->s->plan;
    plan_event(p, json_pack("{s:s, s:s, s:I, s:s*}", "event", event, "model",
                            p->models[at.model].model->label, "group", (json_int_t)at.group,
                            "reason", reason));
}

static void unit_done(running *r, unit_place at, double seconds)
{
    unit_at(r, at)->done = true;
    r->s->plan->models[at.model].seconds += seconds;
    r->s->computed++;
    progress_note(r->s->progress, "%s", r->s->plan->models[at.model].model->label);
    tell(r, "unit", at, NULL);
}

static qks_status model_failed(running *r, unit_place at, const char *reason, qks_error *error)
{
    plan_model *m = &r->s->plan->models[at.model];
    if (!m->failure) {
        m->failure = arena_string(&r->s->plan->memory, reason);
        tell(r, "failed", at, reason);
    }
    return m->failure ? QKS_OK : out_of_memory(error, "plan");
}

/* ---- this machine's worker ---- */

static const char *key_of(const running *r, unit_place at)
{
    const json_t *groups = json_object_get(r->s->plan->models[at.model].facts, "groups");
    return json_string_value(json_object_get(json_array_get(groups, at.group), "key"));
}

static qks_status folder_for(const char *path, qks_error *error)
{
    arena a = {0};
    const char *folder = path_folder(&a, path);
    qks_status status = folder ? folder_make(folder, error) : out_of_memory(error, "folder");
    arena_free(&a);
    return status;
}

static qks_status feed_local(running *r, qks_error *error)
{
    unit_place at;
    if (r->local.busy || !next_unit(r, HERE, &at))
        return QKS_OK;
    const char *path = unit_at(r, at)->path;
    qks_status status = folder_for(path, error);
    return status == QKS_OK
               ? local_begin(&r->local, r->s->plan, at.model, at.group, key_of(r, at), path, error)
               : status;
}

static qks_status hear_local(running *r, qks_error *error)
{
    local_event event = LOCAL_NOTHING;
    unit_place at = {r->local.model, r->local.group};
    qks_status status = local_step(&r->local, r->s->ranks->count > 1 ? WAIT_WITH_RANKS : WAIT_ALONE,
                                   &event, error);
    if (status != QKS_OK)
        return status;
    if (event == LOCAL_PROGRESS)
        progress_add(r->s->progress, r->local.work);
    else if (event == LOCAL_DONE)
        unit_done(r, at, r->local.seconds);
    else if (event == LOCAL_FAILED)
        return model_failed(r, at, text_string(&r->local.reason), error);
    return QKS_OK;
}

/* ---- the other ranks ---- */

static qks_status store_unit(const running *r, const rank_message *m, qks_error *error)
{
    const char *path = unit_at(r, (unit_place){m->model, m->group})->path;
    qks_status status = folder_for(path, error);
    if (status == QKS_OK)
        status = file_put(path, m->bytes, m->length, error);
    unit u;
    if (status == QKS_OK && (status = unit_open(&u, path, error)) == QKS_OK)
        unit_close(&u);
    return status;
}

static void feed_rank(running *r, int rank)
{
    unit_place at;
    bool more = next_unit(r, rank, &at);
    ranks_send(r->s->ranks, rank, more ? at.model : 0, more ? at.group : 0,
               more ? key_of(r, at) : NULL);
}

/* A rank asks for its next unit before it sends the last one. */
static qks_status answer(running *r, const rank_message *m, qks_error *error)
{
    unit_place at = {m->model, m->group};
    qks_status status = QKS_OK;
    if (m->kind == RANK_PROGRESS)
        progress_add(r->s->progress, m->work);
    else if (m->kind == RANK_FAILED)
        status = model_failed(r, at, m->bytes, error);
    else if (m->kind == RANK_GONE && m->length && r->s->plan->options->messages)
        (void)fprintf(r->s->plan->options->messages, "qkscope: rank %d takes no part: %s\n",
                      m->rank, m->bytes);
    else if (m->kind == RANK_DONE && (status = store_unit(r, m, error)) == QKS_OK)
        unit_done(r, at, m->seconds);
    if (status == QKS_OK && (m->kind == RANK_READY || m->kind == RANK_FAILED))
        feed_rank(r, m->rank);
    return status;
}

static qks_status hear_ranks(running *r, qks_error *error)
{
    rank_message m;
    qks_status status = QKS_OK;
    while (status == QKS_OK && ranks_hear(r->s->ranks, &m)) {
        status = answer(r, &m, error);
        rank_message_free(&m);
    }
    return status;
}

static void nap(void)
{
    const struct timespec while_ranks_work = {.tv_nsec = WAIT_WITH_RANKS * 1000000L};
    (void)nanosleep(&while_ranks_work, NULL);
}

qks_status schedule_run(schedule *s, qks_error *error)
{
    running r = {.s = s};
    qks_status status = open_queues(&r, error);
    local_open(&r.local);
    for (size_t i = 0; i < s->plan->study->n_models; i++)
        if (s->plan->models[i].failure)
            tell(&r, "failed", (unit_place){i, 0}, s->plan->models[i].failure);
    while (status == QKS_OK) {
        status = feed_local(&r, error);
        if (status == QKS_OK && !r.local.busy && s->ranks->at_work == 0)
            break;
        if (status == QKS_OK && r.local.busy)
            status = hear_local(&r, error);
        else
            nap();
        if (status == QKS_OK)
            status = hear_ranks(&r, error);
        if (status == QKS_OK && plan_stopped(s->plan))
            status = qks_fail(error, QKS_INTERRUPTED, "interrupted; finished units are kept");
    }
    local_close(&r.local);
    return status;
}
