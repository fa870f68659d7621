/* duck.h: the room's own door to DuckDB: connections, streams of chunks, cells, and quoting.
 *
 * Every DuckDB failure becomes one qks_error line here. Paths and names come from strangers: they
 * enter SQL through the quoting functions below and no other way. */
#ifndef QKS_STORE_DUCK_H
#define QKS_STORE_DUCK_H

#include "base/file.h"
#include "base/text.h"
#include "qkscope/status.h"
#include "store/store.h"

#include <duckdb.h>
#include <stdbool.h>
#include <stdint.h>

enum { SQL_MAX = 1 << 20 }; /* bytes of a statement that qkscope builds */

/* ---- connections ---- */
int store_threads(const store *s);
/* Thread `thread`'s connection, opened when first asked for; the store closes it. */
QKS_MUST_CHECK qks_status store_connection(store *s, int thread, duckdb_connection *connection,
                                           qks_error *error);

struct duck_seat *store_seat(store *s, int thread); /* for a thread that has a connection */
/* Another one, which the caller disconnects: for work beside a running stream. */
QKS_MUST_CHECK qks_status store_connect(store *s, duckdb_connection *connection, qks_error *error);

/* An own database in memory, with the room's settings. `memory_limit` as DuckDB wants it, "1GB";
 * NULL: most of the machine's. */
QKS_MUST_CHECK qks_status duck_open(duckdb_database *database, const char *memory_limit,
                                    qks_error *error);

/* ---- queries ---- */
/* Turn a DuckDB message (may be NULL) into an error: "`doing`: ", its first line, and for CSV files
 * the line that says what is wrong there. */
qks_status duck_failed(qks_error *error, duckdb_error_type type, const char *doing,
                       const char *message);

/* Run one statement without rows. `doing` says what for, e.g. "cannot write 'x.parquet'". */
QKS_MUST_CHECK qks_status duck_run(duckdb_connection connection, const char *sql, const char *doing,
                                   qks_error *error);

/* Destroy the statement with duckdb_destroy_prepare, also after a failure. */
QKS_MUST_CHECK qks_status duck_prepare(duckdb_connection connection, const char *sql,
                                       duckdb_prepared_statement *statement, const char *doing,
                                       qks_error *error);

/* The columns' names of a table expression; strings in the arena, the list's data malloc'd. */
QKS_MUST_CHECK qks_status duck_columns(duckdb_connection connection, const char *from,
                                       const char *doing, arena *a, name_list *columns,
                                       qks_error *error);

/* The rows of one statement, a chunk at a time: memory does not grow with rows. */
typedef struct duck_stream {
    duckdb_prepared_statement statement;
    duckdb_pending_result pending;
    duckdb_result result;
    duckdb_data_chunk chunk; /* the one in hand; NULL before the first and after the last */
    size_t rows;             /* of the chunk in hand */
    const char *doing;       /* the caller's, must outlive the stream */
} duck_stream;               /* zero is a closed stream */

/* On failure the stream is closed already; closing again is fine. */
QKS_MUST_CHECK qks_status duck_stream_open(duck_stream *q, duckdb_connection connection,
                                           const char *sql, const char *doing, qks_error *error);
/* The same for an answer that is small: all of it is in memory, and DuckDB plans it once, not
 * twice. */
QKS_MUST_CHECK qks_status duck_query(duck_stream *q, duckdb_connection connection, const char *sql,
                                     const char *doing, qks_error *error);
/* A stream of a statement prepared elsewhere, which the stream then owns. */
QKS_MUST_CHECK qks_status duck_stream_start(duck_stream *q, duckdb_prepared_statement statement,
                                            const char *doing, qks_error *error);
/* The next chunk with rows into q->chunk, or q->chunk = NULL at the end. */
QKS_MUST_CHECK qks_status duck_stream_next(duck_stream *q, qks_error *error);
void duck_stream_close(duck_stream *q);

/* ---- rows in place ---- */
/* A streaming result is copied value by value and buffered without regard to the size of its
 * texts. A function inside the statement sees the rows where the file's reader put them, one chunk
 * at a time: SELECT qkscope_rows(0, a, b) FROM ... hands chunks of (0, a, b) to whoever sits on
 * seat 0. */
typedef qks_status duck_see(void *context, duckdb_data_chunk chunk, size_t rows, qks_error *error);

typedef struct duck_seat {
    duck_see *see; /* NULL: nobody sits here, and the function fails */
    void *context;
    qks_status status; /* of the rows so far */
    qks_error failure; /* what is wrong with them */
} duck_seat;

typedef struct duck_seats {
    duck_seat *seats; /* [count] */
    int count;
} duck_seats;

/* Make qkscope_rows() known to the database; `seats` must outlive it. */
QKS_MUST_CHECK qks_status duck_add_rows(duckdb_connection connection, duck_seats *seats,
                                        qks_error *error);
/* Run `sql`, which selects qkscope_rows(number, ...) and nothing else, with `see` on that seat. The
 * rows are gone when `see` returns, and it must not use the connection. */
QKS_MUST_CHECK qks_status duck_see_rows(duckdb_connection connection, duck_seat *seat,
                                        const char *sql, const char *doing, duck_see *see,
                                        void *context, qks_error *error);

/* ---- cells of the chunk in hand ---- */
static inline const void *duck_column(const duck_stream *q, idx_t column)
{
    return duckdb_vector_get_data(duckdb_data_chunk_get_vector(q->chunk, column));
}
/* NULL when no row of the column is NULL; else for duck_is_null(). */
static inline const uint64_t *duck_nulls(const duck_stream *q, idx_t column)
{
    return duckdb_vector_get_validity(duckdb_data_chunk_get_vector(q->chunk, column));
}
static inline bool duck_is_null(const uint64_t *validity, size_t row)
{
    return validity && !(validity[row / 64] >> (row % 64) & 1);
}
/* Are rows [first, first + count) all there? */
bool duck_none_null(const uint64_t *validity, size_t first, size_t count);

/* A VARCHAR cell's bytes, in place; they live as long as the chunk and have no final NUL. */
const char *duck_bytes(const duckdb_string_t *cell, size_t *length);

/* ---- rows into a table ---- */
/* `catalog` NULL: the database's own. End with duck_appender_close. */
QKS_MUST_CHECK qks_status duck_appender_open(duckdb_appender *appender,
                                             duckdb_connection connection, const char *catalog,
                                             const char *table, qks_error *error);
/* An empty chunk of the table's columns; the caller destroys it. */
QKS_MUST_CHECK qks_status duck_chunk_for(duckdb_appender appender, duckdb_data_chunk *chunk,
                                         qks_error *error);
qks_status duck_append_failed(duckdb_appender appender, qks_error *error);
/* Flush if all went well so far (`status`), destroy; returns `status` or the flush's failure. */
QKS_MUST_CHECK qks_status duck_appender_close(duckdb_appender *appender, qks_status status,
                                              qks_error *error);

/* ---- quoting ---- */
void duck_literal(text *sql, const char *value); /* 'it''s' */
void duck_name(text *sql, const char *name);     /* "a ""b""" */
/* A file's name as a literal that means this file only: no glob, no URL, no home folder. */
void duck_path(text *sql, const char *path);
void duck_output(text *sql, const char *path); /* the same for COPY ... TO, where nothing globs */
bool path_ends(const char *path, const char *ending); /* ".csv", in any case */

#endif
