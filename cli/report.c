/* report.c: qkscope report. */
#include "cli.h"

#include "qkscope/report.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option OPTIONS[] = {
    {"--open", NULL, "show the page in a browser ($BROWSER, else xdg-open)"},
    {"--out", "FILE", "the file to write (default: DIR/report.html)"},
    {NULL, NULL, NULL},
};

/* Start a program with one argument, without a shell, in a session of its own and with its output
 * thrown away. Returns 0 or an errno. */
static int start(const char *program, const char *argument)
{
    char *const argv[] = {(char *)program, (char *)argument, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child;
    int fault = posix_spawn_file_actions_init(&actions);
    if (fault)
        return fault;
    fault = posix_spawnattr_init(&attributes);
    if (!fault) {
        fault = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
        for (int descriptor = 0; !fault && descriptor <= STDERR_FILENO; descriptor++)
            fault = posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
        if (!fault)
            fault = posix_spawnp(&child, program, &actions, &attributes, argv, environ);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return fault;
}

/* $BROWSER is a list of programs, separated by colons; the first that starts is taken. */
static qks_status open_page(const char *page, qks_error *error)
{
    char *path = realpath(page, NULL); /* absolute: no browser takes it for an option */
    const char *listed = getenv("BROWSER");
    char *programs = strdup(listed && *listed ? listed : "xdg-open"), *rest = NULL;
    int fault = path && programs ? ENOENT : errno;
    for (char *p = fault == ENOENT ? strtok_r(programs, ":", &rest) : NULL; p && fault;
         p = strtok_r(NULL, ":", &rest))
        fault = start(p, path);
    free(programs);
    free(path);
    if (fault)
        return qks_fail(error, QKS_PARTIAL,
                        "the page is in '%s', but no browser starts (%s): name one in BROWSER, or "
                        "install xdg-utils",
                        page, strerror(fault));
    return QKS_OK;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void say_made(const qks_report_facts *f, const char *page)
{
    (void)fprintf(stderr, "qkscope: %zu head%s of %zu model%s, %zu finding%s, %zu figure%s; ",
                  f->heads, plural(f->heads), f->models, plural(f->models), f->findings,
                  plural(f->findings), f->figures, plural(f->figures));
    (void)fprintf(stderr, "the page is %s (%.1f MB)\n", page, (double)f->bytes / 1e6);
}

static qks_status run_report(const cli_arguments *a, qks_error *error)
{
    qks_report_facts facts;
    const char *folder = a->operands[0];
    char *page = NULL;
    int length = argument_set(a, "--out") ? asprintf(&page, "%s", argument(a, "--out"))
                                          : asprintf(&page, "%s/report.html", folder);
    if (length < 0)
        return qks_fail(error, QKS_MEMORY, "out of memory");
    qks_status status = qks_report(folder, page, &facts, error);
    if (status == QKS_OK)
        say_made(&facts, page);
    if (status == QKS_OK && argument_set(a, "--open"))
        status = open_page(page, error);
    free(page);
    return status;
}

const cli_verb VERB_REPORT = {
    .name = "report",
    .operands = "DIR",
    .summary = "a page to explore a run, as one HTML file",
    .about =
        "DIR is a run's directory, or a folder of tables that 'qkscope analyze' wrote. The page "
        "shows\n"
        "the findings, the figures, and an explorer of all heads. It is one file, needs no "
        "network,\n"
        "and can be sent to others as it is.\n"
        "\n"
        "  qkscope report runs/smollm3 --open\n"
        "  qkscope report tables --out smollm3.html\n",
    .options = OPTIONS,
    .least = 1,
    .most = 1,
    .run = run_report,
};
