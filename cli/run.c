/* run.c: qkscope run, check, and the worker they start. */
#include "cli.h"

#include "qkscope/run.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN_OPTIONS                                                                                \
    {"--out", "DIR", "the run's directory (default: runs/NAME beside the study file)"},            \
        {"--threads", "N", "of each worker (default: all cores)"},                                 \
        {"--backend", "NAME", "cpu (default), rpc:HOST:PORT, or a device of ggml's"},              \
        {"--memory", "SIZE", "of each worker for documents in hand, such as 8G"},

static const cli_option OPTIONS[] = {
    RUN_OPTIONS{"--json", NULL, "events as lines of JSON on standard output"},
    {NULL, NULL, NULL},
};

static const cli_option CHECK_OPTIONS[] = {
    RUN_OPTIONS{"--json", NULL, "as JSON"},
    {NULL, NULL, NULL},
};

static volatile sig_atomic_t interrupted;

/* The second Ctrl-C leaves at once. */
static void on_interrupt(int number)
{
    (void)number;
    if (interrupted)
        _exit(130);
    interrupted = 1;
}

static qks_status take_options(const cli_arguments *a, qks_run_options *o, char program[PATH_MAX],
                               qks_error *error)
{
    int64_t threads = 0;
    ssize_t length = readlink("/proc/self/exe", program, PATH_MAX - 1);
    if (length < 0)
        return qks_fail(error, QKS_IO, "cannot find the path of this program");
    program[length] = '\0';
    *o = (qks_run_options){.out = argument(a, "--out"),
                           .program = program,
                           .backend = argument(a, "--backend"),
                           .progress = stderr,
                           .messages = stderr,
                           .stop = &interrupted};
    qks_status status = argument_number(a, "--threads", 1, 1024, &threads, error);
    if (status == QKS_OK)
        status = argument_size(a, "--memory", &o->memory, error);
    o->threads = (int)threads;
    return status;
}

static qks_status run_run(const cli_arguments *a, qks_error *error)
{
    qks_run_options options;
    qks_run_report r;
    char program[PATH_MAX];
    qks_status status = take_options(a, &options, program, error);
    if (status != QKS_OK)
        return status;
    options.events = argument_set(a, "--json") ? stdout : NULL;
    (void)signal(SIGINT, on_interrupt);
    (void)signal(SIGTERM, on_interrupt);
    status = qks_run(a->operands[0], &options, &r, error);
    if (r.out && (status == QKS_OK || status == QKS_PARTIAL))
        (void)fprintf(stderr,
                      "qkscope: %zu units: %zu computed, %zu were there; results are in %s\n",
                      r.units, r.units_computed, r.units_done_before, r.out);
    free((void *)(uintptr_t)r.out);
    return status;
}

static qks_status run_check(const cli_arguments *a, qks_error *error)
{
    qks_run_options options;
    char program[PATH_MAX];
    qks_status status = take_options(a, &options, program, error);
    if (status != QKS_OK)
        return status;
    return qks_check(a->operands[0], &options, argument_set(a, "--json"), stdout, error);
}

static qks_status run_worker(const cli_arguments *a, qks_error *error)
{
    (void)a;
    return qks_worker(error);
}

const cli_verb VERB_RUN = {
    .name = "run",
    .operands = "STUDY.yaml",
    .summary = "a whole study: units, tables, figures, report; resumes",
    .about =
        "Runs every model of the study over its text, in a process of its own, and makes tables,\n"
        "figures and a page of what was measured. Finished units are kept: run it again after a\n"
        "crash, Ctrl-C or a change, and only what is missing or changed is computed. Under\n"
        "mpirun the units are spread over the ranks.\n"
        "\n"
        "  qkscope run demo/training.yaml\n"
        "  mpirun -n 8 qkscope run studies/smollm3-training.yaml --threads 4\n",
    .options = OPTIONS,
    .least = 1,
    .most = 1,
    .computes = true,
    .run = run_run,
};

const cli_verb VERB_CHECK = {
    .name = "check",
    .operands = "STUDY.yaml",
    .summary = "say what a run would do; find every fault at once",
    .about =
        "Reads the study file, every checkpoint's header and the whole text, and prints models,\n"
        "heads, tokens, memory and which units are done already. One layer of each model is timed\n"
        "to estimate how long the rest takes; nothing is written.\n"
        "\n"
        "  qkscope check studies/models.yaml\n",
    .options = CHECK_OPTIONS,
    .least = 1,
    .most = 1,
    .computes = true,
    .run = run_check,
};

const cli_verb VERB_WORKER = {
    .name = "worker",
    .operands = "",
    .summary = "(started by run)",
    .about = "Hears requests of a study's run on standard input.\n",
    .hidden = true,
    .run = run_worker,
};
