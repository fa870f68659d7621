/* sql_print.c: aligned columns, CSV and JSON (see sql_print.h). */
#include "store/sql_print.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH_MAX = 80 }; /* characters of a cell in aligned output; longer ones are cut */

/* One cell; bytes NULL = SQL's NULL. */
typedef struct cell {
    const char *bytes;
    size_t length;
} cell;

typedef void print_row(const sql_answer *answer, const cell *cells, size_t row, void *context,
                       FILE *out);

static qks_status for_each_row(const sql_answer *answer, print_row *print, void *context, FILE *out,
                               qks_error *error)
{
    cell *cells = NULL;
    size_t done = 0;
    qks_status status = memory_zeroed(&cells, answer->n_columns, sizeof *cells, error);
    duck_stream q = {0};
    if (status == QKS_OK)
        status = duck_stream_open(&q, answer->connection, "SELECT * FROM qkscope_cells", "SQL",
                                  error);
    while (status == QKS_OK && (status = duck_stream_next(&q, error)) == QKS_OK && q.chunk) {
        for (size_t row = 0; row < q.rows; row++, done++) {
            for (size_t i = 0; i < answer->n_columns; i++) {
                const duckdb_string_t *column = duck_column(&q, i);
                bool null = duck_is_null(duck_nulls(&q, i), row);
                cells[i] = (cell){0};
                if (!null)
                    cells[i].bytes = duck_bytes(&column[row], &cells[i].length);
            }
            print(answer, cells, done, context, out);
        }
    }
    duck_stream_close(&q);
    free(cells);
    return status;
}

/* ---- aligned ---- */
/* Control characters would break the lines: they are shown as one '?'. Counts characters, and
 * writes them if `out` is not NULL. */
static size_t show(const char *bytes, size_t length, FILE *out)
{
    size_t characters = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        bool starts = (c & 0xc0) != 0x80;
        if (starts && characters == WIDTH_MAX) {
            if (out)
                fputs("...", out);
            return characters + 3;
        }
        characters += starts;
        if (out)
            fputc(c < ' ' || c == 0x7f ? '?' : c, out);
    }
    return characters;
}

static void pad(size_t count, FILE *out)
{
    while (count-- > 0)
        fputc(' ', out);
}

static void measure_row(const sql_answer *answer, const cell *cells, size_t row, void *context,
                        FILE *out)
{
    (void)row;
    (void)out;
    size_t *widths = context;
    for (size_t i = 0; i < answer->n_columns; i++) {
        size_t width = show(cells[i].bytes, cells[i].length, NULL);
        if (width > widths[i])
            widths[i] = width;
    }
}

static void aligned_row(const sql_answer *answer, const cell *cells, size_t row, void *context,
                        FILE *out)
{
    (void)row;
    const size_t *widths = context;
    for (size_t i = 0; i < answer->n_columns; i++) {
        size_t gap = widths[i] - show(cells[i].bytes, cells[i].length, NULL);
        bool right = answer->kinds[i] == SQL_NUMBER, last = i + 1 == answer->n_columns;
        pad((i ? 2 : 0) + (right ? gap : 0), out);
        show(cells[i].bytes, cells[i].length, out);
        pad(right || last ? 0 : gap, out);
    }
    fputc('\n', out);
}

static void count_row(const sql_answer *answer, const cell *cells, size_t row, void *context,
                      FILE *out)
{
    aligned_row(answer, cells, row, ((size_t **)context)[0], out);
    *((size_t **)context)[1] = row + 1;
}

static void aligned_header(const sql_answer *answer, const cell *names, size_t *widths, FILE *out)
{
    aligned_row(answer, names, 0, widths, out);
    for (size_t i = 0; i < answer->n_columns; i++) {
        pad(i ? 2 : 0, out);
        for (size_t k = 0; k < widths[i]; k++)
            fputc('-', out);
    }
    fputc('\n', out);
}

static qks_status print_aligned(const sql_answer *answer, const cell *names, FILE *out,
                                qks_error *error)
{
    size_t *widths = NULL, rows = 0;
    qks_status status = memory_zeroed(&widths, answer->n_columns, sizeof *widths, error);
    if (status != QKS_OK)
        return status;
    measure_row(answer, names, 0, widths, NULL);
    status = for_each_row(answer, measure_row, widths, NULL, error);
    if (status == QKS_OK) {
        size_t *both[] = {widths, &rows};
        aligned_header(answer, names, widths, out);
        status = for_each_row(answer, count_row, both, out, error);
        fprintf(out, "(%zu row%s)\n", rows, rows == 1 ? "" : "s");
    }
    free(widths);
    return status;
}

/* ---- CSV ---- */
/* A text that a spreadsheet would run gets an apostrophe, as in table_write(). */
static bool needs_guard(const char *bytes, size_t length)
{
    size_t i = 0;
    while (i < length && bytes[i] == '\'')
        i++;
    return i < length && bytes[i] && strchr("=+-@", bytes[i]);
}

static bool needs_quotes(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] && strchr(",\"\r\n", bytes[i]))
            return true;
    return length && (bytes[0] == ' ' || bytes[length - 1] == ' ');
}

static void csv_cell(const cell *c, bool guarded, FILE *out)
{
    bool guard = guarded && needs_guard(c->bytes, c->length);
    bool quotes = needs_quotes(c->bytes, c->length);
    if (quotes)
        fputc('"', out);
    if (guard)
        fputc('\'', out);
    for (size_t i = 0; i < c->length; i++) {
        if (c->bytes[i] == '"')
            fputc('"', out);
        fputc(c->bytes[i], out);
    }
    if (quotes)
        fputc('"', out);
}

static void csv_row(const sql_answer *answer, const cell *cells, size_t row, void *context,
                    FILE *out)
{
    (void)row;
    bool header = context != NULL;
    for (size_t i = 0; i < answer->n_columns; i++) {
        if (i)
            fputc(',', out);
        csv_cell(&cells[i], header || answer->kinds[i] == SQL_TEXT, out);
    }
    fputc('\n', out);
}

static qks_status print_csv(const sql_answer *answer, const cell *names, FILE *out,
                            qks_error *error)
{
    bool header = true;
    csv_row(answer, names, 0, &header, out);
    return for_each_row(answer, csv_row, NULL, out, error);
}

/* ---- JSON ---- */
static void json_string(const cell *c, FILE *out)
{
    fputc('"', out);
    for (size_t i = 0; i < c->length; i++) {
        unsigned char byte = (unsigned char)c->bytes[i];
        if (byte == '"' || byte == '\\')
            fprintf(out, "\\%c", byte);
        else if (byte < ' ' || byte == 0x7f)
            fprintf(out, "\\u%04x", byte);
        else
            fputc(byte, out);
    }
    fputc('"', out);
}

/* NaN and infinities are no JSON numbers. */
static bool is_json_number(const cell *c)
{
    return isdigit((unsigned char)c->bytes[c->length - 1]) != 0;
}

static void json_row(const sql_answer *answer, const cell *cells, size_t row, void *context,
                     FILE *out)
{
    const cell *names = context;
    fputs(row ? ",\n {" : "\n {", out);
    for (size_t i = 0; i < answer->n_columns; i++) {
        fputs(i ? ", " : "", out);
        json_string(&names[i], out);
        fputs(": ", out);
        sql_kind kind = answer->kinds[i];
        if (!cells[i].bytes)
            fputs("null", out);
        else if (kind == SQL_BOOLEAN || (kind == SQL_NUMBER && is_json_number(&cells[i])))
            fwrite(cells[i].bytes, 1, cells[i].length, out);
        else
            json_string(&cells[i], out);
    }
    fputc('}', out);
}

static qks_status print_json(const sql_answer *answer, cell *names, FILE *out, qks_error *error)
{
    fputc('[', out);
    qks_status status = for_each_row(answer, json_row, names, out, error);
    fputs("\n]\n", out);
    return status;
}

qks_status sql_print(const sql_answer *answer, sql_format format, FILE *out, qks_error *error)
{
    cell *names = NULL;
    qks_status status = memory_zeroed(&names, answer->n_columns, sizeof *names, error);
    if (status != QKS_OK)
        return status;
    for (size_t i = 0; i < answer->n_columns; i++)
        names[i] = (cell){answer->names[i], strlen(answer->names[i])};
    errno = 0;
    status = format == SQL_CSV    ? print_csv(answer, names, out, error)
             : format == SQL_JSON ? print_json(answer, names, out, error)
                                  : print_aligned(answer, names, out, error);
    free(names);
    if (status == QKS_OK && (fflush(out) != 0 || ferror(out)))
        status = qks_fail(error, QKS_IO, "cannot write the answer: %s", strerror(errno));
    return status;
}
