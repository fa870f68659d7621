/* table_write.c: an array of structs to CSV and Parquet. The rows become a table in DuckDB, which
 * writes both files: numbers in their shortest exact form, whatever the locale. */
#include "store/store.h"

#include "base/file.h"
#include "base/utf8.h"
#include "store/duck.h"

#include <math.h>
#include <string.h>

static const char *const SQL_TYPES[] = {
    [FIELD_INTEGER] = "BIGINT", [FIELD_REAL] = "DOUBLE", [FIELD_TEXT] = "VARCHAR"};

/* ---- the table ---- */
static qks_status make_table(duckdb_connection connection, const record *type, const char *doing,
                             qks_error *error)
{
    text sql = text_new(SQL_MAX);
    text_add(&sql, "CREATE OR REPLACE TEMP TABLE qkscope_table (");
    for (size_t i = 0; i < type->n_fields; i++) {
        text_add(&sql, i ? ", " : "");
        duck_name(&sql, type->fields[i].name);
        text_addf(&sql, " %s", SQL_TYPES[type->fields[i].kind]);
    }
    text_add(&sql, ")");
    qks_status status = text_status(&sql, type->name, error);
    if (status == QKS_OK)
        status = duck_run(connection, text_string(&sql), doing, error);
    text_free(&sql);
    return status;
}

static void set_null(duckdb_vector column, size_t row)
{
    duckdb_vector_ensure_validity_writable(column);
    duckdb_validity_set_row_invalid(duckdb_vector_get_validity(column), row);
}

static qks_status put_text(duckdb_vector column, size_t at, const char *value, const char *name,
                           size_t row, qks_error *error)
{
    if (!utf8_valid(value, strlen(value)))
        return qks_fail(error, QKS_INVALID, "row %zu: %s is not UTF-8", row + 1, name);
    duckdb_vector_assign_string_element(column, at, value);
    return QKS_OK;
}

/* One cell of row `row` of all into place `at` of the chunk. */
static qks_status put_cell(duckdb_vector column, size_t at, const field *f, const char *source,
                           size_t row, qks_error *error)
{
    int64_t integer = 0;
    double real = 0;
    const char *string = NULL;
    bool blank = false;
    qks_status status = QKS_OK;
    switch (f->kind) {
    case FIELD_INTEGER:
        memcpy(&integer, source, sizeof integer);
        blank = integer == INT64_MIN;
        ((int64_t *)duckdb_vector_get_data(column))[at] = integer;
        break;
    case FIELD_REAL:
        memcpy(&real, source, sizeof real);
        blank = isnan(real);
        if (isinf(real))
            return qks_fail(error, QKS_INVALID, "row %zu: %s is infinite", row + 1, f->name);
        ((double *)duckdb_vector_get_data(column))[at] = real;
        break;
    case FIELD_TEXT:
        memcpy(&string, source, sizeof string);
        blank = !string;
        if (string)
            status = put_text(column, at, string, f->name, row, error);
        break;
    }
    if (blank)
        set_null(column, at);
    return status;
}

static qks_status append_chunk(duckdb_appender appender, duckdb_data_chunk chunk,
                               const record *type, const char *rows, size_t first, size_t count,
                               qks_error *error)
{
    duckdb_data_chunk_reset(chunk);
    for (size_t i = 0; i < type->n_fields; i++) {
        duckdb_vector column = duckdb_data_chunk_get_vector(chunk, i);
        for (size_t at = 0; at < count; at++) {
            const char *source = rows + (first + at) * type->size + type->fields[i].offset;
            qks_status status = put_cell(column, at, &type->fields[i], source, first + at, error);
            if (status != QKS_OK)
                return status;
        }
    }
    duckdb_data_chunk_set_size(chunk, count);
    if (duckdb_append_data_chunk(appender, chunk) == DuckDBError)
        return duck_append_failed(appender, error);
    return QKS_OK;
}

static qks_status fill_table(duckdb_connection connection, const record *type, const char *rows,
                             size_t count, qks_error *error)
{
    duckdb_appender appender = NULL;
    duckdb_data_chunk chunk = NULL;
    qks_status status = duck_appender_open(&appender, connection, "temp", "qkscope_table", error);
    if (status == QKS_OK)
        status = duck_chunk_for(appender, &chunk, error);
    size_t most = duckdb_vector_size();
    for (size_t first = 0; status == QKS_OK && first < count; first += most) {
        size_t n = count - first < most ? count - first : most;
        status = append_chunk(appender, chunk, type, rows, first, n, error);
    }
    duckdb_destroy_data_chunk(&chunk);
    return duck_appender_close(&appender, status, error);
}

/* ---- the files ---- */
/* A spreadsheet runs a cell that starts with one of = + - @. Such a text gets an apostrophe before
 * it; so does one that only looks as if it had got one, so that reading can take one off again. */
static void csv_column(text *sql, const field *f)
{
    if (f->kind != FIELD_TEXT) {
        duck_name(sql, f->name);
        return;
    }
    text_add(sql, "CASE WHEN regexp_matches(");
    duck_name(sql, f->name);
    text_add(sql, ", '^''*[=+@-]') THEN '''' || ");
    duck_name(sql, f->name);
    text_add(sql, " ELSE ");
    duck_name(sql, f->name);
    text_add(sql, " END AS ");
    duck_name(sql, f->name);
}

static void copy_sql(text *sql, const record *type, bool csv, const char *temporary)
{
    text_add(sql, "COPY (SELECT ");
    for (size_t i = 0; i < type->n_fields; i++) {
        text_add(sql, i ? ", " : "");
        if (csv)
            csv_column(sql, &type->fields[i]);
        else
            duck_name(sql, type->fields[i].name);
    }
    text_add(sql, " FROM qkscope_table) TO ");
    duck_output(sql, temporary);
    if (csv)
        text_add(sql, " (FORMAT csv, HEADER true, DELIMITER ',', QUOTE '\"', ESCAPE '\"', "
                      "NULLSTR '', USE_TMP_FILE false)");
    else
        text_addf(sql,
                  " (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false, "
                  "KV_METADATA {qkscope_table: '%s', qkscope_format: '%d'})",
                  type->name, TABLE_FORMAT);
}

typedef struct output {
    const char *path, *temporary;
} output;

static qks_status write_output(duckdb_connection connection, const record *type, const char *folder,
                               bool csv, arena *a, output *out, qks_error *error)
{
    out->path = arena_format(a, "%s/%s.%s", folder, type->name, csv ? "csv" : "parquet");
    if (!out->path)
        return out_of_memory(error, "file name");
    qks_status status = file_temporary(a, out->path, &out->temporary, error);
    if (status != QKS_OK)
        return status;
    text sql = text_new(SQL_MAX), doing = text_new(SQL_MAX);
    text_addf(&doing, "cannot write '%s'", out->path);
    copy_sql(&sql, type, csv, out->temporary);
    status = text_status(&sql, "table", error);
    if (status == QKS_OK)
        status = duck_run(connection, text_string(&sql), text_string(&doing), error);
    text_free(&sql);
    text_free(&doing);
    return status;
}

static qks_status write_files(duckdb_connection connection, const record *type, const char *folder,
                              qks_error *error)
{
    arena names = {0};
    output outputs[2] = {{0}};
    qks_status status = QKS_OK;
    for (int i = 0; status == QKS_OK && i < 2; i++)
        status = write_output(connection, type, folder, i == 0, &names, &outputs[i], error);
    for (int i = 0; status == QKS_OK && i < 2; i++)
        status = file_place(outputs[i].temporary, outputs[i].path, error);
    for (int i = 0; status != QKS_OK && i < 2; i++)
        if (outputs[i].temporary)
            file_remove(outputs[i].temporary);
    arena_free(&names);
    return status;
}

qks_status table_write(store *s, const record *type, const void *rows, size_t count,
                       const char *folder, qks_error *error)
{
    duckdb_connection connection = NULL;
    qks_status status = store_connection(s, 0, &connection, error);
    if (status == QKS_OK)
        status = folder_make(folder, error);
    if (status == QKS_OK)
        status = make_table(connection, type, "cannot make a table", error);
    if (status != QKS_OK)
        return status;
    status = fill_table(connection, type, rows, count, error);
    if (status != QKS_OK)
        status = qks_prefix(error, status, "table %s", type->name);
    else
        status = write_files(connection, type, folder, error);
    qks_status dropped = duck_run(connection, "DROP TABLE qkscope_table", "cannot drop a table",
                                  status == QKS_OK ? error : NULL);
    return status == QKS_OK ? dropped : status;
}
