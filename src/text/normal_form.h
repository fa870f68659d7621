/* normal_form.h: Unicode's normal forms as the tokenizers library makes them: by the tables of
 * Unicode 9, whatever utf8proc knows. */
#ifndef QKS_TEXT_NORMAL_FORM_H
#define QKS_TEXT_NORMAL_FORM_H

#include "base/memory.h"
#include "base/text.h"
#include "qkscope/status.h"
#include "text/stretch.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum normal_form { FORM_NFC, FORM_NFD, FORM_NFKC, FORM_NFKD } normal_form;

/* A character on its way, and how many characters of the text it stands for: none if it is a later
 * one of those that a character was taken apart into. */
typedef struct loose {
    uint32_t character;
    uint8_t combining; /* canonical combining class; 0: a starter */
    size_t takes;
} loose;

/* Kept from call to call; zero is fine to begin with, free(marks.data) and free(sorted.data). */
typedef ARRAY_OF(loose) loose_list;
typedef struct normal_form_scratch {
    loose_list marks, sorted;
} normal_form_scratch;

/* Append to `out`; returns the new length of `head` (stretch.h). Errors of `out` stick to it. */
QKS_MUST_CHECK qks_status normal_form_append(text *out, stretch s, normal_form form, size_t *head,
                                             normal_form_scratch *scratch, qks_error *error);

#endif
