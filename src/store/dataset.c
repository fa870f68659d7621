/* dataset.c: finding a captured dataset's heads and checking what can be checked without reading a
 * vector: names, schemas, dimensions, row counts, and the documents the rows come from. */
#include "store/dataset.h"

#include "base/file.h"
#include "base/parallel.h"
#include "store/card.h"
#include "store/duck.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FOLDER_DEPTH = 3, /* how far below the given path the l..h.. folders may be */
    DIGITS_MIN = 2,
    DIGITS_MAX = 6,
};

/* ---- folders ---- */
static bool take_number(const char **at, int *number)
{
    int digits = 0, value = 0;
    for (; isdigit((unsigned char)**at) && digits <= DIGITS_MAX; (*at)++, digits++)
        value = 10 * value + (**at - '0');
    *number = value;
    return digits >= DIGITS_MIN && digits <= DIGITS_MAX;
}

bool head_named(const char *name, dataset_head *head)
{
    const char *at = name;
    if (*at++ != 'l' || !take_number(&at, &head->layer))
        return false;
    if (*at++ != 'h' || !take_number(&at, &head->head))
        return false;
    head->kind = *at++;
    return (head->kind == 'q' || head->kind == 'k') && *at == '\0';
}

static bool any_head(const name_list *names)
{
    dataset_head head;
    for (size_t i = 0; i < names->length; i++)
        if (head_named(names->data[i], &head))
            return true;
    return false;
}

/* Every folder at or below `path` that holds heads; below such a folder nothing is looked for. */
static qks_status find_roots(arena *a, const char *path, int depth, name_list *roots,
                             qks_error *error)
{
    name_list names = {0};
    qks_status status = folder_list(a, path, &names, error);
    bool found = status == QKS_OK && any_head(&names);
    if (found)
        status = array_push(roots, path, error);
    for (size_t i = 0; status == QKS_OK && !found && depth > 0 && i < names.length; i++) {
        const char *below = arena_format(a, "%s/%s", path, names.data[i]);
        if (!below)
            status = out_of_memory(error, "folder names");
        else if (names.data[i][0] != '.' && is_folder(below))
            status = find_roots(a, below, depth - 1, roots, error);
    }
    free(names.data);
    return status;
}

static qks_status several_roots(const name_list *roots, const char *path, qks_error *error)
{
    text list = text_new(SQL_MAX);
    for (size_t i = 0; i < roots->length; i++)
        text_addf(&list, "%s'%s'", i ? ", " : "", roots->data[i]);
    qks_status status = qks_fail(error, QKS_INVALID,
                                 "'%s' holds %zu datasets, name one of them: %s", path,
                                 roots->length, text_string(&list));
    text_free(&list);
    return status;
}

static qks_status find_root(dataset *d, const char *path, qks_error *error)
{
    if (!is_folder(path))
        return qks_fail(error, QKS_MISSING, "dataset '%s' is not a folder", path);
    name_list roots = {0};
    char *given = arena_string(&d->memory, path);
    qks_status status = given ? find_roots(&d->memory, given, FOLDER_DEPTH, &roots, error)
                              : out_of_memory(error, "folder names");
    if (status == QKS_OK && roots.length == 0)
        status = qks_fail(error, QKS_MISSING,
                          "no captured heads (folders l00h00q, l00h00k, ...) in '%s' or %d levels "
                          "below; ask 'qkscope inspect' what it is",
                          path, FOLDER_DEPTH);
    else if (status == QKS_OK && roots.length > 1)
        status = several_roots(&roots, path, error);
    else if (status == QKS_OK)
        d->root = roots.data[0];
    free(roots.data);
    return status;
}

/* ---- heads ---- */
static int by_place(const void *left, const void *right)
{
    const dataset_head *a = left, *b = right;
    if (a->layer != b->layer)
        return a->layer < b->layer ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->head > b->head) - (a->head < b->head);
}

static qks_status refuse_twins(const dataset *d, qks_error *error)
{
    for (size_t i = 1; i < d->n_heads; i++)
        if (by_place(&d->heads[i - 1], &d->heads[i]) == 0)
            return qks_fail(error, QKS_INVALID, "two folders are the same head: '%s' and '%s'",
                            d->heads[i - 1].path, d->heads[i].path);
    return QKS_OK;
}

static qks_status take_head(dataset *d, const char *name, qks_error *error)
{
    dataset_head head = {0};
    if (!head_named(name, &head))
        return QKS_OK;
    head.path = arena_format(&d->memory, "%s/%s/data.parquet", d->root, name);
    if (!head.path)
        return out_of_memory(error, "file names");
    if (!is_file(head.path))
        return qks_fail(error, QKS_MISSING,
                        "head '%s' of the dataset has no file '%s' (an unfinished download?)", name,
                        head.path);
    d->heads[d->n_heads++] = head;
    return QKS_OK;
}

static qks_status find_heads(dataset *d, qks_error *error)
{
    name_list names = {0};
    qks_status status = folder_list(&d->memory, d->root, &names, error);
    if (status == QKS_OK) {
        d->heads = arena_alloc(&d->memory, names.length, sizeof *d->heads);
        status = d->heads ? QKS_OK : out_of_memory(error, "heads");
    }
    for (size_t i = 0; status == QKS_OK && i < names.length; i++)
        status = take_head(d, names.data[i], error);
    free(names.data);
    if (status != QKS_OK)
        return status;
    qsort(d->heads, d->n_heads, sizeof *d->heads, by_place);
    return refuse_twins(d, error);
}

/* ---- one file's schema ---- */
static bool is_integer(duckdb_type type)
{
    return (type >= DUCKDB_TYPE_TINYINT && type <= DUCKDB_TYPE_UBIGINT);
}

static bool is_vector(duckdb_logical_type type)
{
    if (duckdb_get_type_id(type) != DUCKDB_TYPE_LIST)
        return false;
    duckdb_logical_type element = duckdb_list_type_child_type(type);
    duckdb_type id = duckdb_get_type_id(element);
    duckdb_destroy_logical_type(&element);
    return id == DUCKDB_TYPE_FLOAT || id == DUCKDB_TYPE_DOUBLE;
}

typedef enum column_rule { COLUMN_INTEGER, COLUMN_VECTOR, COLUMN_WINDOW } column_rule;

typedef struct column {
    const char *name;
    column_rule rule;
    const char *wanted;
} column;

static const column COLUMNS[] = {
    {"bucket", COLUMN_INTEGER, "integers"},
    {"example_id", COLUMN_INTEGER, "integers"},
    {"position", COLUMN_INTEGER, "integers"},
    {"vector", COLUMN_VECTOR, "lists of float16, float32 or float64"},
    {"sliding_window", COLUMN_WINDOW, "integers or nulls"},
};
enum { N_COLUMNS = sizeof COLUMNS / sizeof *COLUMNS };

static bool column_fits(const column *c, duckdb_logical_type type)
{
    duckdb_type id = duckdb_get_type_id(type);
    if (c->rule == COLUMN_VECTOR)
        return is_vector(type);
    return is_integer(id) || (c->rule == COLUMN_WINDOW && id == DUCKDB_TYPE_SQLNULL);
}

static qks_status check_column(duckdb_prepared_statement schema, const column *c,
                               dataset_head *head, qks_error *error)
{
    idx_t count = duckdb_prepared_statement_column_count(schema);
    for (idx_t i = 0; i < count; i++) {
        const char *name = duckdb_prepared_statement_column_name(schema, i);
        bool same = name && strcmp(name, c->name) == 0;
        duckdb_free((void *)(uintptr_t)name);
        if (!same)
            continue;
        duckdb_logical_type type = duckdb_prepared_statement_column_logical_type(schema, i);
        bool fits = column_fits(c, type);
        duckdb_destroy_logical_type(&type);
        if (!fits)
            return qks_fail(error, QKS_INVALID, "'%s': column %s must hold %s", head->path, c->name,
                            c->wanted);
        head->windowed |= c->rule == COLUMN_WINDOW;
        return QKS_OK;
    }
    if (c->rule == COLUMN_WINDOW)
        return QKS_OK;
    return qks_fail(error, QKS_INVALID, "'%s' has no column %s (%s)", head->path, c->name,
                    c->wanted);
}

static qks_status check_schema(duckdb_connection connection, dataset_head *head, text *sql,
                               const char *doing, qks_error *error)
{
    text_clear(sql);
    text_add(sql, "SELECT * FROM read_parquet(");
    duck_path(sql, head->path);
    text_add(sql, ", hive_partitioning = false)");
    qks_status status = text_status(sql, "file name", error);
    if (status != QKS_OK)
        return status;
    duckdb_prepared_statement schema = NULL;
    status = duck_prepare(connection, text_string(sql), &schema, doing, error);
    for (size_t i = 0; status == QKS_OK && i < N_COLUMNS; i++)
        status = check_column(schema, &COLUMNS[i], head, error);
    duckdb_destroy_prepare(&schema);
    return status;
}

/* ---- one file's size ---- */
static qks_status take_size(dataset_head *head, int64_t rows, int64_t values, qks_error *error)
{
    head->rows = rows;
    if (rows == 0)
        return QKS_OK;
    if (values % rows != 0)
        return qks_fail(error, QKS_INVALID,
                        "'%s': %lld numbers in %lld vectors: some are missing or of another length",
                        head->path, (long long)values, (long long)rows);
    if (values / rows < 1 || values / rows > DATASET_DIMENSION_MAX)
        return qks_fail(error, QKS_INVALID, "'%s': vectors of %lld numbers (1 to %d are read)",
                        head->path, (long long)(values / rows), DATASET_DIMENSION_MAX);
    head->dimension = (int)(values / rows);
    return QKS_OK;
}

/* Sums over the row groups' chunks of the vector column, "vector, list, element" or the like. */
static bool add_sizes(const duck_stream *q, int64_t *rows, int64_t *values)
{
    static const char COLUMN[] = "vector, ";
    const duckdb_string_t *paths = duck_column(q, 0);
    const int64_t *row_counts = duck_column(q, 1), *value_counts = duck_column(q, 2);
    for (size_t i = 0; i < q->rows; i++) {
        size_t length = 0;
        const char *path = duck_bytes(&paths[i], &length);
        if (length < strlen(COLUMN) || memcmp(path, COLUMN, strlen(COLUMN)) != 0)
            continue;
        if (row_counts[i] < 0 || value_counts[i] < 0 ||
            __builtin_add_overflow(*rows, row_counts[i], rows) ||
            __builtin_add_overflow(*values, value_counts[i], values))
            return false;
    }
    return true;
}

/* Rows and dimension from the footer; that every vector has this length is checked on scanning. */
static qks_status check_size(duckdb_connection connection, dataset_head *head, text *sql,
                             const char *doing, qks_error *error)
{
    text_clear(sql);
    text_add(sql, "SELECT coalesce(path_in_schema, ''), coalesce(row_group_num_rows, -1), "
                  "coalesce(num_values, -1) FROM parquet_metadata(");
    duck_path(sql, head->path);
    text_add(sql, ")");
    qks_status status = text_status(sql, "file name", error);
    int64_t rows = 0, values = 0;
    duck_stream q = {0};
    if (status == QKS_OK)
        status = duck_query(&q, connection, text_string(sql), doing, error);
    while (status == QKS_OK && (status = duck_stream_next(&q, error)) == QKS_OK && q.chunk)
        if (!add_sizes(&q, &rows, &values))
            status = qks_fail(error, QKS_INVALID, "'%s': the file's footer has absurd counts",
                              head->path);
    duck_stream_close(&q);
    return status == QKS_OK ? take_size(head, rows, values, error) : status;
}

/* ---- documents ---- */
typedef ARRAY_OF(int64_t) id_list;

static int by_id(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void sort_unique(id_list *ids)
{
    if (ids->length == 0)
        return;
    qsort(ids->data, ids->length, sizeof *ids->data, by_id);
    size_t kept = 1;
    for (size_t i = 1; i < ids->length; i++)
        if (ids->data[i] != ids->data[kept - 1])
            ids->data[kept++] = ids->data[i];
    ids->length = kept;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static qks_status take_ids(id_list *ids, const duck_stream *q, dataset_head *head, qks_error *error)
{
    const int64_t *values = duck_column(q, 0);
    const int64_t *positions = duck_column(q, 1), *buckets = duck_column(q, 2);
    if (!duck_none_null(duck_nulls(q, 0), 0, q->rows))
        return qks_fail(error, QKS_INVALID, "'%s': example_id has nulls or numbers beyond 64 bits",
                        head->path);
    qks_status status = array_reserve(ids, q->rows, error);
    for (size_t i = 0; status == QKS_OK && i < q->rows; i++) {
        ids->data[ids->length++] = values[i];
        head->last_position = larger(head->last_position, positions[i]);
        head->last_bucket = larger(head->last_bucket, buckets[i]);
    }
    return status;
}

static qks_status add_documents(duckdb_connection connection, dataset_head *head, id_list *ids,
                                text *sql, const char *doing, qks_error *error)
{
    text_clear(sql);
    text_add(sql, "SELECT TRY_CAST(example_id AS BIGINT) AS e, "
                  "coalesce(max(TRY_CAST(\"position\" AS BIGINT)), 0), "
                  "coalesce(max(TRY_CAST(bucket AS BIGINT)), 0) FROM read_parquet(");
    duck_path(sql, head->path);
    text_add(sql, ", hive_partitioning = false) GROUP BY e");
    qks_status status = text_status(sql, "file name", error);
    duck_stream q = {0};
    if (status == QKS_OK)
        status = duck_query(&q, connection, text_string(sql), doing, error);
    while (status == QKS_OK && (status = duck_stream_next(&q, error)) == QKS_OK && q.chunk)
        status = take_ids(ids, &q, head, error);
    duck_stream_close(&q);
    sort_unique(ids);
    return status;
}

/* ---- all heads ---- */
typedef struct checking {
    dataset *d;
    store *s;
    id_list *ids; /* [threads] */
} checking;

static qks_status check_head(void *context, size_t index, int thread, qks_error *error)
{
    checking *c = context;
    dataset_head *head = &c->d->heads[index];
    duckdb_connection connection = NULL;
    qks_status status = store_connection(c->s, thread, &connection, error);
    if (status != QKS_OK)
        return status;
    text sql = text_new(SQL_MAX), doing = text_new(SQL_MAX);
    text_addf(&doing, "cannot read '%s'", head->path);
    const char *what = text_string(&doing);
    status = check_schema(connection, head, &sql, what, error);
    if (status == QKS_OK)
        status = check_size(connection, head, &sql, what, error);
    if (status == QKS_OK)
        status = add_documents(connection, head, &c->ids[thread], &sql, what, error);
    text_free(&sql);
    text_free(&doing);
    return status;
}

static qks_status merge_documents(dataset *d, id_list *ids, int threads, qks_error *error)
{
    qks_status status = QKS_OK;
    for (int i = 1; status == QKS_OK && i < threads; i++) {
        status = array_reserve(&ids[0], ids[i].length, error);
        if (status == QKS_OK && ids[i].length) {
            memcpy(ids[0].data + ids[0].length, ids[i].data, ids[i].length * sizeof(int64_t));
            ids[0].length += ids[i].length;
        }
    }
    if (status != QKS_OK)
        return status;
    sort_unique(&ids[0]);
    d->documents = arena_alloc(&d->memory, ids[0].length, sizeof *d->documents);
    if (!d->documents)
        return out_of_memory(error, "document ids");
    if (ids[0].length)
        memcpy(d->documents, ids[0].data, ids[0].length * sizeof *d->documents);
    d->n_documents = ids[0].length;
    return QKS_OK;
}

static qks_status check_heads(dataset *d, store *s, qks_error *error)
{
    int threads = store_threads(s);
    checking c = {.d = d, .s = s};
    qks_status status = memory_zeroed(&c.ids, (size_t)threads, sizeof *c.ids, error);
    if (status != QKS_OK)
        return status;
    status = parallel_for(d->n_heads, threads, check_head, &c, error);
    for (size_t i = 0; i < d->n_heads; i++) {
        d->last_position = larger(d->last_position, d->heads[i].last_position);
        d->last_bucket = larger(d->last_bucket, d->heads[i].last_bucket);
    }
    if (status == QKS_OK)
        status = merge_documents(d, c.ids, threads, error);
    for (int i = 0; i < threads; i++)
        free(c.ids[i].data);
    free(c.ids);
    return status;
}

/* One dimension for all; a head without rows takes its siblings'. */
static qks_status agree_on_dimension(dataset *d, qks_error *error)
{
    const dataset_head *known = NULL;
    for (size_t i = 0; i < d->n_heads; i++) {
        const dataset_head *head = &d->heads[i];
        if (head->dimension == 0)
            continue;
        if (known && head->dimension != known->dimension)
            return qks_fail(error, QKS_INVALID,
                            "the dataset's vectors differ in length: %d in '%s', %d in '%s'",
                            known->dimension, known->path, head->dimension, head->path);
        if (!known)
            known = head;
    }
    for (size_t i = 0; known && i < d->n_heads; i++)
        d->heads[i].dimension = known->dimension;
    return QKS_OK;
}

qks_status dataset_open(dataset *d, store *s, const char *path, qks_error *error)
{
    *d = (dataset){0};
    qks_status status = find_root(d, path, error);
    if (status == QKS_OK)
        status = find_heads(d, error);
    if (status == QKS_OK)
        status = card_read(&d->card, d->root, &d->memory, error);
    if (status == QKS_OK)
        status = check_heads(d, s, error);
    if (status == QKS_OK)
        status = agree_on_dimension(d, error);
    if (status != QKS_OK)
        dataset_close(d);
    return status;
}

void dataset_close(dataset *d)
{
    arena_free(&d->memory);
    *d = (dataset){0};
}
