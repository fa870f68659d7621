/* text.h: a growing string with a mandatory maximum. Errors stick: append at will, then ask once
 * with text_status(). */
#ifndef QKS_BASE_TEXT_H
#define QKS_BASE_TEXT_H

#include "qkscope/status.h"

#include <stddef.h>

typedef struct text {
    char *data;                       /* NUL-terminated once anything was appended */
    size_t length, capacity, maximum; /* maximum in bytes; set by text_new */
    qks_status status;                /* QKS_OK, QKS_MEMORY, or QKS_INVALID past the maximum */
} text;

text text_new(size_t maximum);
void text_append(text *t, const char *bytes, size_t length);
void text_add(text *t, const char *string);
void text_addf(text *t, const char *format, ...) QKS_PRINTF(2, 3);
void text_clear(text *t); /* empty again, memory kept */
void text_free(text *t);
const char *text_string(const text *t); /* "" when empty; never NULL */
QKS_MUST_CHECK qks_status text_status(const text *t, const char *what, qks_error *error);

/* A file-name-safe form of any name: [a-z0-9._-], at most 80 bytes, never empty, never starting
 * with a dot or dash; `out` has room for 81. */
enum { SLUG_SIZE = 81 };
void slug_of(const char *name, char out[SLUG_SIZE]);

#endif
