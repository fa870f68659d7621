/* parallel.c: a loop over independent items. */
#include "base/parallel.h"

#include <cblas.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

int parallel_threads(int asked)
{
    /* OpenBLAS sets OpenMP's number together with its own; what OpenMP had before is kept here. */
    static atomic_int cores = 1;
    int now = omp_get_max_threads();
    if (now > 1)
        atomic_store(&cores, now);
    /* Work is spread here and nowhere else. OpenBLAS would start threads of its own wherever only
     * one of ours calls it, which costs far more than small products do. */
    openblas_set_num_threads(1);
    return asked > 0 ? asked : atomic_load(&cores);
}

static int team_of(int threads, size_t count)
{
    if (threads > 0 && (size_t)threads > count)
        threads = (int)count;
    return threads < 1 ? 1 : threads;
}

qks_status parallel_for(size_t count, int threads, parallel_work *work, void *context,
                        qks_error *error)
{
    atomic_size_t next = 0;
    atomic_bool stop = false;
    size_t failed_at = SIZE_MAX;
    qks_error first = {QKS_OK, ""};
#pragma omp parallel num_threads(team_of(threads, count))
    {
        int thread = omp_get_thread_num();
        omp_set_num_threads(1); /* BLAS in here is not to start threads of its own, not even when
                                   this team is of one */
        for (size_t i; !atomic_load(&stop) && (i = atomic_fetch_add(&next, 1)) < count;) {
            qks_error mine = {QKS_OK, ""};
            qks_status status = work(context, i, thread, &mine);
            if (status == QKS_OK)
                continue;
            mine.status = status; /* also if the work gave no message */
            atomic_store(&stop, true);
#pragma omp critical(qks_parallel_error)
            if (i < failed_at) {
                failed_at = i;
                first = mine;
            }
        }
    }
    if (error && first.status != QKS_OK)
        *error = first;
    return first.status;
}
