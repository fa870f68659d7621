/* tokenizer_json.c: reads a tokenizer.json as the tokenizers library writes it. `truncation` and
 * `padding` are none of our business (max_length truncates). */
#include "text/tokenizer_private.h"

#include "base/file.h"
#include "text/json_members.h"
#include "text/part_json.h"
#include "text/unicode.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_MAX = 256 << 20 };

/* ---- the model ---- */
static qks_status check_model_type(json_place p, qks_error *error)
{
    const char *type = "BPE"; /* files of before 2021 do not say */
    size_t length = strlen(type);
    qks_status status = member_string(p, "type", MEMBER_OPTIONAL, &type, &length, error);
    char name[SHOWN_SIZE];
    if (status == QKS_OK && !is_the_word(type, length, "BPE"))
        status = qks_fail(error, QKS_UNSUPPORTED, "model type %s is not supported; BPE is",
                          shown(type, length, name));
    return status;
}

/* A string for the model, which may be missing; "" then. */
static qks_status model_string(tokenizer *t, json_place p, const char *name, const char **out,
                               qks_error *error)
{
    const char *bytes = NULL;
    size_t length = 0;
    qks_status status = member_string(p, name, MEMBER_NULLABLE, &bytes, &length, error);
    if (status != QKS_OK || !bytes)
        return status;
    if (strlen(bytes) != length)
        return qks_fail(error, QKS_UNSUPPORTED, "'%s' of the model holds a NUL", name);
    *out = arena_copy(&t->memory, bytes, length);
    return *out ? QKS_OK : out_of_memory(error, "tokenizer");
}

static qks_status check_dropout(json_place p, qks_error *error)
{
    const json_t *dropout = json_object_get(p.object, "dropout");
    if (!dropout || json_is_null(dropout) ||
        (json_is_number(dropout) && json_number_value(dropout) == 0))
        return QKS_OK;
    if (!json_is_number(dropout))
        return qks_fail(error, QKS_INVALID, "the model's dropout is no number");
    return qks_fail(error, QKS_UNSUPPORTED,
                    "the model's dropout is %g, which makes ids random; set it to null",
                    json_number_value(dropout));
}

static qks_status read_model_options(tokenizer *t, json_place p, qks_error *error)
{
    bpe *b = &t->model;
    b->prefix = b->suffix = "";
    qks_status status = check_model_type(p, error);
    if (status == QKS_OK)
        status = check_dropout(p, error);
    if (status == QKS_OK)
        status = model_string(t, p, "unk_token", &b->unk_token, error);
    if (status == QKS_OK)
        status = model_string(t, p, "continuing_subword_prefix", &b->prefix, error);
    if (status == QKS_OK)
        status = model_string(t, p, "end_of_word_suffix", &b->suffix, error);
    if (status == QKS_OK)
        status = member_flag(p, "fuse_unk", MEMBER_NULLABLE, &b->fuse_unk, error);
    if (status == QKS_OK)
        status = member_flag(p, "byte_fallback", MEMBER_NULLABLE, &b->byte_fallback, error);
    if (status == QKS_OK)
        status = member_flag(p, "ignore_merges", MEMBER_NULLABLE, &b->ignore_merges, error);
    return status;
}

static qks_status read_vocab(tokenizer *t, json_place p, qks_error *error)
{
    json_t *vocab = json_object_get(p.object, "vocab");
    if (!json_is_object(vocab))
        return qks_fail(error, QKS_INVALID, "the model has no vocab, or it is no object");
    if (json_object_size(vocab) == 0)
        return qks_fail(error, QKS_INVALID, "the vocabulary is empty");
    qks_status status = bpe_reserve(&t->model, json_object_size(vocab),
                                    json_array_size(json_object_get(p.object, "merges")), error);
    for (void *at = json_object_iter(vocab); status == QKS_OK && at;
         at = json_object_iter_next(vocab, at)) {
        char name[SHOWN_SIZE];
        const char *key = json_object_iter_key(at);
        size_t length = strlen(key);
        const json_t *id = json_object_iter_value(at);
        if (!json_is_integer(id))
            return qks_fail(error, QKS_INVALID, "the id of token '%s' is no whole number",
                            shown(key, length, name));
        const char *copy = arena_copy(&t->memory, key, length);
        status = copy ? bpe_add_token(&t->model, copy, length, json_integer_value(id), error)
                      : out_of_memory(error, "vocabulary");
    }
    return status;
}

/* "a b", or ["a", "b"]; all merges of a file in one way. */
static bool merge_sides(const json_t *merge, bpe_side *left, bpe_side *right)
{
    if (json_is_array(merge)) {
        const json_t *a = json_array_get(merge, 0), *b = json_array_get(merge, 1);
        *left = (bpe_side){json_string_value(a), json_string_length(a)};
        *right = (bpe_side){json_string_value(b), json_string_length(b)};
        return json_array_size(merge) == 2 && left->bytes && right->bytes;
    }
    const char *bytes = json_string_value(merge);
    size_t length = json_string_length(merge);
    const char *space = bytes ? memchr(bytes, ' ', length) : NULL;
    if (!space)
        return false;
    *left = (bpe_side){bytes, (size_t)(space - bytes)};
    *right = (bpe_side){space + 1, length - left->length - 1};
    return memchr(right->bytes, ' ', right->length) == NULL;
}

/* merges.txt begins with such a line, and it can end up among the merges. */
static bool is_version_line(const json_t *merge)
{
    return json_is_string(merge) && strncmp(json_string_value(merge), "#version", 8) == 0;
}

static qks_status read_merges(tokenizer *t, json_place p, qks_error *error)
{
    const json_t *merges = NULL;
    qks_status status = member_array(p, "merges", &merges, error);
    uint32_t rank = 0;
    for (size_t i = 0; status == QKS_OK && i < json_array_size(merges); i++) {
        const json_t *merge = json_array_get(merges, i);
        bpe_side left = {0}, right = {0};
        if (is_version_line(merge))
            continue;
        if (json_typeof(merge) != json_typeof(json_array_get(merges, 0)) ||
            !merge_sides(merge, &left, &right))
            return qks_fail(error, QKS_INVALID, "merge %zu is no pair of tokens", i + 1);
        status = bpe_add_merge(&t->model, left, right, rank++, error);
    }
    return status;
}

static qks_status read_model(tokenizer *t, json_place root, qks_error *error)
{
    json_place p;
    qks_status status = member_object(root, "model", &t->memory, &p, error);
    p.where = "the model";
    if (status == QKS_OK)
        status = read_model_options(t, p, error);
    if (status == QKS_OK)
        status = read_vocab(t, p, error);
    return status == QKS_OK ? read_merges(t, p, error) : status;
}

/* ---- added tokens ---- */
static qks_status read_added_token(tokenizer *t, json_place p, qks_error *error)
{
    added_token token = {0};
    int32_t id = 0; /* what the library gives counts, see tokenizer_add_token */
    qks_status status = member_id(p, "id", &id, error);
    if (status == QKS_OK)
        status = member_string(p, "content", MEMBER_REQUIRED, &token.content, &token.length, error);
    if (status == QKS_OK)
        status = member_flag(p, "single_word", MEMBER_REQUIRED, &token.single_word, error);
    if (status == QKS_OK)
        status = member_flag(p, "lstrip", MEMBER_REQUIRED, &token.lstrip, error);
    if (status == QKS_OK)
        status = member_flag(p, "rstrip", MEMBER_REQUIRED, &token.rstrip, error);
    if (status == QKS_OK)
        status = member_flag(p, "normalized", MEMBER_REQUIRED, &token.normalized, error);
    if (status == QKS_OK)
        status = member_flag(p, "special", MEMBER_REQUIRED, &token.special, error);
    if (status != QKS_OK)
        return status;
    token.content = arena_copy(&t->memory, token.content, token.length);
    return token.content ? tokenizer_add_token(t, &token, error)
                         : out_of_memory(error, "added tokens");
}

static qks_status read_added_tokens(tokenizer *t, json_place root, qks_error *error)
{
    if (!json_object_get(root.object, "added_tokens"))
        return QKS_OK;
    const json_t *tokens = NULL;
    qks_status status = member_array(root, "added_tokens", &tokens, error);
    for (size_t i = 0; status == QKS_OK && i < json_array_size(tokens); i++) {
        json_place token;
        status = element_object(root, "added_tokens", tokens, i, &t->memory, &token, error);
        if (status == QKS_OK)
            status = read_added_token(t, token, error);
    }
    return status;
}

/* ---- the file ---- */
static qks_status check_version(json_place root, qks_error *error)
{
    static const char *const VERSIONS[] = {"1.0", NULL};
    size_t index = 0;
    if (!json_object_get(root.object, "version"))
        return QKS_OK;
    return member_word(root, "version", MEMBER_REQUIRED, VERSIONS, &index, error);
}

/* A part that may be missing or null. */
static qks_status read_optional(tokenizer *t, json_place root, const char *name,
                                qks_status (*read)(tokenizer *, json_place, qks_error *),
                                qks_error *error)
{
    const json_t *part = json_object_get(root.object, name);
    if (!part || json_is_null(part))
        return QKS_OK;
    json_place p;
    qks_status status = member_object(root, name, &t->memory, &p, error);
    p.where = name;
    return status == QKS_OK ? read(t, p, error) : status;
}

static qks_status check_members(json_t *document, qks_error *error)
{
    static const char *const KNOWN[] = {"version",        "truncation", "padding",
                                        "added_tokens",   "normalizer", "pre_tokenizer",
                                        "post_processor", "decoder",    "model"};
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(document, key, value) {
        bool known = false;
        for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
            known |= strcmp(key, KNOWN[i]) == 0;
        char name[SHOWN_SIZE];
        if (!known)
            return qks_fail(error, QKS_UNSUPPORTED, "its part '%s' is not supported",
                            shown(key, strlen(key), name));
    }
    return QKS_OK;
}

static qks_status ignored(tokenizer *t, json_place p, qks_error *error)
{
    (void)t, (void)p, (void)error;
    return QKS_OK;
}

static qks_status read_root(tokenizer *t, json_t *document, qks_error *error)
{
    json_place root = {document, "the file"};
    if (!json_is_object(document))
        return qks_fail(error, QKS_INVALID, "not a JSON object");
    qks_status status = check_members(document, error);
    if (status == QKS_OK)
        status = check_version(root, error);
    if (status == QKS_OK)
        status = read_optional(t, root, "truncation", ignored, error);
    if (status == QKS_OK)
        status = read_optional(t, root, "padding", ignored, error);
    if (status == QKS_OK)
        status = read_optional(t, root, "normalizer", read_normalizer, error);
    if (status == QKS_OK)
        status = read_optional(t, root, "pre_tokenizer", read_pre_tokenizer, error);
    if (status == QKS_OK)
        status = read_optional(t, root, "post_processor", read_post_processor, error);
    if (status == QKS_OK)
        status = read_optional(t, root, "decoder", check_decoder, error);
    if (status == QKS_OK)
        status = read_model(t, root, error);
    if (status == QKS_OK)
        status = read_added_tokens(t, root, error);
    return status == QKS_OK ? tokenizer_finish(t, error) : status;
}

qks_status tokenizer_read_json(tokenizer *t, const char *path, qks_error *error)
{
    char *bytes = NULL;
    size_t length = 0;
    qks_status status = file_get(path, JSON_MAX, &bytes, &length, error);
    if (status != QKS_OK)
        return status;
    json_error_t fault;
    json_t *document = json_loadb(bytes, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &fault);
    free(bytes);
    if (!document)
        return qks_fail(error, QKS_INVALID, "'%s' is not JSON: line %d, column %d: %s", path,
                        fault.line, fault.column, fault.text);
    status = read_root(t, document, error);
    json_decref(document);
    return status == QKS_OK ? QKS_OK : qks_prefix(error, status, "'%s'", path);
}
