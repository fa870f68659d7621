/* normalizer.h: the steps that change a text before it is split: a list, sequences flattened. */
#ifndef QKS_TEXT_NORMALIZER_H
#define QKS_TEXT_NORMALIZER_H

#include "base/memory.h"
#include "base/text.h"
#include "qkscope/status.h"
#include "text/normal_form.h"
#include "text/pattern.h"
#include "text/stretch.h"

typedef enum normalizer_kind {
    NORMALIZE_FORM,
    NORMALIZE_REPLACE,
    NORMALIZE_PREPEND,
    NORMALIZE_STRIP,
    NORMALIZE_LOWERCASE,
    NORMALIZE_STRIP_ACCENTS,
    NORMALIZE_NMT,
    NORMALIZE_BYTES, /* each byte as a character of the byte-level alphabet */
} normalizer_kind;

typedef struct normalizer_step {
    normalizer_kind kind;
    normal_form form;    /* FORM */
    pattern *pattern;    /* REPLACE; the list's own */
    const char *content; /* REPLACE, PREPEND: what is put in; the tokenizer's arena's */
    size_t length;
    bool left, right; /* STRIP */
    /* REPLACE: a later step rewrites the text as a whole. The library fails when something was put
     * in before the first character by then. */
    bool rewritten;
} normalizer_step;

typedef ARRAY_OF(normalizer_step) normalizer;

void normalizer_free(normalizer *n);

typedef struct normalizer_scratch {
    text first, second; /* the steps write to one and the other in turn */
    normal_form_scratch form;
    search *search; /* the encoder's */
} normalizer_scratch;

void normalizer_scratch_free(normalizer_scratch *s);

/* `*out` is `in` itself or lies in the scratch, until the next call. */
QKS_MUST_CHECK qks_status normalize(const normalizer *n, normalizer_scratch *scratch, stretch in,
                                    stretch *out, qks_error *error);

/* The byte-level alphabet (GPT-2's): bytes that are no printable characters of Latin-1 are moved to
 * U+0100 and up. Appends the characters of `bytes`. */
uint32_t byte_character(unsigned char byte);
void append_byte_characters(text *out, const char *bytes, size_t length);

#endif
