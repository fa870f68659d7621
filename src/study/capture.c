/* capture.c: the library's verb capture: every document group of a session, to unit files and
 * vectors in a folder. */
#include "qkscope/capture.h"

#include "base/file.h"
#include "study/session.h"

static qks_status capture_groups(session *s, const char *out, qks_keep keep,
                                 dataset_writer *vectors, progress *p, qks_error *error)
{
    qks_status status = QKS_OK;
    for (size_t g = 0; status == QKS_OK && g < session_info(s)->n_groups; g++) {
        arena a = {0};
        const char *path = arena_format(&a, "%s/units/group-%04zu.unit", out, g);
        status = path ? session_run(s, (int)g, keep == QKS_KEEP_VECTORS ? NULL : path, vectors, p,
                                    error)
                      : out_of_memory(error, "file name");
        arena_free(&a);
    }
    return status;
}

static qks_status make_folders(const char *out, qks_keep keep, qks_error *error)
{
    arena a = {0};
    const char *units = arena_format(&a, "%s/units", out);
    qks_status status = units ? folder_make(keep == QKS_KEEP_VECTORS ? out : units, error)
                              : out_of_memory(error, "folder name");
    arena_free(&a);
    return status;
}

static qks_status capture_session(session *s, const char *out, const qks_capture_options *options,
                                  qks_error *error)
{
    dataset_writer *vectors = NULL;
    qks_status status = make_folders(out, options->keep, error);
    if (status == QKS_OK && options->keep != QKS_KEEP_MOMENTS)
        status = dataset_create(&vectors, out, session_info(s)->d, error);
    if (status != QKS_OK)
        return status;
    uint64_t work = 0;
    for (size_t g = 0; g < session_info(s)->n_groups; g++)
        work += session_work(s, (int)g);
    progress *p = options->progress ? progress_start(options->progress, "capture", work, "tokens")
                                    : NULL;
    status = capture_groups(s, out, options->keep, vectors, p, error);
    progress_end(p);
    if (!vectors)
        return status;
    if (status == QKS_OK)
        return dataset_finish(vectors, session_card(s), error);
    dataset_discard(vectors);
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
