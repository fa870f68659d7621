/* tokenizer_gguf.c: a tokenizer from a GGUF vocabulary, with the steps that the same tokenizer's
 * tokenizer.json has: GGUF has only their name (tokenizer.ggml.pre). */
#include "text/tokenizer_private.h"

#include "text/gguf_vocab.h"
#include "text/unicode.h"

#include <stdlib.h>
#include <string.h>

enum { PATTERNS_MAX = 4, PIECE_MAX = 1024 };

static const char MARK[] = "\xE2\x96\x81"; /* U+2581, SentencePiece's space */

/* ---- byte-level vocabularies ("gpt2") ---- */
/* Words of two kinds, numbers of one to three digits, the rest, white space. */
#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)|"
#define WORDS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define OTHERS " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
#define SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define BY_THREES CONTRACTIONS WORDS "\\p{N}{1,3}|" OTHERS SPACES
#define BY_ONES CONTRACTIONS WORDS "\\p{N}|" OTHERS SPACES
#define BY_CASE                                                                                    \
    "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER            \
    "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES

typedef struct pre_rule {
    const char *name;
    const char *patterns[PATTERNS_MAX]; /* each splits what the one before has left */
    bool nfc, digits;                   /* digits: one by one, before the patterns */
    bool ignore_merges;
    bool add_bos; /* if the file does not say */
} pre_rule;

static const pre_rule PRE_RULES[] = {
    {.name = "smollm", .patterns = {GPT2_EXPRESSION}, .digits = true},
    {.name = "starcoder", .patterns = {GPT2_EXPRESSION}, .digits = true},
    {.name = "gpt-2", .patterns = {GPT2_EXPRESSION}},
    {.name = "phi-2", .patterns = {GPT2_EXPRESSION}},
    {.name = "llama-bpe", .patterns = {BY_THREES}, .ignore_merges = true, .add_bos = true},
    {.name = "llama3", .patterns = {BY_THREES}, .ignore_merges = true, .add_bos = true},
    {.name = "llama-v3", .patterns = {BY_THREES}, .ignore_merges = true, .add_bos = true},
    {.name = "smaug-bpe", .patterns = {BY_THREES}, .ignore_merges = true}, /* SmolLM3's */
    {.name = "chatglm-bpe", .patterns = {BY_THREES}},
    {.name = "glm4", .patterns = {BY_THREES}, .ignore_merges = true},
    {.name = "qwen2", .patterns = {BY_ONES}, .nfc = true},
    {.name = "deepseek-r1-qwen", .patterns = {BY_ONES}, .nfc = true},
    {.name = "tekken", .patterns = {BY_CASE}, .ignore_merges = true, .add_bos = true},
    {.name = "default",
     .patterns = {"[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2_EXPRESSION, "\\p{N}+", "[0-9][0-9][0-9]"}},
};

/* NULL: there is none, and `error` says so. */
static const pre_rule *find_rule(const gguf_vocab *v, qks_error *error)
{
    char name[SHOWN_SIZE];
    for (size_t i = 0; v->pre && i < sizeof PRE_RULES / sizeof *PRE_RULES; i++)
        if (strcmp(PRE_RULES[i].name, v->pre) == 0)
            return &PRE_RULES[i];
    if (v->pre)
        (void)qks_fail(error, QKS_UNSUPPORTED,
                       "pre-tokenizer '%s' (tokenizer.ggml.pre) is not supported; give the "
                       "model's tokenizer.json",
                       shown(v->pre, strlen(v->pre), name));
    else
        (void)qks_fail(error, QKS_UNSUPPORTED,
                       "no tokenizer.ggml.pre says how its text is split; give a tokenizer.json");
    return NULL;
}

static qks_status add_rule(tokenizer *t, const pre_rule *rule, qks_error *error)
{
    qks_status status = QKS_OK;
    if (rule->nfc)
        status = array_push(&t->normalizer,
                            ((normalizer_step){.kind = NORMALIZE_FORM, .form = FORM_NFC}), error);
    if (status == QKS_OK && rule->digits)
        status = array_push(&t->pre,
                            ((pre_step){.kind = PRE_SPLIT_CLASS,
                                        .class = CLASS_NUMERIC,
                                        .behavior = SPLIT_ISOLATED}),
                            error);
    for (size_t i = 0; status == QKS_OK && i < PATTERNS_MAX && rule->patterns[i]; i++)
        status = add_split(&t->pre, rule->patterns[i], SPLIT_ISOLATED, error);
    if (status == QKS_OK)
        status = array_push(&t->pre, (pre_step){.kind = PRE_BYTES}, error);
    t->model.ignore_merges = rule->ignore_merges;
    return status;
}

static qks_status add_merges(tokenizer *t, const gguf_vocab *v, qks_error *error)
{
    if (v->merges.length == 0)
        return qks_fail(error, QKS_MISSING, "no tokenizer.ggml.merges");
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < v->merges.length; i++) {
        gguf_string m = v->merges.data[i];
        const char *space = memchr(m.bytes, ' ', m.length);
        if (!space || memchr(space + 1, ' ', m.length - (size_t)(space + 1 - m.bytes)))
            return qks_fail(error, QKS_INVALID, "merge %zu is no pair of tokens", i + 1);
        bpe_side left = {m.bytes, (size_t)(space - m.bytes)};
        bpe_side right = {space + 1, m.length - left.length - 1};
        status = bpe_add_merge(&t->model, left, right, (uint32_t)i, error);
    }
    return status;
}

/* ---- SentencePiece vocabularies ("llama") ---- */
static gguf_token_type type_of(const gguf_vocab *v, size_t id)
{
    return id < v->types.length ? (gguf_token_type)v->types.data[id] : GGUF_TOKEN_NORMAL;
}

/* May it be made by merging? */
static bool is_piece(const gguf_vocab *v, int32_t id)
{
    gguf_token_type type = id == NO_ID ? GGUF_TOKEN_CONTROL : type_of(v, (size_t)id);
    return type != GGUF_TOKEN_CONTROL && type != GGUF_TOKEN_UNKNOWN && type != GGUF_TOKEN_BYTE;
}

typedef struct scored {
    double score;
    size_t id;
} scored;

static int by_score(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Every way to make the piece of two others, with one rank for all. */
static qks_status add_ways(tokenizer *t, const gguf_vocab *v, gguf_string piece, uint32_t rank,
                           qks_error *error)
{
    if (piece.length > PIECE_MAX)
        return qks_fail(error, QKS_UNSUPPORTED, "a piece of %zu bytes is too long", piece.length);
    qks_status status = QKS_OK;
    for (size_t at = 1; status == QKS_OK && at < piece.length; at++) {
        bpe_side left = {piece.bytes, at}, right = {piece.bytes + at, piece.length - at};
        if (utf8_starts(piece.bytes[at]) &&
            is_piece(v, word_find(&t->model.vocab, left.bytes, left.length)) &&
            is_piece(v, word_find(&t->model.vocab, right.bytes, right.length)))
            status = bpe_add_merge(&t->model, left, right, rank, error);
    }
    return status;
}

/* Pieces of higher score are made first; equal ones from left to right. */
static qks_status add_scored(tokenizer *t, const gguf_vocab *v, qks_error *error)
{
    if (v->scores.length < v->tokens.length)
        return qks_fail(error, QKS_INVALID, "%zu tokens, but %zu scores", v->tokens.length,
                        v->scores.length);
    scored *order = NULL;
    qks_status status = memory_zeroed(&order, v->tokens.length, sizeof *order, error);
    if (status != QKS_OK)
        return status;
    for (size_t i = 0; i < v->tokens.length; i++)
        order[i] = (scored){v->scores.data[i], i};
    qsort(order, v->tokens.length, sizeof *order, by_score);
    uint32_t rank = 0;
    for (size_t i = 0; status == QKS_OK && i < v->tokens.length; i++) {
        rank += i > 0 && order[i].score != order[i - 1].score;
        if (is_piece(v, (int32_t)order[i].id))
            status = add_ways(t, v, v->tokens.data[order[i].id], rank, error);
    }
    free(order);
    return status;
}

static qks_status add_marks(tokenizer *t, bool first, qks_error *error)
{
    normalizer_step prepend = {
        .kind = NORMALIZE_PREPEND, .content = MARK, .length = sizeof MARK - 1};
    normalizer_step replace = {
        .kind = NORMALIZE_REPLACE, .content = MARK, .length = sizeof MARK - 1};
    qks_status status = first ? array_push(&t->normalizer, prepend, error) : QKS_OK;
    if (status == QKS_OK)
        status = pattern_plain(&replace.pattern, " ", 1, error);
    if (status != QKS_OK)
        return status;
    status = array_push(&t->normalizer, replace, error);
    if (status != QKS_OK)
        pattern_free(replace.pattern);
    return status;
}

static qks_status set_unknown(tokenizer *t, const gguf_vocab *v, qks_error *error)
{
    if (v->unk == GGUF_NOT_SAID)
        return QKS_OK;
    if (v->unk >= (int64_t)v->tokens.length)
        return qks_fail(error, QKS_INVALID, "unknown_token_id %lld is no token", (long long)v->unk);
    gguf_string unk = v->tokens.data[v->unk];
    t->model.unk_token = arena_copy(&t->memory, unk.bytes, unk.length);
    return t->model.unk_token ? QKS_OK : out_of_memory(error, "tokenizer");
}

/* ---- both ---- */
static qks_status add_tokens(tokenizer *t, gguf_vocab *v, qks_error *error)
{
    if (v->tokens.length == 0)
        return qks_fail(error, QKS_MISSING, "no tokenizer.ggml.tokens, or none in it");
    if (v->types.length && v->types.length < v->tokens.length)
        return qks_fail(error, QKS_INVALID, "%zu tokens, but %zu token types", v->tokens.length,
                        v->types.length);
    t->model.prefix = t->model.suffix = "";
    qks_status status = bpe_reserve(&t->model, v->tokens.length, v->merges.length, error);
    for (size_t i = 0; status == QKS_OK && i < v->tokens.length; i++)
        if (v->tokens.data[i].length) /* an empty one is a place that is not used */
            status = bpe_add_token(&t->model, v->tokens.data[i].bytes, v->tokens.data[i].length,
                                   (int64_t)i, error);
    return status;
}

static qks_status add_special_tokens(tokenizer *t, const gguf_vocab *v, qks_error *error)
{
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < v->types.length && i < v->tokens.length; i++) {
        gguf_token_type type = type_of(v, i);
        if (type != GGUF_TOKEN_CONTROL && type != GGUF_TOKEN_USER_DEFINED &&
            type != GGUF_TOKEN_UNKNOWN)
            continue;
        added_token token = {.content = v->tokens.data[i].bytes,
                             .length = v->tokens.data[i].length,
                             .special = type != GGUF_TOKEN_USER_DEFINED};
        status = tokenizer_add_token(t, &token, error);
    }
    return status;
}

static qks_status add_to_template(tokenizer *t, const gguf_vocab *v, const char *name, int64_t id,
                                  qks_error *error)
{
    if (id < 0 || id >= (int64_t)v->tokens.length)
        return qks_fail(error, QKS_INVALID,
                        "add_%s_token is true, but %s_token_id is missing or no token", name, name);
    return array_push(&t->template, (int32_t)id, error);
}

static qks_status add_template(tokenizer *t, const gguf_vocab *v, bool bos, qks_error *error)
{
    bos = v->add_bos == GGUF_NOT_SAID ? bos : v->add_bos != 0;
    qks_status status = bos ? add_to_template(t, v, "bos", v->bos, error) : QKS_OK;
    if (status == QKS_OK)
        status = array_push(&t->template, (int32_t)THE_TEXT, error);
    if (status == QKS_OK && v->add_eos == 1)
        status = add_to_template(t, v, "eos", v->eos, error);
    return status;
}

static qks_status read_byte_level_vocab(tokenizer *t, gguf_vocab *v, qks_error *error)
{
    const pre_rule *rule = find_rule(v, error);
    if (!rule)
        return QKS_UNSUPPORTED;
    qks_status status = add_rule(t, rule, error);
    if (status == QKS_OK)
        status = add_tokens(t, v, error);
    if (status == QKS_OK)
        status = add_merges(t, v, error);
    return status == QKS_OK ? add_template(t, v, rule->add_bos, error) : status;
}

static qks_status read_piece_vocab(tokenizer *t, gguf_vocab *v, qks_error *error)
{
    if (v->has_charsmap)
        return qks_fail(error, QKS_UNSUPPORTED,
                        "its precompiled_charsmap (a SentencePiece normalizer) is not supported");
    t->model.byte_fallback = t->model.fuse_unk = true;
    qks_status status = add_marks(t, v->add_space_prefix != 0, error);
    if (status == QKS_OK)
        status = add_tokens(t, v, error);
    if (status == QKS_OK)
        status = set_unknown(t, v, error);
    if (status == QKS_OK)
        status = add_scored(t, v, error);
    return status == QKS_OK ? add_template(t, v, true, error) : status;
}

static qks_status read_vocab(tokenizer *t, gguf_vocab *v, qks_error *error)
{
    qks_status status = QKS_OK;
    char name[SHOWN_SIZE];
    if (!v->model)
        status = qks_fail(error, QKS_MISSING, "no vocabulary (tokenizer.ggml.model)");
    else if (strcmp(v->model, "gpt2") == 0)
        status = read_byte_level_vocab(t, v, error);
    else if (strcmp(v->model, "llama") == 0)
        status = read_piece_vocab(t, v, error);
    else
        status = qks_fail(error, QKS_UNSUPPORTED,
                          "vocabulary type %s (tokenizer.ggml.model) is not supported; gpt2 and "
                          "llama are",
                          shown(v->model, strlen(v->model), name));
    if (status == QKS_OK)
        status = add_special_tokens(t, v, error);
    return status == QKS_OK ? tokenizer_finish(t, error) : status;
}

qks_status tokenizer_read_gguf(tokenizer *t, const char *path, qks_error *error)
{
    gguf_vocab v;
    qks_status status = gguf_vocab_read(&v, path, &t->memory, error);
    if (status == QKS_OK)
        status = read_vocab(t, &v, error);
    gguf_vocab_close(&v);
    return status == QKS_OK ? QKS_OK : qks_prefix(error, status, "'%s'", path);
}
