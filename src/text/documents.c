/* documents.c: text files as rows of a corpus, and documents to tokens. */
#include "text/documents.h"

#include "base/file.h"
#include "base/memory.h"
#include "text/unicode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = INT32_MAX, NUMBER_SIZE = 24 };

/* ---- text files ---- */
static bool is_text_name(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".txt") == 0;
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

static qks_status visit_folder(const char *folder, int64_t limit, corpus_visit *visit,
                               void *context, qks_error *error)
{
    arena a = {0};
    name_list names = {0};
    int64_t row = 0;
    qks_status status = folder_list(&a, folder, &names, error);
    for (size_t i = 0; status == QKS_OK && i < names.length && (limit == 0 || row < limit); i++) {
        if (!is_text_name(names.data[i]))
            continue;
        const char *path = arena_format(&a, "%s/%s", folder, names.data[i]);
        if (!path)
            status = out_of_memory(error, "path");
        else if (is_file(path))
            status = visit_file(path, row++, visit, context, error);
    }
    if (status == QKS_OK && row == 0)
        status = qks_fail(error, QKS_MISSING, "folder '%s' has no .txt files", folder);
    free(names.data);
    arena_free(&a);
    return status;
}

qks_status documents_scan(const char *path, const corpus_options *options, corpus_visit *visit,
                          void *context, qks_error *error)
{
    bool folder = is_folder(path);
    if (!folder && !is_text_name(path))
        return corpus_scan(path, options, visit, context, error);
    if (options && (options->text_column || options->id_column))
        return qks_fail(error, QKS_USAGE, "'%s' is text without columns; '%s' names one", path,
                        options->text_column ? options->text_column : options->id_column);
    if (folder)
        return visit_folder(path, options ? options->limit : 0, visit, context, error);
    return visit_file(path, 0, visit, context, error);
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
