/* table_describe.c: columns and number of rows of any Parquet, CSV or JSONL file. */
#include "store/duck.h"

#include "base/file.h"

#include <stdlib.h>

static const struct {
    const char *ending, *reader, *options;
} READERS[] = {
    {".parquet", "read_parquet", ", hive_partitioning = false"},
    {".csv", "read_csv",
     ", hive_partitioning = false, header = true, all_varchar = true, parallel = false"},
    {".jsonl", "read_json", ", hive_partitioning = false, format = 'newline_delimited'"},
};

static qks_status count_rows(duckdb_connection connection, const char *from, const char *doing,
                             int64_t *rows, qks_error *error)
{
    text sql = text_new(SQL_MAX);
    duck_stream q = {0};
    text_addf(&sql, "SELECT count(*) FROM %s", from);
    qks_status status = text_status(&sql, "file name", error);
    if (status == QKS_OK)
        status = duck_query(&q, connection, text_string(&sql), doing, error);
    if (status == QKS_OK)
        status = duck_stream_next(&q, error);
    if (status == QKS_OK && q.rows != 1)
        status = qks_fail(error, QKS_INTERNAL, "%s: DuckDB did not count its rows", doing);
    if (status == QKS_OK)
        *rows = *(const int64_t *)duck_column(&q, 0);
    duck_stream_close(&q);
    text_free(&sql);
    return status;
}

qks_status table_describe(store *s, const char *path, arena *a, name_list *columns, int64_t *rows,
                          qks_error *error)
{
    text from = text_new(SQL_MAX), doing = text_new(SQL_MAX);
    for (size_t i = 0; i < sizeof READERS / sizeof *READERS; i++)
        if (path_ends(path, READERS[i].ending)) {
            text_addf(&from, "%s(", READERS[i].reader);
            duck_path(&from, path);
            text_addf(&from, "%s)", READERS[i].options);
        }
    text_addf(&doing, "cannot read '%s'", path);
    duckdb_connection connection = NULL;
    qks_status status = text_status(&from, "file name", error);
    if (status == QKS_OK && from.length == 0)
        status = qks_fail(error, QKS_UNSUPPORTED, "'%s' is neither .parquet, .csv nor .jsonl",
                          path);
    if (status == QKS_OK)
        status = store_connection(s, 0, &connection, error);
    if (status == QKS_OK)
        status = duck_columns(connection, text_string(&from), text_string(&doing), a, columns,
                              error);
    if (status == QKS_OK)
        status = count_rows(connection, text_string(&from), text_string(&doing), rows, error);
    text_free(&from);
    text_free(&doing);
    return status;
}
