/* compare.c: qkscope compare. */
#include "cli.h"

#include "qkscope/compare.h"

#include <stdio.h>
#include <unistd.h>

static const cli_option OPTIONS[] = {
    {"--quantity", "r_q|r_k", "what a table by depth is of (default: its name has rq or rk)"},
    {"--out", "DIR", "also write compare.csv, compare.parquet and the folder figure there"},
    {"--csv", NULL, "as CSV (the default when the output is no terminal)"},
    {"--json", NULL, "as JSON, with the summary"},
    {NULL, NULL, NULL},
};

static qks_status run_compare(const cli_arguments *a, qks_error *error)
{
    qks_sql_format format = argument_set(a, "--json")                            ? QKS_SQL_JSON
                            : argument_set(a, "--csv") || !isatty(STDOUT_FILENO) ? QKS_SQL_CSV
                                                                                 : QKS_SQL_ALIGNED;
    qks_comparison *c = NULL;
    qks_status status = qks_compare(a->operands[0], a->operands[1], argument(a, "--quantity"), &c,
                                    error);
    /* Files first: whoever reads the table may go away before its end. */
    if (status == QKS_OK && argument_set(a, "--out"))
        status = qks_comparison_write(c, argument(a, "--out"), error);
    if (status == QKS_OK && argument_set(a, "--out"))
        status = qks_comparison_draw(c, argument(a, "--out"), error);
    if (status == QKS_OK || status == QKS_PARTIAL) {
        qks_status printed = qks_comparison_print(c, format, stdout, error);
        status = printed == QKS_OK ? status : printed;
    }
    if (status == QKS_OK || status == QKS_PARTIAL)
        qks_comparison_summary(c, format == QKS_SQL_ALIGNED ? stdout : stderr);
    qks_comparison_free(c);
    return status;
}

const cli_verb VERB_COMPARE = {
    .name = "compare",
    .operands = "DIR TABLE",
    .summary = "a run's tables against a published one",
    .about =
        "Sets every number that DIR's tables (a run's directory, or a folder of tables) and the\n"
        "published TABLE both have side by side, with the difference, its jackknife z and a\n"
        "verdict, and sums up. Models go by label, checkpoints by label or revision. A cell "
        "agrees\n"
        "if |z| <= 2, the rounding of the published number counted in; without a standard error,\n"
        "if the difference is at most 0.02. The exit code is 0 whatever the verdict.\n"
        "\n"
        "  qkscope compare studies/runs/models studies/published/crossmodel_rq.csv\n"
        "  qkscope compare run studies/published/smollm3_trajectory.csv --json\n",
    .options = OPTIONS,
    .least = 2,
    .most = 2,
    .run = run_compare,
};
