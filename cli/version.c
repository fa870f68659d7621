/* version.c: qkscope version and qkscope help. */
#include "cli.h"

#include "qkscope/version.h"

#include <stdio.h>

static const cli_option OPTIONS[] = {
    {"--json", NULL, "as JSON"},
    {NULL, NULL, NULL},
};

/* Names and versions of libraries hold no characters that JSON would have to escape. */
static void print_json(const qks_part *parts, size_t count)
{
    printf("{\"version\": \"%s\", \"revision\": \"%s\", \"parts\": {", qks_version(),
           qks_revision());
    for (size_t i = 0; i < count; i++)
        printf("%s\"%s\": \"%s\"", i ? ", " : "", parts[i].name, parts[i].version);
    printf("}}\n");
}

static qks_status run_version(const cli_arguments *a, qks_error *error)
{
    (void)error;
    size_t count = 0;
    const qks_part *parts = qks_parts(&count);
    if (argument_set(a, "--json")) {
        print_json(parts, count);
        return QKS_OK;
    }
    printf("qkscope %s%s%s%s\n", qks_version(), *qks_revision() ? " (" : "", qks_revision(),
           *qks_revision() ? ")" : "");
    for (size_t i = 0; i < count; i++)
        printf("  %-10s %-20s %s\n", parts[i].name, parts[i].version, parts[i].role);
    return QKS_OK;
}

static qks_status run_help(const cli_arguments *a, qks_error *error)
{
    if (a->n_operands == 0) {
        print_help(NULL);
        return QKS_OK;
    }
    const cli_verb *verb = find_verb(a->operands[0], error);
    if (!verb)
        return QKS_USAGE;
    print_help(verb);
    return QKS_OK;
}

const cli_verb VERB_VERSION = {
    .name = "version",
    .operands = "",
    .summary = "version, and the libraries under it",
    .about = "  qkscope version\n  qkscope version --json\n",
    .options = OPTIONS,
    .run = run_version,
};

const cli_verb VERB_HELP = {
    .name = "help",
    .operands = "[VERB]",
    .summary = "this list, or what a verb does",
    .about = "  qkscope help\n  qkscope help analyze\n",
    .most = 1,
    .run = run_help,
};
