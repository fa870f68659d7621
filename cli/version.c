/* version.c: qkscope version and qkscope help. */
#include "cli.h"

#include "qkscope/version.h"

#include <stdio.h>
#include <stdlib.h>

static const cli_option OPTIONS[] = {
    {"--devices", NULL, "also the devices that --backend can name (starts ggml's backends)"},
    {"--json", NULL, "as JSON"},
    {NULL, NULL, NULL},
};

/* A device's description is its driver's: of it, what JSON need not escape. */
static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text; text++)
        if (*text >= ' ' && *text < 0x7f && *text != '"' && *text != '\\')
            putchar(*text);
    putchar('"');
}

/* Names and versions of libraries hold no characters that JSON would have to escape. */
static void print_json(const qks_part *parts, size_t count, const qks_device *devices,
                       size_t n_devices)
{
    printf("{\"version\": \"%s\", \"revision\": \"%s\", \"parts\": {", qks_version(),
           qks_revision());
    for (size_t i = 0; i < count; i++)
        printf("%s\"%s\": \"%s\"", i ? ", " : "", parts[i].name, parts[i].version);
    printf("}%s", devices ? ", \"devices\": [" : "");
    for (size_t i = 0; i < n_devices; i++) {
        printf("%s{\"name\": ", i ? ", " : "");
        print_quoted(devices[i].name);
        printf(", \"kind\": \"%s\", \"memory\": %zu, \"description\": ", devices[i].kind,
               devices[i].memory);
        print_quoted(devices[i].description);
        printf("}");
    }
    printf("%s}\n", devices ? "]" : "");
}

static void print_devices(const qks_device *devices, size_t count)
{
    printf("devices, for --backend (cpu, the default, needs none; rpc:HOST:PORT is another)\n");
    for (size_t i = 0; i < count; i++)
        printf("  %-10s %-14s %6.1f GB  %s\n", devices[i].name, devices[i].kind,
               (double)devices[i].memory / 1e9, devices[i].description);
}

static void print_parts(const qks_part *parts, size_t count)
{
    printf("qkscope %s%s%s%s\n", qks_version(), *qks_revision() ? " (" : "", qks_revision(),
           *qks_revision() ? ")" : "");
    for (size_t i = 0; i < count; i++)
        printf("  %-10s %-20s %s\n", parts[i].name, parts[i].version, parts[i].role);
}

static qks_status run_version(const cli_arguments *a, qks_error *error)
{
    size_t n_parts = 0, n_devices = 0;
    const qks_part *parts = qks_parts(&n_parts);
    qks_device *devices = NULL;
    qks_status status = argument_set(a, "--devices") ? qks_devices(&devices, &n_devices, error)
                                                     : QKS_OK;
    if (status != QKS_OK)
        return status;
    if (argument_set(a, "--json")) {
        print_json(parts, n_parts, devices, n_devices);
    } else {
        print_parts(parts, n_parts);
        if (devices)
            print_devices(devices, n_devices);
    }
    free(devices);
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
    .about = "  qkscope version\n  qkscope version --devices\n  qkscope version --json\n",
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
