/* progress.h: one line on a terminal that says how far a long piece of work is and when it will be
 * done: "capture  37%  48234/131072 tokens  ETA 3:12  412 tokens/s  layer 7".
 *
 * The caller hands in the stream; on anything but a terminal (or with TERM=dumb or no TERM) nothing
 * is ever written. Progress cannot fail: without a terminal or memory progress_start() gives NULL,
 * and every function takes NULL. No colours are used, so NO_COLOR has nothing to forbid. */
#ifndef QKS_BASE_PROGRESS_H
#define QKS_BASE_PROGRESS_H

#include "qkscope/status.h"

#include <stdint.h>
#include <stdio.h>

typedef struct progress progress;

/* `total` in `unit`s ("tokens"), 0 if not known. Strings are copied; the stream must outlive the
 * progress. End with progress_end(). */
progress *progress_start(FILE *stream, const char *what, uint64_t total, const char *unit);

/* Instead of a line on a terminal: `tell` hears how much is done, at most ten times a second, and
 * once more at the end. */
typedef void progress_tell(void *context, uint64_t done);
progress *progress_relay(progress_tell *tell, void *context);

/* `n` more are done. From any thread, as often as one likes: the line is drawn at most ten times a
 * second. */
void progress_add(progress *p, uint64_t n);

/* `n` were found done already: they count as done, but not for the speed. */
void progress_skip(progress *p, uint64_t n);

/* A remark for the end of the line, in place of the last one. From any thread. */
void progress_note(progress *p, const char *format, ...) QKS_PRINTF(2, 3);

/* Take the line away, so that a message can be printed; the next progress_add brings it back. */
void progress_hide(progress *p);

/* Take the line away and free `p`. After this no thread may use it. */
void progress_end(progress *p);

#endif
