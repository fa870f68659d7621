/* ranks.h: what passes between rank 0 and the others under mpirun. In a build without MPI, or not
 * under mpirun, there is one rank and nothing ever passes. */
#ifndef QKS_STUDY_RANKS_H
#define QKS_STUDY_RANKS_H

#include "qkscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ranks {
    int count;   /* with rank 0 */
    int at_work; /* ranks that will still send something */
} ranks;

typedef enum rank_kind { RANK_READY, RANK_PROGRESS, RANK_DONE, RANK_FAILED } rank_kind;

typedef struct rank_message {
    int rank;
    rank_kind kind;
    size_t model, group;
    uint64_t work;  /* RANK_PROGRESS */
    double seconds; /* RANK_DONE */
    char *bytes;    /* RANK_DONE: the unit file */
    size_t length;
    char *reason; /* RANK_FAILED */
} rank_message;

QKS_MUST_CHECK qks_status ranks_begin(ranks *r, qks_error *error);
/* The next message, if one has come. The caller frees it. */
bool ranks_hear(ranks *r, rank_message *m);
void rank_message_free(rank_message *m);
/* A unit for a rank; key NULL: there are no more. */
QKS_MUST_CHECK qks_status ranks_send(ranks *r, int rank, size_t model, size_t group,
                                     const char *key, qks_error *error);

#endif
