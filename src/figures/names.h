/* names.h: text from files made safe for where it goes: one line and short for a drawing, quoted
 * for gnuplot, for CSV, for Markdown. Nothing here ever lets a name end its quotes. */
#ifndef QKS_FIGURES_NAMES_H
#define QKS_FIGURES_NAMES_H

#include "base/memory.h"
#include "base/text.h"

#include <stddef.h>

/* `name` on one line without control or format characters, at most `most` characters: a longer one
 * loses its middle to an ellipsis, since names of checkpoints differ at their ends. In the arena;
 * NULL when out of memory. */
char *name_line(arena *a, const char *name, size_t most);

/* Width in em of a line in DejaVu Sans; about, beyond ASCII. */
double name_width(const char *line);

/* 'in single quotes', where gnuplot takes nothing but another single quote for special. That is
 * drawn as ’, since of several '' in a row gnuplot 5.4 ends the string at the third. */
void gnuplot_string(text *script, const char *string);
/* The same for a tic's label, which is a printf format. */
void gnuplot_tic(text *script, const char *string);

/* A quoted cell, on one line; with an apostrophe where a spreadsheet would run it. */
void csv_string(text *csv, const char *string);
/* The shortest number that reads back the same; NaN is blank. */
void csv_number(text *csv, double value);

/* With backslashes where Markdown or HTML would see markup. */
void markdown_string(text *markdown, const char *string);

/* "32,390" */
const char *count_words(arena *a, size_t count);

#endif
