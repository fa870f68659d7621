/* linear.c: LAPACK's dsyevr and BLAS behind names that say what they are for. */
#include "analysis/linear.h"

#include "base/memory.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

/* Fortran LAPACK, as every LAPACK has it; the trailing lengths of the character arguments are
 * part of gfortran's calling convention. */
void dsyevr_(const char *jobz, const char *range, const char *uplo, const int *n, double *a,
             const int *lda, const double *vl, const double *vu, const int *il, const int *iu,
             const double *abstol, int *m, double *w, double *z, const int *ldz, int *isuppz,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info,
             size_t jobz_length, size_t range_length, size_t uplo_length);

struct eigen_room {
    int d, work_size, iwork_size;
    double *values;  /* [d] */
    double *vectors; /* [d, d] */
    double *work;
    int *support; /* [2 d] */
    int *iwork;
};

static int dsyevr(eigen_room *room, int d, double *a, int stride, int count, int *found)
{
    int info = 0, first = d - count + 1;
    double unused = 0, tolerance = 0;
    dsyevr_("V", count == d ? "A" : "I", "L", &d, a, &stride, &unused, &unused, &first, &d,
            &tolerance, found, room->values, room->vectors, &d, room->support, room->work,
            &room->work_size, room->iwork, &room->iwork_size, &info, 1, 1, 1);
    return info;
}

qks_status eigen_open(eigen_room **out, int d, qks_error *error)
{
    eigen_room *room = calloc(1, sizeof *room);
    if (!room)
        return out_of_memory(error, "eigenvalue room");
    size_t n = (size_t)d;
    room->d = d;
    /* LAPACK's documented needs: 26 d and 10 d; more work lets it use blocks (64 columns). */
    room->work_size = (26 + 64) * d;
    room->iwork_size = 10 * d;
    room->values = malloc(n * sizeof *room->values);
    room->vectors = malloc(n * n * sizeof *room->vectors);
    room->support = malloc(2 * n * sizeof *room->support);
    room->work = malloc((size_t)room->work_size * sizeof *room->work);
    room->iwork = malloc((size_t)room->iwork_size * sizeof *room->iwork);
    if (!room->values || !room->vectors || !room->support || !room->work || !room->iwork) {
        eigen_close(room);
        return out_of_memory(error, "eigenvalue room");
    }
    *out = room;
    return QKS_OK;
}

void eigen_close(eigen_room *room)
{
    if (!room)
        return;
    free(room->values);
    free(room->vectors);
    free(room->support);
    free(room->work);
    free(room->iwork);
    free(room);
}

qks_status eigen_top(eigen_room *room, int d, double *a, int stride, int count, double *values,
                     double *vectors, qks_error *error)
{
    int found = 0, info = dsyevr(room, d, a, stride, count, &found);
    if (info != 0 || found != count)
        return qks_fail(error, QKS_INTERNAL, "LAPACK's dsyevr found %d of %d eigenvalues (info %d)",
                        found, count, info);
    for (int i = 0; i < count; i++) { /* LAPACK's are rising */
        values[i] = room->values[count - 1 - i];
        memcpy(vectors + (size_t)i * (size_t)d, room->vectors + (size_t)(count - 1 - i) * (size_t)d,
               (size_t)d * sizeof *vectors);
    }
    return QKS_OK;
}

double dot(int n, const double *x, const double *y)
{
    return cblas_ddot(n, x, 1, y, 1);
}

void symmetric_times(int d, const double *a, int stride, int count, const double *vectors,
                     double *out)
{
    cblas_dsymm(CblasColMajor, CblasLeft, CblasLower, d, count, 1.0, a, stride, vectors, d, 0.0,
                out, d);
}

double quadratic_form(int d, const double *a, int stride, const double *v)
{
    double sum = 0;
    for (int j = 0; j < d; j++) {
        const double *column = a + (size_t)j * (size_t)stride;
        double below = 0;
        for (int i = j + 1; i < d; i++)
            below += column[i] * v[i];
        sum += v[j] * (column[j] * v[j] + 2 * below);
    }
    return sum;
}
