/* tokenizer.c: the parts put together, and the way of a text through them. */
#include "text/tokenizer.h"

#include "base/file.h"
#include "base/utf8.h"
#include "text/tokenizer_private.h"
#include "text/unicode.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = INT32_MAX, MAGIC_SIZE = 4 };

struct encoder {
    const tokenizer *tokenizer;
    search *search;
    normalizer_scratch normalizer;
    pre_scratch pre;
    bpe_scratch *words;
    id_list ids;      /* of the text */
    id_list complete; /* with what the template adds */
};

/* ---- opening ---- */
static bool is_gguf(const char *path)
{
    char magic[MAGIC_SIZE] = {0};
    file_reader reader;
    if (file_open(&reader, path, NULL) != QKS_OK)
        return false;
    qks_status status = file_read_at(&reader, 0, magic, sizeof magic, NULL);
    file_close(&reader);
    return status == QKS_OK && memcmp(magic, "GGUF", sizeof magic) == 0;
}

/* A folder's tokenizer.json; the path is in the arena. */
static qks_status in_folder(arena *a, const char *folder, const char **path, qks_error *error)
{
    char *json = arena_format(a, "%s/tokenizer.json", folder);
    char *model = arena_format(a, "%s/tokenizer.model", folder);
    if (!json || !model)
        return out_of_memory(error, "path");
    *path = json;
    if (is_file(json))
        return QKS_OK;
    return qks_fail(error, QKS_MISSING, "'%s' has no tokenizer.json%s", folder,
                    is_file(model) ? "; its tokenizer.model can be turned into one with "
                                     "transformers: AutoTokenizer.from_pretrained(folder)"
                                     ".save_pretrained(folder)"
                                   : "; name the file or the model whose tokenizer it uses "
                                     "(--tokenizer, or tokenizer in a study)");
}

qks_status tokenizer_open(tokenizer **out, const char *path, qks_error *error)
{
    tokenizer *t = calloc(1, sizeof *t);
    if (!t)
        return out_of_memory(error, "tokenizer");
    qks_status status = is_folder(path) ? in_folder(&t->memory, path, &path, error) : QKS_OK;
    if (status == QKS_OK) {
        t->path = arena_string(&t->memory, path);
        status = t->path ? QKS_OK : out_of_memory(error, "tokenizer");
    }
    if (status == QKS_OK)
        status = is_gguf(path) ? tokenizer_read_gguf(t, path, error)
                               : tokenizer_read_json(t, path, error);
    if (status == QKS_OK)
        *out = t;
    else
        tokenizer_close(t);
    return status;
}

void tokenizer_close(tokenizer *t)
{
    if (!t)
        return;
    token_tree_free(&t->as_is);
    token_tree_free(&t->normalized);
    free(t->added.data);
    word_table_free(&t->added_index);
    normalizer_free(&t->normalizer);
    pre_tokenizer_free(&t->pre);
    bpe_free(&t->model);
    free(t->template.data);
    arena_free(&t->memory);
    free(t);
}

int64_t tokenizer_size(const tokenizer *t)
{
    return t->size;
}

/* ---- filling ---- */
static qks_status new_token(tokenizer *t, added_token token, qks_error *error)
{
    token.id = word_find(&t->model.vocab, token.content, token.length);
    if (token.id == NO_ID) {
        size_t id = t->model.vocab.count + t->unlisted++;
        if (id >= INT32_MAX)
            return qks_fail(error, QKS_INVALID, "there are more tokens than ids");
        token.id = (int32_t)id;
        char name[SHOWN_SIZE];
        if (key_find(&t->model.ids, id) != NO_VALUE)
            return qks_fail(error, QKS_INVALID,
                            "the added token '%s' gets the id %zu, which another token has",
                            shown(token.content, token.length, name), id);
    }
    int32_t place = (int32_t)t->added.length;
    qks_status status = word_add(&t->added_index, token.content, token.length, &place, error);
    return status == QKS_OK ? array_push(&t->added, token, error) : status;
}

qks_status tokenizer_add_token(tokenizer *t, const added_token *token, qks_error *error)
{
    if (token->length == 0)
        return QKS_OK;
    int32_t place = word_find(&t->added_index, token->content, token->length);
    if (place == NO_ID)
        return new_token(t, *token, error);
    int32_t id = t->added.data[place].id;
    t->added.data[place] = *token;
    t->added.data[place].id = id;
    return QKS_OK;
}

qks_status add_split(pre_tokenizer *p, const char *expression, split_behavior behavior,
                     qks_error *error)
{
    pre_step step = {.kind = PRE_SPLIT, .behavior = behavior};
    qks_status status = pattern_compile(&step.pattern, expression, strlen(expression), error);
    if (status != QKS_OK)
        return status;
    status = array_push(p, step, error);
    if (status != QKS_OK)
        pattern_free(step.pattern);
    return status;
}

/* Mark the Replace steps that a rewriting of the whole text comes after. */
static void mark_rewritten(tokenizer *t)
{
    bool rewrites = false;
    for (size_t i = 0; i < t->pre.length; i++)
        rewrites |= t->pre.data[i].kind == PRE_BYTES;
    for (size_t i = t->normalizer.length; i-- > 0;) {
        normalizer_step *step = &t->normalizer.data[i];
        step->rewritten = rewrites;
        rewrites |= step->kind != NORMALIZE_REPLACE && step->kind != NORMALIZE_PREPEND;
    }
}

/* A last step to bytes is the model's work: it looks bytes up without spelling them. */
static void take_in_bytes(tokenizer *t)
{
    pre_tokenizer *p = &t->pre;
    if (p->length == 0 || p->data[p->length - 1].kind != PRE_BYTES || *t->model.prefix ||
        *t->model.suffix)
        return;
    p->length--;
    t->model.byte_level = true;
}

static qks_status plant(tokenizer *t, size_t index, encoder *e, qks_error *error)
{
    const added_token *token = &t->added.data[index];
    stretch content = {token->content, token->length, 0};
    qks_status status = QKS_OK;
    if (token->normalized)
        status = normalize(&t->normalizer, &e->normalizer, content, &content, error);
    if (status == QKS_OK)
        status = token_tree_add(token->normalized ? &t->normalized : &t->as_is, content.bytes,
                                content.length, index, error);
    char name[SHOWN_SIZE];
    return status == QKS_OK ? QKS_OK
                            : qks_prefix(error, status, "added token '%s'",
                                         shown(token->content, token->length, name));
}

qks_status tokenizer_finish(tokenizer *t, qks_error *error)
{
    mark_rewritten(t);
    take_in_bytes(t);
    bpe_finish(&t->model);
    t->size = t->model.end;
    encoder *e = NULL;
    qks_status status = encoder_open(&e, t, error);
    for (size_t i = 0; status == QKS_OK && i < t->added.length; i++) {
        search_begin(e->search, t->added.data[i].length);
        status = plant(t, i, e, error);
        if (t->added.data[i].id >= t->size)
            t->size = t->added.data[i].id + 1;
    }
    for (size_t i = 0; i < t->template.length; i++)
        if (t->template.data[i] >= t->size)
            t->size = t->template.data[i] + 1;
    encoder_close(e);
    return status;
}

/* ---- encoding ---- */
qks_status encoder_open(encoder **out, const tokenizer *t, qks_error *error)
{
    encoder *e = calloc(1, sizeof *e);
    if (!e)
        return out_of_memory(error, "encoder");
    e->tokenizer = t;
    e->normalizer.first = e->normalizer.second = text_new(TEXT_MAX);
    qks_status status = search_open(&e->search, error);
    if (status == QKS_OK)
        status = bpe_scratch_open(&e->words, error);
    if (status == QKS_OK)
        status = memory_zeroed(&e->pre.texts, t->pre.length, sizeof *e->pre.texts, error);
    if (status != QKS_OK) {
        encoder_close(e);
        return status;
    }
    e->normalizer.search = e->pre.search = e->search;
    for (e->pre.count = 0; e->pre.count < t->pre.length; e->pre.count++)
        e->pre.texts[e->pre.count] = text_new(TEXT_MAX);
    *out = e;
    return QKS_OK;
}

void encoder_close(encoder *e)
{
    if (!e)
        return;
    search_close(e->search);
    normalizer_scratch_free(&e->normalizer);
    for (size_t i = 0; i < e->pre.count; i++)
        text_free(&e->pre.texts[i]);
    free(e->pre.texts);
    bpe_scratch_close(e->words);
    free(e->ids.data);
    free(e->complete.data);
    free(e);
}

static qks_status encode_word(void *context, stretch word, qks_error *error)
{
    encoder *e = context;
    return bpe_encode(&e->tokenizer->model, e->words, word.bytes, word.length, &e->ids, error);
}

static qks_status encode_normalized(void *context, const added_token *token, stretch part,
                                    qks_error *error)
{
    encoder *e = context;
    if (token)
        return array_push(&e->ids, token->id, error);
    return pre_tokenize(&e->tokenizer->pre, &e->pre, part, encode_word, e, error);
}

static qks_status encode_as_is(void *context, const added_token *token, stretch part,
                               qks_error *error)
{
    encoder *e = context;
    const tokenizer *t = e->tokenizer;
    if (token)
        return array_push(&e->ids, token->id, error);
    qks_status status = normalize(&t->normalizer, &e->normalizer, part, &part, error);
    if (status == QKS_OK)
        status = find_added_tokens(&t->normalized, &t->added, part, encode_normalized, e, error);
    return status;
}

/* The text's ids in the place that the template has for them. Without special tokens the template
 * still says how often the text comes. */
static qks_status complete(encoder *e, bool special, qks_error *error)
{
    const id_list *template = &e->tokenizer->template;
    e->complete.length = 0;
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < template->length; i++) {
        if (template->data[i] != THE_TEXT) {
            if (special)
                status = array_push(&e->complete, template->data[i], error);
            continue;
        }
        status = array_reserve(&e->complete, e->ids.length, error);
        if (status == QKS_OK && e->ids.length)
            memcpy(e->complete.data + e->complete.length, e->ids.data,
                   e->ids.length * sizeof *e->ids.data);
        if (status == QKS_OK)
            e->complete.length += e->ids.length;
    }
    return status;
}

qks_status encoder_run(encoder *e, const char *bytes, size_t length, bool special,
                       const int32_t **ids, size_t *count, qks_error *error)
{
    const tokenizer *t = e->tokenizer;
    if (length > TEXT_MAX)
        return qks_fail(error, QKS_UNSUPPORTED, "a text of %zu bytes; 2 GB is the most", length);
    if (!utf8_valid(bytes, length))
        return qks_fail(error, QKS_INVALID, "the text is not UTF-8");
    e->ids.length = 0;
    search_begin(e->search, length);
    stretch whole = {bytes, length, length ? utf8_size(bytes[0]) : 0};
    qks_status status = find_added_tokens(&t->as_is, &t->added, whole, encode_as_is, e, error);
    const id_list *result = &e->ids;
    if (status == QKS_OK && t->template.length) {
        status = complete(e, special, error);
        result = &e->complete;
    }
    *ids = result->data;
    *count = result->length;
    return status == QKS_OK ? QKS_OK : qks_prefix(error, status, "'%s'", t->path);
}
