/* store.h: DuckDB behind a small door: tables out and in, SQL, and rows of any Parquet, CSV or
 * JSONL file as a stream. Nothing outside this room includes duckdb.h. */
#ifndef QKS_STORE_STORE_H
#define QKS_STORE_STORE_H

#include "base/file.h"
#include "base/memory.h"
#include "qkscope/status.h"
#include "store/record.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* An in-memory database, one connection per thread; thread-safe as long as each thread passes its
 * own number. Opening costs some 20 ms and 30 MB, so verbs open it only when needed. */
typedef struct store store;

QKS_MUST_CHECK qks_status store_open(store **out, int threads, qks_error *error);
void store_close(store *s);      /* NULL is fine */
const char *store_version(void); /* "v1.4.4"; costs nothing */

/* ---- tables ---- */
/* Write FOLDER/<record name>.csv and .parquet, each whole or not at all. Text cells that a
 * spreadsheet would run (= + - @ first) get an apostrophe in the CSV, which table_read takes off.
 */
QKS_MUST_CHECK qks_status table_write(store *s, const record *type, const void *rows, size_t count,
                                      const char *folder, qks_error *error);

/* Read a .csv or .parquet file. Columns go by name, in any order; more columns than described are
 * ignored. `*rows` is in the arena. Values of the wrong type, NaN and infinities are refused with
 * the row's number. */
QKS_MUST_CHECK qks_status table_read(store *s, const record *type, const char *path, arena *a,
                                     void **rows, size_t *count, qks_error *error);

/* The columns' names (strings in the arena, the list's data malloc'd) and the number of rows of any
 * .parquet, .csv or .jsonl file. */
QKS_MUST_CHECK qks_status table_describe(store *s, const char *path, arena *a, name_list *columns,
                                         int64_t *rows, qks_error *error);

/* ---- SQL ---- */
typedef enum sql_format { SQL_ALIGNED, SQL_CSV, SQL_JSON } sql_format;

/* Make every <name>.parquet (else <name>.csv) of `folder` a view called <name>. */
QKS_MUST_CHECK qks_status store_attach_folder(store *s, const char *folder, qks_error *error);
/* Run statements and print the rows of the last one to `out`. */
QKS_MUST_CHECK qks_status store_sql(store *s, const char *sql, sql_format format, FILE *out,
                                    qks_error *error);

#endif
