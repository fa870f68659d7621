/* side.h: all that is kept of one head's queries, or of one head's keys: moments per document group
 * and a few counts per position bucket; if wanted, also a small sample of the vectors, to be shown,
 * and for keys a sample of key differences. */
#ifndef QKS_CAPTURE_SIDE_H
#define QKS_CAPTURE_SIDE_H

#include "capture/moments.h"
#include "capture/pairs.h"
#include "qkscope/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { BUCKETS_MAX = 1024 };

typedef struct side_id {
    int layer, head;
    char kind; /* 'q' or 'k' */
} side_id;

/* Less than 0 if `a` comes first: by layer, keys before queries, by head. */
int side_order(const side_id *a, const side_id *b);

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
    pair_reservoir sample; /* rows of d + 1 floats: a vector and its position; capacity 0: none */
} side;

/* `pairs` key differences per bucket are sampled; 0: none. */
QKS_MUST_CHECK qks_status side_open(side *s, int d, int n_groups, int n_buckets, size_t pairs,
                                    qks_error *error);
/* Room for a sample of `capacity` vectors of an open side. */
QKS_MUST_CHECK qks_status side_sample_open(side *s, size_t capacity, qks_error *error);
void side_close(side *s);
void side_clear(side *s);

void side_count(side *s, int bucket, int32_t position, double x0);

/* Vectors are drawn as key pairs are: each (document, layer, kind, position) has a priority, the
 * smallest stay, so that samples of parts join to a sample of the whole. All heads of a layer keep
 * the same tokens. `document` counts by its low 32 bits, as datasets store it. */
uint64_t side_sample_seed(uint64_t seed, int64_t document, side_id id);
/* Rows are offered in two steps: those that may be taken are noted, then taken at once, from rows
 * that hold them all. */
QKS_MUST_CHECK qks_status side_sample_note(const side *s, uint64_t seed, int32_t position,
                                           uint32_t row, pair_draws *noted, qks_error *error);
void side_sample_take(side *s, pair_draws *noted, const moments_rows *rows);

#endif
