/* documents.c: text files and folders as rows of a corpus, and documents to tokens. */
#include "text/documents.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FILE_MAX = INT32_MAX, NUMBER_SIZE = 24 };

/* ---- text files ---- */
static bool is_text_name(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcasecmp(name + length - 4, ".txt") == 0;
}

static qks_status visit_file(const char *path, int64_t row, corpus_visit *visit, void *context,
                             qks_error *error)
{
    char *bytes = NULL, number[NUMBER_SIZE];
    size_t length = 0;
    qks_status status = file_get(path, FILE_MAX, &bytes, &length, error);
    if (status != QKS_OK)
        return status;
    (void)snprintf(number, sizeof number, "%lld", (long long)row);
    corpus_row document = {
        .row = row, .id = number, .example_id = row, .text = bytes, .text_length = length};
    status = visit(context, &document, error);
    free(bytes);
    return status;
}

static qks_status without_columns(const char *path, const corpus_options *o, qks_error *error)
{
    const char *named = o->text_column ? o->text_column : o->id_column;
    return named ? qks_fail(error, QKS_USAGE, "'%s' is text without columns; '%s' names one", path,
                            named)
                 : QKS_OK;
}

/* ---- folders: of text files, else of tables ---- */
typedef struct folder_walk {
    const char *folder;
    corpus_options options;
    corpus_visit *visit;
    void *context;
    int64_t rows; /* so far */
} folder_walk;

static qks_status count_row(void *context, const corpus_row *row, qks_error *error)
{
    folder_walk *w = context;
    w->rows++;
    return w->visit(w->context, row, error);
}

static qks_status walk_file(folder_walk *w, const char *path, qks_error *error)
{
    corpus_options options = w->options;
    if (is_text_name(path)) {
        qks_status status = without_columns(path, &w->options, error);
        return status == QKS_OK ? visit_file(path, w->rows, count_row, w, error) : status;
    }
    options.first = w->rows;
    options.limit = w->options.limit ? w->options.limit - w->rows : 0;
    return corpus_scan(path, &options, count_row, w, error);
}

/* The files whose names `wanted` takes, in the order of their names. */
static qks_status walk_folder(folder_walk *w, bool (*wanted)(const char *name), size_t *files,
                              qks_error *error)
{
    arena a = {0};
    name_list names = {0};
    qks_status status = folder_list(&a, w->folder, &names, error);
    *files = 0;
    for (size_t i = 0; status == QKS_OK && i < names.length; i++) {
        if (!wanted(names.data[i]) || (w->options.limit && w->rows >= w->options.limit))
            continue;
        const char *path = arena_format(&a, "%s/%s", w->folder, names.data[i]);
        if (!path)
            status = out_of_memory(error, "path");
        else if (is_file(path) && ++*files)
            status = walk_file(w, path, error);
    }
    free(names.data);
    arena_free(&a);
    return status;
}

static qks_status scan_folder(folder_walk *w, qks_error *error)
{
    size_t files = 0;
    qks_status status = walk_folder(w, is_text_name, &files, error);
    if (status == QKS_OK && !files)
        status = walk_folder(w, is_corpus_name, &files, error);
    if (status == QKS_OK && !files)
        status = qks_fail(error, QKS_MISSING,
                          "folder '%s' has no .txt files, nor .jsonl, .csv or .parquet ones",
                          w->folder);
    return status;
}

qks_status documents_scan(const char *path, const corpus_options *options, corpus_visit *visit,
                          void *context, qks_error *error)
{
    static const corpus_options DEFAULTS = {0};
    const corpus_options *o = options ? options : &DEFAULTS;
    if (is_folder(path)) {
        folder_walk w = {.folder = path, .options = *o, .visit = visit, .context = context};
        return scan_folder(&w, error);
    }
    if (!is_text_name(path))
        return corpus_scan(path, o, visit, context, error);
    qks_status status = without_columns(path, o, error);
    return status == QKS_OK ? visit_file(path, 0, visit, context, error) : status;
}

/* ---- documents to tokens ---- */
static bool readable(const corpus_row *row, document_counts *counts)
{
    if (row->ids ? row->n_ids == 0 : row->text_length == 0) {
        counts->empty++;
        return false;
    }
    if (!row->ids && !utf8_valid(row->text, row->text_length)) {
        counts->not_utf8++;
        return false;
    }
    return true;
}

qks_status document_tokens(encoder *e, const corpus_row *row, const document_rules *rules,
                           document_counts *counts, const int32_t **ids, size_t *count, bool *taken,
                           qks_error *error)
{
    *taken = false;
    *ids = row->ids;
    *count = row->n_ids;
    if (!readable(row, counts))
        return QKS_OK;
    if (!row->ids) {
        qks_status status = e ? encoder_run(e, row->text, row->text_length, !rules->no_special, ids,
                                            count, error)
                              : qks_fail(error, QKS_USAGE, "texts need a tokenizer");
        if (status != QKS_OK)
            return qks_prefix(error, status, "document %s", row->id);
    }
    if (*count < DOCUMENT_TOKENS_MIN) {
        counts->too_short++;
        return QKS_OK;
    }
    if (rules->max_length && *count > rules->max_length) {
        counts->truncated++;
        *count = rules->max_length;
    }
    counts->documents++;
    counts->tokens += (int64_t)*count;
    *taken = true;
    return QKS_OK;
}
