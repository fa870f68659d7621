/* parallel.h: the one way work is spread over cores: independent items, handed out as threads
 * become free (OpenMP). The first error stops the handing out and is returned. */
#ifndef QKS_BASE_PARALLEL_H
#define QKS_BASE_PARALLEL_H

#include "qkscope/status.h"

#include <stddef.h>

/* Work on item `index` in thread `thread` (0 .. threads - 1). */
typedef qks_status parallel_work(void *context, size_t index, int thread, qks_error *error);

/* As many threads as asked for; 0 = as many as there are cores (OMP_NUM_THREADS respected). */
int parallel_threads(int asked);

/* `threads` as parallel_threads() gave it. Items are begun in rising order and a begun item is
 * finished, so the error returned is always that of the lowest index that fails. Not to be nested:
 * an inner loop's `thread` says nothing about the outer one's. */
QKS_MUST_CHECK qks_status parallel_for(size_t count, int threads, parallel_work *work,
                                       void *context, qks_error *error);

#endif
