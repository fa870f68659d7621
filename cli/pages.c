/* pages.c: qkscope pages (hidden): the manual pages and the completions of bash and zsh, from the
 * tables of verbs and options that --help is made of. The build runs it; `make install` installs
 * what it wrote. */
#include "cli.h"

#include "qkscope/version.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the manual ---- */

/* Text that troff shall not take for requests; a hyphen that can be copied. */
static void put_roff(FILE *f, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bool begins = i == 0 || text[i - 1] == '\n';
        if (begins && (text[i] == '.' || text[i] == '\''))
            (void)fputs("\\&", f);
        if (text[i] == '\\')
            (void)fputs("\\e", f);
        else if (text[i] == '-')
            (void)fputs("\\-", f);
        else
            (void)fputc(text[i], f);
    }
}

static void put_line(FILE *f, const char *text)
{
    put_roff(f, text, strlen(text));
    (void)fputc('\n', f);
}

static size_t line_length(const char *line)
{
    return strcspn(line, "\n");
}

/* In a verb's `about`, indented lines are examples and the others paragraphs. */
static bool is_example(const char *line)
{
    return line[0] == ' ' && line[1] == ' ';
}

static void put_about(FILE *f, const char *about, bool examples)
{
    const char *next = NULL;
    for (const char *line = about; *line; line = next) {
        size_t length = line_length(line);
        next = line + length + (line[length] == '\n');
        if (is_example(line) != examples)
            continue;
        if (length == 0)
            (void)fputs(*next && !is_example(next) ? ".PP\n" : "", f);
        else
            put_roff(f, line + (examples ? 2 : 0), length - (examples ? 2 : 0));
        (void)fputs(length ? "\n" : "", f);
    }
}

static void put_options(FILE *f, const cli_verb *verb)
{
    (void)fputs(".SH OPTIONS\n", f);
    for (const cli_option *o = verb->options; o && o->name; o++) {
        (void)fputs(".TP\n.B ", f);
        put_roff(f, o->name, strlen(o->name));
        if (o->value) {
            (void)fputs(" \\fI", f);
            put_roff(f, o->value, strlen(o->value));
            (void)fputs("\\fR", f);
        }
        (void)fputc('\n', f);
        put_line(f, o->help);
    }
    (void)fputs(".TP\n.B \\-\\-help\nsay what the verb does\n", f);
}

static const char EXIT_STATUS[] =
    ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage or study, 3 partly done, 130 interrupted.\n";

static void put_verb_page(FILE *f, const cli_verb *verb)
{
    (void)fputs(".TH QKSCOPE\\-", f);
    for (const char *c = verb->name; *c; c++)
        (void)fputc(toupper((unsigned char)*c), f);
    (void)fprintf(f, " 1 \"\" \"qkscope %s\"\n.SH NAME\nqkscope\\-%s \\- ", qks_version(),
                  verb->name);
    put_line(f, verb->summary);
    (void)fprintf(f, ".SH SYNOPSIS\n.B qkscope %s\n%s", verb->name, *verb->operands ? ".I " : "");
    if (*verb->operands)
        put_line(f, verb->operands);
    if (verb->options)
        (void)fputs(".RI [ options ]\n", f);
    if (!is_example(verb->about)) {
        (void)fputs(".SH DESCRIPTION\n", f);
        put_about(f, verb->about, false);
    }
    if (verb->options)
        put_options(f, verb);
    (void)fputs(".SH EXAMPLES\n.nf\n", f);
    put_about(f, verb->about, true);
    (void)fprintf(f, ".fi\n%s.SH SEE ALSO\n.BR qkscope (1)\n", EXIT_STATUS);
}

static void put_program_page(FILE *f)
{
    (void)fprintf(f, ".TH QKSCOPE 1 \"\" \"qkscope %s\"\n.SH NAME\nqkscope \\- ", qks_version());
    put_line(f, PROGRAM_SUMMARY);
    (void)fputs(".SH SYNOPSIS\n.B qkscope\n.I verb\n.RI [ arguments ]\n.SH DESCRIPTION\n", f);
    put_line(f, "Data goes to standard output, progress and messages to standard error.");
    (void)fputs(".SH VERBS\n", f);
    for (const cli_verb *const *v = VERBS; *v; v++)
        if (!(*v)->hidden) {
            (void)fprintf(f, ".TP\n.BR qkscope\\-%s (1)\n", (*v)->name);
            put_line(f, (*v)->summary);
        }
    (void)fputs(EXIT_STATUS, f);
    (void)fputs(".SH ENVIRONMENT\n", f);
    static const struct {
        const char *name, *meaning;
    } variables[] = {
        {"HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME",
         "where models named org/name are looked for, in this order; else in "
         "~/.cache/huggingface/hub"},
        {"OMP_NUM_THREADS", "threads, where --threads does not say"},
        {"OMP_WAIT_POLICY", "passive unless it is set: threads that wait sleep"},
        {"TMPDIR", "for temporary files"},
        {"BROWSER", "opens the page of report --open"},
        {"NO_COLOR", "has nothing to forbid: no colours are used"},
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        (void)fprintf(f, ".TP\n.B %s\n", variables[i].name);
        put_line(f, variables[i].meaning);
    }
}

/* ---- completion ---- */

/* What a value is, by its name in the table. */
typedef enum value_kind { VALUE_OTHER, VALUE_FOLDER, VALUE_FILE, VALUE_WORDS } value_kind;

static value_kind kind_of(const char *value)
{
    static const char *const files[] = {"FILE", "CORPUS", "PATH", "TABLE", NULL};
    if (strcmp(value, "DIR") == 0)
        return VALUE_FOLDER;
    for (size_t i = 0; files[i]; i++)
        if (strncmp(value, files[i], strlen(files[i])) == 0)
            return VALUE_FILE;
    return strchr(value, '|') ? VALUE_WORDS : VALUE_OTHER;
}

/* The words of "N|all|none": all and none. */
static void put_words(FILE *f, const char *value)
{
    for (const char *word = value; *word;) {
        size_t length = strcspn(word, "|");
        if (!isupper((unsigned char)*word))
            (void)fprintf(f, "%.*s ", (int)length, word);
        word += length + (word[length] == '|');
    }
}

static void put_bash_verb(FILE *f, const cli_verb *verb)
{
    (void)fprintf(f, "    %s)\n        options='", verb->name);
    for (const cli_option *o = verb->options; o && o->name; o++)
        (void)fprintf(f, "%s ", o->name);
    (void)fputs("--help'\n        case $previous in\n", f);
    for (const cli_option *o = verb->options; o && o->name; o++) {
        if (!o->value)
            continue;
        (void)fprintf(f, "        %s) ", o->name);
        if (kind_of(o->value) == VALUE_WORDS) {
            (void)fputs("kind=words words='", f);
            put_words(f, o->value);
            (void)fputs("' ;;\n", f);
        } else {
            (void)fprintf(f, "kind=%s ;;\n",
                          kind_of(o->value) == VALUE_FOLDER ? "folder"
                          : kind_of(o->value) == VALUE_FILE ? "file"
                                                            : "other");
        }
    }
    (void)fputs("        esac ;;\n", f);
}

static void put_bash(FILE *f)
{
    (void)fputs("# bash completion of qkscope, written by 'qkscope pages'\n_qkscope() {\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
                "    local options='' kind=operand words=''\n    local verbs='",
                f);
    for (const cli_verb *const *v = VERBS; *v; v++)
        if (!(*v)->hidden)
            (void)fprintf(f, "%s ", (*v)->name);
    (void)fputs("'\n    if [ \"$COMP_CWORD\" -eq 1 ] || [ \"${COMP_WORDS[1]}\" = help ]; then\n"
                "        COMPREPLY=($(compgen -W \"$verbs\" -- \"$word\"))\n"
                "        return\n    fi\n    case ${COMP_WORDS[1]} in\n",
                f);
    for (const cli_verb *const *v = VERBS; *v; v++)
        if (!(*v)->hidden)
            put_bash_verb(f, *v);
    (void)fputs("    esac\n    if [ $kind = operand ] && [ \"${word:0:1}\" = - ]; then\n"
                "        kind=words words=$options\n    fi\n    case $kind in\n"
                "    words) COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;\n"
                "    folder) compopt -o filenames 2>/dev/null\n"
                "        mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
                "    file | operand) compopt -o filenames 2>/dev/null\n"
                "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
                "    esac\n}\ncomplete -F _qkscope qkscope\n",
                f);
}

/* Inside '...[...]': brackets, colons and quotes mean something to zsh. */
static void put_zsh_text(FILE *f, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            (void)fputs("'\\'", f);
        else if (strchr("[]:\\", *text))
            (void)fputc('\\', f);
        (void)fputc(*text, f);
    }
}

static void put_zsh_option(FILE *f, const cli_option *o)
{
    (void)fprintf(f, "            '%s%s[", o->name, o->value ? "=" : "");
    put_zsh_text(f, o->help);
    (void)fputc(']', f);
    if (o->value) {
        (void)fputc(':', f);
        put_zsh_text(f, o->value);
        (void)fputc(':', f);
        switch (kind_of(o->value)) {
        case VALUE_FOLDER:
            (void)fputs("_files -/", f);
            break;
        case VALUE_FILE:
            (void)fputs("_files", f);
            break;
        case VALUE_WORDS:
            (void)fputc('(', f);
            put_words(f, o->value);
            (void)fputc(')', f);
            break;
        case VALUE_OTHER:
            (void)fputc(' ', f);
            break;
        }
    }
    (void)fputs("' \\\n", f);
}

static void put_zsh(FILE *f)
{
    (void)fputs("#compdef qkscope\n# zsh completion of qkscope, written by 'qkscope pages'\n"
                "_qkscope() {\n    local state line\n    local -a verbs=(\n",
                f);
    for (const cli_verb *const *v = VERBS; *v; v++)
        if (!(*v)->hidden) {
            (void)fprintf(f, "        '%s:", (*v)->name);
            put_zsh_text(f, (*v)->summary);
            (void)fputs("'\n", f);
        }
    (void)fputs("    )\n    _arguments -C '1: :->verb' '*:: :->rest'\n"
                "    if [[ $state == verb || $words[1] == help ]]; then\n"
                "        _describe verb verbs\n        return\n    fi\n    case $words[1] in\n",
                f);
    for (const cli_verb *const *v = VERBS; *v; v++) {
        if ((*v)->hidden)
            continue;
        (void)fprintf(f, "    %s)\n        _arguments \\\n", (*v)->name);
        for (const cli_option *o = (*v)->options; o && o->name; o++)
            put_zsh_option(f, o);
        (void)fputs("            '--help[say what the verb does]' '*: :_files' ;;\n", f);
    }
    (void)fputs("    esac\n}\n_qkscope \"$@\"\n", f);
}

/* ---- the verb ---- */

static qks_status write_page(const char *folder, const char *name, const cli_verb *verb,
                             void (*put)(FILE *f), qks_error *error)
{
    char *path = NULL;
    FILE *f = asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : fopen(path, "w");
    if (!f) {
        free(path);
        return qks_fail(error, QKS_IO, "cannot write '%s/%s': %s", folder, name, strerror(errno));
    }
    if (verb)
        put_verb_page(f, verb);
    else
        put(f);
    bool fine = !ferror(f);
    fine = fclose(f) == 0 && fine;
    free(path);
    return fine ? QKS_OK : qks_fail(error, QKS_IO, "cannot write '%s/%s'", folder, name);
}

static qks_status run_pages(const cli_arguments *a, qks_error *error)
{
    const char *folder = a->operands[0];
    qks_status status = write_page(folder, "qkscope.1", NULL, put_program_page, error);
    if (status == QKS_OK)
        status = write_page(folder, "qkscope.bash", NULL, put_bash, error);
    if (status == QKS_OK)
        status = write_page(folder, "_qkscope", NULL, put_zsh, error);
    for (const cli_verb *const *v = VERBS; *v && status == QKS_OK; v++) {
        char name[64];
        (void)snprintf(name, sizeof name, "qkscope-%s.1", (*v)->name);
        if (!(*v)->hidden)
            status = write_page(folder, name, *v, NULL, error);
    }
    return status;
}

const cli_verb VERB_PAGES = {
    .name = "pages",
    .operands = "DIR",
    .summary = "(run by the build)",
    .about = "Writes the manual pages and the completions of bash and zsh to DIR.\n",
    .least = 1,
    .most = 1,
    .hidden = true,
    .run = run_pages,
};
