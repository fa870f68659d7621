/* local.h: the worker process of this machine as a small state machine: it is given one unit at a
 * time and asked, without waiting long, what has become of it. */
#ifndef QKS_STUDY_LOCAL_H
#define QKS_STUDY_LOCAL_H

#include "study/plan.h"

typedef enum local_event {
    LOCAL_NOTHING,
    LOCAL_PROGRESS, /* `work` more is done */
    LOCAL_DONE,     /* the unit's file is in place */
    LOCAL_FAILED,   /* the unit's model failed; `reason` says why */
} local_event;

typedef struct local {
    child child;
    bool open, busy;
    size_t model, group; /* of the unit at work */
    const char *path, *key;
    uint64_t reported; /* work of the unit told so far */
    /* of the last event */
    uint64_t work;
    double seconds;
    text reason;
} local;

void local_open(local *l);
void local_drop(local *l);  /* kills what is at work */
void local_close(local *l); /* the same, for good */

/* Begin a unit; the worker of another model is ended first. `key`: what the worker's own plan must
 * say of the group, or its files are not the study's. Strings must live until the unit ends. */
QKS_MUST_CHECK qks_status local_begin(local *l, const plan *p, size_t model, size_t group,
                                      const char *key, const char *path, qks_error *error);

/* Wait at most `milliseconds` for the next event. */
QKS_MUST_CHECK qks_status local_step(local *l, int milliseconds, local_event *event,
                                     qks_error *error);

#endif
