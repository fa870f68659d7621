/* arguments.c: reading argv by a verb's table of options, and the help made from it. */
#include "cli.h"

#include "qkscope/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_COLUMN = 28 };

static ptrdiff_t option_row(const cli_verb *verb, const char *name, size_t length)
{
    for (ptrdiff_t i = 0; verb->options && verb->options[i].name; i++)
        if (strlen(verb->options[i].name) == length &&
            strncmp(verb->options[i].name, name, length) == 0)
            return i;
    return -1;
}

static qks_status unknown_option(const cli_verb *verb, const char *name, qks_error *error)
{
    const char *names[OPTIONS_MAX + 1] = {0};
    for (size_t i = 0; verb->options && verb->options[i].name; i++)
        names[i] = verb->options[i].name;
    const char *near = qks_nearest(name, names);
    if (near)
        return qks_fail(error, QKS_USAGE, "qkscope %s has no option %s; did you mean %s?",
                        verb->name, name, near);
    return qks_fail(error, QKS_USAGE, "qkscope %s has no option %s; 'qkscope %s --help' lists them",
                    verb->name, name, verb->name);
}

static qks_status check_operands(const cli_arguments *a, qks_error *error)
{
    const cli_verb *verb = a->verb;
    if (a->n_operands < verb->least)
        return qks_fail(error, QKS_USAGE, "usage: qkscope %s %s; see 'qkscope %s --help'",
                        verb->name, verb->operands, verb->name);
    if (a->n_operands > verb->most)
        return qks_fail(error, QKS_USAGE, "qkscope %s takes %s; '%s' is one too many", verb->name,
                        *verb->operands ? verb->operands : "nothing", a->operands[verb->most]);
    return QKS_OK;
}

qks_status arguments_read(cli_arguments *a, const cli_verb *verb, int argc, char **argv,
                          const char **operands, qks_error *error)
{
    *a = (cli_arguments){.verb = verb, .operands = operands};
    bool options = true;
    for (int i = 0; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
            continue;
        }
        if (!options || argv[i][0] != '-' || argv[i][1] == '\0') {
            operands[a->n_operands++] = argv[i];
            continue;
        }
        const char *equals = strchr(argv[i], '=');
        size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
        ptrdiff_t row = option_row(verb, argv[i], length);
        if (row < 0)
            return unknown_option(verb, argv[i], error);
        const cli_option *option = &verb->options[row];
        if (a->values[row])
            return qks_fail(error, QKS_USAGE, "%s was given twice", option->name);
        if (!option->value && equals)
            return qks_fail(error, QKS_USAGE, "%s takes no value", option->name);
        bool lacks = i + 1 == argc || option_row(verb, argv[i + 1], strlen(argv[i + 1])) >= 0;
        if (option->value && !equals && lacks)
            return qks_fail(error, QKS_USAGE, "%s needs a value: %s %s", option->name, option->name,
                            option->value);
        a->values[row] = !option->value ? "" : equals ? equals + 1 : argv[++i];
    }
    return check_operands(a, error);
}

const char *argument(const cli_arguments *a, const char *option)
{
    ptrdiff_t row = option_row(a->verb, option, strlen(option));
    return row < 0 ? NULL : a->values[row];
}

qks_status argument_number(const cli_arguments *a, const char *option, int64_t least, int64_t most,
                           int64_t *value, qks_error *error)
{
    const char *text = argument(a, option);
    if (!text)
        return QKS_OK;
    const char *values = a->verb->options[option_row(a->verb, option, strlen(option))].value;
    bool words = strchr(values, '|') != NULL; /* "N|all|none" */
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end || number < least || number > most)
        return qks_fail(error, QKS_USAGE,
                        "%s takes a whole number from %" PRId64 " to %" PRId64 "%s%s%s, not '%s'",
                        option, least, most, words ? " (" : "", words ? values : "",
                        words ? ")" : "", text);
    *value = number;
    return QKS_OK;
}

qks_status argument_real(const cli_arguments *a, const char *option, double *value,
                         qks_error *error)
{
    const char *text = argument(a, option);
    if (!text)
        return QKS_OK;
    char *end = NULL;
    double number = strtod(text, &end);
    if (end == text || *end || !(number > 0 && number < 1e30))
        return qks_fail(error, QKS_USAGE, "%s takes a positive number, not '%s'", option, text);
    *value = number;
    return QKS_OK;
}

qks_status argument_size(const cli_arguments *a, const char *option, size_t *value,
                         qks_error *error)
{
    static const char units[] = "KMGT";
    const char *text = argument(a, option);
    if (!text)
        return QKS_OK;
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (errno || end == text || text[0] == '-' || number == 0 || (*end && (!unit || end[1])) ||
        number > (SIZE_MAX >> shift))
        return qks_fail(error, QKS_USAGE, "%s takes a size such as 8G or 512M, not '%s'", option,
                        text);
    *value = (size_t)number << shift;
    return QKS_OK;
}

qks_status argument_number_or(const cli_arguments *a, const char *option, const char *word,
                              int64_t means, int64_t most, int64_t *value, qks_error *error)
{
    const char *text = argument(a, option);
    if (text && word && strcmp(text, word) == 0) {
        *value = means;
        return QKS_OK;
    }
    return argument_number(a, option, 1, most, value, error);
}

qks_status argument_choice(const cli_arguments *a, const char *option, const char *const *words,
                           int *value, qks_error *error)
{
    const char *text = argument(a, option);
    for (int i = 0; text && words[i]; i++)
        if (strcmp(text, words[i]) == 0) {
            *value = i;
            return QKS_OK;
        }
    if (!text)
        return QKS_OK;
    const char *near = qks_nearest(text, words);
    if (near)
        return qks_fail(error, QKS_USAGE, "%s has no '%s'; did you mean '%s'?", option, text, near);
    return qks_fail(error, QKS_USAGE, "%s has no '%s'; 'qkscope %s --help' lists them", option,
                    text, a->verb->name);
}

static void print_option(const char *name, const char *value, const char *help)
{
    int used = printf("  %s%s%s", name, value ? " " : "", value ? value : "");
    printf("%*s%s\n", used < HELP_COLUMN ? HELP_COLUMN - used : 2, "", help);
}

void print_help(const cli_verb *verb)
{
    if (verb) {
        printf("qkscope %s%s%s%s: %s\n\n%s", verb->name, *verb->operands ? " " : "", verb->operands,
               verb->options ? " [options]" : "", verb->summary, verb->about);
        if (verb->options)
            printf("\nOptions:\n");
        for (const cli_option *o = verb->options; o && o->name; o++)
            print_option(o->name, o->value, o->help);
        return;
    }
    printf("qkscope: " PROGRAM_SUMMARY "\n\n"
           "usage: qkscope VERB [arguments]\n\n");
    for (const cli_verb *const *v = VERBS; *v; v++)
        if (!(*v)->hidden)
            print_option((*v)->name, NULL, (*v)->summary);
    printf(
        "\n'qkscope VERB --help' explains a verb, with examples.\n"
        "Exit codes: 0 done, 1 failed, 2 wrong usage or study, 3 partly done, 130 interrupted.\n");
}
