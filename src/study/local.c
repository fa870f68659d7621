/* local.c: one unit at a time in this machine's worker process. */
#include "study/local.h"

#include "base/file.h"

#include <string.h>

void local_open(local *l)
{
    *l = (local){.reason = text_new(QKS_MESSAGE_SIZE), .child = {.to = -1, .from = -1}};
}

void local_close(local *l)
{
    child_end(&l->child, true, NULL);
    text_free(&l->reason);
    l->open = l->busy = false;
}

static qks_status ask(local *l, qks_error *error)
{
    json_t *request = json_pack("{s:I, s:s}", "group", (json_int_t)l->group, "path", l->path);
    qks_status status = request ? child_tell(&l->child, request, error)
                                : qks_fail(error, QKS_MEMORY, "out of memory");
    json_decref(request);
    /* A worker that is gone shows when it is heard, with the reason. */
    return status == QKS_IO ? QKS_OK : status;
}

qks_status local_begin(local *l, const plan *p, size_t model, size_t group, const char *key,
                       const char *path, qks_error *error)
{
    bool another = !l->open || l->model != model;
    l->model = model;
    l->group = group;
    l->key = key;
    l->path = path;
    l->busy = true;
    l->reported = 0;
    text_clear(&l->reason);
    if (!another)
        return ask(l, error);
    child_end(&l->child, false, NULL);
    l->open = false;
    arena a = {0};
    const char *folder = path_folder(&a, path);
    qks_status status = folder ? plan_ask(p, model, folder, &l->child, error)
                               : out_of_memory(error, "folder");
    arena_free(&a);
    l->open = l->child.process > 0; /* one that dies at once is met by local_step */
    return l->open && status == QKS_IO ? QKS_OK : status;
}

void local_drop(local *l)
{
    child_end(&l->child, true, NULL);
    l->open = l->busy = false;
}

static local_event failed(local *l)
{
    text how = text_new(4096);
    child_end(&l->child, false, &how);
    if (l->reason.length == 0)
        text_add(&l->reason, how.length ? text_string(&how) : "its worker ended without a word");
    text_free(&how);
    l->open = l->busy = false;
    return LOCAL_FAILED;
}

/* The worker's own plan: the group must be the same there. */
static qks_status take_plan(local *l, const json_t *facts, local_event *event, qks_error *error)
{
    const json_t *group = json_array_get(json_object_get(facts, "groups"), l->group);
    const char *key = json_string_value(json_object_get(group, "key"));
    if (key && strcmp(key, l->key) == 0)
        return ask(l, error);
    text_add(&l->reason,
             "the checkpoint, tokenizer or text changed while the study ran, or differs "
             "on this machine");
    *event = failed(l);
    return QKS_OK;
}

qks_status local_step(local *l, int milliseconds, local_event *event, qks_error *error)
{
    json_t *message = NULL;
    bool ended = false;
    *event = LOCAL_NOTHING;
    qks_status status = child_hear(&l->child, milliseconds, &message, &ended, error);
    if (status == QKS_INTERNAL) { /* it speaks nonsense: its model fails, not the study */
        text_add(&l->reason, error->message);
        local_drop(l);
        *event = LOCAL_FAILED;
        return QKS_OK;
    }
    if (status != QKS_OK)
        return status;
    const json_t *facts = json_object_get(message, "plan");
    const json_t *done = json_object_get(message, "done");
    const json_t *work = json_object_get(message, "progress");
    const char *fault = json_string_value(json_object_get(message, "error"));
    if (ended)
        *event = failed(l);
    else if (facts)
        status = take_plan(l, facts, event, error);
    else if (fault) {
        text_add(&l->reason, fault);
        *event = failed(l);
    } else if (work) {
        uint64_t all = (uint64_t)json_integer_value(work);
        l->work = all > l->reported ? all - l->reported : 0;
        l->reported += l->work;
        *event = LOCAL_PROGRESS;
    } else if (done) {
        l->seconds = json_real_value(json_object_get(message, "seconds"));
        l->busy = false;
        *event = LOCAL_DONE;
    }
    json_decref(message);
    return status;
}
