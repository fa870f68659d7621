/* figures.c: qkscope figures. */
#include "cli.h"

#include "qkscope/figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_option FIGURES_OPTIONS[] = {
    {"--out", "DIR", "folder for the figures (default: figures, beside the tables)"},
    {"--only", "LIST", "numbers or names, with commas: 7,change_map"},
    {"--format", "LIST", "of png,svg,pdf (default: all three)"},
    {"--study", "FILE", "for a bare qk table: CSV with model, layers, order, phase or family"},
    {"--shape", "L/Q/K", "for a bare qk table: layers, query heads, key heads of every model"},
    {"--portraits", "LIST", "checkpoints that figure 12 shows, with commas"},
    {"--threads", "N", "figures drawn at once (default: all cores)"},
    {NULL, NULL, NULL},
};

/* "A,B" to names that point into a copy of it; both are the caller's to free. */
static qks_status split(const char *list, char **copy, const char ***names, size_t *count,
                        qks_error *error)
{
    size_t most = 1;
    for (const char *c = list; *c; c++)
        most += *c == ',';
    *copy = strdup(list);
    *names = calloc(most, sizeof **names);
    if (!*copy || !*names)
        return qks_fail(error, QKS_MEMORY, "out of memory");
    char *rest = NULL;
    for (char *name = strtok_r(*copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        (*names)[(*count)++] = name;
    return QKS_OK;
}

static qks_status run_figures(const cli_arguments *a, qks_error *error)
{
    qks_figures_options options = {.study = argument(a, "--study"),
                                   .shape = argument(a, "--shape"),
                                   .only = argument(a, "--only"),
                                   .formats = argument(a, "--format")};
    qks_figures_report report = {0};
    int64_t threads = 0;
    char *copy = NULL;
    const char **portraits = NULL;
    qks_status status = argument_number(a, "--threads", 1, 1024, &threads, error);
    if (status == QKS_OK && argument_set(a, "--portraits"))
        status = split(argument(a, "--portraits"), &copy, &portraits, &options.n_portraits, error);
    options.threads = (int)threads;
    options.portraits = portraits;
    if (status == QKS_OK)
        status = qks_figures(a->operands[0], argument(a, "--out"), &options, &report, error);
    char *rest = NULL;
    for (char *line = strtok_r(report.notes, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        (void)fprintf(stderr, "qkscope: %s\n", line);
    if (status == QKS_OK)
        (void)fprintf(stderr, "qkscope: %zu figure%s drawn in %s\n", report.drawn,
                      report.drawn == 1 ? "" : "s", report.folder);
    free(portraits);
    free(copy);
    return status;
}

const cli_verb VERB_FIGURES = {
    .name = "figures",
    .operands = "DIR|TABLE",
    .summary = "figures from tables, each with its script, data and explanation",
    .about =
        "DIR is a run's directory or a folder of tables, TABLE a qk table or a published heatmap\n"
        "(model or checkpoint, 0.0, ..., 0.9). A study of models has figures 1 to 6, a study of\n"
        "training 7 to 14. Each gets a folder with figure.png, figure.svg, figure.pdf, the "
        "gnuplot\n"
        "script and data they are drawn from, and README.md, which says what is to be seen.\n"
        "\n"
        "  qkscope figures run/\n"
        "  qkscope figures tables/ --only 7,change_map --format svg --out figures\n"
        "  qkscope figures qk.csv --study study.csv --out figures\n"
        "  qkscope figures smollm3_rk.csv --out figures\n",
    .options = FIGURES_OPTIONS,
    .least = 1,
    .most = 1,
    .run = run_figures,
};
