/* dataset_write.c: captured vectors to Parquet files.
 *
 * Heads come in any order and in parts, so the rows first go to a spool beside the dataset. On
 * finish each head's parts are read back by a DuckDB table function and written as they come:
 * memory stays bounded. */
#include "store/dataset.h"

#include "base/file.h"
#include "store/card.h"
#include "store/duck.h"
#include "store/spool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    GROUP_BYTES = 8 << 20, /* of vectors in one Parquet row group */
    GROUP_LEAST = 2048,    /* rows, and the step in which DuckDB counts them */
    GROUP_MOST = 60 * GROUP_LEAST,
};

typedef struct spooled {
    int layer, head;
    char kind;
    int64_t rows;
    ARRAY_OF(spool_part) parts;
    const char *folder, *path, *temporary;
    bool placed;
} spooled;

struct dataset_writer {
    const char *root;
    int dimension;
    bool started, tokens; /* is there a token_str column? known once started */
    spool spool;
    ARRAY_OF(spooled) heads;
    duckdb_database database;
    duckdb_connection connection;
    arena memory;

    const spooled *reading; /* the head that the table function gives, and how far it is */
    size_t part, row;
    qks_status status;
    qks_error failure;
};

/* ---- the table function ---- */
static void table_bind(duckdb_bind_info info)
{
    const dataset_writer *w = duckdb_bind_get_extra_info(info);
    duckdb_logical_type integer = duckdb_create_logical_type(DUCKDB_TYPE_INTEGER);
    duckdb_logical_type real = duckdb_create_logical_type(DUCKDB_TYPE_FLOAT);
    duckdb_logical_type vector = duckdb_create_array_type(real, (idx_t)w->dimension);
    duckdb_logical_type string = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_bind_add_result_column(info, "bucket", integer);
    duckdb_bind_add_result_column(info, "example_id", integer);
    duckdb_bind_add_result_column(info, "position", integer);
    duckdb_bind_add_result_column(info, "vector", vector);
    duckdb_bind_add_result_column(info, "sliding_window", integer);
    if (w->tokens)
        duckdb_bind_add_result_column(info, "token_str", string);
    duckdb_destroy_logical_type(&string);
    duckdb_destroy_logical_type(&vector);
    duckdb_destroy_logical_type(&real);
    duckdb_destroy_logical_type(&integer);
}

static void table_init(duckdb_init_info info)
{
    dataset_writer *w = duckdb_init_get_extra_info(info);
    w->part = w->row = 0;
}

static void table_give(duckdb_function_info info, duckdb_data_chunk chunk)
{
    dataset_writer *w = duckdb_function_get_extra_info(info);
    size_t filled = 0, most = duckdb_vector_size();
    while (w->status == QKS_OK && filled < most && w->part < w->reading->parts.length) {
        const spool_part *part = &w->reading->parts.data[w->part];
        size_t left = part->rows - w->row;
        size_t count = left < most - filled ? left : most - filled;
        w->status = spool_read(&w->spool, part, w->row, count, chunk, filled, &w->failure);
        filled += count;
        w->row += count;
        if (count == left) {
            w->part++;
            w->row = 0;
        }
    }
    if (w->status != QKS_OK)
        duckdb_function_set_error(info, "stopped");
    duckdb_data_chunk_set_size(chunk, w->status == QKS_OK ? filled : 0);
}

static qks_status add_function(dataset_writer *w, qks_error *error)
{
    duckdb_table_function function = duckdb_create_table_function();
    if (!function)
        return out_of_memory(error, "DuckDB function");
    duckdb_table_function_set_name(function, "qkscope_spool");
    duckdb_table_function_set_extra_info(function, w, NULL);
    duckdb_table_function_set_bind(function, table_bind);
    duckdb_table_function_set_init(function, table_init);
    duckdb_table_function_set_function(function, table_give);
    duckdb_state state = duckdb_register_table_function(w->connection, function);
    duckdb_destroy_table_function(&function);
    if (state == DuckDBError)
        return qks_fail(error, QKS_INTERNAL, "DuckDB refused the function qkscope_spool()");
    return QKS_OK;
}

/* ---- taking rows ---- */
void dataset_discard(dataset_writer *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->heads.length; i++) {
        const spooled *head = &w->heads.data[i];
        if (head->temporary && !head->placed) {
            file_remove(head->temporary);
            (void)rmdir(head->folder); /* if it was made for this file */
        }
        free(head->parts.data);
    }
    free(w->heads.data);
    spool_close(&w->spool);
    duckdb_disconnect(&w->connection);
    duckdb_close(&w->database);
    arena_free(&w->memory);
    free(w);
}

/* "out//" and "out" are the same folder; the spool goes beside it. */
static char *without_slashes(arena *a, const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return arena_copy(a, path, length);
}

static qks_status start(dataset_writer *w, const char *root, qks_error *error)
{
    w->root = without_slashes(&w->memory, root);
    const char *card = w->root ? arena_format(&w->memory, "%s/README.md", w->root) : NULL;
    if (!card)
        return out_of_memory(error, "file name");
    if (is_file(card))
        return qks_fail(error, QKS_INVALID,
                        "'%s' holds a dataset already; remove it or name another folder", root);
    qks_status status = folder_make(w->root, error);
    if (status == QKS_OK) /* in the folder: the process may have no right to write elsewhere */
        status = spool_open(&w->spool, card, w->dimension, error);
    return status;
}

qks_status dataset_create(dataset_writer **out, const char *root, int dimension, qks_error *error)
{
    *out = NULL;
    if (dimension < 1 || dimension > DATASET_DIMENSION_MAX)
        return qks_fail(error, QKS_USAGE, "vectors of %d numbers (1 to %d are written)", dimension,
                        DATASET_DIMENSION_MAX);
    dataset_writer *w = NULL;
    qks_status status = memory_zeroed(&w, 1, sizeof *w, error);
    if (status != QKS_OK)
        return status;
    w->dimension = dimension;
    status = start(w, root, error);
    if (status == QKS_OK)
        *out = w;
    else
        dataset_discard(w);
    return status;
}

static qks_status find_head(dataset_writer *w, int layer, int head, char kind, spooled **found,
                            qks_error *error)
{
    for (size_t i = w->heads.length; i-- > 0;) {
        *found = &w->heads.data[i];
        if ((*found)->layer == layer && (*found)->head == head && (*found)->kind == kind)
            return QKS_OK;
    }
    spooled fresh = {.layer = layer, .head = head, .kind = kind};
    qks_status status = array_push(&w->heads, fresh, error);
    *found = status == QKS_OK ? &w->heads.data[w->heads.length - 1] : NULL;
    return status;
}

qks_status dataset_append(dataset_writer *w, int layer, int head, char kind,
                          const dataset_rows *rows, const char *const *tokens, qks_error *error)
{
    if (rows->dimension != w->dimension || (rows->n && !rows->f32))
        return qks_fail(error, QKS_INTERNAL, "vectors of %d float32 wanted, not of %d",
                        w->dimension, rows->dimension);
    if (w->started && w->tokens != (tokens != NULL))
        return qks_fail(error, QKS_INTERNAL, "tokens are given for all rows or for none");
    w->started = true;
    w->tokens = tokens != NULL;
    spooled *place = NULL;
    spool_part fresh = {0};
    qks_status status = find_head(w, layer, head, kind, &place, error);
    if (status == QKS_OK && rows->n)
        status = spool_add(&w->spool, rows, tokens, &fresh, error);
    if (status == QKS_OK && rows->n)
        status = array_push(&place->parts, fresh, error);
    if (status == QKS_OK)
        place->rows += (int64_t)rows->n;
    return status;
}

/* ---- files ---- */
static qks_status write_head(dataset_writer *w, spooled *head, qks_error *error)
{
    head->folder = arena_format(&w->memory, "%s/l%02dh%02d%c", w->root, head->layer, head->head,
                                head->kind);
    head->path = head->folder ? arena_format(&w->memory, "%s/data.parquet", head->folder) : NULL;
    if (!head->path)
        return out_of_memory(error, "file name");
    qks_status status = folder_make(head->folder, error);
    if (status == QKS_OK)
        status = file_temporary(&w->memory, head->path, &head->temporary, error);
    if (status != QKS_OK)
        return status;
    int group = GROUP_BYTES / (int)sizeof(float) / w->dimension / GROUP_LEAST * GROUP_LEAST;
    text sql = text_new(SQL_MAX), doing = text_new(SQL_MAX);
    text_add(&sql, "COPY (SELECT * FROM qkscope_spool()) TO ");
    duck_output(&sql, head->temporary);
    text_addf(&sql, " (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE %d, USE_TMP_FILE false)",
              group < GROUP_LEAST  ? GROUP_LEAST
              : group > GROUP_MOST ? GROUP_MOST
                                   : group);
    text_addf(&doing, "cannot write '%s'", head->path);
    w->reading = head;
    status = text_status(&sql, "file name", error);
    if (status == QKS_OK)
        status = duck_run(w->connection, text_string(&sql), text_string(&doing), error);
    if (w->status != QKS_OK) { /* DuckDB only knows that it was stopped */
        status = w->status;
        if (error)
            *error = w->failure;
    }
    text_free(&sql);
    text_free(&doing);
    return status;
}

static qks_status open_database(dataset_writer *w, qks_error *error)
{
    qks_status status = spool_flush(&w->spool, error);
    if (status == QKS_OK)
        status = duck_open(&w->database, "1GB", error);
    if (status == QKS_OK && duckdb_connect(w->database, &w->connection) == DuckDBError)
        status = out_of_memory(error, "DuckDB connection");
    return status == QKS_OK ? add_function(w, error) : status;
}

/* Heads of an earlier, unfinished dataset would be taken for this one's. */
static qks_status refuse_strangers(dataset_writer *w, qks_error *error)
{
    name_list names = {0};
    qks_status status = folder_list(&w->memory, w->root, &names, error);
    for (size_t i = 0; status == QKS_OK && i < names.length; i++) {
        dataset_head stranger = {0};
        if (!head_named(names.data[i], &stranger))
            continue;
        bool ours = false;
        for (size_t k = 0; k < w->heads.length && !ours; k++)
            ours = w->heads.data[k].layer == stranger.layer &&
                   w->heads.data[k].head == stranger.head && w->heads.data[k].kind == stranger.kind;
        if (!ours)
            status = qks_fail(error, QKS_INVALID,
                              "'%s' holds head %s of another, unfinished dataset; remove it",
                              w->root, names.data[i]);
    }
    free(names.data);
    return status;
}

static qks_status write_card(const dataset_writer *w, const dataset_card *card, qks_error *error)
{
    int64_t rows = 0;
    for (size_t i = 0; i < w->heads.length; i++)
        rows += w->heads.data[i].rows;
    text out = text_new(SQL_MAX), path = text_new(SQL_MAX);
    card_print(&out, card, w->dimension, w->heads.length, rows);
    text_addf(&path, "%s/README.md", w->root);
    qks_status status = text_status(&out, "dataset card", error);
    if (status == QKS_OK)
        status = file_put(text_string(&path), text_string(&out), out.length, error);
    text_free(&out);
    text_free(&path);
    return status;
}

qks_status dataset_finish(dataset_writer *w, const dataset_card *card, qks_error *error)
{
    qks_status status = refuse_strangers(w, error);
    if (status == QKS_OK)
        status = open_database(w, error);
    for (size_t i = 0; status == QKS_OK && i < w->heads.length; i++)
        status = write_head(w, &w->heads.data[i], error);
    for (size_t i = 0; status == QKS_OK && i < w->heads.length; i++) {
        spooled *head = &w->heads.data[i];
        status = file_place(head->temporary, head->path, error);
        head->placed = status == QKS_OK;
    }
    if (status == QKS_OK)
        status = write_card(w, card, error);
    dataset_discard(w);
    return status;
}
