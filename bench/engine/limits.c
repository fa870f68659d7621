/* limits.c: what this machine can do at most. bench_limits THREADS [FILE] prints lines of name and
 * rates of each round, tab-separated: sgemm in GFLOP/s, memory in GB/s, reading FILE past the page
 * cache in GB/s. */
#include <cblas.h>
#include <fcntl.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 2048, ROUNDS = 3, ALIGNED = 4096, READ_BYTES = 4 << 20 };
static const size_t STREAM = (size_t)1 << 25; /* doubles: far beyond any cache */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *must_have(size_t bytes)
{
    void *p = aligned_alloc(ALIGNED, bytes);
    if (!p) {
        fprintf(stderr, "bench_limits: out of memory\n");
        exit(1);
    }
    return p;
}

/* A product of SIZE^3, its columns shared among the threads: faster than OpenBLAS's own sharing. */
static double sgemm_rate(int threads, const float *a, const float *b, float *c)
{
    double start = seconds();
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), first = SIZE / threads * me;
        int n = me + 1 < threads ? SIZE / threads : SIZE - first;
        size_t at = (size_t)first * SIZE;
        cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, SIZE, n, SIZE, 1, a, SIZE, b + at,
                    SIZE, 0, c + at, SIZE);
    }
    return 2.0 * SIZE * SIZE * SIZE / (seconds() - start) / 1e9;
}

static double sgemm_rate_of_openblas(int threads, const float *a, const float *b, float *c)
{
    openblas_set_num_threads(threads);
    double start = seconds();
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, SIZE, SIZE, SIZE, 1, a, SIZE, b, SIZE, 0,
                c, SIZE);
    double taken = seconds() - start;
    openblas_set_num_threads(1);
    return 2.0 * SIZE * SIZE * SIZE / taken / 1e9;
}

static void sgemm(int threads)
{
    size_t bytes = sizeof(float) * SIZE * SIZE;
    float *a = must_have(bytes), *b = must_have(bytes), *c = must_have(bytes);
    for (size_t i = 0; i < (size_t)SIZE * SIZE; i++) {
        a[i] = (float)(i % 17) - 8;
        b[i] = (float)(i % 13) - 6;
    }
    printf("sgemm");
    for (int i = 0; i <= ROUNDS; i++) { /* the first warms up */
        double shared = sgemm_rate(threads, a, b, c);
        double own = sgemm_rate_of_openblas(threads, a, b, c);
        if (i)
            printf("\t%.2f", shared > own ? shared : own);
    }
    printf("\n");
    free(a);
    free(b);
    free(c);
}

/* a = b + 2 c: three streams, as STREAM's triad counts them. */
static void memory(int threads)
{
    double *a = must_have(STREAM * sizeof *a), *b = must_have(STREAM * sizeof *b),
           *c = must_have(STREAM * sizeof *c);
    memset(b, 0, STREAM * sizeof *b);
    memset(c, 0, STREAM * sizeof *c);
    printf("memory");
    for (int i = 0; i <= ROUNDS; i++) {
        double start = seconds();
#pragma omp parallel for num_threads(threads)
        for (size_t j = 0; j < STREAM; j++)
            a[j] = b[j] + 2 * c[j];
        if (i)
            printf("\t%.2f", 3.0 * STREAM * sizeof *a / (seconds() - start) / 1e9);
    }
    printf("\n");
    free(a);
    free(b);
    free(c);
}

static int disk(const char *path)
{
    int file = open(path, O_RDONLY | O_DIRECT);
    if (file < 0) {
        perror(path);
        return 1;
    }
    void *room = must_have(READ_BYTES);
    printf("disk");
    for (int i = 0; i < ROUNDS; i++) {
        double start = seconds(), bytes = 0;
        for (ssize_t n; (n = pread(file, room, READ_BYTES, (off_t)bytes)) > 0;)
            bytes += (double)n;
        printf("\t%.3f", bytes / (seconds() - start) / 1e9);
    }
    printf("\n");
    free(room);
    close(file);
    return 0;
}

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "bench_limits THREADS [FILE]\n");
        return 2;
    }
    int threads = atoi(arguments[1]);
    openblas_set_num_threads(1);
    sgemm(threads);
    memory(threads);
    return count > 2 ? disk(arguments[2]) : 0;
}
