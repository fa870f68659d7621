/* pre_tokenizer.c: each step hands its pieces to the next, the last to the visitor. */
#include "text/pre_tokenizer.h"

#include "text/normalizer.h"
#include "text/unicode.h"

#include <stdlib.h>
#include <string.h>

typedef struct run {
    const pre_tokenizer *steps;
    pre_scratch *scratch;
    word_visit *visit;
    void *context;
} run;

static qks_status run_step(const run *r, size_t step, stretch piece, qks_error *error);

void pre_tokenizer_free(pre_tokenizer *p)
{
    for (size_t i = 0; i < p->length; i++)
        pattern_free(p->data[i].pattern);
    free(p->data);
    *p = (pre_tokenizer){0};
}

/* ---- splitting: matches and gaps come in, in order and without holes; pieces go out ---- */
typedef struct splitter {
    const run *run;
    size_t next; /* the step that gets the pieces */
    stretch whole;
    split_behavior behavior;
    bool invert;
    bool holding; /* a piece that may still grow: */
    bool held_is_match;
    size_t start, end;
} splitter;

static qks_status give(const splitter *s, size_t start, size_t end, qks_error *error)
{
    if (start == end)
        return QKS_OK;
    return run_step(s->run, s->next, stretch_part(s->whole, start, end), error);
}

/* Does what comes now belong to the piece in hand? */
static bool belongs(const splitter *s, bool is_match)
{
    switch (s->behavior) {
    case SPLIT_CONTIGUOUS:
        return is_match == s->held_is_match;
    case SPLIT_MERGED_WITH_PREVIOUS:
        return is_match && !s->held_is_match;
    case SPLIT_MERGED_WITH_NEXT:
        return !is_match && s->held_is_match;
    default:
        return false;
    }
}

static qks_status split_at(splitter *s, size_t start, size_t end, bool is_match, qks_error *error)
{
    is_match ^= s->invert;
    if (s->behavior == SPLIT_ISOLATED || s->behavior == SPLIT_REMOVED)
        return is_match && s->behavior == SPLIT_REMOVED ? QKS_OK : give(s, start, end, error);
    qks_status status = QKS_OK;
    if (s->holding && belongs(s, is_match)) {
        s->end = end;
    } else {
        if (s->holding)
            status = give(s, s->start, s->end, error);
        s->holding = true;
        s->start = start;
        s->end = end;
    }
    s->held_is_match = is_match;
    return status;
}

static qks_status split_end(splitter *s, qks_error *error)
{
    return s->holding ? give(s, s->start, s->end, error) : QKS_OK;
}

static splitter splitter_of(const run *r, size_t step, stretch piece)
{
    const pre_step *p = &r->steps->data[step];
    return (splitter){
        .run = r, .next = step + 1, .whole = piece, .behavior = p->behavior, .invert = p->invert};
}

/* ---- what splits ---- */
static qks_status split_by_pattern(const run *r, size_t step, stretch piece, qks_error *error)
{
    splitter s = splitter_of(r, step, piece);
    match m = {0};
    size_t done = 0;
    qks_status status = QKS_OK;
    while (status == QKS_OK) {
        status = pattern_next(r->steps->data[step].pattern, r->scratch->search, piece.bytes,
                              piece.length, &m, error);
        if (status != QKS_OK || !m.found)
            break;
        if (m.start > done)
            status = split_at(&s, done, m.start, false, error);
        if (status == QKS_OK)
            status = split_at(&s, m.start, m.end, true, error);
        done = m.end;
    }
    if (status == QKS_OK && done < piece.length)
        status = split_at(&s, done, piece.length, false, error);
    return status == QKS_OK ? split_end(&s, error) : status;
}

static bool is_in_class(uint32_t character, character_class class)
{
    return class == CLASS_NUMERIC       ? is_numeric(character)
           : class == CLASS_WHITE_SPACE ? is_white_space(character)
                                        : is_punctuation(character);
}

static qks_status split_by_class(const run *r, size_t step, stretch piece, qks_error *error)
{
    splitter s = splitter_of(r, step, piece);
    character_class class = r->steps->data[step].class;
    size_t gap = 0, size = 0;
    qks_status status = QKS_OK;
    for (size_t at = 0; status == QKS_OK && at < piece.length; at += size) {
        if (!is_in_class(utf8_decode(piece.bytes + at, &size), class))
            continue;
        if (at > gap)
            status = split_at(&s, gap, at, false, error);
        if (status == QKS_OK)
            status = split_at(&s, at, at + size, true, error);
        gap = at + size;
    }
    if (status == QKS_OK && gap < piece.length)
        status = split_at(&s, gap, piece.length, false, error);
    return status == QKS_OK ? split_end(&s, error) : status;
}

static qks_status split_words(const run *r, size_t step, stretch piece, qks_error *error)
{
    enum { SPACE, WORD, OTHER } kind = SPACE, before = SPACE;
    size_t start = 0, size = 0;
    qks_status status = QKS_OK;
    for (size_t at = 0; status == QKS_OK && at < piece.length; at += size) {
        uint32_t c = utf8_decode(piece.bytes + at, &size);
        kind = is_word(c) ? WORD : is_white_space(c) ? SPACE : OTHER;
        if (kind == before)
            continue;
        if (before != SPACE)
            status = run_step(r, step + 1, stretch_part(piece, start, at), error);
        before = kind;
        start = at;
    }
    if (status == QKS_OK && before != SPACE)
        status = run_step(r, step + 1, stretch_part(piece, start, piece.length), error);
    return status;
}

static qks_status split_fixed(const run *r, size_t step, stretch piece, qks_error *error)
{
    size_t start = 0, count = 0;
    qks_status status = QKS_OK;
    for (size_t at = 0; status == QKS_OK && at < piece.length;) {
        at += utf8_size(piece.bytes[at]);
        if (++count < r->steps->data[step].count && at < piece.length)
            continue;
        status = run_step(r, step + 1, stretch_part(piece, start, at), error);
        start = at;
        count = 0;
    }
    return status;
}

/* ---- what changes the piece ---- */
static qks_status written(const run *r, size_t step, size_t head, qks_error *error)
{
    const text *out = &r->scratch->texts[step];
    qks_status status = text_status(out, "a text to split", error);
    if (status != QKS_OK)
        return status;
    return run_step(r, step + 1, (stretch){text_string(out), out->length, head}, error);
}

static qks_status prefix_space(const run *r, size_t step, stretch piece, qks_error *error)
{
    if (piece.bytes[0] == ' ')
        return run_step(r, step + 1, piece, error);
    text *out = &r->scratch->texts[step];
    text_clear(out);
    text_append(out, " ", 1);
    text_append(out, piece.bytes, piece.length);
    return written(r, step, piece.head ? piece.head + 1 : 0, error);
}

/* Append with the mark for each space. */
static void append_marked(text *out, const char *bytes, size_t length, const char *mark)
{
    while (length) {
        const char *space = memchr(bytes, ' ', length);
        size_t before = space ? (size_t)(space - bytes) : length;
        text_append(out, bytes, before);
        if (!space)
            return;
        text_add(out, mark);
        bytes = space + 1;
        length -= before + 1;
    }
}

static qks_status metaspace(const run *r, size_t step, stretch piece, qks_error *error)
{
    const pre_step *p = &r->steps->data[step];
    size_t size = strlen(p->mark);
    bool marked = piece.bytes[0] == ' ' ||
                  (piece.length >= size && memcmp(piece.bytes, p->mark, size) == 0);
    text *out = &r->scratch->texts[step];
    text_clear(out);
    if (!marked && (p->first == MARK_ALWAYS || (p->first == MARK_FIRST && piece.head)))
        text_add(out, p->mark);
    append_marked(out, piece.bytes, piece.head, p->mark);
    size_t head = piece.head ? out->length : 0;
    append_marked(out, piece.bytes + piece.head, piece.length - piece.head, p->mark);
    return written(r, step, head, error);
}

static qks_status to_bytes(const run *r, size_t step, stretch piece, qks_error *error)
{
    text *out = &r->scratch->texts[step];
    text_clear(out);
    append_byte_characters(out, piece.bytes, piece.head);
    size_t head = out->length;
    append_byte_characters(out, piece.bytes + piece.head, piece.length - piece.head);
    return written(r, step, head, error);
}

static qks_status run_step(const run *r, size_t step, stretch piece, qks_error *error)
{
    if (step == r->steps->length)
        return r->visit(r->context, piece, error);
    switch (r->steps->data[step].kind) {
    case PRE_SPLIT:
        return split_by_pattern(r, step, piece, error);
    case PRE_SPLIT_CLASS:
        return split_by_class(r, step, piece, error);
    case PRE_WORDS:
        return split_words(r, step, piece, error);
    case PRE_FIXED_LENGTH:
        return split_fixed(r, step, piece, error);
    case PRE_PREFIX_SPACE:
        return prefix_space(r, step, piece, error);
    case PRE_METASPACE:
        return metaspace(r, step, piece, error);
    default:
        return to_bytes(r, step, piece, error);
    }
}

qks_status pre_tokenize(const pre_tokenizer *p, pre_scratch *scratch, stretch in, word_visit *visit,
                        void *context, qks_error *error)
{
    run r = {p, scratch, visit, context};
    return in.length ? run_step(&r, 0, in, error) : QKS_OK;
}
