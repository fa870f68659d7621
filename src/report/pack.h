/* pack.h: pieces of JSON that can stand inside a <script> element: no byte of a name can end the
 * element, open a comment, or leave its string. Numbers are short and the same in every locale. */
#ifndef QKS_REPORT_PACK_H
#define QKS_REPORT_PACK_H

#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

/* A string in quotes; NULL gives null. What is not UTF-8 becomes U+FFFD. */
void pack_string(text *t, const char *string);
void pack_bytes(text *t, const char *bytes, size_t length);
/* JSON that is already written, with the characters escaped that mean something in HTML. */
void pack_json(text *t, const char *json);
void pack_base64(text *t, const void *bytes, size_t length); /* in quotes */

/* A blank (INT64_MIN, NaN) gives null. */
void pack_integer(text *t, int64_t value);
void pack_real(text *t, double value);                 /* to five digits */
void pack_scaled(text *t, double value, int decimals); /* value x 10^decimals, a whole number */

#endif
