/* schedule.h: bringing every unit of a plan to its file: by this machine's worker, and under mpirun
 * by those of the other ranks, too. */
#ifndef QKS_STUDY_SCHEDULE_H
#define QKS_STUDY_SCHEDULE_H

#include "base/progress.h"
#include "study/plan.h"

typedef struct schedule {
    plan *plan;
    progress *progress;
    FILE *events;
    size_t computed; /* units, in this run */
} schedule;

/* Compute what is missing. Units of models that fail stay undone, and the models are marked. */
QKS_MUST_CHECK qks_status schedule_run(schedule *s, qks_error *error);

/* ---- ranks ---- */
/* Is this process one of several under mpirun? Starts MPI if so. */
QKS_MUST_CHECK qks_status ranks_open(int *rank, int *count, qks_error *error);
void ranks_close(void);

/* What a rank other than 0 does: units as rank 0 hands them out, until there are no more. */
QKS_MUST_CHECK qks_status ranks_serve(plan *p, qks_error *error);

#endif
