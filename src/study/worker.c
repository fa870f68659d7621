/* worker.c: one model in a process of its own. Requests and answers are lines of JSON:
 *
 *   {"study": PATH, "model": NUMBER, "threads": N, "memory": N, "backend": NAME, "out": FOLDER}
 *       first, once; it may write there only
 *       -> {"plan": {...}}: heads, documents, memory, and every group's key, tokens and work;
 *          with "calibrate": true also the seconds that each group will take
 *   {"group": NUMBER, "path": FILE}
 *       -> {"progress": WORK DONE SO FAR OF THE GROUP} ... {"done": NUMBER, "seconds": S}
 *
 * What fails ends the process with {"error": MESSAGE}. */
#include "qkscope/run.h"

#include "base/clock.h"
#include "qkscope/isolate.h"
#include "study/session.h"
#include "study/study.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

typedef struct worker {
    study study;
    qks_capture_options options;
    session *session;
} worker;

static qks_status say(json_t *message, qks_error *error)
{
    bool fine = message && json_dumpf(message, stdout, JSON_COMPACT) == 0 &&
                fputc('\n', stdout) != EOF && fflush(stdout) == 0;
    json_decref(message);
    return fine ? QKS_OK : qks_fail(error, QKS_IO, "the study's process does not hear its worker");
}

static json_t *plan_of(const session *s)
{
    const unit_info *info = session_info(s);
    const qks_capture_report *r = session_report(s);
    json_t *groups = json_array();
    for (size_t g = 0; g < info->n_groups; g++) {
        char key[UNIT_KEY_SIZE];
        session_key(s, (int)g, key);
        json_array_append_new(groups, json_pack("{s:s, s:I, s:I, s:I, s:f}", "key", key,
                                                "documents", (json_int_t)info->groups[g].documents,
                                                "tokens", (json_int_t)info->groups[g].tokens,
                                                "work", (json_int_t)session_work(s, (int)g),
                                                "seconds", session_seconds(s, (int)g)));
    }
    return json_pack(
        "{s:{s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}}",
        "plan", "layers", info->layers, "q_heads", info->q_heads, "kv_heads", info->kv_heads,
        "dimension", info->d, "context", (json_int_t)info->context, "memory",
        (json_int_t)session_memory(s), "query_heads", (json_int_t)r->query_heads, "key_heads",
        (json_int_t)r->key_heads, "documents", (json_int_t)r->documents, "tokens",
        (json_int_t)r->tokens, "truncated", (json_int_t)r->truncated, "beyond_context",
        (json_int_t)r->beyond_context, "too_short", (json_int_t)r->too_short, "empty",
        (json_int_t)r->empty, "not_utf8", (json_int_t)r->not_utf8, "groups", groups);
}

static qks_status open_model(worker *w, const json_t *request, qks_error *error)
{
    const char *path = json_string_value(json_object_get(request, "study"));
    const char *out = json_string_value(json_object_get(request, "out"));
    const char *backend = json_string_value(json_object_get(request, "backend"));
    json_int_t number = json_integer_value(json_object_get(request, "model"));
    text faults = text_new(1 << 20);
    qks_status status = path ? qks_isolate(out, backend, error)
                             : qks_fail(error, QKS_INTERNAL, "the worker was told no study");
    if (status == QKS_OK)
        status = study_read(&w->study, path, &faults, error);
    text_free(&faults);
    if (status != QKS_OK)
        return status;
    if (number < 0 || (size_t)number >= w->study.n_models)
        return qks_fail(error, QKS_INTERNAL, "the study has no model %lld", (long long)number);
    const study_model *m = &w->study.models[number];
    w->options = study_capture_options(&w->study, m);
    w->options.threads = (int)json_integer_value(json_object_get(request, "threads"));
    w->options.memory = (size_t)json_integer_value(json_object_get(request, "memory"));
    w->options.backend = backend;
    const char *model = study_model_path(&w->study, m);
    status = model ? session_open(&w->session, model, &w->options, error)
                   : qks_fail(error, QKS_MEMORY, "out of memory");
    if (status == QKS_OK && json_is_true(json_object_get(request, "calibrate")))
        status = session_calibrate(w->session, error);
    return status == QKS_OK ? say(plan_of(w->session), error) : status;
}

static void tell(void *context, uint64_t done)
{
    (void)context;
    (void)say(json_pack("{s:I}", "progress", (json_int_t)done), NULL);
}

static qks_status run_group(worker *w, const json_t *request, qks_error *error)
{
    json_int_t group = json_integer_value(json_object_get(request, "group"));
    const char *path = json_string_value(json_object_get(request, "path"));
    if (!w->session || !path || group < 0 || (size_t)group >= session_info(w->session)->n_groups)
        return qks_fail(error, QKS_INTERNAL, "the worker was asked for a unit it does not have");
    double started = clock_seconds();
    progress *p = progress_relay(tell, NULL);
    qks_status status = session_run(w->session, (int)group, path, NULL, p, error);
    progress_end(p);
    if (status != QKS_OK)
        return status;
    return say(json_pack("{s:I, s:f}", "done", group, "seconds", clock_seconds() - started), error);
}

/* If memory runs out the kernel shall end the worker, not the study that counts on it. */
static void offer_oneself(void)
{
    FILE *file = fopen("/proc/self/oom_score_adj", "w");
    if (!file)
        return;
    (void)fputs("500\n", file);
    (void)fclose(file); /* what may not be, may not be */
}

qks_status qks_worker(qks_error *error)
{
    worker w = {.session = NULL};
    char *line = NULL;
    size_t room = 0;
    json_t *first = NULL; /* the options point into it */
    qks_status status = QKS_OK;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* no worker outlives its study */
    offer_oneself();
    (void)signal(SIGINT, SIG_IGN); /* a terminal's Ctrl-C is for the study to answer */
    for (ssize_t n; status == QKS_OK && (n = getline(&line, &room, stdin)) > 0;) {
        json_t *request = json_loadb(line, (size_t)n, 0, NULL);
        if (!request)
            status = qks_fail(error, QKS_INTERNAL, "the worker was sent a line that is not JSON");
        else if (!first) {
            first = request;
            status = open_model(&w, request, error);
        } else {
            status = run_group(&w, request, error);
            json_decref(request);
        }
    }
    free(line);
    session_close(w.session);
    study_close(&w.study);
    json_decref(first);
    if (status != QKS_OK && error)
        (void)say(json_pack("{s:s}", "error", error->message), NULL);
    return status;
}
