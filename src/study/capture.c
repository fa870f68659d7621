/* capture.c: the library's verb capture: every document group of a session, to unit files and
 * vectors in a folder. */
#include "qkscope/capture.h"

#include "base/file.h"
#include "base/folder.h"
#include "study/session.h"

#include <stdlib.h>
#include <string.h>

/* The unit files come into a folder of another name, which is put in place when all are there: a
 * capture that stopped half-way must not look like one of fewer documents. */
typedef struct capturing {
    session *session;
    const qks_capture_options *options;
    const char *out, *units; /* units: where they shall be */
    const char *temporary;   /* where they are; NULL: none are kept */
    dataset_writer *vectors; /* NULL: none are kept */
    arena names;
} capturing;

static bool is_unit_name(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".unit") == 0;
}

/* What stands in the units' place will be replaced; only unit files may be. */
static qks_status check_units(const char *folder, arena *a, qks_error *error)
{
    name_list names = {0};
    if (!is_folder(folder))
        return QKS_OK;
    qks_status status = folder_list(a, folder, &names, error);
    for (size_t i = 0; status == QKS_OK && i < names.length; i++)
        if (!is_unit_name(names.data[i]))
            status = qks_fail(error, QKS_INVALID,
                              "'%s' holds '%.200s', which is no unit file; name another folder",
                              folder, names.data[i]);
    free(names.data);
    return status;
}

/* What a killed capture left. Whoever holds the lock is the only writer. */
static void remove_leftovers(const char *out)
{
    arena a = {0};
    name_list names = {0};
    qks_status status = folder_list(&a, out, &names, NULL);
    for (size_t i = 0; status == QKS_OK && i < names.length; i++) {
        const char *path = arena_format(&a, "%s/%s", out, names.data[i]);
        if (path && strncmp(names.data[i], ".units.", 7) == 0)
            folder_remove(path);
    }
    free(names.data);
    arena_free(&a);
}

static qks_status prepare(capturing *c, qks_error *error)
{
    qks_keep keep = c->options->keep;
    qks_status status = QKS_OK;
    c->units = arena_format(&c->names, "%s/units", c->out);
    if (!c->units)
        return out_of_memory(error, "folder name");
    remove_leftovers(c->out);
    if (keep != QKS_KEEP_VECTORS)
        status = check_units(c->units, &c->names, error);
    if (status == QKS_OK && keep != QKS_KEEP_VECTORS)
        status = file_temporary(&c->names, c->units, &c->temporary, error);
    if (status == QKS_OK && c->temporary)
        status = folder_make(c->temporary, error);
    if (status == QKS_OK && keep != QKS_KEEP_MOMENTS)
        status = dataset_create(&c->vectors, c->out, session_info(c->session)->d, error);
    return status;
}

static qks_status capture_groups(capturing *c, progress *p, qks_error *error)
{
    qks_status status = QKS_OK;
    for (size_t g = 0; status == QKS_OK && g < session_info(c->session)->n_groups; g++) {
        const char *path = c->temporary
                               ? arena_format(&c->names, "%s/group-%04zu.unit", c->temporary, g)
                               : NULL;
        status = path || !c->temporary ? session_run(c->session, (int)g, path, c->vectors, p, error)
                                       : out_of_memory(error, "file name");
    }
    return status;
}

static qks_status finish(capturing *c, qks_error *error)
{
    qks_status status = c->temporary ? folder_place(c->temporary, c->units, error) : QKS_OK;
    if (status != QKS_OK || !c->vectors)
        return status;
    status = dataset_finish(c->vectors, session_card(c->session), error);
    c->vectors = NULL;
    return status;
}

static qks_status capture_all(capturing *c, qks_error *error)
{
    uint64_t work = 0;
    qks_status status = prepare(c, error);
    for (size_t g = 0; g < session_info(c->session)->n_groups; g++)
        work += session_work(c->session, (int)g);
    FILE *terminal = c->options->progress;
    /* A token counts once in every layer. */
    progress *p = terminal ? progress_start(terminal, "capture", work, "token layers") : NULL;
    if (status == QKS_OK)
        status = capture_groups(c, p, error);
    progress_end(p);
    if (status == QKS_OK)
        status = finish(c, error);
    if (c->temporary)
        folder_remove(c->temporary); /* no-op once it is in place */
    if (c->vectors)
        dataset_discard(c->vectors);
    arena_free(&c->names);
    return status;
}

static qks_status capture_session(session *s, const char *out, const qks_capture_options *options,
                                  qks_error *error)
{
    int lock = -1;
    capturing c = {.session = s, .options = options, .out = out};
    qks_status status = folder_lock(out, &lock, error);
    if (status == QKS_OK)
        status = capture_all(&c, error);
    folder_unlock(lock);
    return status;
}

qks_status qks_capture(const char *model, const char *out, const qks_capture_options *options,
                       qks_capture_report *report, qks_error *error)
{
    session *s = NULL;
    qks_status status = session_open(&s, model, options, error);
    if (status == QKS_OK)
        status = capture_session(s, out, options, error);
    if (status == QKS_OK && report) {
        *report = *session_report(s);
        report->units = options->keep == QKS_KEEP_VECTORS ? 0 : session_info(s)->n_groups;
    }
    session_close(s);
    return status;
}
