/* side.h: all that is kept of one head's queries, or of one head's keys: moments per document group
 * and a few counts per position bucket; for keys also, if wanted, a sample of key differences. */
#ifndef QKS_CAPTURE_SIDE_H
#define QKS_CAPTURE_SIDE_H

#include "capture/moments.h"
#include "capture/pairs.h"
#include "qkscope/status.h"

#include <stdint.h>

enum { BUCKETS_MAX = 1024 };

typedef struct side_id {
    int layer, head;
    char kind; /* 'q' or 'k' */
} side_id;

typedef struct bucket_stat {
    double n;
    double sum_position;
    double last_position; /* -1: none */
    double sum_x0;        /* of the vectors' first coordinate */
} bucket_stat;

typedef struct side {
    int d, n_groups, n_buckets;
    int64_t window;        /* sliding window in tokens, 0 = full attention */
    moments **groups;      /* [n_groups] */
    bucket_stat *buckets;  /* [n_buckets] */
    pair_reservoir *pairs; /* [n_buckets], or NULL */
} side;

/* `pairs` key differences per bucket are sampled; 0: none. */
QKS_MUST_CHECK qks_status side_open(side *s, int d, int n_groups, int n_buckets, size_t pairs,
                                    qks_error *error);
void side_close(side *s);
void side_clear(side *s);

void side_count(side *s, int bucket, int32_t position, double x0);

#endif
