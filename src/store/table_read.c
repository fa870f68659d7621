/* table_read.c: a CSV or Parquet file to an array of structs, columns by name. */
#include "store/store.h"

#include "base/file.h"
#include "store/csv.h"
#include "store/duck.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
    const record *type;
    const char *path, *doing; /* doing: "cannot read 'path'" */
    arena *memory;            /* for the rows and their strings */
    bool csv;
    size_t longest;    /* a CSV file's longest line */
    name_list columns; /* the file's */
    size_t *places;    /* [n_fields], into columns; SIZE_MAX: not there */
    char *rows;        /* malloc'd until all are read */
    size_t count, capacity;
    const char **last; /* [n_fields], each text field's last value: mostly the next one too */
} reading;

/* ---- columns ---- */
static void add_source(text *sql, const reading *r)
{
    if (r->csv) {
        csv_source(sql, r->path, r->columns.length, r->longest);
        return;
    }
    text_add(sql, "read_parquet(");
    duck_path(sql, r->path);
    text_add(sql, ", hive_partitioning = false)");
}

static qks_status parquet_columns(reading *r, duckdb_connection connection, arena *scratch,
                                  qks_error *error)
{
    text from = text_new(SQL_MAX);
    add_source(&from, r);
    qks_status status = text_status(&from, "file name", error);
    if (status == QKS_OK)
        status = duck_columns(connection, text_string(&from), r->doing, scratch, &r->columns,
                              error);
    text_free(&from);
    return status;
}

static qks_status place_field(reading *r, size_t f, qks_error *error)
{
    const field *wanted = &r->type->fields[f];
    r->places[f] = SIZE_MAX;
    for (size_t i = 0; i < r->columns.length; i++) {
        if (strcmp(r->columns.data[i], wanted->name) != 0)
            continue;
        if (r->places[f] != SIZE_MAX)
            return qks_fail(error, QKS_INVALID, "'%s' has two columns named %s", r->path,
                            wanted->name);
        r->places[f] = i;
    }
    if (r->places[f] == SIZE_MAX && wanted->required)
        return qks_fail(error, QKS_INVALID, "'%s' has no column %s, which table %s needs", r->path,
                        wanted->name, r->type->name);
    return QKS_OK;
}

static qks_status find_columns(reading *r, duckdb_connection connection, arena *scratch,
                               qks_error *error)
{
    qks_status status = r->csv ? csv_header(scratch, r->path, &r->columns, error)
                               : parquet_columns(r, connection, scratch, error);
    r->places = arena_alloc(scratch, r->type->n_fields, sizeof *r->places);
    r->last = arena_alloc(scratch, r->type->n_fields, sizeof *r->last);
    if (status == QKS_OK && (!r->places || !r->last))
        status = out_of_memory(error, "columns");
    for (size_t i = 0; status == QKS_OK && i < r->type->n_fields; i++)
        status = place_field(r, i, error);
    return status;
}

/* ---- the statement ---- */
static void add_column(text *sql, const reading *r, size_t place)
{
    if (r->csv)
        text_addf(sql, "c%zu", place);
    else
        duck_name(sql, r->columns.data[place]);
}

/* Two columns per field: the value, and the text of what is not a value of that kind. Integers come
 * as text and are read here, since DuckDB would round 1.5 to 2. */
static void add_field(text *sql, const reading *r, size_t f)
{
    bool real = r->type->fields[f].kind == FIELD_REAL;
    size_t place = r->places[f];
    if (place == SIZE_MAX) {
        text_add(sql, real ? "NULL::DOUBLE, NULL::VARCHAR" : "NULL::VARCHAR, NULL::VARCHAR");
        return;
    }
    text_add(sql, real ? "TRY_CAST(" : "CAST(");
    add_column(sql, r, place);
    text_add(sql, real ? " AS DOUBLE), CASE WHEN TRY_CAST(" : " AS VARCHAR), NULL::VARCHAR");
    if (!real)
        return;
    add_column(sql, r, place);
    text_add(sql, " AS DOUBLE) IS NULL THEN CAST(");
    add_column(sql, r, place);
    text_add(sql, " AS VARCHAR) END");
}

/* ---- cells ---- */
static qks_status bad_cell(const reading *r, size_t f, const char *value, size_t length,
                           const char *wanted, qks_error *error)
{
    enum { SHOWN = 60 };
    return qks_fail(error, QKS_INVALID, "'%s', row %zu: %s is '%.*s'%s, not %s", r->path,
                    r->count + 1, r->type->fields[f].name, (int)(length < SHOWN ? length : SHOWN),
                    value, length > SHOWN ? "..." : "", wanted);
}

/* [+-]digits[.zeros]: other programs write whole numbers as 3.0 when a column has blanks. */
static bool parse_integer(const char *bytes, size_t length, int64_t *value)
{
    char digits[32];
    while (length && (*bytes == ' ' || *bytes == '\t'))
        bytes++, length--;
    while (length && (bytes[length - 1] == ' ' || bytes[length - 1] == '\t'))
        length--;
    size_t end = length;
    while (end > 0 && bytes[end - 1] == '0')
        end--;
    if (end > 1 && bytes[end - 1] == '.')
        length = end - 1;
    if (length == 0 || length >= sizeof digits)
        return false;
    memcpy(digits, bytes, length);
    digits[length] = '\0';
    char *stop = NULL;
    errno = 0;
    long long number = strtoll(digits, &stop, 10);
    *value = number;
    return errno == 0 && stop == digits + length && number != INT64_MIN;
}

static qks_status take_integer(const reading *r, size_t f, const duckdb_string_t *cell,
                               int64_t *value, qks_error *error)
{
    size_t length = 0;
    const char *bytes = duck_bytes(cell, &length);
    if (length == 0)
        *value = INT64_MIN;
    else if (!parse_integer(bytes, length, value))
        return bad_cell(r, f, bytes, length, "a whole number of 64 bits", error);
    return QKS_OK;
}

/* An apostrophe that table_write put before = + - @ (or before another such apostrophe). */
static bool is_guarded(const char *bytes, size_t length)
{
    size_t i = 0;
    while (i < length && bytes[i] == '\'')
        i++;
    return i > 0 && i < length && strchr("=+-@", bytes[i]);
}

static qks_status take_text(reading *r, size_t f, const duckdb_string_t *cell, const char **value,
                            qks_error *error)
{
    size_t length = 0;
    const char *bytes = duck_bytes(cell, &length);
    if (memchr(bytes, '\0', length))
        return bad_cell(r, f, bytes, strlen(bytes), "text: it holds a NUL byte", error);
    if (r->csv && is_guarded(bytes, length))
        bytes++, length--;
    const char *last = r->last[f];
    if (!last || strncmp(last, bytes, length) != 0 || last[length])
        r->last[f] = arena_copy(r->memory, bytes, length);
    *value = r->last[f];
    return *value ? QKS_OK : out_of_memory(error, r->path);
}

static qks_status take_cell(reading *r, size_t f, const duck_stream *q, size_t row, char *place,
                            qks_error *error)
{
    const void *values = duck_column(q, 2 * f);
    bool blank = duck_is_null(duck_nulls(q, 2 * f), row);
    int64_t integer = INT64_MIN;
    double real = NAN;
    const char *string = NULL;
    qks_status status = QKS_OK;
    switch (r->type->fields[f].kind) {
    case FIELD_INTEGER:
        if (!blank)
            status = take_integer(r, f, (const duckdb_string_t *)values + row, &integer, error);
        memcpy(place, &integer, sizeof integer);
        break;
    case FIELD_REAL:
        if (!blank)
            real = ((const double *)values)[row];
        if (!blank && !isfinite(real))
            status = bad_cell(r, f, isnan(real) ? "NaN" : "infinite", isnan(real) ? 3 : 8,
                              "a number", error);
        memcpy(place, &real, sizeof real);
        break;
    case FIELD_TEXT:
        if (!blank)
            status = take_text(r, f, (const duckdb_string_t *)values + row, &string, error);
        memcpy(place, &string, sizeof string);
        break;
    }
    return status;
}

static qks_status check_no_reject(const reading *r, size_t f, const duck_stream *q, size_t row,
                                  qks_error *error)
{
    if (duck_is_null(duck_nulls(q, 2 * f + 1), row))
        return QKS_OK;
    size_t length = 0;
    const duckdb_string_t *cells = duck_column(q, 2 * f + 1);
    const char *bytes = duck_bytes(&cells[row], &length);
    return length ? bad_cell(r, f, bytes, length, "a number", error) : QKS_OK;
}

static qks_status take_row(reading *r, const duck_stream *q, size_t row, qks_error *error)
{
    char *place = r->rows + r->count * r->type->size;
    memset(place, 0, r->type->size);
    for (size_t f = 0; f < r->type->n_fields; f++) {
        qks_status status = check_no_reject(r, f, q, row, error);
        if (status == QKS_OK)
            status = take_cell(r, f, q, row, place + r->type->fields[f].offset, error);
        if (status != QKS_OK)
            return status;
    }
    r->count++;
    return QKS_OK;
}

static qks_status take_rows(reading *r, const duck_stream *q, qks_error *error)
{
    qks_status status = array_reserve_bytes(&r->rows, &r->capacity, r->count, q->rows,
                                            r->type->size, error);
    for (size_t row = 0; status == QKS_OK && row < q->rows; row++)
        status = take_row(r, q, row, error);
    return status;
}

/* ---- the file ---- */
static qks_status read_rows(reading *r, duckdb_connection connection, qks_error *error)
{
    text sql = text_new(SQL_MAX);
    text_add(&sql, "SELECT ");
    for (size_t i = 0; i < r->type->n_fields; i++) {
        text_add(&sql, i ? ", " : "");
        add_field(&sql, r, i);
    }
    text_add(&sql, " FROM ");
    add_source(&sql, r);
    qks_status status = text_status(&sql, "table", error);
    duck_stream q = {0};
    if (status == QKS_OK)
        status = duck_stream_open(&q, connection, text_string(&sql), r->doing, error);
    while (status == QKS_OK && (status = duck_stream_next(&q, error)) == QKS_OK && q.chunk)
        status = take_rows(r, &q, error);
    duck_stream_close(&q);
    text_free(&sql);
    return status;
}

/* A file of other origin says nothing of a format, and is read by its columns' names. */
static qks_status check_format(const reading *r, duckdb_connection connection, qks_error *error)
{
    text sql = text_new(SQL_MAX);
    text_addf(&sql, "SELECT decode(value) FROM parquet_kv_metadata(");
    duck_path(&sql, r->path);
    text_addf(&sql, ") WHERE decode(key) = 'qkscope_format' AND decode(value) <> '%d'",
              TABLE_FORMAT);
    qks_status status = text_status(&sql, "file name", error);
    duck_stream q = {0};
    if (status == QKS_OK)
        status = duck_query(&q, connection, text_string(&sql), r->doing, error);
    if (status == QKS_OK)
        status = duck_stream_next(&q, error);
    if (status == QKS_OK && q.chunk)
        status = qks_fail(error, QKS_UNSUPPORTED,
                          "'%s' is a table of another format than %d, which this qkscope reads; "
                          "write it again, or use the version that wrote it",
                          r->path, TABLE_FORMAT);
    duck_stream_close(&q);
    text_free(&sql);
    return status;
}

static qks_status read_file(reading *r, store *s, qks_error *error)
{
    arena scratch = {0};
    duckdb_connection connection = NULL;
    r->doing = arena_format(&scratch, "cannot read '%s'", r->path);
    qks_status status = r->doing ? store_connection(s, 0, &connection, error)
                                 : out_of_memory(error, "file name");
    if (status == QKS_OK)
        status = find_columns(r, connection, &scratch, error);
    if (status == QKS_OK && !r->csv)
        status = check_format(r, connection, error);
    if (status == QKS_OK && r->csv)
        status = longest_line(r->path, true, &r->longest, error);
    if (status == QKS_OK)
        status = read_rows(r, connection, error);
    free(r->columns.data);
    arena_free(&scratch);
    return status;
}

qks_status table_read(store *s, const record *type, const char *path, arena *a, void **rows,
                      size_t *count, qks_error *error)
{
    *rows = NULL;
    *count = 0;
    reading r = {.type = type, .path = path, .memory = a, .csv = path_ends(path, ".csv")};
    if (!r.csv && !path_ends(path, ".parquet"))
        return qks_fail(error, QKS_UNSUPPORTED, "'%s' is neither a .csv nor a .parquet file", path);
    if (!is_file(path))
        return qks_fail(error, QKS_MISSING, "there is no file '%s'", path);
    qks_status status = read_file(&r, s, error);
    if (status == QKS_OK) {
        *rows = arena_alloc(a, r.count, type->size);
        status = *rows ? QKS_OK : out_of_memory(error, path);
    }
    if (status == QKS_OK && r.count)
        memcpy(*rows, r.rows, r.count * type->size);
    if (status == QKS_OK)
        *count = r.count;
    free(r.rows);
    return status;
}
