/* duck.c: plumbing between DuckDB's C API and the rest of the room (see duck.h). */
#include "store/duck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

typedef struct setting {
    const char *name, *value;
} setting;

/* qkscope's threads each run a connection of their own, so DuckDB itself runs on one; nothing is
 * fetched from the network behind the user's back; files are not kept in memory once read (the
 * system's page cache does that), which saves 20 MB over 400 files. */
static const setting SETTINGS[] = {
    {"threads", "1"},
    {"autoinstall_known_extensions", "false"},
    {"autoload_known_extensions", "false"},
    {"allow_community_extensions", "false"},
    {"enable_external_file_cache", "false"},
};

/* Where sorts spill: made by DuckDB when it must, and removed by it. */
static qks_status set_spill_folder(duckdb_config config, qks_error *error)
{
    const char *folder = getenv("TMPDIR");
    text path = text_new(SQL_MAX);
    text_addf(&path, "%s/qkscope-spill-%ld", folder && *folder ? folder : "/tmp", (long)getpid());
    qks_status status = text_status(&path, "TMPDIR", error);
    if (status == QKS_OK &&
        duckdb_set_config(config, "temp_directory", text_string(&path)) == DuckDBError)
        status = qks_fail(error, QKS_INTERNAL, "DuckDB refused the setting temp_directory");
    text_free(&path);
    return status;
}

static qks_status configure(duckdb_config config, const char *memory_limit, qks_error *error)
{
    if (memory_limit && duckdb_set_config(config, "memory_limit", memory_limit) == DuckDBError)
        return qks_fail(error, QKS_INTERNAL, "DuckDB refused the memory limit %s", memory_limit);
    for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++)
        if (duckdb_set_config(config, SETTINGS[i].name, SETTINGS[i].value) == DuckDBError)
            return qks_fail(error, QKS_INTERNAL, "DuckDB refused the setting %s = %s",
                            SETTINGS[i].name, SETTINGS[i].value);
    return set_spill_folder(config, error);
}

qks_status duck_open(duckdb_database *database, const char *memory_limit, qks_error *error)
{
    duckdb_config config = NULL;
    *database = NULL;
    if (duckdb_create_config(&config) == DuckDBError)
        return out_of_memory(error, "DuckDB configuration");
    qks_status status = configure(config, memory_limit, error);
    char *message = NULL;
    if (status == QKS_OK && duckdb_open_ext(NULL, database, config, &message) == DuckDBError)
        status = duck_failed(error, DUCKDB_ERROR_IO, "cannot open the database", message);
    duckdb_free(message);
    duckdb_destroy_config(&config);
    return status;
}

/* ---- errors ---- */
static qks_status status_of(duckdb_error_type type, const char *message)
{
    switch (type) {
    case DUCKDB_ERROR_OUT_OF_MEMORY:
        return QKS_MEMORY;
    case DUCKDB_ERROR_INTERNAL:
    case DUCKDB_ERROR_FATAL:
        return QKS_INTERNAL;
    case DUCKDB_ERROR_INTERRUPT:
        return QKS_INTERRUPTED;
    case DUCKDB_ERROR_NOT_IMPLEMENTED:
        return QKS_UNSUPPORTED;
    case DUCKDB_ERROR_IO:
        return strstr(message, "No files found") ? QKS_MISSING : QKS_IO;
    default:
        return QKS_INVALID;
    }
}

/* A CSV message goes: where, the line of the file, what is wrong, "Possible fixes: ...". */
static const char *csv_reason(const char *message, int *length)
{
    *length = 0;
    const char *end = strstr(message, "\nPossible ");
    if (!end || strncmp(message, "Invalid Input Error: CSV Error", 30) != 0)
        return "";
    while (end > message && (end[-1] == '\n' || end[-1] == '\r'))
        end--;
    const char *start = end;
    while (start > message && start[-1] != '\n')
        start--;
    *length = (int)(end - start);
    return start;
}

/* What DuckDB advises on the second line of a message: Did you mean "qk"?, Candidate bindings: ...
 */
static const char *advice(const char *message, int *length)
{
    static const char *const begins[] = {"Did you mean", "Candidate "};
    const char *line = strchr(message, '\n');
    *length = 0;
    for (size_t i = 0; line && i < sizeof begins / sizeof *begins; i++)
        if (strncmp(line + 1, begins[i], strlen(begins[i])) == 0) {
            *length = (int)strcspn(line + 1, "\r\n");
            return line + 1;
        }
    return "";
}

qks_status duck_failed(qks_error *error, duckdb_error_type type, const char *doing,
                       const char *message)
{
    const char *said = message && *message ? message : "DuckDB gave no reason";
    int more = 0, advised = 0;
    const char *reason = csv_reason(said, &more), *hint = advice(said, &advised);
    return qks_fail(error, status_of(type, said), "%s: %.*s%s%.*s%s%.*s", doing,
                    (int)strcspn(said, "\r\n"), said, more ? ": " : "", more, reason,
                    advised ? " " : "", advised, hint);
}

/* A statement that could not be prepared says why only as text: "IO Error: ...". */
static duckdb_error_type type_of_message(const char *message)
{
    if (!message)
        return DUCKDB_ERROR_INVALID;
    if (strncmp(message, "IO Error", 8) == 0)
        return DUCKDB_ERROR_IO;
    if (strncmp(message, "Out of Memory", 13) == 0)
        return DUCKDB_ERROR_OUT_OF_MEMORY;
    if (strncmp(message, "Not implemented", 15) == 0)
        return DUCKDB_ERROR_NOT_IMPLEMENTED;
    return strncmp(message, "INTERNAL", 8) == 0 ? DUCKDB_ERROR_INTERNAL : DUCKDB_ERROR_INVALID;
}

/* ---- queries ---- */
qks_status duck_query(duck_stream *q, duckdb_connection connection, const char *sql,
                      const char *doing, qks_error *error)
{
    *q = (duck_stream){.doing = doing};
    if (duckdb_query(connection, sql, &q->result) == DuckDBSuccess)
        return QKS_OK;
    qks_status status = duck_failed(error, duckdb_result_error_type(&q->result), doing,
                                    duckdb_result_error(&q->result));
    duck_stream_close(q);
    return status;
}

qks_status duck_run(duckdb_connection connection, const char *sql, const char *doing,
                    qks_error *error)
{
    duck_stream q;
    qks_status status = duck_query(&q, connection, sql, doing, error);
    duck_stream_close(&q);
    return status;
}

qks_status duck_prepare(duckdb_connection connection, const char *sql,
                        duckdb_prepared_statement *statement, const char *doing, qks_error *error)
{
    *statement = NULL;
    if (duckdb_prepare(connection, sql, statement) == DuckDBSuccess)
        return QKS_OK;
    const char *message = duckdb_prepare_error(*statement);
    return duck_failed(error, type_of_message(message), doing, message);
}

qks_status duck_columns(duckdb_connection connection, const char *from, const char *doing, arena *a,
                        name_list *columns, qks_error *error)
{
    text sql = text_new(SQL_MAX);
    text_addf(&sql, "SELECT * FROM %s", from);
    duckdb_prepared_statement schema = NULL;
    qks_status status = text_status(&sql, "SQL", error);
    if (status == QKS_OK)
        status = duck_prepare(connection, text_string(&sql), &schema, doing, error);
    idx_t count = status == QKS_OK ? duckdb_prepared_statement_column_count(schema) : 0;
    for (idx_t i = 0; status == QKS_OK && i < count; i++) {
        const char *name = duckdb_prepared_statement_column_name(schema, i);
        const char *copy = name ? arena_string(a, name) : NULL;
        duckdb_free((void *)(uintptr_t)name);
        status = copy ? array_push(columns, copy, error) : out_of_memory(error, "column names");
    }
    duckdb_destroy_prepare(&schema);
    text_free(&sql);
    return status;
}

qks_status duck_stream_open(duck_stream *q, duckdb_connection connection, const char *sql,
                            const char *doing, qks_error *error)
{
    *q = (duck_stream){0};
    duckdb_prepared_statement statement = NULL;
    qks_status status = duck_prepare(connection, sql, &statement, doing, error);
    if (status == QKS_OK)
        return duck_stream_start(q, statement, doing, error);
    duckdb_destroy_prepare(&statement);
    return status;
}

qks_status duck_stream_start(duck_stream *q, duckdb_prepared_statement statement, const char *doing,
                             qks_error *error)
{
    *q = (duck_stream){.statement = statement, .doing = doing};
    qks_status status = QKS_OK;
    /* Marked for replacement in duckdb.h, but 1.4 has no other way to a streaming result. */
    if (duckdb_pending_prepared_streaming(statement, &q->pending) == DuckDBError) {
        const char *message = duckdb_pending_error(q->pending);
        status = duck_failed(error, type_of_message(message), doing, message);
    } else if (duckdb_execute_pending(q->pending, &q->result) == DuckDBError) {
        status = duck_failed(error, duckdb_result_error_type(&q->result), doing,
                             duckdb_result_error(&q->result));
    }
    if (status != QKS_OK)
        duck_stream_close(q);
    return status;
}

qks_status duck_stream_next(duck_stream *q, qks_error *error)
{
    do {
        duckdb_destroy_data_chunk(&q->chunk);
        q->chunk = duckdb_fetch_chunk(q->result);
        q->rows = q->chunk ? duckdb_data_chunk_get_size(q->chunk) : 0;
    } while (q->chunk && q->rows == 0);
    const char *message = q->chunk ? NULL : duckdb_result_error(&q->result);
    if (!message)
        return QKS_OK;
    return duck_failed(error, duckdb_result_error_type(&q->result), q->doing, message);
}

void duck_stream_close(duck_stream *q)
{
    duckdb_destroy_data_chunk(&q->chunk);
    duckdb_destroy_result(&q->result);
    duckdb_destroy_pending(&q->pending);
    duckdb_destroy_prepare(&q->statement);
    *q = (duck_stream){0};
}

/* ---- cells ---- */
bool duck_none_null(const uint64_t *validity, size_t first, size_t count)
{
    if (!validity || count == 0)
        return true;
    size_t last = first + count - 1;
    uint64_t head = UINT64_MAX << first % 64, tail = UINT64_MAX >> (63 - last % 64);
    if (first / 64 == last / 64)
        return (~validity[first / 64] & head & tail) == 0;
    uint64_t missing = (~validity[first / 64] & head) | (~validity[last / 64] & tail);
    for (size_t word = first / 64 + 1; word < last / 64; word++)
        missing |= ~validity[word];
    return missing == 0;
}

const char *duck_bytes(const duckdb_string_t *cell, size_t *length)
{
    *length = cell->value.inlined.length;
    bool inlined = *length <= sizeof cell->value.inlined.inlined;
    return inlined ? cell->value.inlined.inlined : cell->value.pointer.ptr;
}

/* ---- rows into a table ---- */
qks_status duck_append_failed(duckdb_appender appender, qks_error *error)
{
    duckdb_error_data data = duckdb_appender_error_data(appender);
    qks_status status = duck_failed(error, duckdb_error_data_error_type(data), "cannot store rows",
                                    duckdb_error_data_message(data));
    duckdb_destroy_error_data(&data);
    return status;
}

qks_status duck_appender_open(duckdb_appender *appender, duckdb_connection connection,
                              const char *catalog, const char *table, qks_error *error)
{
    *appender = NULL;
    if (duckdb_appender_create_ext(connection, catalog, NULL, table, appender) == DuckDBSuccess)
        return QKS_OK;
    qks_status status = duck_append_failed(*appender, error);
    duckdb_appender_destroy(appender);
    return status;
}

qks_status duck_chunk_for(duckdb_appender appender, duckdb_data_chunk *chunk, qks_error *error)
{
    idx_t columns = duckdb_appender_column_count(appender);
    duckdb_logical_type *types = NULL;
    qks_status status = memory_zeroed(&types, columns, sizeof *types, error);
    if (status != QKS_OK)
        return status;
    for (idx_t i = 0; i < columns; i++)
        types[i] = duckdb_appender_column_type(appender, i);
    *chunk = duckdb_create_data_chunk(types, columns);
    for (idx_t i = 0; i < columns; i++)
        duckdb_destroy_logical_type(&types[i]);
    free(types);
    return *chunk ? QKS_OK : out_of_memory(error, "DuckDB chunk");
}

qks_status duck_appender_close(duckdb_appender *appender, qks_status status, qks_error *error)
{
    if (!*appender)
        return status;
    if (status == QKS_OK && duckdb_appender_close(*appender) == DuckDBError)
        status = duck_append_failed(*appender, error);
    duckdb_appender_destroy(appender);
    return status;
}

/* ---- quoting ---- */
static void quoted(text *sql, const char *value, char quote)
{
    text_append(sql, &quote, 1);
    for (const char *c = value; *c; c++) {
        if (*c == quote)
            text_append(sql, &quote, 1);
        text_append(sql, c, 1);
    }
    text_append(sql, &quote, 1);
}

void duck_literal(text *sql, const char *value)
{
    quoted(sql, value, '\'');
}

void duck_name(text *sql, const char *name)
{
    quoted(sql, name, '"');
}

static void path_literal(text *sql, const char *path, bool globbed)
{
    text_add(sql, *path == '/' ? "'" : "'./"); /* "~", "s3://x" and the like are file names here */
    for (const char *c = path; *c; c++) {
        if (globbed && strchr("*?[", *c))
            text_addf(sql, "[%c]", *c);
        else
            text_append(sql, *c == '\'' ? "''" : c, *c == '\'' ? 2 : 1);
    }
    text_add(sql, "'");
}

void duck_path(text *sql, const char *path)
{
    /* DuckDB's glob gives up on backslashes, but takes a file that is there by its literal name. */
    path_literal(sql, path, strpbrk(path, "*?[") && !strchr(path, '\\'));
}

void duck_output(text *sql, const char *path)
{
    path_literal(sql, path, false);
}

bool path_ends(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcasecmp(path + length - tail, ending) == 0;
}
