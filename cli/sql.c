/* sql.c: qkscope sql. */
#include "cli.h"

#include "qkscope/analyze.h"

#include <stdio.h>
#include <unistd.h>

static const cli_option OPTIONS[] = {
    {"--csv", NULL, "as CSV (the default when the output is no terminal)"},
    {"--json", NULL, "as JSON"},
    {NULL, NULL, NULL},
};

static qks_status run_sql(const cli_arguments *a, qks_error *error)
{
    qks_sql_format format = argument_set(a, "--json")                            ? QKS_SQL_JSON
                            : argument_set(a, "--csv") || !isatty(STDOUT_FILENO) ? QKS_SQL_CSV
                                                                                 : QKS_SQL_ALIGNED;
    return qks_sql(a->operands[0], a->operands[1], format, stdout, error);
}

const cli_verb VERB_SQL = {
    .name = "sql",
    .operands = "DIR QUERY",
    .summary = "ask a run's tables in SQL",
    .about = "Every table in DIR (or in DIR/tables) is a view of its name: qk, heads, depth,\n"
             "trajectory, plasticity, findings, collage. The SQL is DuckDB's.\n"
             "\n"
             "  qkscope sql tables \"SELECT layer, avg(r_q) FROM qk WHERE pc = 0 GROUP BY layer "
             "ORDER BY layer\"\n"
             "  qkscope sql run \"FROM heads WHERE class = 'K-positional'\" --json\n",
    .options = OPTIONS,
    .least = 2,
    .most = 2,
    .run = run_sql,
};
