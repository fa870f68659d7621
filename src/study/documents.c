/* documents.c: reading a corpus to token ids and dealing the documents to groups. */
#include "study/documents.h"

#include "store/corpus.h"
#include "study/source.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

enum { TOKENS_MIN = 2 }; /* of a document; fewer have no position to speak of */

typedef struct loading {
    documents *d;
    ARRAY_OF(document) list;
    int32_t max_length;
    const char *tokenizer_path;
    bool special;
    tokenizer *tokenizer; /* opened with the first text: rows of tokens need none */
    encoder *encoder;
} loading;

/* Copy the ids of one document, cut to the maximum. */
static qks_status add_document(loading *l, const corpus_row *row, const int32_t *ids, size_t n,
                               qks_error *error)
{
    documents *d = l->d;
    if (n > (size_t)l->max_length) {
        n = (size_t)l->max_length;
        d->counts.truncated++;
    }
    if (n < TOKENS_MIN) {
        d->counts.too_short++;
        return QKS_OK;
    }
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

static qks_status encode(loading *l, const corpus_row *row, qks_error *error)
{
    const int32_t *ids = NULL;
    size_t count = 0;
    qks_status status = QKS_OK;
    if (!l->tokenizer)
        status = tokenizer_open(&l->tokenizer, l->tokenizer_path, error);
    if (status == QKS_OK && !l->encoder)
        status = encoder_open(&l->encoder, l->tokenizer, error);
    if (status == QKS_OK)
        status = encoder_run(l->encoder, row->text, row->text_length, l->special, &ids, &count,
                             error);
    return status == QKS_OK ? add_document(l, row, ids, count, error) : status;
}

static qks_status take_row(void *context, const corpus_row *row, qks_error *error)
{
    loading *l = context;
    if (row->ids)
        return add_document(l, row, row->ids, row->n_ids, error);
    if (row->text_length == 0) {
        l->d->counts.empty++;
        return QKS_OK;
    }
    return encode(l, row, error);
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

qks_status documents_load(documents *d, const char *model, const qks_capture_options *options,
                          int32_t max_length, qks_error *error)
{
    *d = (documents){0};
    loading l = {.d = d,
                 .max_length = max_length,
                 .tokenizer_path = options->tokenizer ? options->tokenizer : model,
                 .special = !options->no_special};
    corpus_options how = {.text_column = options->text_column,
                          .id_column = options->id_column,
                          .limit = options->limit};
    qks_status status = corpus_scan(options->text, &how, take_row, &l, error);
    encoder_close(l.encoder);
    tokenizer_close(l.tokenizer);
    d->list = l.list.data;
    d->count = l.list.length;
    if (status == QKS_OK && d->count == 0)
        status = qks_fail(error, QKS_INVALID, "'%s' has no document of at least %d tokens",
                          options->text, TOKENS_MIN);
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
