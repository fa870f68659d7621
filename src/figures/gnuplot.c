/* gnuplot.c: gnuplot's version, its run on a script, and a look at the end of what it drew. */
#include "figures/gnuplot.h"

#include "base/file.h"
#include "figures/process.h"

#include <stdio.h>
#include <string.h>

enum { SAID_MAX = 700, TAIL_SIZE = 16 };

/* Lines become one, so that it fits a message. */
static void on_one_line(text *said)
{
    size_t length = 0;
    for (size_t i = 0; i < said->length; i++) {
        char c = (unsigned char)said->data[i] < ' ' ? ' ' : said->data[i];
        if (c != ' ' || (length && said->data[length - 1] != ' '))
            said->data[length++] = c;
    }
    while (length && said->data[length - 1] == ' ')
        length--;
    said->length = length;
    if (said->data)
        said->data[length] = '\0';
}

static qks_status run(char *const *arguments, const char *folder, text *said, qks_error *error)
{
    int code = 0;
    qks_status status = process_run(arguments, folder, said, &code, error);
    if (status == QKS_MISSING)
        return qks_fail(error, QKS_MISSING,
                        "gnuplot is not on the PATH; install it (Debian: apt install gnuplot-nox "
                        "fonts-dejavu-core, macOS: brew install gnuplot)");
    on_one_line(said);
    if (status == QKS_OK && code != 0)
        status = qks_fail(error, QKS_INTERNAL, "gnuplot failed (exit code %d): %s", code,
                          said->length ? text_string(said) : "it says nothing");
    return status;
}

qks_status gnuplot_version(char version[GNUPLOT_VERSION_SIZE], qks_error *error)
{
    char *arguments[] = {"gnuplot", "--version", NULL};
    text said = text_new(GNUPLOT_VERSION_SIZE - 1);
    qks_status status = run(arguments, NULL, &said, error);
    (void)snprintf(version, GNUPLOT_VERSION_SIZE, "%s", text_string(&said));
    text_free(&said);
    return status;
}

/* ---- is it whole? ---- */

static qks_status check_end(const char *folder, const char *name, const char *end, qks_error *error)
{
    char tail[TAIL_SIZE + 1] = "";
    file_reader r = {0};
    arena a = {0};
    const char *path = arena_format(&a, "%s/%s", folder, name);
    qks_status status = QKS_OK;
    if (!path)
        status = out_of_memory(error, "file name");
    else if (!is_file(path))
        status = qks_fail(error, QKS_IO, "gnuplot drew no %s, and does not say why", name);
    else
        status = file_open(&r, path, error);
    if (status == QKS_OK) {
        bool whole = r.size > TAIL_SIZE;
        if (whole)
            status = file_read_at(&r, r.size - TAIL_SIZE, tail, TAIL_SIZE, error);
        file_close(&r);
        if (status == QKS_OK && (!whole || !memmem(tail, TAIL_SIZE, end, strlen(end))))
            status = qks_fail(error, QKS_IO, "gnuplot's %s is cut off; is the disk full?", name);
    }
    arena_free(&a);
    return status;
}

qks_status gnuplot_draw(const char *folder, const char *formats, qks_error *error)
{
    static const char *const kinds[][3] = {{"png", "figure.png", "IEND"},
                                           {"svg", "figure.svg", "</svg>"},
                                           {"pdf", "figure.pdf", "%%EOF"}};
    char choice[64];
    (void)snprintf(choice, sizeof choice, "formats = '%s'", formats);
    char *arguments[] = {"gnuplot", "-d", "-e", choice, "figure.gp", NULL};
    text said = text_new(SAID_MAX);
    qks_status status = run(arguments, folder, &said, error);
    if (status == QKS_OK && said.length) /* a warning: the figure lacks something */
        status = qks_fail(error, QKS_INTERNAL, "gnuplot says: %s", text_string(&said));
    text_free(&said);
    for (size_t i = 0; status == QKS_OK && i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(formats, kinds[i][0]))
            status = check_end(folder, kinds[i][1], kinds[i][2], error);
    return status;
}
