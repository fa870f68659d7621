/* piece.c: a composed figure's way to disk: written and drawn in a temporary folder, then placed
 * file by file. */
#include "figures/piece.h"

#include "base/file.h"
#include "base/folder.h"
#include "figures/fonts.h"
#include "figures/gnuplot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { README_MAX = 1 << 22, SCRIPT_MAX = 1 << 26 };

piece piece_new(const char *name)
{
    piece p = {.script = text_new(SCRIPT_MAX), .readme = text_new(README_MAX)};
    (void)snprintf(p.name, sizeof p.name, "%s", name);
    return p;
}

void piece_free(piece *p)
{
    text_free(&p->script);
    text_free(&p->data);
    text_free(&p->readme);
}

qks_status piece_take(piece *p, canvas *c, qks_error *error)
{
    canvas_print(c, p->name, &p->script);
    p->data = c->data;
    c->data = text_new(0);
    qks_status status = text_status(&p->script, "figure", error);
    if (status == QKS_OK)
        status = text_status(&p->data, "figure's data", error);
    return status == QKS_OK ? fonts_check(&p->script, error) : status;
}

const char *piece_image(const char *formats)
{
    return strstr(formats, "png") ? "figure.png" : strstr(formats, "svg") ? "figure.svg" : NULL;
}

static qks_status put_text(const char *folder, const char *name, const text *t, arena *a,
                           qks_error *error)
{
    const char *path = arena_format(a, "%s/%s", folder, name);
    FILE *file = path ? fopen(path, "we") : NULL;
    if (!file)
        return qks_fail(error, QKS_IO, "cannot write '%s/%s': %s", folder, name, strerror(errno));
    bool written = fwrite(text_string(t), 1, t->length, file) == t->length;
    if (fclose(file) != 0 || !written)
        return qks_fail(error, QKS_IO, "cannot write '%s': %s", path, strerror(errno));
    return QKS_OK;
}

static const char *const FILES[] = {"data.csv",   "figure.gp",  "figure.png",
                                    "figure.svg", "figure.pdf", "README.md"};

/* What was drawn goes from the temporary folder to its place, file by file: a user's own files
 * there stay. */
static qks_status place_files(const char *from, const char *to, arena *a, qks_error *error)
{
    qks_status status = folder_make(to, error);
    for (size_t i = 0; status == QKS_OK && i < sizeof FILES / sizeof *FILES; i++) {
        const char *source = arena_format(a, "%s/%s", from, FILES[i]);
        const char *target = arena_format(a, "%s/%s", to, FILES[i]);
        if (!source || !target)
            return out_of_memory(error, "file name");
        if (is_file(source))
            status = file_place(source, target, error);
    }
    return status;
}

static qks_status draw_in(const char *folder, piece *p, const char *place, const char *formats,
                          arena *a, qks_error *error)
{
    qks_status status = put_text(folder, "data.csv", &p->data, a, error);
    if (status == QKS_OK)
        status = put_text(folder, "figure.gp", &p->script, a, error);
    if (status == QKS_OK)
        status = put_text(folder, "README.md", &p->readme, a, error);
    if (status != QKS_OK)
        return status;
    if (formats)
        p->drawn = gnuplot_draw(folder, formats, &p->error);
    return place_files(folder, place, a, error);
}

qks_status piece_draw(piece *p, const char *out, const char *formats, qks_error *error)
{
    arena a = {0};
    const char *place = arena_format(&a, "%s/%s", out, p->name), *folder = NULL;
    qks_status status = place ? file_temporary(&a, place, &folder, error)
                              : out_of_memory(error, "file name");
    if (status == QKS_OK)
        status = folder_make(folder, error);
    if (status == QKS_OK) {
        status = draw_in(folder, p, place, formats, &a, error);
        folder_remove(folder);
    }
    arena_free(&a);
    return status;
}
