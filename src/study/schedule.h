/* schedule.h: bringing every unit of a plan to its file: by this machine's worker, and under mpirun
 * by those of the other ranks, too. */
#ifndef QKS_STUDY_SCHEDULE_H
#define QKS_STUDY_SCHEDULE_H

#include "base/progress.h"
#include "study/plan.h"
#include "study/ranks.h"

typedef struct schedule {
    plan *plan;
    ranks *ranks; /* of rank 0 */
    progress *progress;
    size_t computed; /* units, in this run */
} schedule;

/* Compute what is missing. Units of models that fail stay undone, and the models are marked. */
QKS_MUST_CHECK qks_status schedule_run(schedule *s, qks_error *error);

#endif
