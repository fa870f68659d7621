/* dataset_scan.c: one head's rows as a stream; the hot path of the analysis. Vectors are handed out
 * where the Parquet reader put them (duck_see_rows), and copied only when they do not lie one after
 * the other. */
#include "store/dataset.h"

#include "store/duck.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The columns of a chunk: the seat, then all BIGINT but the vector. */
enum { AT_SEAT, AT_ROW, AT_BUCKET, AT_DOCUMENT, AT_POSITION, AT_WINDOW, AT_VECTOR };

typedef struct scan {
    const dataset_head *head;
    size_t dimension;
    dataset_visit *visit;
    void *context;

    duckdb_data_chunk chunk;             /* in hand */
    size_t rows;                         /* of it */
    bool wide;                           /* vectors are float64 */
    size_t element;                      /* bytes of a number */
    int32_t *position, *bucket, *window; /* [capacity] */
    size_t capacity;                     /* rows */
    void *copies;                        /* of vectors that do not lie one after the other */
    size_t copied;                       /* bytes of it */
} scan;

static const void *values_at(const scan *s, idx_t column)
{
    return duckdb_vector_get_data(duckdb_data_chunk_get_vector(s->chunk, column));
}

static const uint64_t *nulls_at(const scan *s, idx_t column)
{
    return duckdb_vector_get_validity(duckdb_data_chunk_get_vector(s->chunk, column));
}

static long long row_number(const scan *s, size_t row)
{
    return 1 + ((const int64_t *)values_at(s, AT_ROW))[row];
}

static qks_status make_room(scan *s, qks_error *error)
{
    if (s->rows <= s->capacity)
        return QKS_OK;
    int32_t **columns[] = {&s->position, &s->bucket, &s->window};
    for (size_t i = 0; i < 3; i++) {
        free(*columns[i]);
        *columns[i] = NULL;
        s->capacity = 0;
        qks_status status = memory_zeroed(columns[i], s->rows, sizeof(int32_t), error);
        if (status != QKS_OK)
            return status;
    }
    s->capacity = s->rows;
    return QKS_OK;
}

/* A BIGINT column as int32, every value there and between `least` and INT32_MAX. */
static qks_status narrow(const scan *s, idx_t column, const char *name, int64_t least, int32_t *out,
                         qks_error *error)
{
    const int64_t *values = values_at(s, column);
    const uint64_t *validity = nulls_at(s, column);
    for (size_t i = 0; i < s->rows; i++) {
        if (duck_is_null(validity, i))
            return qks_fail(error, QKS_INVALID, "'%s', row %lld: %s is missing or beyond 64 bits",
                            s->head->path, row_number(s, i), name);
        if (values[i] < least || values[i] > INT32_MAX)
            return qks_fail(error, QKS_INVALID, "'%s', row %lld: %s is %lld, not from %lld to %d",
                            s->head->path, row_number(s, i), name, (long long)values[i],
                            (long long)least, INT32_MAX);
        out[i] = (int32_t)values[i];
    }
    return QKS_OK;
}

/* As narrow(), with null for full attention, which is 0. */
static qks_status take_windows(scan *s, qks_error *error)
{
    const int64_t *values = values_at(s, AT_WINDOW);
    const uint64_t *validity = nulls_at(s, AT_WINDOW);
    for (size_t i = 0; i < s->rows; i++) {
        int64_t window = duck_is_null(validity, i) ? 0 : values[i];
        if (window < 0 || window > INT32_MAX)
            return qks_fail(error, QKS_INVALID, "'%s', row %lld: sliding_window is %lld",
                            s->head->path, row_number(s, i), (long long)window);
        s->window[i] = (int32_t)window;
    }
    return QKS_OK;
}

static qks_status check_documents(const scan *s, qks_error *error)
{
    const uint64_t *validity = nulls_at(s, AT_DOCUMENT);
    for (size_t i = 0; i < s->rows; i++)
        if (duck_is_null(validity, i))
            return qks_fail(error, QKS_INVALID,
                            "'%s', row %lld: example_id is missing or beyond 64 bits",
                            s->head->path, row_number(s, i));
    return QKS_OK;
}

/* ---- vectors ---- */
static qks_status check_list(const scan *s, const duckdb_list_entry *list, const uint64_t *missing,
                             const uint64_t *holes, size_t total, size_t row, qks_error *error)
{
    if (duck_is_null(missing, row))
        return qks_fail(error, QKS_INVALID, "'%s', row %lld: the vector is missing", s->head->path,
                        row_number(s, row));
    if (list->length != s->dimension)
        return qks_fail(error, QKS_INVALID, "'%s', row %lld: a vector of %llu numbers, not %zu",
                        s->head->path, row_number(s, row), (unsigned long long)list->length,
                        s->dimension);
    if (list->offset > total || total - list->offset < list->length)
        return qks_fail(error, QKS_INTERNAL, "'%s', row %lld: DuckDB gave a list out of bounds",
                        s->head->path, row_number(s, row));
    if (!duck_none_null(holes, list->offset, list->length))
        return qks_fail(error, QKS_INVALID, "'%s', row %lld: a number in the vector is missing",
                        s->head->path, row_number(s, row));
    return QKS_OK;
}

static qks_status copy_vectors(scan *s, const duckdb_list_entry *lists, const char *numbers,
                               const void **vectors, qks_error *error)
{
    size_t row_bytes = s->dimension * s->element, bytes = 0;
    if (!size_multiply(s->rows, row_bytes, &bytes))
        return out_of_memory(error, "vectors");
    if (bytes > s->copied) {
        free(s->copies);
        s->copies = NULL;
        s->copied = 0;
        qks_status status = memory_zeroed(&s->copies, bytes, 1, error);
        if (status != QKS_OK)
            return status;
        s->copied = bytes;
    }
    for (size_t i = 0; i < s->rows; i++)
        memcpy((char *)s->copies + i * row_bytes, numbers + lists[i].offset * s->element,
               row_bytes);
    *vectors = s->copies;
    return QKS_OK;
}

static qks_status take_vectors(scan *s, const void **vectors, qks_error *error)
{
    duckdb_vector column = duckdb_data_chunk_get_vector(s->chunk, AT_VECTOR);
    duckdb_vector child = duckdb_list_vector_get_child(column);
    const duckdb_list_entry *lists = duckdb_vector_get_data(column);
    const uint64_t *missing = duckdb_vector_get_validity(column);
    const uint64_t *holes = duckdb_vector_get_validity(child);
    const char *numbers = duckdb_vector_get_data(child);
    size_t total = duckdb_list_vector_get_size(column);
    bool contiguous = true;
    for (size_t i = 0; i < s->rows; i++) {
        qks_status status = check_list(s, &lists[i], missing, holes, total, i, error);
        if (status != QKS_OK)
            return status;
        contiguous &= lists[i].offset == lists[0].offset + i * s->dimension;
    }
    if (!contiguous)
        return copy_vectors(s, lists, numbers, vectors, error);
    *vectors = numbers + lists[0].offset * s->element;
    return QKS_OK;
}

/* Blocks of fixed length, so that the compiler turns the inner loops into vector code. */
enum { FINITE_BLOCK = 32 };
static const uint32_t FLOAT_EXPONENT = 0x7f800000;
static const uint64_t DOUBLE_EXPONENT = 0x7ff0000000000000;

static bool floats_finite(const float *x, size_t count)
{
    uint32_t bad = 0, bits[FINITE_BLOCK];
    for (size_t at = 0; at < count; at += FINITE_BLOCK) {
        size_t n = count - at < FINITE_BLOCK ? count - at : FINITE_BLOCK;
        if (n < FINITE_BLOCK)
            memset(bits, 0, sizeof bits);
        memcpy(bits, x + at, n * sizeof *x);
        for (size_t i = 0; i < FINITE_BLOCK; i++)
            bad |= (bits[i] & FLOAT_EXPONENT) == FLOAT_EXPONENT;
    }
    return bad == 0;
}

static bool doubles_finite(const double *x, size_t count)
{
    uint64_t bad = 0, bits[FINITE_BLOCK];
    for (size_t at = 0; at < count; at += FINITE_BLOCK) {
        size_t n = count - at < FINITE_BLOCK ? count - at : FINITE_BLOCK;
        if (n < FINITE_BLOCK)
            memset(bits, 0, sizeof bits);
        memcpy(bits, x + at, n * sizeof *x);
        for (size_t i = 0; i < FINITE_BLOCK; i++)
            bad |= (bits[i] & DOUBLE_EXPONENT) == DOUBLE_EXPONENT;
    }
    return bad == 0;
}

static bool all_finite(const scan *s, const dataset_rows *rows, size_t first, size_t count)
{
    size_t at = first * s->dimension, n = count * s->dimension;
    return s->wide ? doubles_finite(rows->f64 + at, n) : floats_finite(rows->f32 + at, n);
}

static qks_status check_finite(const scan *s, const dataset_rows *rows, qks_error *error)
{
    if (all_finite(s, rows, 0, rows->n))
        return QKS_OK;
    size_t row = 0;
    while (row + 1 < rows->n && all_finite(s, rows, row, 1))
        row++;
    return qks_fail(error, QKS_INVALID,
                    "'%s', row %lld (example_id %lld, position %d): NaN or infinity in the vector",
                    s->head->path, row_number(s, row), (long long)rows->document[row],
                    rows->position[row]);
}

/* ---- one chunk ---- */
/* float32 or float64? The schema was checked on opening, but the file may be another by now. */
static qks_status see_type(scan *s, qks_error *error)
{
    duckdb_vector vector = duckdb_data_chunk_get_vector(s->chunk, AT_VECTOR);
    duckdb_logical_type list = duckdb_vector_get_column_type(vector);
    bool is_list = duckdb_get_type_id(list) == DUCKDB_TYPE_LIST;
    duckdb_logical_type child = is_list ? duckdb_list_type_child_type(list) : NULL;
    duckdb_type type = child ? duckdb_get_type_id(child) : DUCKDB_TYPE_INVALID;
    duckdb_destroy_logical_type(&child);
    duckdb_destroy_logical_type(&list);
    if (type != DUCKDB_TYPE_FLOAT && type != DUCKDB_TYPE_DOUBLE)
        return qks_fail(error, QKS_INVALID, "'%s': column vector does not hold lists of floats",
                        s->head->path);
    s->wide = type == DUCKDB_TYPE_DOUBLE;
    s->element = s->wide ? sizeof(double) : sizeof(float);
    return QKS_OK;
}

static qks_status take_columns(scan *s, qks_error *error)
{
    qks_status status = make_room(s, error);
    if (status == QKS_OK)
        status = narrow(s, AT_BUCKET, "bucket", INT32_MIN, s->bucket, error);
    if (status == QKS_OK)
        status = narrow(s, AT_POSITION, "position", 0, s->position, error);
    if (status == QKS_OK)
        status = take_windows(s, error);
    if (status == QKS_OK)
        status = check_documents(s, error);
    return status;
}

static qks_status take_chunk(void *context, duckdb_data_chunk chunk, size_t count, qks_error *error)
{
    scan *s = context;
    s->chunk = chunk;
    s->rows = count;
    qks_status status = see_type(s, error);
    if (status == QKS_OK)
        status = take_columns(s, error);
    const void *vectors = NULL;
    if (status == QKS_OK)
        status = take_vectors(s, &vectors, error);
    if (status != QKS_OK)
        return status;
    dataset_rows rows = {
        .n = s->rows,
        .dimension = (int)s->dimension,
        .f32 = s->wide ? NULL : vectors,
        .f64 = s->wide ? vectors : NULL,
        .position = s->position,
        .bucket = s->bucket,
        .document = values_at(s, AT_DOCUMENT),
        .window = s->window,
    };
    status = check_finite(s, &rows, error);
    return status == QKS_OK ? s->visit(s->context, &rows, error) : status;
}

/* ---- the scan ---- */
static void scan_sql(text *sql, const dataset_head *head, int thread,
                     const dataset_scan_options *options)
{
    text_addf(sql,
              "SELECT qkscope_rows(%d, file_row_number, b, e, p, w, vector) FROM (SELECT "
              "file_row_number, TRY_CAST(example_id AS BIGINT) AS e, "
              "TRY_CAST(\"position\" AS BIGINT) AS p, ",
              thread);
    if (options->bucket_size)
        text_addf(sql, "p // %lld AS b, ", (long long)options->bucket_size);
    else
        text_add(sql, "TRY_CAST(bucket AS BIGINT) AS b, ");
    text_add(sql, head->windowed ? "CAST(sliding_window AS BIGINT)" : "NULL::BIGINT");
    text_add(sql, " AS w, vector FROM read_parquet(");
    duck_path(sql, head->path);
    text_add(sql, ", hive_partitioning = false, file_row_number = true)");
    text_add(sql, options->order == DATASET_BY_CELL ? " ORDER BY b, e, p, file_row_number)" : ")");
}

qks_status dataset_scan(store *s, int thread, const dataset_head *head,
                        const dataset_scan_options *options, dataset_visit *visit, void *context,
                        qks_error *error)
{
    if (options->bucket_size < 0)
        return qks_fail(error, QKS_USAGE, "a bucket of %lld positions",
                        (long long)options->bucket_size);
    duckdb_connection connection = NULL;
    qks_status status = store_connection(s, thread, &connection, error);
    if (status != QKS_OK)
        return status;
    scan c = {.head = head, .visit = visit, .context = context};
    c.dimension = (size_t)head->dimension;
    text sql = text_new(SQL_MAX), doing = text_new(SQL_MAX);
    scan_sql(&sql, head, thread, options);
    text_addf(&doing, "cannot read '%s'", head->path);
    status = text_status(&sql, "file name", error);
    if (status == QKS_OK)
        status = duck_see_rows(connection, store_seat(s, thread), text_string(&sql),
                               text_string(&doing), take_chunk, &c, error);
    text_free(&sql);
    text_free(&doing);
    free(c.position);
    free(c.bucket);
    free(c.window);
    free(c.copies);
    return status;
}
