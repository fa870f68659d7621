/* documents.c: reading a corpus to token ids and dealing the documents to groups. */
#include "study/documents.h"

#include "model/weights.h"
#include "study/source.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

typedef struct loading {
    documents *d;
    ARRAY_OF(document) list;
    const char *tokenizer_path;
    document_rules rules;
    document_counts counts;
    tokenizer *tokenizer; /* opened with the first text: rows of tokens need none */
    encoder *encoder;
} loading;

static qks_status add_document(loading *l, const corpus_row *row, const int32_t *ids, size_t n,
                               qks_error *error)
{
    documents *d = l->d;
    int32_t *copy = arena_alloc(&d->memory, n, sizeof *copy);
    char *name = arena_string(&d->memory, row->id);
    if (!copy || !name)
        return out_of_memory(error, "documents");
    memcpy(copy, ids, n * sizeof *copy);
    return array_push(&l->list,
                      ((document){.name = name,
                                  .example_id = row->example_id,
                                  .row = row->row,
                                  .ids = copy,
                                  .n = (int32_t)n}),
                      error);
}

static qks_status open_tokenizer(loading *l, qks_error *error)
{
    const char *path = NULL;
    qks_status status = model_find(l->tokenizer_path, &l->d->memory, &path, error);
    if (status == QKS_OK)
        status = tokenizer_open(&l->tokenizer, path, error);
    return status == QKS_OK ? QKS_OK : qks_prefix(error, status, "tokenizer");
}

static qks_status take_row(void *context, const corpus_row *row, qks_error *error)
{
    loading *l = context;
    const int32_t *ids = NULL;
    size_t count = 0;
    bool taken = false;
    qks_status status = QKS_OK;
    if (!row->ids && !l->tokenizer)
        status = open_tokenizer(l, error);
    if (!row->ids && !l->encoder && status == QKS_OK)
        status = encoder_open(&l->encoder, l->tokenizer, error);
    if (status == QKS_OK)
        status = document_tokens(l->encoder, row, &l->rules, &l->counts, &ids, &count, &taken,
                                 error);
    return status == QKS_OK && taken ? add_document(l, row, ids, count, error) : status;
}

/* As a captured dataset orders them: by the id as it is stored there, in 32 bits. */
static int by_stored_id(const void *a, const void *b)
{
    const document *x = a, *y = b;
    int32_t p = (int32_t)x->example_id, q = (int32_t)y->example_id;
    if (p != q)
        return p < q ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void deal(documents *d, int64_t groups)
{
    size_t wanted = groups == GROUPS_PER_DOCUMENT ? d->count
                    : groups                      ? (size_t)groups
                                                  : GROUPS_DEFAULT;
    wanted = wanted < d->count ? wanted : d->count;
    d->n_groups = (int)wanted;
    qsort(d->list, d->count, sizeof *d->list, by_stored_id);
    for (size_t i = 0; i < d->count; i++)
        d->list[i].group = (int)(i * wanted / d->count);
}

static qks_status nothing_to_read(const char *path, const document_counts *c, qks_error *error)
{
    return qks_fail(
        error, QKS_INVALID,
        "'%s' has no document of at least %d tokens: %lld empty, %lld shorter, %lld not "
        "UTF-8",
        path, DOCUMENT_TOKENS_MIN, (long long)c->empty, (long long)c->too_short,
        (long long)c->not_utf8);
}

qks_status documents_load(documents *d, const char *model, const qks_capture_options *options,
                          int32_t max_length, qks_error *error)
{
    *d = (documents){0};
    loading l = {.d = d,
                 .tokenizer_path = options->tokenizer ? options->tokenizer : model,
                 .rules = {.max_length = (size_t)max_length, .no_special = options->no_special}};
    corpus_options how = {.text_column = options->text_column,
                          .id_column = options->id_column,
                          .limit = options->limit};
    qks_status status = documents_scan(options->text, &how, take_row, &l, error);
    encoder_close(l.encoder);
    tokenizer_close(l.tokenizer);
    d->list = l.list.data;
    d->count = l.list.length;
    d->counts = l.counts;
    if (status == QKS_OK && d->count == 0)
        status = nothing_to_read(options->text, &l.counts, error);
    if (status != QKS_OK)
        documents_free(d);
    else
        deal(d, options->groups);
    return status;
}

void documents_free(documents *d)
{
    free(d->list);
    arena_free(&d->memory);
    *d = (documents){0};
}
