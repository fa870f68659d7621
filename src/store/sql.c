/* sql.c: SQL over a folder of tables. The answer's columns, of whatever type, become text through
 * DuckDB's own casts in a table beside, which sql_print.c reads. */
#include "store/store.h"

#include "base/file.h"
#include "store/duck.h"
#include "store/sql_print.h"

#include <stdlib.h>
#include <string.h>

/* ---- views ---- */
static qks_status make_view(duckdb_connection connection, const char *folder, const char *stem,
                            bool parquet, qks_error *error)
{
    arena a = {0};
    text sql = text_new(SQL_MAX);
    const char *path = arena_format(&a, "%s/%s.%s", folder, stem, parquet ? "parquet" : "csv");
    const char *doing = arena_format(&a, "cannot read '%s'", path ? path : stem);
    text_add(&sql, "CREATE OR REPLACE VIEW ");
    duck_name(&sql, stem);
    text_add(&sql, parquet ? " AS SELECT * FROM read_parquet(" : " AS SELECT * FROM read_csv(");
    if (path)
        duck_path(&sql, path);
    text_add(&sql, parquet ? ", hive_partitioning = false)"
                           : ", header = true, delim = ',', quote = '\"', escape = '\"', "
                             "hive_partitioning = false, parallel = false)");
    qks_status status = path && doing ? text_status(&sql, "file name", error)
                                      : out_of_memory(error, "file name");
    if (status == QKS_OK)
        status = duck_run(connection, text_string(&sql), doing, error);
    text_free(&sql);
    arena_free(&a);
    return status;
}

static bool has_name(const name_list *names, const char *stem, const char *ending)
{
    size_t length = strlen(stem);
    for (size_t i = 0; i < names->length; i++)
        if (strncmp(names->data[i], stem, length) == 0 &&
            strcmp(names->data[i] + length, ending) == 0)
            return true;
    return false;
}

static qks_status attach_file(duckdb_connection connection, const char *folder,
                              const name_list *names, const char *name, arena *a, qks_error *error)
{
    bool parquet = path_ends(name, ".parquet");
    if (name[0] == '.' || (!parquet && !path_ends(name, ".csv")))
        return QKS_OK;
    char *stem = arena_string(a, name);
    if (!stem)
        return out_of_memory(error, "file name");
    *strrchr(stem, '.') = '\0';
    if (!parquet && has_name(names, stem, ".parquet"))
        return QKS_OK;
    return make_view(connection, folder, stem, parquet, error);
}

qks_status store_attach_folder(store *s, const char *folder, qks_error *error)
{
    arena a = {0};
    name_list names = {0};
    duckdb_connection connection = NULL;
    qks_status status = store_connection(s, 0, &connection, error);
    if (status == QKS_OK)
        status = folder_list(&a, folder, &names, error);
    for (size_t i = 0; status == QKS_OK && i < names.length; i++)
        status = attach_file(connection, folder, &names, names.data[i], &a, error);
    free(names.data);
    arena_free(&a);
    return status;
}

/* ---- the answer as text ---- */
static sql_kind kind_of(duckdb_type type)
{
    switch (type) {
    case DUCKDB_TYPE_BOOLEAN:
        return SQL_BOOLEAN;
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_HUGEINT:
    case DUCKDB_TYPE_UHUGEINT:
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
    case DUCKDB_TYPE_DECIMAL:
    case DUCKDB_TYPE_BIGNUM:
        return SQL_NUMBER;
    default:
        return SQL_TEXT;
    }
}

static qks_status make_cells(duckdb_connection connection, size_t columns, qks_error *error)
{
    text sql = text_new(SQL_MAX);
    text_add(&sql, "CREATE OR REPLACE TEMP TABLE qkscope_cells (");
    for (size_t i = 0; i < columns; i++)
        text_addf(&sql, "%sc%zu VARCHAR", i ? ", " : "", i);
    text_add(&sql, ")");
    qks_status status = text_status(&sql, "SQL", error);
    if (status == QKS_OK)
        status = duck_run(connection, text_string(&sql), "SQL", error);
    text_free(&sql);
    return status;
}

static qks_status copy_rows(duck_stream *q, duckdb_appender appender, qks_error *error)
{
    qks_status status = QKS_OK;
    while (status == QKS_OK && (status = duck_stream_next(q, error)) == QKS_OK && q->chunk)
        if (duckdb_append_data_chunk(appender, q->chunk) == DuckDBError)
            status = duck_append_failed(appender, error);
    return status;
}

/* Every row of `q` into qkscope_cells, cast to VARCHAR. */
static qks_status fill_cells(duck_stream *q, const sql_answer *answer, duckdb_logical_type *types,
                             qks_error *error)
{
    static const char INSERT[] = "INSERT INTO qkscope_cells "
                                 "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM appended_data";
    qks_status status = make_cells(answer->connection, answer->n_columns, error);
    if (status != QKS_OK)
        return status;
    duckdb_appender appender = NULL;
    if (duckdb_appender_create_query(answer->connection, INSERT, answer->n_columns, types, NULL,
                                     NULL, &appender) == DuckDBError)
        status = duck_append_failed(appender, error);
    else
        status = copy_rows(q, appender, error);
    return duck_appender_close(&appender, status, error);
}

static qks_status describe(duck_stream *q, sql_answer *answer, duckdb_logical_type *types, arena *a,
                           qks_error *error)
{
    answer->names = arena_alloc(a, answer->n_columns, sizeof *answer->names);
    answer->kinds = arena_alloc(a, answer->n_columns, sizeof *answer->kinds);
    if (!answer->names || !answer->kinds)
        return out_of_memory(error, "SQL");
    for (size_t i = 0; i < answer->n_columns; i++) {
        const char *name = duckdb_column_name(&q->result, i);
        answer->names[i] = arena_string(a, name ? name : "");
        if (!answer->names[i])
            return out_of_memory(error, "SQL");
        types[i] = duckdb_column_logical_type(&q->result, i);
        answer->kinds[i] = kind_of(duckdb_get_type_id(types[i]));
    }
    return QKS_OK;
}

static qks_status print_answer(store *s, duck_stream *q, sql_format format, FILE *out,
                               qks_error *error)
{
    arena a = {0};
    sql_answer answer = {.n_columns = duckdb_column_count(&q->result)};
    duckdb_logical_type *types = NULL;
    qks_status status = memory_zeroed(&types, answer.n_columns, sizeof *types, error);
    if (status == QKS_OK)
        status = store_connect(s, &answer.connection, error);
    if (status == QKS_OK)
        status = describe(q, &answer, types, &a, error);
    if (status == QKS_OK)
        status = fill_cells(q, &answer, types, error);
    if (status == QKS_OK)
        status = sql_print(&answer, format, out, error);
    for (size_t i = 0; types && i < answer.n_columns; i++)
        duckdb_destroy_logical_type(&types[i]);
    free(types);
    duckdb_disconnect(&answer.connection);
    arena_free(&a);
    return status;
}

/* ---- statements ---- */
static qks_status drain(duck_stream *q, qks_error *error)
{
    qks_status status = QKS_OK;
    while (status == QKS_OK && (status = duck_stream_next(q, error)) == QKS_OK && q->chunk)
        continue;
    return status;
}

static qks_status run_statement(store *s, duckdb_connection connection,
                                duckdb_extracted_statements statements, idx_t index, bool last,
                                sql_format format, FILE *out, qks_error *error)
{
    duckdb_prepared_statement statement = NULL;
    if (duckdb_prepare_extracted_statement(connection, statements, index, &statement) ==
        DuckDBError) {
        qks_status status = duck_failed(error, DUCKDB_ERROR_INVALID, "SQL",
                                        duckdb_prepare_error(statement));
        duckdb_destroy_prepare(&statement);
        return status;
    }
    if (duckdb_prepared_statement_type(statement) == DUCKDB_STATEMENT_TYPE_LOAD) {
        duckdb_destroy_prepare(&statement);
        return qks_fail(error, QKS_UNSUPPORTED, "SQL: INSTALL and LOAD are switched off");
    }
    duck_stream q = {0};
    qks_status status = duck_stream_start(&q, statement, "SQL", error);
    bool rows = status == QKS_OK &&
                duckdb_result_return_type(q.result) == DUCKDB_RESULT_TYPE_QUERY_RESULT;
    if (status == QKS_OK)
        status = rows && last ? print_answer(s, &q, format, out, error) : drain(&q, error);
    duck_stream_close(&q);
    return status;
}

qks_status store_sql(store *s, const char *sql, sql_format format, FILE *out, qks_error *error)
{
    duckdb_connection connection = NULL;
    qks_status status = store_connection(s, 0, &connection, error);
    if (status != QKS_OK)
        return status;
    duckdb_extracted_statements statements = NULL;
    idx_t count = duckdb_extract_statements(connection, sql, &statements);
    if (count == 0) {
        const char *message = duckdb_extract_statements_error(statements);
        status = message ? duck_failed(error, DUCKDB_ERROR_INVALID, "SQL", message)
                         : qks_fail(error, QKS_USAGE, "SQL: there is no statement");
    }
    for (idx_t i = 0; status == QKS_OK && i < count; i++)
        status = run_statement(s, connection, statements, i, i + 1 == count, format, out, error);
    duckdb_destroy_extracted(&statements);
    return status;
}
