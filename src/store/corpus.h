/* corpus.h: rows of text from .parquet, .csv and .jsonl files through DuckDB: an id and either
 * text or ready token ids. (Plain .txt files and folders are the text room's.) */
#ifndef QKS_STORE_CORPUS_H
#define QKS_STORE_CORPUS_H

#include "qkscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct corpus_options {
    const char *text_column; /* NULL: "text", or the only text column */
    const char *id_column;   /* NULL: "id" if there is one, else the row number */
    int64_t limit;           /* 0: all rows */
    int64_t first;           /* the number of the first row, where files are read in turn */
} corpus_options;

typedef struct corpus_row {
    int64_t row;        /* from options.first on */
    const char *id;     /* as text, for messages */
    int64_t example_id; /* spec/protocol.md, "example_id" */
    const char *text;   /* may hold NUL; UTF-8 unless the file's was not; NULL when the rows are
                           token ids */
    size_t text_length;
    const int32_t *ids; /* NULL when the rows are text */
    size_t n_ids;
} corpus_row;

typedef qks_status corpus_visit(void *context, const corpus_row *row, qks_error *error);

/* Stream the rows in file order; what a row points to is gone when `visit` returns. A file whose
 * rows have `input_ids` gives tokens. Endings: .parquet, .csv, .jsonl or .ndjson (also .gz;
 * .jsonl.zst), .json. A text that is not UTF-8 comes as bytes that are not; in Parquet and
 * compressed files, which DuckDB reads whole or not at all, it is an error. `options` NULL: the
 * defaults. Memory: some 100 MB for JSON; the texts of 2,048 rows, or of a row group if that is
 * less, for Parquet and CSV. */
QKS_MUST_CHECK qks_status corpus_scan(const char *path, const corpus_options *options,
                                      corpus_visit *visit, void *context, qks_error *error);

/* Has the path the ending of a file that corpus_scan() reads? */
bool is_corpus_name(const char *path);

#endif
