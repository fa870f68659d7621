/* linear.c: LAPACK and BLAS behind names that say what they are for. */
#include "analysis/linear.h"

#include "base/memory.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

/* Fortran LAPACK, as every LAPACK has it; the trailing lengths of the character arguments are
 * part of gfortran's calling convention. */
void dsytrd_(const char *uplo, const int *n, double *a, const int *lda, double *d, double *e,
             double *tau, double *work, const int *lwork, int *info, size_t uplo_length);
void dstemr_(const char *jobz, const char *range, const int *n, double *d, double *e,
             const double *vl, const double *vu, const int *il, const int *iu, int *m, double *w,
             double *z, const int *ldz, const int *nzc, int *isuppz, int *tryrac, double *work,
             const int *lwork, int *iwork, const int *liwork, int *info, size_t jobz_length,
             size_t range_length);
void dstevx_(const char *jobz, const char *range, const int *n, double *d, double *e,
             const double *vl, const double *vu, const int *il, const int *iu, const double *abstol,
             int *m, double *w, double *z, const int *ldz, double *work, int *iwork, int *ifail,
             int *info, size_t jobz_length, size_t range_length);
void dormtr_(const char *side, const char *uplo, const char *trans, const int *m, const int *n,
             double *a, const int *lda, double *tau, double *c, const int *ldc, double *work,
             const int *lwork, int *info, size_t side_length, size_t uplo_length,
             size_t trans_length);

enum {
    REDUCE_BLOCK = 16, /* columns at once to tridiagonal form: 15% faster than 32 at d = 128 */
    WORK_ROWS = 64,    /* work per dimension: dstemr needs 18, products in blocks 32 */
    IWORK_ROWS = 10,
};

struct eigen_room {
    int d;
    double *diagonal, *beside, *tau; /* [d] the tridiagonal form, and what leads back from it */
    double *copy;                    /* [2, d] of it, since LAPACK destroys it */
    double *values;                  /* [d] */
    double *vectors;                 /* [d, d] */
    double *work;                    /* [WORK_ROWS, d] */
    int *support;                    /* [2, d] */
    int *iwork;                      /* [IWORK_ROWS, d] */
};

qks_status eigen_open(eigen_room **out, int d, qks_error *error)
{
    eigen_room *room = NULL;
    qks_status status = memory_zeroed(&room, 1, sizeof *room, error);
    if (status != QKS_OK)
        return status;
    size_t n = (size_t)d;
    room->d = d;
    struct {
        double **place;
        size_t rows;
    } const doubles[] = {{&room->diagonal, 1},    {&room->beside, 1}, {&room->tau, 1},
                         {&room->copy, 2},        {&room->values, 1}, {&room->vectors, n},
                         {&room->work, WORK_ROWS}};
    for (size_t i = 0; status == QKS_OK && i < sizeof doubles / sizeof *doubles; i++)
        status = memory_zeroed(doubles[i].place, doubles[i].rows * n, sizeof(double), error);
    if (status == QKS_OK)
        status = memory_zeroed(&room->support, 2 * n, sizeof *room->support, error);
    if (status == QKS_OK)
        status = memory_zeroed(&room->iwork, IWORK_ROWS * n, sizeof *room->iwork, error);
    if (status == QKS_OK)
        *out = room;
    else
        eigen_close(room);
    return status;
}

void eigen_close(eigen_room *room)
{
    if (!room)
        return;
    free(room->diagonal);
    free(room->beside);
    free(room->tau);
    free(room->copy);
    free(room->values);
    free(room->vectors);
    free(room->work);
    free(room->support);
    free(room->iwork);
    free(room);
}

/* The last `count` eigenpairs of the tridiagonal form, rising: by relatively robust representations
 * (dsyevr takes the slower bisection when not all are wanted), by bisection where those fail and
 * for d = 2, where dstemr ranks by size instead of value. */
static int tridiagonal_top(eigen_room *room, int d, int count, int *found)
{
    int info = -1, first = d - count + 1, try_accuracy = 1;
    int work_size = WORK_ROWS * d, iwork_size = IWORK_ROWS * d;
    double unused = 0, tolerance = 0, *diagonal = room->copy, *beside = room->copy + d;
    memcpy(diagonal, room->diagonal, (size_t)d * sizeof *diagonal);
    memcpy(beside, room->beside, (size_t)d * sizeof *beside);
    if (d != 2)
        dstemr_("V", "I", &d, diagonal, beside, &unused, &unused, &first, &d, found, room->values,
                room->vectors, &d, &count, room->support, &try_accuracy, room->work, &work_size,
                room->iwork, &iwork_size, &info, 1, 1);
    if (info != 0 || *found != count)
        dstevx_("V", "I", &d, room->diagonal, room->beside, &unused, &unused, &first, &d,
                &tolerance, found, room->values, room->vectors, &d, room->work, room->iwork,
                room->support, &info, 1, 1);
    return info;
}

qks_status eigen_top(eigen_room *room, int d, double *a, int stride, int count, double *values,
                     double *vectors, qks_error *error)
{
    int info = 0, found = 0, reduce_size = REDUCE_BLOCK * d, work_size = WORK_ROWS * d;
    dsytrd_("L", &d, a, &stride, room->diagonal, room->beside, room->tau, room->work, &reduce_size,
            &info, 1);
    if (info == 0)
        info = tridiagonal_top(room, d, count, &found);
    if (info == 0)
        dormtr_("L", "L", "N", &d, &count, a, &stride, room->tau, room->vectors, &d, room->work,
                &work_size, &info, 1, 1, 1);
    if (info != 0 || found != count)
        return qks_fail(error, QKS_INTERNAL, "LAPACK found %d of %d eigenvalues (info %d)", found,
                        count, info);
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

void triangle_times(int d, const double *a, int stride, int count, const double *vectors,
                    double *out)
{
    memcpy(out, vectors, (size_t)count * (size_t)d * sizeof *out);
    cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, d, count, 1.0, a,
                stride, out, d);
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
