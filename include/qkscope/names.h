/* names.h: "did you mean". */
#ifndef QKSCOPE_NAMES_H
#define QKSCOPE_NAMES_H

#ifdef __cplusplus
extern "C" {
#endif

/* The nearest of the names (ends with NULL) to what was typed, by edit distance; NULL if none is
 * near. */
const char *qks_nearest(const char *typed, const char *const *names);

#ifdef __cplusplus
}
#endif
#endif
