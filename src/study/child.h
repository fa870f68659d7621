/* child.h: a worker process and the lines of JSON spoken with it. Each model runs in a process of
 * its own, so that a broken checkpoint, a ggml abort or the memory killer ends that model's units
 * only. */
#ifndef QKS_STUDY_CHILD_H
#define QKS_STUDY_CHILD_H

#include "base/text.h"
#include "qkscope/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct child {
    pid_t process; /* 0: none */
    int to, from;  /* pipes; -1: closed */
    FILE *errors;  /* what it wrote to standard error */
    text lines;    /* read and not yet taken */
} child;

/* Start `program worker`. */
QKS_MUST_CHECK qks_status child_start(child *c, const char *program, qks_error *error);

/* Send one object as a line. */
QKS_MUST_CHECK qks_status child_tell(child *c, const json_t *message, qks_error *error);

/* The next line it sent. Waits at most `milliseconds` (-1: for ever); `*message` NULL: nothing yet,
 * and with `*ended` the process has gone. The caller decrefs. */
QKS_MUST_CHECK qks_status child_hear(child *c, int milliseconds, json_t **message, bool *ended,
                                     qks_error *error);

/* End it: `kill` at once, or let it finish by closing its input. The reason, if it did not end well
 * ("killed by signal 9 (perhaps for memory)", with its last message), goes to `reason`. */
void child_end(child *c, bool kill_it, text *reason);

#endif
