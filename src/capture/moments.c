/* moments.c: Chan's update, block by block. A block of rows is widened to float64, centred on its
 * own mean and multiplied with itself; the step from the mean so far to the block's mean
 * goes in as one more row of the same product.
 *
 * Steps between means are small where means are large, so they are never taken between rounded
 * means: a block is summed relative to its first row, and the running mean keeps what rounding took
 * from it. */
#include "capture/moments.h"

#include "base/memory.h"
#include "base/numbers.h"
#include "capture/scatter.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Rows per product: enough to be worth the tiles' sums, few enough for the second-level cache. */
enum { BLOCK_ROWS = 128, CACHE_LINE = 64 };
/* Beyond this, products of four coordinates (a variance along a difference) come near overflow. */
static const double LARGEST = 1e60;

qks_status qks_moments_new(qks_moments **out, int dimension, qks_error *error)
{
    if (dimension < 1 || dimension > QKS_DIMENSION_MAX)
        return qks_fail(error, QKS_INVALID, "a dimension of %d is not between 1 and %d", dimension,
                        QKS_DIMENSION_MAX);
    size_t size = (size_t)dimension + 1;
    size_t stride = (size + SCATTER_ALIGN - 1) / SCATTER_ALIGN * SCATTER_ALIGN;
    moments *m = calloc(1, sizeof *m);
    double *block = calloc(stride * (2 + size), sizeof *block);
    if (!m || !block) {
        free(m);
        free(block);
        return out_of_memory(error, "moments");
    }
    *m = (moments){.d = dimension,
                   .stride = (int)stride,
                   .mean = block,
                   .rest = block + stride,
                   .scatter = block + 2 * stride};
    *out = m;
    return QKS_OK;
}

void qks_moments_free(qks_moments *m)
{
    if (!m)
        return;
    free(m->mean); /* rest and scatter are in the same block */
    free(m);
}

static size_t block_bytes(const moments *m)
{
    return (size_t)m->stride * (size_t)(m->d + 3) * sizeof *m->mean;
}

void moments_clear(moments *m)
{
    m->n = 0;
    memset(m->mean, 0, block_bytes(m));
}

void moments_copy(moments *into, const moments *from)
{
    into->n = from->n;
    memcpy(into->mean, from->mean, block_bytes(from));
}

/* mean_j += step, to about twice double precision. */
static void move_mean(moments *m, size_t j, double step)
{
    double old = m->mean[j], all = step + m->rest[j], sum = old + all, part = sum - old;
    m->mean[j] = sum;
    m->rest[j] = (old - (sum - part)) + (all - part);
}

typedef struct block {
    double *z;     /* [n + 1, stride]: rows (x, t), and room for the step between means */
    double *first; /* [stride] the first row */
    double *sum;   /* [stride] of the rows less the first; then their mean */
} block;           /* 0 beyond d + 1 */

static size_t stride_of(const moments *m, const moments_rows *rows)
{
    return rows->stride ? rows->stride : (size_t)m->d;
}

/* z = (x, t) - first, for the row of that number. */
static void row_load(const moments *m, const moments_rows *rows, size_t number,
                     const double *restrict first, double *restrict z)
{
    size_t d = (size_t)m->d, row = rows->pick ? rows->pick[number] : number;
    size_t at = row * stride_of(m, rows);
    if (rows->f32)
        for (size_t j = 0; j < d; j++)
            z[j] = rows->f32[at + j] - first[j];
    else
        for (size_t j = 0; j < d; j++)
            z[j] = rows->f64[at + j] - first[j];
    z[d] = rows->position[row] - first[d];
}

static void sum_row(double *restrict sum, const double *restrict z, size_t size)
{
    for (size_t j = 0; j < size; j++)
        sum[j] += z[j];
}

static void block_load(const moments *m, const moments_rows *rows, size_t first, size_t n,
                       const block *b)
{
    size_t size = (size_t)m->d + 1, stride = (size_t)m->stride;
    double *z = b->z;
    memset(b->sum, 0, size * sizeof *b->sum);
    row_load(m, rows, first, b->sum, b->first); /* less 0 */
    for (size_t i = 0; i < n; i++, z += stride) {
        row_load(m, rows, first + i, b->first, z);
        sum_row(b->sum, z, size);
    }
}

static void block_add(moments *m, size_t n, const block *b)
{
    size_t size = (size_t)m->d + 1, stride = (size_t)m->stride;
    double count = (double)n, total = (double)m->n + count, *row = b->z;
    if (m->n == 0)
        memcpy(m->mean, b->first, size * sizeof *m->mean); /* of no rows, any mean is right */
    for (size_t j = 0; j < size; j++)
        b->sum[j] /= count;
    for (size_t i = 0; i < n; i++, row += stride)
        for (size_t j = 0; j < size; j++)
            row[j] -= b->sum[j];
    double weight = sqrt((double)m->n * count / total);
    for (size_t j = 0; j < size; j++) {
        double step = (b->first[j] - m->mean[j]) - m->rest[j] + b->sum[j];
        row[j] = weight * step;
        move_mean(m, j, step * (count / total));
    }
    scatter_add(b->z, n + 1, size, stride, m->scatter);
    m->n += (int64_t)n;
}

static bool row_is_fine(const moments *m, const moments_rows *rows, size_t row)
{
    size_t d = (size_t)m->d, at = row * stride_of(m, rows);
    if (rows->f32)
        return all_finite(rows->f32 + at, d);
    int bad = 0;
    for (size_t j = 0; j < d; j++)
        bad |= !(fabs(rows->f64[at + j]) <= LARGEST);
    return !bad;
}

static qks_status check_rows(const moments *m, const moments_rows *rows, qks_error *error)
{
    for (size_t i = 0; i < rows->n; i++) {
        size_t row = rows->pick ? rows->pick[i] : i;
        if (!row_is_fine(m, rows, row))
            return qks_fail(error, QKS_INVALID,
                            "vector %zu holds NaN, infinity or a number beyond %g", row, LARGEST);
    }
    return QKS_OK;
}

qks_status moments_add(moments *m, const moments_rows *rows, qks_error *error)
{
    if (rows->n == 0)
        return QKS_OK;
    if (!rows->position || (!rows->f32 && !rows->f64))
        return qks_fail(error, QKS_INVALID, "%zu vectors were given as NULL", rows->n);
    qks_status status = rows->finite ? QKS_OK : check_rows(m, rows, error);
    if (status != QKS_OK)
        return status;
    size_t stride = (size_t)m->stride;
    size_t most = rows->n < BLOCK_ROWS ? rows->n : BLOCK_ROWS;
    char *room = calloc(1, stride * (most + 3) * sizeof(double) + CACHE_LINE);
    if (!room)
        return out_of_memory(error, "block of vectors");
    double *aligned = (double *)(void *)(room + (CACHE_LINE - (uintptr_t)room % CACHE_LINE));
    block b = {.first = aligned, .sum = aligned + stride, .z = aligned + 2 * stride};
    for (size_t first = 0; first < rows->n; first += most) {
        size_t n = rows->n - first < most ? rows->n - first : most;
        block_load(m, rows, first, n, &b);
        block_add(m, n, &b);
    }
    free(room);
    return QKS_OK;
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
    double step[QKS_DIMENSION_MAX + 1];
    for (size_t j = 0; j < size; j++)
        step[j] = moments_step(into, from, (int)j);
    for (size_t j = 0; j < size; j++) {
        double pull = weight * step[j];
        double *column = into->scatter + j * stride;
        const double *other = from->scatter + j * stride;
        for (size_t i = j; i < size; i++)
            column[i] += other[i] + pull * step[i];
        move_mean(into, j, step[j] * (b / (a + b)));
    }
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
    return 1 + 2 * size + size * (size + 1) / 2;
}

void moments_to_flat(const moments *m, double *flat)
{
    size_t size = (size_t)m->d + 1;
    *flat++ = (double)m->n;
    memcpy(flat, m->mean, size * sizeof *flat);
    memcpy(flat + size, m->rest, size * sizeof *flat);
    flat += 2 * size;
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
    moments_clear(m);
    if (n == 0)
        return QKS_OK;
    m->n = (int64_t)n;
    flat++;
    memcpy(m->mean, flat, size * sizeof *flat);
    memcpy(m->rest, flat + size, size * sizeof *flat);
    flat += 2 * size;
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
