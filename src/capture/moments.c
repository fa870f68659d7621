/* moments.c: Chan's update, block by block. A block of rows is widened to float64, centred on its
 * own mean and multiplied with itself by dsyrk; the shift between the block's mean and the mean so
 * far goes in as one more row of the same product. */
#include "capture/moments.h"

#include "base/memory.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows per product: enough for dsyrk's full rate, small enough for the second-level cache. */
enum { BLOCK_ROWS = 256, ALIGN_DOUBLES = 8 };

qks_status qks_moments_new(qks_moments **out, int dimension, qks_error *error)
{
    if (dimension < 1 || dimension > QKS_DIMENSION_MAX)
        return qks_fail(error, QKS_INVALID, "a dimension of %d is not between 1 and %d", dimension,
                        QKS_DIMENSION_MAX);
    size_t size = (size_t)dimension + 1;
    size_t stride = (size + ALIGN_DOUBLES - 1) / ALIGN_DOUBLES * ALIGN_DOUBLES;
    moments *m = calloc(1, sizeof *m);
    double *block = calloc(stride + stride * size, sizeof *block);
    if (!m || !block) {
        free(m);
        free(block);
        return out_of_memory(error, "moments");
    }
    *m = (moments){.d = dimension, .stride = (int)stride, .mean = block, .scatter = block + stride};
    *out = m;
    return QKS_OK;
}

void qks_moments_free(qks_moments *m)
{
    if (!m)
        return;
    free(m->mean); /* the scatter is in the same block */
    free(m);
}

void moments_clear(moments *m)
{
    m->n = 0;
    memset(m->mean, 0, (size_t)m->stride * (size_t)(m->d + 2) * sizeof *m->mean);
}

void moments_copy(moments *into, const moments *from)
{
    into->n = from->n;
    memcpy(into->mean, from->mean,
           (size_t)from->stride * (size_t)(from->d + 2) * sizeof *from->mean);
}

/* Widen the block's rows to z = (x, t), column by column of `z` ([d + 1, n]), and sum them. */
static void block_load(const moments *m, const moments_rows *rows, size_t first, size_t n,
                       double *z, double *sum)
{
    size_t d = (size_t)m->d, size = d + 1;
    memset(sum, 0, size * sizeof *sum);
    for (size_t i = 0; i < n; i++, z += size) {
        size_t row = rows->pick ? rows->pick[first + i] : first + i;
        if (rows->f32) {
            const float *x = rows->f32 + row * d;
            for (size_t j = 0; j < d; j++)
                z[j] = x[j];
        } else {
            memcpy(z, rows->f64 + row * d, d * sizeof *z);
        }
        z[d] = rows->position[row];
        for (size_t j = 0; j < size; j++)
            sum[j] += z[j];
    }
}

static void block_add(moments *m, size_t n, double *z, double *sum)
{
    size_t size = (size_t)m->d + 1;
    double count = (double)n, total = (double)m->n + count;
    for (size_t j = 0; j < size; j++)
        sum[j] /= count; /* now the block's mean */
    double *row = z;
    for (size_t i = 0; i < n; i++, row += size)
        for (size_t j = 0; j < size; j++)
            row[j] -= sum[j];
    size_t product_rows = n;
    if (m->n > 0) {
        double weight = sqrt((double)m->n * count / total);
        for (size_t j = 0; j < size; j++)
            row[j] = weight * (sum[j] - m->mean[j]);
        product_rows++;
    }
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)size, (int)product_rows, 1.0, z,
                (int)size, 1.0, m->scatter, m->stride);
    for (size_t j = 0; j < size; j++)
        m->mean[j] += (sum[j] - m->mean[j]) * (count / total);
    m->n += (int64_t)n;
}

qks_status moments_add(moments *m, const moments_rows *rows, qks_error *error)
{
    size_t size = (size_t)m->d + 1;
    size_t block = rows->n < BLOCK_ROWS ? rows->n : BLOCK_ROWS;
    double *z = malloc((size * (block + 1) + size) * sizeof *z);
    if (!z)
        return out_of_memory(error, "block of vectors");
    double *sum = z + size * (block + 1);
    qks_status status = QKS_OK;
    for (size_t first = 0; first < rows->n && status == QKS_OK; first += block) {
        size_t n = rows->n - first < block ? rows->n - first : block;
        block_load(m, rows, first, n, z, sum);
        double check = 0; /* a NaN or infinity anywhere shows in its column's sum */
        for (size_t j = 0; j < size; j++)
            check += sum[j] * 0;
        if (check == 0)
            block_add(m, n, z, sum);
        else
            status = qks_fail(error, QKS_INVALID,
                              "a vector among rows %zu to %zu holds NaN or infinity", first,
                              first + n - 1);
    }
    free(z);
    return status;
}

qks_status qks_moments_add_f32(qks_moments *m, size_t n, const float *vectors,
                               const int32_t *positions, qks_error *error)
{
    return moments_add(m, &(moments_rows){.n = n, .f32 = vectors, .position = positions}, error);
}

qks_status qks_moments_add_f64(qks_moments *m, size_t n, const double *vectors,
                               const int32_t *positions, qks_error *error)
{
    return moments_add(m, &(moments_rows){.n = n, .f64 = vectors, .position = positions}, error);
}

void moments_merge(moments *into, const moments *from)
{
    if (from->n == 0)
        return;
    if (into->n == 0) {
        moments_copy(into, from);
        return;
    }
    size_t size = (size_t)into->d + 1, stride = (size_t)into->stride;
    double a = (double)into->n, b = (double)from->n, weight = a * b / (a + b);
    for (size_t j = 0; j < size; j++) {
        double pull = weight * (from->mean[j] - into->mean[j]);
        double *column = into->scatter + j * stride;
        const double *other = from->scatter + j * stride;
        for (size_t i = j; i < size; i++)
            column[i] += other[i] + pull * (from->mean[i] - into->mean[i]);
    }
    for (size_t j = 0; j < size; j++)
        into->mean[j] += (from->mean[j] - into->mean[j]) * (b / (a + b));
    into->n += from->n;
}

qks_status qks_moments_merge(qks_moments *into, const qks_moments *from, qks_error *error)
{
    if (into->d != from->d)
        return qks_fail(error, QKS_INVALID,
                        "cannot merge moments of dimension %d into dimension %d", from->d, into->d);
    moments_merge(into, from);
    return QKS_OK;
}

int qks_moments_dimension(const qks_moments *m)
{
    return m->d;
}

int64_t qks_moments_count(const qks_moments *m)
{
    return m->n;
}

double qks_moments_mean(const qks_moments *m, int i)
{
    return m->mean[i];
}

static double covariance(const moments *m, int i, int j)
{
    return m->n ? moments_scatter(m, i, j) / (double)m->n : 0;
}

double qks_moments_covariance(const qks_moments *m, int i, int j)
{
    return covariance(m, i, j);
}

double qks_moments_position_mean(const qks_moments *m)
{
    return m->mean[m->d];
}

double qks_moments_position_variance(const qks_moments *m)
{
    return covariance(m, m->d, m->d);
}

double qks_moments_position_covariance(const qks_moments *m, int i)
{
    return covariance(m, m->d, i);
}

size_t moments_flat_size(int d)
{
    size_t size = (size_t)d + 1;
    return 1 + size + size * (size + 1) / 2;
}

void moments_to_flat(const moments *m, double *flat)
{
    size_t size = (size_t)m->d + 1;
    *flat++ = (double)m->n;
    memcpy(flat, m->mean, size * sizeof *flat);
    flat += size;
    for (size_t j = 0; j < size; j++) {
        memcpy(flat, m->scatter + j * (size_t)m->stride + j, (size - j) * sizeof *flat);
        flat += size - j;
    }
}

qks_status moments_from_flat(moments *m, const double *flat, qks_error *error)
{
    static const double largest_count = 9007199254740992.0; /* 2^53: counts beyond are not exact */
    size_t size = (size_t)m->d + 1;
    double n = flat[0];
    if (!(n >= 0 && n <= largest_count && n == floor(n)))
        return qks_fail(error, QKS_INVALID, "%g is no count of vectors", n);
    for (size_t i = 1, end = moments_flat_size(m->d); i < end; i++)
        if (!isfinite(flat[i]))
            return qks_fail(error, QKS_INVALID, "the moments hold NaN or infinity");
    m->n = (int64_t)n;
    flat++;
    memcpy(m->mean, flat, size * sizeof *flat);
    flat += size;
    for (size_t j = 0; j < size; j++) {
        memcpy(m->scatter + j * (size_t)m->stride + j, flat, (size - j) * sizeof *flat);
        flat += size - j;
    }
    return QKS_OK;
}

qks_status moments_array(moments ***out, size_t count, int d, qks_error *error)
{
    moments **array = NULL;
    qks_status status = memory_zeroed(&array, count, sizeof(moments *), error);
    for (size_t i = 0; status == QKS_OK && i < count; i++)
        status = qks_moments_new(&array[i], d, error);
    if (status != QKS_OK) {
        moments_array_free(array, count);
        return status;
    }
    *out = array;
    return QKS_OK;
}

void moments_array_free(moments **array, size_t count)
{
    for (size_t i = 0; array && i < count; i++)
        qks_moments_free(array[i]);
    free(array);
}
