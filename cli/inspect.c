/* inspect.c: qkscope inspect. */
#include "cli.h"

#include "qkscope/captured.h"

#include <stdio.h>

static const cli_option OPTIONS[] = {
    {"--json", NULL, "as JSON"},
    {"--export", "FILE", "write the moments of PATH as .safetensors, for numpy"},
    {"--shape", "L/Q/K", "for --export of a bare dataset: layers, query heads, key heads"},
    {"--config", "FILE", "or the model's config.json"},
    {"--groups", "N|document", "for --export of a dataset: document groups (default 20)"},
    {NULL, NULL, NULL},
};

static qks_status export_moments(const cli_arguments *a, qks_error *error)
{
    qks_analyze_options options = {.shape = argument(a, "--shape"),
                                   .config = argument(a, "--config")};
    qks_captured *c = NULL;
    qks_status status = argument_number_or(a, "--groups", "document", QKS_PER_DOCUMENT,
                                           QKS_GROUPS_MAX, &options.groups, error);
    if (status == QKS_OK)
        status = qks_captured_open(&c, a->operands[0], &options, error);
    if (status == QKS_OK)
        status = qks_captured_export(c, argument(a, "--export"), error);
    if (status == QKS_OK) {
        const qks_captured_facts *f = qks_captured_facts_of(c);
        (void)fprintf(stderr,
                      "qkscope: moments of %zu query and %zu key heads, %zu groups, in %s\n",
                      f->n_queries, f->n_keys, f->groups, argument(a, "--export"));
    }
    qks_captured_close(c);
    return status;
}

static qks_status run_inspect(const cli_arguments *a, qks_error *error)
{
    static const char *const only_export[] = {"--shape", "--config", "--groups"};
    if (argument_set(a, "--export"))
        return export_moments(a, error);
    for (size_t i = 0; i < sizeof only_export / sizeof *only_export; i++)
        if (argument_set(a, only_export[i]))
            return qks_fail(error, QKS_USAGE, "%s goes with --export", only_export[i]);
    return qks_inspect(a->operands[0], argument_set(a, "--json"), stdout, error);
}

const cli_verb VERB_INSPECT = {
    .name = "inspect",
    .operands = "PATH",
    .summary = "say what a file or folder is",
    .about =
        "Names the kind of PATH (captured dataset or moments, unit file, table, run, checkpoint,\n"
        "tokenizer.json) and what is in it. Unit files are checked from end to end. --export "
        "writes\n"
        "the moments of what was captured (a folder of capture's, a unit file, a dataset of "
        "vectors)\n"
        "for numpy.\n"
        "\n"
        "  qkscope inspect captured/\n"
        "  qkscope inspect whole.unit --json\n"
        "  qkscope inspect captured/ --export moments.safetensors\n",
    .options = OPTIONS,
    .least = 1,
    .most = 1,
    .run = run_inspect,
};
