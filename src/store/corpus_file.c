/* corpus_file.c: what is in a corpus file: its format, its columns, and the ones to read. */
#include "store/corpus_private.h"

#include "base/file.h"
#include "store/csv.h"

#include <stdlib.h>
#include <string.h>

enum {
    JSON_LEAST = 16 << 20, /* DuckDB's own bound on an object, where lines cannot be measured */
    JSON_SEEN = 8,         /* objects whose keys are the columns */
};

/* ---- format ---- */
static const struct {
    const char *ending;
    corpus_format format;
} FORMATS[] = {
    {".parquet", CORPUS_PARQUET}, {".csv", CORPUS_CSV},         {".jsonl", CORPUS_LINES},
    {".ndjson", CORPUS_LINES},    {".json", CORPUS_JSON},       {".jsonl.gz", CORPUS_LINES},
    {".ndjson.gz", CORPUS_LINES}, {".jsonl.zst", CORPUS_LINES},
};

static bool format_of(const char *path, corpus_format *format)
{
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
        if (path_ends(path, FORMATS[i].ending)) {
            *format = FORMATS[i].format;
            return true;
        }
    return false;
}

bool is_corpus_name(const char *path)
{
    corpus_format format;
    return format_of(path, &format);
}

static qks_status find_format(corpus_file *f, qks_error *error)
{
    if (format_of(f->path, &f->format))
        return QKS_OK;
    return qks_fail(error, QKS_UNSUPPORTED,
                    "'%s' is not a kind of text qkscope reads (.txt, a folder, .parquet, .csv, "
                    ".jsonl, .ndjson, .json; .jsonl also as .gz and .zst)",
                    f->path);
}

static bool is_compressed(const corpus_file *f)
{
    return path_ends(f->path, ".gz") || path_ends(f->path, ".zst");
}

/* ---- columns ---- */
static qks_status add_column(corpus_file *f, const char *name, size_t length, column_kind kind,
                             qks_error *error)
{
    corpus_column column = {arena_copy(&f->memory, name, length), kind};
    return column.name ? array_push(&f->columns, column, error)
                       : out_of_memory(error, "column names");
}

static qks_status csv_columns(corpus_file *f, qks_error *error)
{
    name_list names = {0};
    qks_status status = csv_header(&f->memory, f->source, &names, error);
    for (size_t i = 0; status == QKS_OK && i < names.length; i++)
        status = add_column(f, names.data[i], strlen(names.data[i]), COLUMN_TEXT, error);
    free(names.data);
    return status;
}

static column_kind kind_of(duckdb_type type)
{
    switch (type) {
    case DUCKDB_TYPE_VARCHAR:
        return COLUMN_TEXT;
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
        return COLUMN_REAL;
    case DUCKDB_TYPE_LIST:
        return COLUMN_LIST;
    default:
        return type >= DUCKDB_TYPE_TINYINT && type <= DUCKDB_TYPE_UBIGINT ? COLUMN_WHOLE
                                                                          : COLUMN_OTHER;
    }
}

static qks_status parquet_columns(corpus_file *f, duckdb_connection connection, qks_error *error)
{
    text sql = text_new(SQL_MAX);
    text_add(&sql, "SELECT * FROM ");
    corpus_source(&sql, f);
    duckdb_prepared_statement schema = NULL;
    qks_status status = text_status(&sql, "file name", error);
    if (status == QKS_OK)
        status = duck_prepare(connection, text_string(&sql), &schema, f->doing, error);
    idx_t count = status == QKS_OK ? duckdb_prepared_statement_column_count(schema) : 0;
    for (idx_t i = 0; status == QKS_OK && i < count; i++) {
        const char *name = duckdb_prepared_statement_column_name(schema, i);
        column_kind kind = kind_of(duckdb_prepared_statement_column_type(schema, i));
        status = add_column(f, name ? name : "", name ? strlen(name) : 0, kind, error);
        duckdb_free((void *)(uintptr_t)name);
    }
    duckdb_destroy_prepare(&schema);
    text_free(&sql);
    return status;
}

/* key, is it a text, is it a list: of the first objects. */
static qks_status take_keys(corpus_file *f, const duck_stream *q, qks_error *error)
{
    const duckdb_string_t *keys = duck_column(q, 0);
    const bool *texts = duck_column(q, 1), *lists = duck_column(q, 2);
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < q->rows; i++) {
        size_t length = 0;
        const char *key = duck_bytes(&keys[i], &length);
        column_kind kind = texts[i] ? COLUMN_TEXT : lists[i] ? COLUMN_LIST : COLUMN_MIXED;
        status = add_column(f, key, length, kind, error);
    }
    return status;
}

static void json_options(text *sql, const corpus_file *f)
{
    size_t most = f->longest ? f->longest + 1 : JSON_LEAST;
    text_addf(sql, ", format = '%s', hive_partitioning = false, maximum_object_size = %zu",
              f->format == CORPUS_JSON ? "auto" : "newline_delimited", most);
}

/* The query's first rows; the SQL is freed. */
static qks_status ask(const corpus_file *f, duckdb_connection connection, text *sql, duck_stream *q,
                      qks_error *error)
{
    qks_status status = text_status(sql, "file name", error);
    if (status == QKS_OK)
        status = duck_query(q, connection, text_string(sql), f->doing, error);
    text_free(sql);
    return status == QKS_OK ? duck_stream_next(q, error) : status;
}

static qks_status json_columns(corpus_file *f, duckdb_connection connection, qks_error *error)
{
    text sql = text_new(SQL_MAX);
    text_add(&sql, "SELECT key, bool_or(type = 'VARCHAR'), bool_or(type = 'ARRAY') "
                   "FROM (SELECT json FROM read_json_objects(");
    duck_path(&sql, f->source);
    json_options(&sql, f);
    text_addf(&sql,
              ") LIMIT %d) AS f, json_each(f.json) AS e WHERE json_type(f.json) = 'OBJECT' "
              "GROUP BY key ORDER BY key",
              JSON_SEEN);
    duck_stream q = {0};
    qks_status status = ask(f, connection, &sql, &q, error);
    while (status == QKS_OK && q.chunk) {
        status = take_keys(f, &q, error);
        if (status == QKS_OK)
            status = duck_stream_next(&q, error);
    }
    duck_stream_close(&q);
    return status;
}

/* No object has a key: is there anything but objects? */
static qks_status refuse_other_json(const corpus_file *f, duckdb_connection connection,
                                    qks_error *error)
{
    text sql = text_new(SQL_MAX);
    text_add(&sql, "SELECT count(*) FROM (SELECT json FROM read_json_objects(");
    duck_path(&sql, f->source);
    json_options(&sql, f);
    text_addf(&sql, ") LIMIT %d) WHERE json_type(json) != 'OBJECT'", JSON_SEEN);
    duck_stream q = {0};
    qks_status status = ask(f, connection, &sql, &q, error);
    if (status == QKS_OK && q.rows == 1 && *(const int64_t *)duck_column(&q, 0) > 0)
        status = qks_fail(error, QKS_INVALID, "'%s' does not hold JSON objects%s", f->path,
                          f->format == CORPUS_LINES
                              ? ", one a line; an array of them is read from a .json file"
                              : "");
    duck_stream_close(&q);
    return status;
}

/* ---- the choice ---- */
static qks_status find_column(const corpus_file *f, const char *name, const corpus_column **column,
                              qks_error *error)
{
    *column = NULL;
    for (size_t i = 0; i < f->columns.length; i++) {
        if (strcmp(f->columns.data[i].name, name) != 0)
            continue;
        if (*column)
            return qks_fail(error, QKS_INVALID, "'%s' has two columns named '%s'", f->path, name);
        *column = &f->columns.data[i];
    }
    return QKS_OK;
}

static qks_status no_column(const corpus_file *f, const char *what, qks_error *error)
{
    text list = text_new(SQL_MAX);
    for (size_t i = 0; i < f->columns.length; i++)
        text_addf(&list, "%s%s", i ? ", " : "", f->columns.data[i].name);
    qks_status status = qks_fail(error, QKS_MISSING, "'%s' has no %s; its columns are: %s", f->path,
                                 what, text_string(&list));
    text_free(&list);
    return status;
}

static qks_status choose_id(corpus_file *f, const char *wanted, qks_error *error)
{
    qks_status status = find_column(f, wanted ? wanted : "id", &f->id, error);
    if (status != QKS_OK)
        return status;
    if (wanted && !f->id) {
        char *what = arena_format(&f->memory, "id column '%s'", wanted);
        return no_column(f, what ? what : "such id column", error);
    }
    if (f->id && (f->id->kind == COLUMN_OTHER || f->id->kind == COLUMN_LIST))
        return qks_fail(error, QKS_INVALID, "'%s': ids in column %s must be numbers or texts",
                        f->path, f->id->name);
    return QKS_OK;
}

/* "text", or the only text column that is not the id. */
static qks_status guess_text(corpus_file *f, qks_error *error)
{
    qks_status status = find_column(f, "text", &f->text, error);
    if (status != QKS_OK || f->text)
        return status;
    size_t texts = 0;
    for (size_t i = 0; i < f->columns.length; i++)
        if (f->columns.data[i].kind == COLUMN_TEXT && &f->columns.data[i] != f->id) {
            f->text = &f->columns.data[i];
            texts++;
        }
    if (texts == 1)
        return QKS_OK;
    return no_column(f,
                     texts ? "column 'text', but several texts: name one (--column, or column in a "
                             "study)"
                           : "text column",
                     error);
}

static qks_status choose_text(corpus_file *f, const char *wanted, qks_error *error)
{
    qks_status status = QKS_OK;
    if (!wanted || strcmp(wanted, "input_ids") == 0)
        status = find_column(f, "input_ids", &f->ids, error);
    if (status != QKS_OK || f->ids)
        return status;
    if (!wanted)
        return guess_text(f, error);
    status = find_column(f, wanted, &f->text, error);
    if (status != QKS_OK)
        return status;
    if (!f->text) {
        char *what = arena_format(&f->memory, "text column '%s'", wanted);
        return no_column(f, what ? what : "such text column", error);
    }
    if (f->text->kind != COLUMN_TEXT)
        return qks_fail(error, QKS_INVALID, "'%s': column %s does not hold text", f->path, wanted);
    return QKS_OK;
}

/* A CSV file does not say what its ids are: numbers, if every one of them is. */
static qks_status type_csv_ids(corpus_file *f, duckdb_connection connection, qks_error *error)
{
    corpus_column *id = &f->columns.data[f->id - f->columns.data];
    text sql = text_new(SQL_MAX);
    text_add(&sql, "SELECT coalesce(bool_and(regexp_full_match(x, '[+-]?[0-9]+')), false), "
                   "coalesce(bool_and(TRY_CAST(x AS DOUBLE) IS NOT NULL), false) FROM (SELECT ");
    corpus_name(&sql, f, id);
    text_add(&sql, " AS x FROM ");
    corpus_source(&sql, f);
    text_add(&sql, ") WHERE x IS NOT NULL");
    duck_stream q = {0};
    qks_status status = ask(f, connection, &sql, &q, error);
    if (status == QKS_OK && q.rows == 1) {
        bool whole = *(const bool *)duck_column(&q, 0), real = *(const bool *)duck_column(&q, 1);
        id->kind = whole ? COLUMN_WHOLE : real ? COLUMN_REAL : COLUMN_TEXT;
    }
    duck_stream_close(&q);
    return status;
}

/* ---- the file ---- */
void corpus_source(text *sql, const corpus_file *f)
{
    if (f->format == CORPUS_CSV) {
        csv_source(sql, f->source, f->columns.length, f->longest);
        return;
    }
    text_add(sql, f->format == CORPUS_PARQUET ? "read_parquet(" : "read_json(");
    duck_path(sql, f->source);
    if (f->format == CORPUS_PARQUET) {
        text_add(sql, ", hive_partitioning = false)");
        return;
    }
    json_options(sql, f);
    text_add(sql, ", auto_detect = false, records = true, columns = {");
    const char *between = "";
    const corpus_column *read[] = {f->text, f->ids, f->id};
    static const char *const TYPES[] = {"VARCHAR", "JSON", "JSON"};
    for (size_t i = 0; i < 3; i++) {
        if (!read[i])
            continue;
        text_add(sql, between);
        duck_literal(sql, read[i]->name);
        text_addf(sql, ": '%s'", TYPES[i]);
        between = ", ";
    }
    text_add(sql, "})");
}

void corpus_name(text *sql, const corpus_file *f, const corpus_column *column)
{
    if (f->format == CORPUS_CSV)
        text_addf(sql, "c%zu", (size_t)(column - f->columns.data));
    else
        duck_name(sql, column->name);
}

static qks_status look_at_columns(corpus_file *f, duckdb_connection connection, qks_error *error)
{
    qks_status status = find_format(f, error);
    bool readable = status == QKS_OK && f->format != CORPUS_PARQUET && !is_compressed(f);
    if (readable)
        status = corpus_mend(f, error);
    if (readable && status == QKS_OK)
        status = longest_line(f->source, f->format == CORPUS_CSV, &f->longest, error);
    if (status != QKS_OK)
        return status;
    if (f->format == CORPUS_PARQUET)
        return parquet_columns(f, connection, error);
    return f->format == CORPUS_CSV ? csv_columns(f, error) : json_columns(f, connection, error);
}

qks_status corpus_look(corpus_file *f, duckdb_connection connection, const char *path,
                       const corpus_options *options, qks_error *error)
{
    *f = (corpus_file){.path = path, .source = path};
    f->doing = arena_format(&f->memory, "cannot read '%s'", path);
    if (!f->doing)
        return out_of_memory(error, "file name");
    if (!is_file(path))
        return qks_fail(error, QKS_MISSING, "there is no file '%s'", path);
    qks_status status = look_at_columns(f, connection, error);
    if (status != QKS_OK)
        return status;
    if (f->columns.length == 0) /* JSON, and no rows */
        return refuse_other_json(f, connection, error);
    status = choose_id(f, options->id_column, error);
    if (status == QKS_OK)
        status = choose_text(f, options->text_column, error);
    if (status == QKS_OK && f->id && f->format == CORPUS_CSV)
        status = type_csv_ids(f, connection, error);
    return status;
}

void corpus_done(corpus_file *f)
{
    if (f->mended)
        (void)fclose(f->mended);
    free(f->columns.data);
    arena_free(&f->memory);
    *f = (corpus_file){0};
}
