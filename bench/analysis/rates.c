/* rates.c: how fast this machine multiplies matrices, and what share of that the analysis reaches.
 * Prints a line per kind of work: name, threads, what it is compared with, GFLOP/s of each round;
 * tab-separated, read by bench_rates.py. */
#include "analysis/linear.h"
#include "capture/moments.h"

#include <cblas.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZE = 1024, ROWS = 8192, DIMENSION = 128, TOP = 10, ROUNDS = 11 };

typedef struct room {
    double *a, *b, *c;          /* [SIZE, SIZE] */
    float *fa, *fb, *fc;        /* [SIZE, SIZE] */
    float *rows;                /* [ROWS, DIMENSION] */
    int32_t *position;          /* [ROWS] */
    moments *moments;           /* of the rows */
    double *covariance, *spare; /* [DIMENSION, DIMENSION] */
    eigen_room *eigen;
} room;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(qks_status status, const qks_error *error)
{
    if (status == QKS_OK)
        return;
    fprintf(stderr, "bench_rates: %s\n", error->message);
    exit(1);
}

static void *must_have(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "bench_rates: out of memory\n");
        exit(1);
    }
    return p;
}

/* ---- the kinds of work ---- */

static void work_dgemm(room *r)
{
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, SIZE, SIZE, SIZE, 1, r->a, SIZE, r->b,
                SIZE, 0, r->c, SIZE);
}

static void work_sgemm(room *r)
{
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, SIZE, SIZE, SIZE, 1, r->fa, SIZE, r->fb,
                SIZE, 0, r->fc, SIZE);
}

static void work_moments(room *r)
{
    qks_error error = {QKS_OK, ""};
    moments_clear(r->moments);
    must(qks_moments_add_f32(r->moments, ROWS, r->rows, r->position, &error), &error);
}

static void work_eigen(room *r)
{
    qks_error error = {QKS_OK, ""};
    double values[TOP], vectors[TOP * DIMENSION];
    memcpy(r->spare, r->covariance, sizeof(double) * DIMENSION * DIMENSION);
    must(eigen_top(r->eigen, DIMENSION, r->spare, DIMENSION, TOP, values, vectors, &error), &error);
}

typedef struct kind {
    const char *name, *base; /* base: the kind that it is compared with, "" for none */
    void (*work)(room *r);
    double operations;
    bool spreads; /* over threads */
} kind;

/* useful operations */
#define PRODUCT(n) (2.0 * (n) * (n) * (n))
#define SCATTER(n, d) ((n) * ((d) + 1.0) * ((d) + 2.0))
#define EIGENPAIRS(d, k) ((4.0 / 3 * (d) + 2.0 * (k)) * (d) * (d))

static const kind KINDS[] = {
    {"dgemm", "", work_dgemm, PRODUCT(SIZE), true},
    {"sgemm", "", work_sgemm, PRODUCT(SIZE), true},
    {"moments of 8192 x 128", "dgemm", work_moments, SCATTER(ROWS, DIMENSION), false},
    {"top 10 eigenpairs of 128 x 128", "dgemm", work_eigen, EIGENPAIRS(DIMENSION, TOP), false},
};
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

/* ---- measuring ---- */

static void fill(room *r)
{
    qks_error error = {QKS_OK, ""};
    size_t cells = (size_t)SIZE * SIZE, numbers = (size_t)ROWS * DIMENSION;
    double **doubles[] = {&r->a, &r->b, &r->c};
    float **floats[] = {&r->fa, &r->fb, &r->fc};
    for (int i = 0; i < 3; i++) {
        *doubles[i] = must_have(cells * sizeof(double));
        *floats[i] = must_have(cells * sizeof(float));
        for (size_t j = 0; j < cells; j++)
            (*doubles[i])[j] = (*floats[i])[j] = (float)(j % 17) - 8;
    }
    r->rows = must_have(numbers * sizeof(float));
    r->position = must_have(ROWS * sizeof(int32_t));
    srand(1);
    for (size_t i = 0; i < numbers; i++)
        r->rows[i] = ((float)rand() / (float)RAND_MAX - 0.5F) / (float)(1 + i % DIMENSION);
    for (int32_t i = 0; i < ROWS; i++)
        r->position[i] = i;
    must(qks_moments_new(&r->moments, DIMENSION, &error), &error);
    must(eigen_open(&r->eigen, DIMENSION, &error), &error);
    work_moments(r);
    r->covariance = must_have(sizeof(double) * DIMENSION * DIMENSION);
    r->spare = must_have(sizeof(double) * DIMENSION * DIMENSION);
    for (int j = 0; j < DIMENSION; j++)
        for (int i = 0; i < DIMENSION; i++)
            r->covariance[j * DIMENSION + i] = qks_moments_covariance(r->moments, i, j);
}

static double rate(const kind *k, room *r)
{
    static const double long_enough = 0.05;
    double start = seconds(), now = start;
    int times = 0;
    for (; now - start < long_enough; now = seconds(), times++)
        k->work(r);
    return k->operations * times / (now - start) / 1e9;
}

static void print_rates(int threads, double rates[N_KINDS][ROUNDS])
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (threads > 1 && !KINDS[i].spreads)
            continue;
        printf("%s\t%d\t%s", KINDS[i].name, threads, KINDS[i].base);
        for (int round = 0; round < ROUNDS; round++)
            printf("\t%.3f", rates[i][round]);
        printf("\n");
    }
}

int main(void)
{
    static double rates[2][N_KINDS][ROUNDS];
    int all = omp_get_num_procs();
    room r = {0};
    openblas_set_num_threads(1);
    fill(&r);
    for (int round = -1; round < ROUNDS; round++) /* the first only warms up */
        for (int many = 0; many < 2; many++) {
            openblas_set_num_threads(many ? all : 1);
            for (size_t i = 0; i < N_KINDS; i++)
                if (!many || KINDS[i].spreads)
                    rates[many][i][round < 0 ? 0 : round] = rate(&KINDS[i], &r);
        }
    print_rates(1, rates[0]);
    if (all > 1)
        print_rates(all, rates[1]);
    return 0;
}
