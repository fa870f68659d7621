/* analyze.c: qkscope analyze and qkscope merge. */
#include "cli.h"

#include "qkscope/analyze.h"

#include <stdio.h>
#include <string.h>

#define INPUT_OPTIONS                                                                              \
    {"--model", "NAME", "the model's name in the tables (default: as the input says)"},            \
        {"--shape", "L/Q/K", "layers, query heads, key heads, such as 36/16/4"},                   \
        {"--config", "FILE", "take the shape from the model's config.json"},                       \
        {"--context", "N", "tokens the model reads at most (default: as captured)"},               \
        {"--bucket", "N", "positions per bucket (default: as captured)"},                          \
        {"--groups", "N|document", "document groups for error bars (default 20)"},                 \
        {"--plasticity", "N|all|none", "key pairs per bucket (default 256)"},                      \
        {"--seed", "N", "of the key pairs drawn (default 0)"},                                     \
    {                                                                                              \
        "--threads", "N", "default: all cores"                                                     \
    }

static const cli_option ANALYZE_OPTIONS[] = {
    {"--out", "DIR", "folder for the tables (required)"},
    {"--components", "N", "principal components per head (default 10)"},
    {"--study", "TABLE", "CSV with model, layers, order, and phase or family"},
    INPUT_OPTIONS,
    {NULL, NULL, NULL},
};

static const cli_option MERGE_OPTIONS[] = {
    {"--out", "FILE", "the unit file to write (required)"},
    INPUT_OPTIONS,
    {NULL, NULL, NULL},
};

static qks_status take_options(const cli_arguments *a, qks_analyze_options *o, qks_error *error)
{
    *o = (qks_analyze_options){.model = argument(a, "--model"),
                               .shape = argument(a, "--shape"),
                               .config = argument(a, "--config"),
                               .study = argument(a, "--study"),
                               .progress = stderr};
    int64_t components = 0, threads = 0, seed = 0;
    qks_status status = argument_number(a, "--components", 1, QKS_COMPONENTS_MAX, &components,
                                        error);
    if (status == QKS_OK)
        status = argument_number(a, "--context", 1, INT32_MAX, &o->context, error);
    if (status == QKS_OK)
        status = argument_number(a, "--bucket", 1, INT32_MAX, &o->bucket, error);
    if (status == QKS_OK)
        status = argument_number_or(a, "--groups", "document", QKS_PER_DOCUMENT, QKS_GROUPS_MAX,
                                    &o->groups, error);
    if (status == QKS_OK && argument_set(a, "--plasticity") &&
        strcmp(argument(a, "--plasticity"), "none") == 0)
        o->pairs = QKS_NO_PAIRS;
    else if (status == QKS_OK)
        status = argument_number_or(a, "--plasticity", "all", QKS_ALL_PAIRS, QKS_PAIRS_MAX,
                                    &o->pairs, error);
    if (status == QKS_OK)
        status = argument_number(a, "--seed", 0, INT64_MAX, &seed, error);
    if (status == QKS_OK)
        status = argument_number(a, "--threads", 1, QKS_THREADS_MAX, &threads, error);
    if (status == QKS_OK && !argument_set(a, "--out"))
        status = qks_fail(error, QKS_USAGE, "where to? give --out %s",
                          a->verb == &VERB_MERGE ? "FILE" : "DIR");
    o->components = (int)components;
    o->threads = (int)threads;
    o->seed = (uint64_t)seed;
    return status;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static qks_status run_analyze(const cli_arguments *a, qks_error *error)
{
    qks_analyze_options options;
    qks_analyze_report report;
    const char *out = argument(a, "--out");
    qks_status status = take_options(a, &options, error);
    if (status == QKS_OK)
        status = qks_analyze(a->operands, a->n_operands, out, &options, &report, error);
    if (status != QKS_OK)
        return status;
    (void)fprintf(stderr, "qkscope: %zu head%s of %zu model%s analysed; tables are in %s\n",
                  report.heads, plural(report.heads), report.models, plural(report.models), out);
    if (report.heads_without_keys)
        (void)fprintf(
            stderr, "qkscope: warning: the keys of %zu head%s were not captured: r_k is 0 there\n",
            report.heads_without_keys, plural(report.heads_without_keys));
    if (report.heads_flagged)
        (void)fprintf(stderr,
                      "qkscope: warning: numbers of %zu head%s are 0 by rule; column 'flags' of "
                      "table 'heads' says which\n",
                      report.heads_flagged, plural(report.heads_flagged));
    return QKS_OK;
}

static qks_status run_merge(const cli_arguments *a, qks_error *error)
{
    qks_analyze_options options;
    qks_status status = take_options(a, &options, error);
    if (status != QKS_OK)
        return status;
    status = qks_merge(a->operands, a->n_operands, argument(a, "--out"), &options, error);
    if (status == QKS_OK)
        (void)fprintf(stderr, "qkscope: %zu input%s merged; the unit file is %s\n", a->n_operands,
                      plural(a->n_operands), argument(a, "--out"));
    return status;
}

const cli_verb VERB_ANALYZE = {
    .name = "analyze",
    .operands = "INPUT...",
    .summary = "captured vectors or unit files to tables",
    .about =
        "Each INPUT is a captured dataset (a folder of l{LL}h{HH}{q|k}/data.parquet), a unit "
        "file,\n"
        "or a qk table. For every query head its queries and its key head's keys are pooled, "
        "their\n"
        "principal components taken, and each component's projections correlated with position.\n"
        "Writes the tables qk, heads, depth, trajectory, plasticity, findings and collage to DIR, "
        "as\n"
        "CSV and Parquet; standard errors come from leaving out one document group at a time.\n"
        "\n"
        "  qkscope analyze captured/ --shape 36/16/4 --out tables\n"
        "  qkscope analyze captured/ --config config.json --plasticity all --out tables\n"
        "  qkscope analyze units/*.unit --groups document --out tables\n"
        "  qkscope analyze qk.csv --study study.csv --out tables\n",
    .options = ANALYZE_OPTIONS,
    .least = 1,
    .most = SIZE_MAX,
    .computes = true,
    .run = run_analyze,
};

const cli_verb VERB_MERGE = {
    .name = "merge",
    .operands = "INPUT...",
    .summary = "join unit files; shrink captured vectors to moments",
    .about =
        "Joins unit files that hold different documents of one model to one unit file. A captured\n"
        "dataset as INPUT becomes a unit file: moments in place of vectors, from which every "
        "table\n"
        "comes out the same.\n"
        "\n"
        "  qkscope merge part1.unit part2.unit --out whole.unit\n"
        "  qkscope merge captured/ --shape 36/16/4 --out moments.unit\n",
    .options = MERGE_OPTIONS,
    .least = 1,
    .most = SIZE_MAX,
    .computes = true,
    .run = run_merge,
};
