/* normalizer.c: one function for each kind of step, from a stretch to a buffer. */
#include "text/normalizer.h"

#include "text/unicode.h"

#include <stdlib.h>
#include <string.h>

void normalizer_free(normalizer *n)
{
    for (size_t i = 0; i < n->length; i++)
        pattern_free(n->data[i].pattern);
    free(n->data);
    *n = (normalizer){0};
}

void normalizer_scratch_free(normalizer_scratch *s)
{
    text_free(&s->first);
    text_free(&s->second);
    free(s->form.marks.data);
    free(s->form.sorted.data);
}

/* ---- the byte-level alphabet ---- */
uint32_t byte_character(unsigned char byte)
{
    if (byte <= 0x20)
        return 0x100U + byte;
    if (byte >= 0x7F && byte <= 0xA0)
        return 0x121U + byte - 0x7FU;
    return byte == 0xAD ? 0x143 : byte;
}

void append_byte_characters(text *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char encoded[UTF8_MAX];
        text_append(out, encoded, utf8_encode(byte_character((unsigned char)bytes[i]), encoded));
    }
}

static size_t append_bytes_step(text *out, stretch s)
{
    append_byte_characters(out, s.bytes, s.head);
    size_t head = out->length;
    append_byte_characters(out, s.bytes + s.head, s.length - s.head);
    return head;
}

/* ---- character by character ---- */
/* What a character becomes: up to LOWERCASE_MAX characters, or none. */
typedef size_t character_map(uint32_t character, uint32_t out[LOWERCASE_MAX]);

static size_t without_accents(uint32_t c, uint32_t out[LOWERCASE_MAX])
{
    out[0] = c;
    return !is_combining_mark(c);
}

/* SentencePiece's "nmt" rules: control characters go, odd spaces become spaces. */
static size_t nmt_character(uint32_t c, uint32_t out[LOWERCASE_MAX])
{
    bool dropped = (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F ||
                   c == 0x8F || c == 0x9F;
    bool space = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                 (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                 c == 0xFEFF || c == 0xFFFD;
    out[0] = space ? ' ' : c;
    return !dropped;
}

static size_t append_mapped(text *out, stretch s, character_map *map)
{
    size_t head = 0, size = 0;
    for (size_t at = 0; at < s.length; at += size) {
        uint32_t mapped[LOWERCASE_MAX];
        size_t count = map(utf8_decode(s.bytes + at, &size), mapped);
        for (size_t i = 0; i < count; i++) {
            char encoded[UTF8_MAX];
            text_append(out, encoded, utf8_encode(mapped[i], encoded));
        }
        if (at < s.head)
            head = out->length;
    }
    return head;
}

/* ---- the others ---- */
static size_t append_stripped(text *out, stretch s, const normalizer_step *step)
{
    size_t start = 0, end = s.length, size = 0;
    while (step->left && start < end && is_white_space(utf8_decode(s.bytes + start, &size)))
        start += size;
    while (step->right && end > start && is_white_space(utf8_decode_before(s.bytes, end, &size)))
        end -= size;
    stretch part = stretch_part(s, start, end);
    text_append(out, part.bytes, part.length);
    return part.head;
}

static size_t append_prepended(text *out, stretch s, const normalizer_step *step)
{
    text_append(out, step->content, step->length);
    text_append(out, s.bytes, s.length);
    return s.head ? s.head + step->length : 0;
}

/* What is put in stands where the last byte of what it replaces stood. */
static qks_status append_replaced(text *out, stretch s, const normalizer_step *step,
                                  search *search_in, size_t *head, qks_error *error)
{
    size_t done = 0;
    *head = 0;
    match m = {0};
    for (;;) {
        qks_status status = pattern_next(step->pattern, search_in, s.bytes, s.length, &m, error);
        if (status != QKS_OK)
            return status;
        size_t until = m.found ? m.start : s.length;
        if (m.found && m.end == 0 && step->length && step->rewritten)
            return qks_fail(error, QKS_UNSUPPORTED,
                            "a Replace normalizer that puts text before the first character, with "
                            "another normalizer or ByteLevel after it, is not supported");
        text_append(out, s.bytes + done, until - done);
        if (done < s.head)
            *head = out->length - (until > s.head ? until - s.head : 0);
        if (!m.found)
            return QKS_OK;
        text_append(out, step->content, step->length);
        if (s.head && m.end <= s.head)
            *head = out->length;
        done = m.end;
        if (text_status(out, "text", NULL) != QKS_OK)
            return QKS_OK; /* the caller sees */
    }
}

static bool is_ascii(stretch s)
{
    for (size_t i = 0; i < s.length; i++)
        if ((unsigned char)s.bytes[i] >= 0x80)
            return false;
    return true;
}

/* ---- steps ---- */
/* Does the step leave this text as it is? */
static bool leaves(const normalizer_step *step, stretch s)
{
    return s.length == 0 || (step->kind == NORMALIZE_FORM && is_ascii(s));
}

static qks_status append_step(const normalizer_step *step, normalizer_scratch *scratch, text *out,
                              stretch *s, qks_error *error)
{
    size_t head = 0;
    qks_status status = QKS_OK;
    switch (step->kind) {
    case NORMALIZE_FORM:
        status = normal_form_append(out, *s, step->form, &head, &scratch->form, error);
        break;
    case NORMALIZE_REPLACE:
        status = append_replaced(out, *s, step, scratch->search, &head, error);
        break;
    case NORMALIZE_PREPEND:
        head = append_prepended(out, *s, step);
        break;
    case NORMALIZE_LOWERCASE:
        head = append_mapped(out, *s, lowercase_of);
        break;
    case NORMALIZE_STRIP_ACCENTS:
        head = append_mapped(out, *s, without_accents);
        break;
    case NORMALIZE_NMT:
        head = append_mapped(out, *s, nmt_character);
        break;
    case NORMALIZE_STRIP:
        head = append_stripped(out, *s, step);
        break;
    case NORMALIZE_BYTES:
        head = append_bytes_step(out, *s);
        break;
    }
    if (status == QKS_OK)
        status = text_status(out, "a normalized text", error);
    *s = (stretch){text_string(out), out->length, head};
    return status;
}

qks_status normalize(const normalizer *n, normalizer_scratch *scratch, stretch in, stretch *out,
                     qks_error *error)
{
    text *free_one = &scratch->first, *other = &scratch->second;
    for (size_t i = 0; i < n->length; i++) {
        const normalizer_step *step = &n->data[i];
        if (leaves(step, in))
            continue;
        text_clear(free_one);
        qks_status status = append_step(step, scratch, free_one, &in, error);
        if (status != QKS_OK)
            return status;
        text *used = free_one;
        free_one = other;
        other = used;
    }
    *out = in;
    return QKS_OK;
}
