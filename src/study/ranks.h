/* ranks.h: what passes between rank 0 and the others under mpirun. In a build without MPI, or not
 * under mpirun, there is one rank and nothing ever passes.
 *
 * A rank says it is ready and is given a unit; when that is made it says so again, begins the next,
 * and returns the first; until it is given none. Its last word is RANK_GONE. Rank 0 never ends
 * before it has heard that of all, however the run went. */
#ifndef QKS_STUDY_RANKS_H
#define QKS_STUDY_RANKS_H

#include "qkscope/status.h"
#include "study/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ranks {
    int rank, count;
    /* of rank 0 */
    int at_work; /* ranks that have not said RANK_GONE */
    bool *told;  /* [count] that there is nothing more to do */
} ranks;

typedef enum rank_kind { RANK_READY, RANK_PROGRESS, RANK_DONE, RANK_FAILED, RANK_GONE } rank_kind;

typedef struct rank_message {
    int rank;
    rank_kind kind;
    size_t model, group;
    uint64_t work;  /* RANK_PROGRESS */
    double seconds; /* RANK_DONE */
    char *bytes;    /* RANK_DONE: the unit file; RANK_FAILED, RANK_GONE: why, if not "" */
    size_t length;
} rank_message;

/* Starts MPI if this process is one of several under mpirun. */
QKS_MUST_CHECK qks_status ranks_open(ranks *r, qks_error *error);
/* Rank 0 lets the others go first: what they have at hand is dropped. */
void ranks_close(ranks *r);

/* The next message, if one has come. The caller frees it. */
bool ranks_hear(ranks *r, rank_message *m);
void rank_message_free(rank_message *m);
/* A unit for a rank; key NULL: there are no more. */
void ranks_send(ranks *r, int rank, size_t model, size_t group, const char *key);

/* What a rank other than 0 does: units as rank 0 hands them out, until there are no more. `p` NULL:
 * it cannot, and says why. */
void ranks_serve(const ranks *r, const plan *p, const char *why);

#endif
