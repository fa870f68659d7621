/* store.c: the database in memory and its connections, one per thread. */
#include "store/store.h"

#include "store/duck.h"

#include <stdlib.h>

/* Enough for tables and a sort of usual size; larger sorts spill. */
static const char MEMORY_LIMIT[] = "1GB";

struct store {
    duckdb_database database;
    int threads;
    duckdb_connection *connections; /* [threads], NULL until asked for by their thread */
    duck_seats seats;               /* one for each thread */
};

const char *store_version(void)
{
    return duckdb_library_version();
}

int store_threads(const store *s)
{
    return s->threads;
}

static qks_status store_fill(store *s, int threads, qks_error *error)
{
    s->threads = threads;
    qks_status status = memory_zeroed(&s->connections, (size_t)threads, sizeof *s->connections,
                                      error);
    if (status == QKS_OK)
        status = memory_zeroed(&s->seats.seats, (size_t)threads, sizeof(duck_seat), error);
    s->seats.count = threads;
    if (status == QKS_OK)
        status = duck_open(&s->database, MEMORY_LIMIT, error);
    duckdb_connection first = NULL;
    if (status == QKS_OK)
        status = store_connection(s, 0, &first, error);
    if (status == QKS_OK)
        status = duck_add_rows(first, &s->seats, error);
    if (status == QKS_OK)
        status = duck_run(first, "SET lock_configuration = true", "cannot set up DuckDB", error);
    return status;
}

qks_status store_open(store **out, int threads, qks_error *error)
{
    *out = NULL;
    if (threads < 1)
        return qks_fail(error, QKS_USAGE, "a store needs at least 1 thread, not %d", threads);
    store *s = NULL;
    qks_status status = memory_zeroed(&s, 1, sizeof *s, error);
    if (status != QKS_OK)
        return status;
    status = store_fill(s, threads, error);
    if (status == QKS_OK)
        *out = s;
    else
        store_close(s);
    return status;
}

void store_close(store *s)
{
    if (!s)
        return;
    for (int i = 0; s->connections && i < s->threads; i++)
        if (s->connections[i])
            duckdb_disconnect(&s->connections[i]);
    if (s->database)
        duckdb_close(&s->database);
    free(s->connections);
    free(s->seats.seats);
    free(s);
}

qks_status store_connect(store *s, duckdb_connection *connection, qks_error *error)
{
    *connection = NULL;
    if (duckdb_connect(s->database, connection) == DuckDBError)
        return out_of_memory(error, "DuckDB connection");
    return QKS_OK;
}

qks_status store_connection(store *s, int thread, duckdb_connection *connection, qks_error *error)
{
    if (thread < 0 || thread >= s->threads)
        return qks_fail(error, QKS_INTERNAL, "the store has no thread %d of %d", thread,
                        s->threads);
    duckdb_connection *mine = &s->connections[thread];
    qks_status status = *mine ? QKS_OK : store_connect(s, mine, error);
    *connection = *mine;
    return status;
}

duck_seat *store_seat(store *s, int thread)
{
    return &s->seats.seats[thread];
}
