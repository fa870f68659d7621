/* corpus_private.h: a corpus file's columns, and which of them hold the texts and the ids. */
#ifndef QKS_STORE_CORPUS_PRIVATE_H
#define QKS_STORE_CORPUS_PRIVATE_H

#include "base/memory.h"
#include "base/text.h"
#include "qkscope/status.h"
#include "store/corpus.h"
#include "store/duck.h"

#include <stdbool.h>
#include <stdio.h>

typedef enum corpus_format { CORPUS_PARQUET, CORPUS_CSV, CORPUS_LINES, CORPUS_JSON } corpus_format;

typedef enum column_kind {
    COLUMN_TEXT,
    COLUMN_WHOLE, /* integers */
    COLUMN_REAL,
    COLUMN_LIST,
    COLUMN_MIXED, /* JSON: any, row by row */
    COLUMN_OTHER,
} column_kind;

typedef struct corpus_column {
    const char *name;
    column_kind kind;
} corpus_column;

typedef struct corpus_file {
    const char *path, *doing; /* doing: "cannot read 'path'" */
    const char *source;       /* what DuckDB reads: the path, or a mended copy */
    FILE *mended;             /* the copy, which has no name; NULL: none */
    corpus_format format;
    size_t longest; /* bytes of its longest line or record; 0: not known */
    ARRAY_OF(corpus_column) columns;
    const corpus_column *text, *ids, *id; /* one of text and ids, or neither: a file without rows */
    arena memory;
} corpus_file;

/* Look at the file and choose its columns. Close it also after a failure. */
QKS_MUST_CHECK qks_status corpus_look(corpus_file *f, duckdb_connection connection,
                                      const char *path, const corpus_options *options,
                                      qks_error *error);
void corpus_done(corpus_file *f);

/* Bytes that are not UTF-8, and half of a surrogate pair as an escape, make DuckDB refuse a whole
 * file of CSV or JSON. If there are any, read a copy in which this mark of noncharacters stands for
 * each; a text with the mark is not UTF-8. */
#define NOT_UTF8_MARK "\xEF\xB7\x90\xEF\xBF\xBE\xEF\xB7\xAF" /* U+FDD0 U+FFFE U+FDEF */
QKS_MUST_CHECK qks_status corpus_mend(corpus_file *f, qks_error *error);
bool corpus_is_marked(const corpus_file *f, const char *bytes, size_t length);

/* The file as a table expression: with columns by their names, or c0, c1, ... (CSV). */
void corpus_source(text *sql, const corpus_file *f);
/* A column in an expression over that source. */
void corpus_name(text *sql, const corpus_file *f, const corpus_column *column);

#endif
