/* pattern.h: what Split and Replace look for: a regular expression (Oniguruma, the engine and the
 * dialect of the tokenizers library) or a plain string.
 *
 * A file may hold a pattern made to take forever. Each search has a limit on backtracking (that of
 * the library) and on memory, and all searches in one document share a deadline. */
#ifndef QKS_TEXT_PATTERN_H
#define QKS_TEXT_PATTERN_H

#include "qkscope/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct pattern pattern; /* may be used from many threads at once */

QKS_MUST_CHECK qks_status pattern_compile(pattern **out, const char *expression, size_t length,
                                          qks_error *error);
QKS_MUST_CHECK qks_status pattern_plain(pattern **out, const char *string, size_t length,
                                        qks_error *error);
void pattern_free(pattern *p); /* NULL is fine */

/* What searching needs beside the pattern; one for each thread. */
typedef struct search search;
QKS_MUST_CHECK qks_status search_open(search **out, qks_error *error);
void search_close(search *s);                  /* NULL is fine */
void search_begin(search *s, size_t document); /* a document of so many bytes: set the deadline */

/* The matches in a text, one after another: zero it, then call pattern_next until !found. An empty
 * match right behind the match before it is passed over. */
typedef struct match {
    size_t start, end; /* start >= the end of the match before */
    bool found;
    size_t from;   /* where the next search begins */
    bool any;      /* there was a match before */
    size_t before; /* its end */
} match;
QKS_MUST_CHECK qks_status pattern_next(const pattern *p, search *s, const char *bytes,
                                       size_t length, match *m, qks_error *error);

#endif
