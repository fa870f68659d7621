/* cli.h: the program's table of verbs and the one way their arguments are read. A verb is a row:
 * name, one line, options; --help and the error messages come from the same row. */
#ifndef QKSCOPE_CLI_H
#define QKSCOPE_CLI_H

#include "qkscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPTIONS_MAX = 32 };

typedef struct cli_option {
    const char *name;  /* "--out" */
    const char *value; /* "DIR"; NULL: a switch */
    const char *help;
} cli_option;

struct cli_arguments;

typedef struct cli_verb {
    const char *name;
    const char *operands;      /* "INPUT..." */
    const char *summary;       /* one line */
    const char *about;         /* what it does, with examples */
    const cli_option *options; /* ends with a row of NULLs; NULL: none */
    size_t least, most;        /* operands */
    bool hidden;               /* not listed by help */
    bool computes;             /* uses all cores: see main.c */
    qks_status (*run)(const struct cli_arguments *arguments, qks_error *error);
} cli_verb;

typedef struct cli_arguments {
    const cli_verb *verb;
    const char *values[OPTIONS_MAX]; /* by the option's row; "" for a switch that is set */
    const char **operands;
    size_t n_operands;
} cli_arguments;

extern const cli_verb *const VERBS[]; /* ends with NULL */
#define PROGRAM_SUMMARY "where the attention heads of language models keep position"

/* The verb of that name, or NULL and the nearest in the message. */
const cli_verb *find_verb(const char *name, qks_error *error);

/* Split argv (after the verb). `operands` must have room for argc. */
QKS_MUST_CHECK qks_status arguments_read(cli_arguments *a, const cli_verb *verb, int argc,
                                         char **argv, const char **operands, qks_error *error);

/* The value of an option of the verb's table; NULL if it was not given. */
const char *argument(const cli_arguments *a, const char *option);
static inline bool argument_set(const cli_arguments *a, const char *option)
{
    return argument(a, option) != NULL;
}

/* A whole number from `least` to `most`; `*value` stays as it is if the option was not given. */
QKS_MUST_CHECK qks_status argument_number(const cli_arguments *a, const char *option, int64_t least,
                                          int64_t most, int64_t *value, qks_error *error);

/* A positive number, and a size such as 8G or 512M; the same rule. */
QKS_MUST_CHECK qks_status argument_real(const cli_arguments *a, const char *option, double *value,
                                        qks_error *error);
QKS_MUST_CHECK qks_status argument_size(const cli_arguments *a, const char *option, size_t *value,
                                        qks_error *error);
/* A whole number from 1 to `most`, or a word that stands for another. */
QKS_MUST_CHECK qks_status argument_number_or(const cli_arguments *a, const char *option,
                                             const char *word, int64_t means, int64_t most,
                                             int64_t *value, qks_error *error);
/* One of the words (ends with NULL), as its number. */
QKS_MUST_CHECK qks_status argument_choice(const cli_arguments *a, const char *option,
                                          const char *const *words, int *value, qks_error *error);

void print_help(const cli_verb *verb); /* NULL: of the program */

extern const cli_verb VERB_INIT, VERB_RUN, VERB_CHECK, VERB_CAPTURE, VERB_WORKER;
extern const cli_verb VERB_ANALYZE, VERB_MERGE, VERB_INSPECT, VERB_SQL, VERB_VERSION, VERB_HELP;
extern const cli_verb VERB_REPORT, VERB_COMPARE;
extern const cli_verb VERB_FIGURES;
extern const cli_verb VERB_TOKENIZE, VERB_PAGES;

#endif
