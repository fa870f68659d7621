/* main.c: finds the verb, reads its arguments, runs it, and turns its status into an exit code. */
#include "cli.h"

#include "qkscope/names.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const cli_verb *const VERBS[] = {
    &VERB_INIT,    &VERB_CHECK, &VERB_RUN,     &VERB_CAPTURE, &VERB_TOKENIZE,
    &VERB_ANALYZE, &VERB_MERGE, &VERB_FIGURES, &VERB_REPORT,  &VERB_COMPARE,
    &VERB_INSPECT, &VERB_SQL,   &VERB_VERSION, &VERB_HELP,    &VERB_WORKER,
    &VERB_PAGES,   NULL};

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_PARTIAL = 3, EXIT_INTERRUPTED = 130 };

static int exit_code(qks_status status)
{
    switch (status) {
    case QKS_OK:
        return 0;
    case QKS_USAGE:
        return EXIT_USAGE;
    case QKS_PARTIAL:
        return EXIT_PARTIAL;
    case QKS_INTERRUPTED:
        return EXIT_INTERRUPTED;
    default:
        return EXIT_FAILED;
    }
}

const cli_verb *find_verb(const char *name, qks_error *error)
{
    const char *names[sizeof VERBS / sizeof *VERBS] = {0};
    for (size_t i = 0, listed = 0; VERBS[i]; i++) {
        if (strcmp(VERBS[i]->name, name) == 0)
            return VERBS[i];
        if (!VERBS[i]->hidden)
            names[listed++] = VERBS[i]->name;
    }
    const char *near = qks_nearest(name, names);
    if (near)
        (void)qks_fail(error, QKS_USAGE, "'%s' is no verb; did you mean '%s'?", name, near);
    else
        (void)qks_fail(error, QKS_USAGE, "'%s' is no verb; 'qkscope help' lists them", name);
    return NULL;
}

static bool asks_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

/* Should ggml give up, its last line is to be its reason, not what a debugger prints. */
static void keep_debuggers_out(void)
{
    (void)setenv("GGML_NO_BACKTRACE", "1", 0);
}

/* Threads that wait for each other shall sleep, not spin: spinning takes the cores from whoever has
 * work, and doubles the time on a busy machine. OpenMP reads its settings before main() begins, so
 * the program starts once more with them. Workers inherit them. */
static void let_threads_sleep(char **argv)
{
    if (getenv("OMP_WAIT_POLICY") || setenv("OMP_WAIT_POLICY", "passive", 1) != 0)
        return;
    (void)execv("/proc/self/exe", argv); /* where this fails, the threads spin */
}

static qks_status run(int argc, char **argv, qks_error *error)
{
    const char *name = argc > 1 ? argv[1] : "help";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0)
        name = "version";
    const cli_verb *verb = find_verb(name, error);
    if (!verb)
        return QKS_USAGE;
    if (asks_help(argc - 2, argv + 2)) {
        print_help(verb);
        return QKS_OK;
    }
    const char **operands = calloc((size_t)argc + 1, sizeof *operands);
    if (!operands)
        return qks_fail(error, QKS_MEMORY, "out of memory");
    cli_arguments arguments;
    qks_status status = arguments_read(&arguments, verb, argc > 2 ? argc - 2 : 0, argv + 2,
                                       operands, error);
    if (status == QKS_OK && verb->computes) {
        keep_debuggers_out();
        let_threads_sleep(argv);
    }
    if (status == QKS_OK)
        status = verb->run(&arguments, error);
    free(operands);
    return status;
}

int main(int argc, char **argv)
{
    qks_error error = {QKS_OK, ""};
    /* A reader that goes away, or a file grown beyond its limit, is a failed write, reported like
     * any other. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    qks_status status = run(argc, argv, &error);
    /* A full disk shows at the latest here. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == QKS_OK)
        status = qks_fail(&error, QKS_IO, "cannot write to standard output: %s", strerror(errno));
    if (status != QKS_OK)
        (void)fprintf(stderr, "qkscope: %s\n", error.message);
    return exit_code(status);
}
