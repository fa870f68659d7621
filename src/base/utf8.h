/* utf8.h: whether bytes are UTF-8: no surrogates, no overlong forms, nothing past U+10FFFF; NUL is
 * a character like any other. */
#ifndef QKS_BASE_UTF8_H
#define QKS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

bool utf8_valid(const char *bytes, size_t length);

/* Bytes of the character at `bytes`, of which `left` > 0 are there; 0 if it is not valid. */
size_t utf8_character(const char *bytes, size_t left);

#endif
