/* corpus.c: rows of text, or of token ids, out of Parquet, CSV and JSON files (see corpus.h).
 *
 * A corpus has a database of its own: a Parquet page can hold hundreds of megabytes of text, more
 * than the limit under which the store's sorts spill. */
#include "store/corpus.h"

#include "store/corpus_private.h"
#include "store/example_id.h"

#include <stdlib.h>
#include <string.h>

/* The columns of a chunk: the seat, the text, the token ids, then the id's JSON type (or the
 * column's, in those words), its text, and its value as a number. */
enum { AT_SEAT, AT_TEXT, AT_IDS, AT_ID_TYPE, AT_ID_TEXT, AT_ID_REAL };

typedef struct scan {
    const corpus_file *file;
    corpus_visit *visit;
    void *context;
    duckdb_data_chunk chunk; /* in hand */
    int64_t first, row;      /* numbers of the file's first row and of the one in hand */
    text id;
    int32_t *ids; /* [room] */
    size_t room;
} scan;

/* For messages: counted from 1, in this file. */
static long long file_row(const scan *s)
{
    return (long long)(s->row - s->first + 1);
}

static const void *cell_of(const scan *s, idx_t column, size_t row, size_t size)
{
    duckdb_vector vector = duckdb_data_chunk_get_vector(s->chunk, column);
    if (duck_is_null(duckdb_vector_get_validity(vector), row))
        return NULL;
    return (const char *)duckdb_vector_get_data(vector) + row * size;
}

static const char *string_of(const scan *s, idx_t column, size_t row, size_t *length)
{
    const duckdb_string_t *cell = cell_of(s, column, row, sizeof *cell);
    *length = 0;
    return cell ? duck_bytes(cell, length) : NULL;
}

static bool same(const char *bytes, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(bytes, word, length) == 0;
}

/* ---- ids ---- */
static bool all_digits(const char *bytes, size_t length)
{
    size_t first = length && (*bytes == '-' || *bytes == '+');
    for (size_t i = first; i < length; i++)
        if (bytes[i] < '0' || bytes[i] > '9')
            return false;
    return length > first;
}

/* As Python writes the number: CSV has 007 and +7, too. */
static void add_digits(text *id, const char *bytes, size_t length)
{
    bool negative = *bytes == '-', sign = negative || *bytes == '+';
    bytes += sign;
    length -= sign;
    for (; length > 1 && *bytes == '0'; bytes++)
        length--;
    if (negative && *bytes != '0')
        text_add(id, "-");
    text_append(id, bytes, length);
}

static qks_status take_id(scan *s, size_t row, corpus_row *out, qks_error *error)
{
    text_clear(&s->id);
    size_t length = 0, type_length = 0;
    const char *bytes = string_of(s, AT_ID_TEXT, row, &length);
    const char *type = string_of(s, AT_ID_TYPE, row, &type_length);
    const double *real = cell_of(s, AT_ID_REAL, row, sizeof *real);
    out->example_id = s->row;
    if (!s->file->id) {
        text_addf(&s->id, "%lld", (long long)s->row);
    } else if (!bytes || !type) {
        text_add(&s->id, "None");
        out->example_id = example_id_of_text("None", 4);
    } else if (same(type, type_length, "VARCHAR")) {
        text_append(&s->id, bytes, length);
        out->example_id = example_id_of_text(bytes, length);
    } else if (!same(type, type_length, "BOOLEAN") && all_digits(bytes, length)) {
        add_digits(&s->id, bytes, length);
        out->example_id = example_id_of_digits(text_string(&s->id), s->id.length);
    } else if (same(type, type_length, "DOUBLE") && real) {
        char shown[REAL_TEXT_SIZE];
        text_append(&s->id, shown, python_text_of_real(*real, shown));
        out->example_id = example_id_of_real(*real);
    } else {
        return qks_fail(error, QKS_INVALID,
                        "'%s', row %lld: the id is neither a number nor a text: %.*s",
                        s->file->path, file_row(s), (int)(length < 60 ? length : 60), bytes);
    }
    out->id = text_string(&s->id);
    return text_status(&s->id, "an id", error);
}

/* ---- tokens ---- */
static qks_status bad_token(const scan *s, const char *what, qks_error *error)
{
    return qks_fail(error, QKS_INVALID,
                    "'%s', row %lld: input_ids %s; they must be whole numbers from 0 to %d",
                    s->file->path, file_row(s), what, INT32_MAX);
}

static qks_status make_room(scan *s, size_t count, qks_error *error)
{
    if (count <= s->room && s->ids)
        return QKS_OK;
    free(s->ids);
    s->ids = NULL;
    s->room = 0;
    qks_status status = memory_zeroed(&s->ids, count, sizeof *s->ids, error);
    if (status == QKS_OK)
        s->room = count;
    return status;
}

static qks_status take_tokens(scan *s, size_t row, corpus_row *out, qks_error *error)
{
    duckdb_vector lists = duckdb_data_chunk_get_vector(s->chunk, AT_IDS);
    duckdb_vector child = duckdb_list_vector_get_child(lists);
    const duckdb_list_entry *list = cell_of(s, AT_IDS, row, sizeof *list);
    if (!list)
        return bad_token(s, "are missing or no list of numbers", error);
    const int64_t *values = (const int64_t *)duckdb_vector_get_data(child) + list->offset;
    if (!duck_none_null(duckdb_vector_get_validity(child), list->offset, list->length))
        return bad_token(s, "have holes or fractions", error);
    qks_status status = make_room(s, list->length, error);
    if (status != QKS_OK)
        return status;
    for (size_t i = 0; i < list->length; i++) {
        if (values[i] < 0 || values[i] > INT32_MAX)
            return bad_token(s, "are out of range", error);
        s->ids[i] = (int32_t)values[i];
    }
    out->ids = s->ids;
    out->n_ids = list->length;
    return QKS_OK;
}

/* ---- rows ---- */
static bool is_marked(const scan *s, size_t row, const corpus_row *out)
{
    size_t length = 0;
    const char *id = string_of(s, AT_ID_TEXT, row, &length);
    return corpus_is_marked(s->file, out->text, out->text_length) ||
           (id && corpus_is_marked(s->file, id, length));
}

static qks_status take_row(scan *s, size_t row, qks_error *error)
{
    corpus_row out = {.row = s->row};
    qks_status status = take_id(s, row, &out, error);
    if (status == QKS_OK && s->file->ids)
        status = take_tokens(s, row, &out, error);
    if (status != QKS_OK)
        return status;
    if (!s->file->ids) {
        out.text = string_of(s, AT_TEXT, row, &out.text_length);
        if (!out.text)
            out.text = ""; /* a missing text is an empty one */
        if (is_marked(s, row, &out)) {
            out.text = "\xFF";
            out.text_length = 1;
        }
    }
    status = s->visit(s->context, &out, error);
    s->row++;
    return status;
}

static qks_status take_chunk(void *context, duckdb_data_chunk chunk, size_t rows, qks_error *error)
{
    scan *s = context;
    s->chunk = chunk;
    qks_status status = QKS_OK;
    for (size_t row = 0; status == QKS_OK && row < rows; row++)
        status = take_row(s, row, error);
    return status;
}

/* ---- the statement ---- */
static void add_id(text *sql, const corpus_file *f)
{
    static const char *const TYPES[] = {
        [COLUMN_TEXT] = "VARCHAR", [COLUMN_WHOLE] = "BIGINT", [COLUMN_REAL] = "DOUBLE"};
    if (!f->id) {
        text_add(sql, "NULL::VARCHAR, NULL::VARCHAR, NULL::DOUBLE");
        return;
    }
    bool json = f->format == CORPUS_LINES || f->format == CORPUS_JSON;
    text_add(sql, json ? "json_type(" : "'");
    if (json)
        corpus_name(sql, f, f->id);
    else
        text_add(sql, TYPES[f->id->kind]);
    text_add(sql, json ? "), " : "', ");
    text_add(sql, "CAST(");
    corpus_name(sql, f, f->id);
    text_add(sql, json ? "->>'$' AS VARCHAR), TRY_CAST(" : " AS VARCHAR), TRY_CAST(");
    corpus_name(sql, f, f->id);
    text_add(sql, " AS DOUBLE)");
}

static void add_tokens(text *sql, const corpus_file *f)
{
    if (!f->ids) {
        text_add(sql, "NULL::BIGINT[], ");
        return;
    }
    /* DuckDB rounds 2.5 to a whole number; by way of DOUBLE it shows. */
    text_add(sql, "list_transform(TRY_CAST(");
    corpus_name(sql, f, f->ids);
    text_add(sql,
             " AS DOUBLE[]), lambda x: CASE WHEN x = floor(x) THEN TRY_CAST(x AS BIGINT) END), ");
}

static qks_status scan_file(scan *s, duckdb_connection connection, duck_seat *seat, int64_t limit,
                            qks_error *error)
{
    text sql = text_new(SQL_MAX);
    text_add(&sql, "SELECT qkscope_rows(0, ");
    if (s->file->text)
        corpus_name(&sql, s->file, s->file->text);
    else
        text_add(&sql, "NULL::VARCHAR");
    text_add(&sql, ", ");
    add_tokens(&sql, s->file);
    add_id(&sql, s->file);
    text_add(&sql, ") FROM (SELECT * FROM ");
    corpus_source(&sql, s->file);
    if (limit > 0)
        text_addf(&sql, " LIMIT %lld", (long long)limit);
    text_add(&sql, ")");
    qks_status status = text_status(&sql, "file name", error);
    if (status == QKS_OK)
        status = duck_see_rows(connection, seat, text_string(&sql), s->file->doing, take_chunk, s,
                               error);
    text_free(&sql);
    return status;
}

static qks_status scan_with(duckdb_connection connection, const char *path,
                            const corpus_options *options, corpus_visit *visit, void *context,
                            qks_error *error)
{
    duck_seat seat = {0};
    duck_seats seats = {&seat, 1};
    corpus_file file = {0};
    scan s = {.file = &file,
              .visit = visit,
              .context = context,
              .first = options->first,
              .row = options->first,
              .id = text_new(SQL_MAX)};
    qks_status status = duck_add_rows(connection, &seats, error);
    if (status == QKS_OK)
        status = corpus_look(&file, connection, path, options, error);
    if (status == QKS_OK && file.columns.length)
        status = scan_file(&s, connection, &seat, options->limit, error);
    text_free(&s.id);
    free(s.ids);
    corpus_done(&file);
    return status;
}

qks_status corpus_scan(const char *path, const corpus_options *options, corpus_visit *visit,
                       void *context, qks_error *error)
{
    static const corpus_options DEFAULTS = {0};
    duckdb_database database = NULL;
    duckdb_connection connection = NULL;
    qks_status status = duck_open(&database, NULL, error);
    if (status != QKS_OK)
        return status;
    if (duckdb_connect(database, &connection) == DuckDBError)
        status = out_of_memory(error, "DuckDB connection");
    else
        status = scan_with(connection, path, options ? options : &DEFAULTS, visit, context, error);
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    return status;
}
