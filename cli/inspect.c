/* inspect.c: qkscope inspect. */
#include "cli.h"

#include "qkscope/analyze.h"

static const cli_option OPTIONS[] = {
    {"--json", NULL, "as JSON"},
    {NULL, NULL, NULL},
};

static qks_status run_inspect(const cli_arguments *a, qks_error *error)
{
    return qks_inspect(a->operands[0], argument_set(a, "--json"), stdout, error);
}

const cli_verb VERB_INSPECT = {
    .name = "inspect",
    .operands = "PATH",
    .summary = "say what a file or folder is",
    .about =
        "Names the kind of PATH (captured dataset, unit file, table, checkpoint, run) and what\n"
        "is in it. Unit files are checked from end to end.\n"
        "\n"
        "  qkscope inspect captured/\n"
        "  qkscope inspect whole.unit --json\n",
    .options = OPTIONS,
    .least = 1,
    .most = 1,
    .run = run_inspect,
};
