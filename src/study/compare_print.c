/* compare_print.c: a comparison on the terminal, as CSV, as JSON, as a table of files, as a figure.
 */
#include "study/comparison.h"

#include "base/file.h"
#include "figures/comparison.h"
#include "qkscope/version.h"
#include "store/store.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN(name, kind)                                                                         \
    {                                                                                              \
#name, kind, offsetof(qks_compare_row, name), true                                         \
    }
static const field FIELDS[] = {
    COLUMN(row, FIELD_TEXT),       COLUMN(column, FIELD_TEXT),     COLUMN(ours, FIELD_REAL),
    COLUMN(published, FIELD_REAL), COLUMN(difference, FIELD_REAL), COLUMN(se, FIELD_REAL),
    COLUMN(z, FIELD_REAL),         COLUMN(verdict, FIELD_TEXT),
};
static const record COMPARE_TABLE = {"compare", sizeof(qks_compare_row),
                                     sizeof FIELDS / sizeof *FIELDS, FIELDS};

qks_status qks_comparison_write(const qks_comparison *c, const char *folder, qks_error *error)
{
    store *s = NULL;
    qks_status status = folder_make(folder, error);
    if (status == QKS_OK)
        status = store_open(&s, 1, error);
    if (status == QKS_OK)
        status = table_write(s, &COMPARE_TABLE, c->rows.data, c->rows.length, folder, error);
    store_close(s);
    return status;
}

qks_status qks_comparison_draw(const qks_comparison *c, const char *folder, qks_error *error)
{
    char program[64];
    (void)snprintf(program, sizeof program, "qkscope %s", qks_version());
    return comparison_figure(&c->facts, c->run, c->table, program, folder, error);
}

/* ---- text ---- */

static void print_number(const char *format, const char *blank, double value, FILE *out)
{
    if (isnan(value))
        (void)fputs(blank, out);
    else
        (void)fprintf(out, format, value);
}

static void print_aligned(const qks_comparison *c, FILE *out)
{
    int names = 3, columns = 6;
    for (size_t i = 0; i < c->rows.length; i++) {
        int name = (int)strlen(c->rows.data[i].row), column = (int)strlen(c->rows.data[i].column);
        names = name > names ? name : names;
        columns = column > columns ? column : columns;
    }
    (void)fprintf(out, "%-*s  %-*s %8s %9s %10s %8s %7s  %s\n", names, "row", columns, "column",
                  "ours", "published", "difference", "se", "z", "verdict");
    for (size_t i = 0; i < c->rows.length; i++) {
        const qks_compare_row *r = &c->rows.data[i];
        (void)fprintf(out, "%-*s  %-*s %8.4f %9g %+10.4f", names, r->row, columns, r->column,
                      r->ours, r->published, r->difference);
        print_number(" %8.4f", "         ", r->se, out);
        print_number(" %+7.2f", "        ", r->z, out);
        (void)fprintf(out, "  %s\n", r->verdict);
    }
}

/* Quoted, and with the apostrophe before what a spreadsheet would run, as in table_write(). */
static void print_csv_name(const char *name, FILE *out)
{
    (void)fprintf(out, "\"%s", strchr("=+-@", *name) && *name ? "'" : "");
    for (; *name; name++)
        (void)fprintf(out, *name == '"' ? "\"%c" : "%c", *name);
    (void)fputc('"', out);
}

static void print_csv(const qks_comparison *c, FILE *out)
{
    (void)fputs("row,column,ours,published,difference,se,z,verdict\n", out);
    for (size_t i = 0; i < c->rows.length; i++) {
        const qks_compare_row *r = &c->rows.data[i];
        print_csv_name(r->row, out);
        (void)fprintf(out, ",%s,%.6g,%g,%.6g,", r->column, r->ours, r->published, r->difference);
        print_number("%.6g", "", r->se, out);
        print_number(",%.6g", ",", r->z, out);
        (void)fprintf(out, ",%s\n", r->verdict);
    }
}

/* ---- JSON ---- */

static json_t *number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *json_of(const qks_comparison *c)
{
    const qks_compare_facts *f = &c->facts;
    json_t *cells = json_array();
    for (size_t i = 0; i < c->rows.length; i++) {
        const qks_compare_row *r = &c->rows.data[i];
        json_t *cell = json_pack("{s:s, s:s, s:f, s:f, s:f, s:o, s:o, s:s}", "row", r->row,
                                 "column", r->column, "ours", r->ours, "published", r->published,
                                 "difference", r->difference, "se", number(r->se), "z",
                                 number(r->z), "verdict", r->verdict);
        if (json_array_append_new(cells, cell) != 0) {
            json_decref(cells);
            return NULL;
        }
    }
    return json_pack("{s:s, s:s, s:{s:I, s:I, s:I, s:f, s:f, s:f, s:o, s:s}, s:o}", "run", c->run,
                     "table", c->table, "summary", "cells", (json_int_t)f->cells, "cells_with_se",
                     (json_int_t)f->cells_with_se, "cells_agree", (json_int_t)f->cells_agree,
                     "mean_difference", f->mean_difference, "max_difference", f->max_difference,
                     "share_within_0.02", f->share_near, "share_within_2_se",
                     number(f->share_within_2_se), "verdict", f->verdict, "cells", cells);
}

static qks_status print_json(const qks_comparison *c, FILE *out, qks_error *error)
{
    json_t *whole = json_of(c);
    if (!whole)
        return qks_fail(error, QKS_INVALID, "cannot be written as JSON: a name is not UTF-8");
    (void)json_dumpf(whole, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    (void)fputc('\n', out);
    json_decref(whole);
    return QKS_OK;
}

qks_status qks_comparison_print(const qks_comparison *c, qks_sql_format format, FILE *out,
                                qks_error *error)
{
    qks_status status = QKS_OK;
    errno = 0;
    if (format == QKS_SQL_JSON)
        status = print_json(c, out, error);
    else if (format == QKS_SQL_CSV)
        print_csv(c, out);
    else
        print_aligned(c, out);
    if (status == QKS_OK && (fflush(out) != 0 || ferror(out)))
        status = qks_fail(error, QKS_IO, "cannot write the comparison: %s", strerror(errno));
    return status;
}

/* ---- the whole ---- */

void qks_comparison_summary(const qks_comparison *c, FILE *out)
{
    const qks_compare_facts *f = &c->facts;
    (void)fprintf(out,
                  "%zu cells compared: mean |difference| %.4f, largest %.4f, %.0f%% within %.2f\n",
                  f->cells, f->mean_difference, f->max_difference, 100 * f->share_near, CLOSE);
    if (f->cells_with_se)
        (void)fprintf(out,
                      "%.0f%% of %zu cells with a jackknife error are within 2 of it (the rounding "
                      "of the published numbers counted in)\n",
                      100 * f->share_within_2_se, f->cells_with_se);
    if (f->cells_with_se < f->cells)
        (void)fprintf(out, "%zu cells have no standard error; they agree if |difference| <= %.2f\n",
                      f->cells - f->cells_with_se, CLOSE);
    (void)fprintf(out, "verdict: %s (%zu of %zu cells agree; 9 of 10 must)\n", f->verdict,
                  f->cells_agree, f->cells);
}
