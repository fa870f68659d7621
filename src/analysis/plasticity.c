/* plasticity.c: a Gaussian model of queries given position, asked about pairs of keys. */
#include "analysis/plasticity.h"

#include "analysis/linear.h"
#include "base/memory.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256 }; /* differences worked on at once */

typedef struct reflection { /* H = I - 2 u u^T, u = 0 for none */
    double *u;              /* [d] */
    double *sigma;          /* [d] residual variances on the reflected axes */
} reflection;

struct plasticity {
    int d, buckets;
    bool same_orientation; /* the oriented variant is the plain one */
    int64_t window;
    double *alpha, *beta; /* [d] q(t) = alpha + beta t */
    double *residual;     /* [d, d] covariance of the noise, lower triangle; see fold() */
    reflection plain, oriented;
    double *t, *last_key; /* [buckets] mean query position (-1: no queries); last key position */
    double *sums[PLASTICITY_VARIANTS]; /* [buckets, buckets]: (b, c) */
    double *counts;                    /* [buckets] key pairs of bucket c */
    double *product;                   /* [BLOCK, d] folded residual times differences */
    double *block;                     /* the one allocation behind all of it */
};

/* Least squares of each coordinate on position, and the covariance of what is left (ddof 1). */
static void put_regression(plasticity *p, const moments *q)
{
    int d = p->d;
    size_t n = (size_t)d;
    double tt = moments_scatter(q, d, d);
    for (int j = 0; j < d; j++) {
        p->beta[j] = tt > 0 ? moments_scatter(q, d, j) / tt : 0;
        p->alpha[j] = q->mean[j] - p->beta[j] * q->mean[d];
    }
    double freedom = q->n > 1 ? (double)(q->n - 1) : 1;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
            p->residual[j * n + i] = (q->scatter[j * (size_t)q->stride + i] -
                                      p->beta[j] * p->beta[i] * tt) /
                                     freedom;
}

/* spec: u along beta/|beta| - e1, where e1 may be turned; then diag(H Sigma H). */
static void put_reflection(plasticity *p, double e1, reflection *r)
{
    int d = p->d;
    size_t n = (size_t)d;
    double length = sqrt(dot(d, p->beta, p->beta));
    for (int j = 0; j < d; j++)
        r->u[j] = length > 0 ? p->beta[j] / length : 0;
    if (length > 0)
        r->u[0] -= e1;
    double norm = sqrt(dot(d, r->u, r->u));
    for (int j = 0; j < d; j++)
        r->u[j] = norm > 0 ? r->u[j] / norm : 0;
    double *s = p->product; /* Sigma u */
    symmetric_times(d, p->residual, d, 1, r->u, s);
    double along = dot(d, r->u, s);
    for (size_t j = 0; j < n; j++) {
        double variance = p->residual[j * n + j] - 4 * r->u[j] * s[j] +
                          4 * r->u[j] * r->u[j] * along;
        r->sigma[j] = fmax(variance, 0);
    }
}

/* Twice what is below the diagonal: then w^T A w needs the lower triangle only, half the product.
 */
static void fold(plasticity *p)
{
    size_t n = (size_t)p->d;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++)
            p->residual[j * n + i] *= 2;
}

static bool keys_point_back(const side *keys)
{
    double mean = 0;
    for (int b = 0; b < keys->n_buckets; b++)
        if (keys->buckets[b].n > 0)
            mean += keys->buckets[b].sum_x0 / keys->buckets[b].n;
    return mean < 0;
}

qks_status plasticity_open(plasticity **out, const moments *q, const side *queries,
                           const side *keys, int64_t window, qks_error *error)
{
    size_t d = (size_t)q->d;
    size_t buckets = (size_t)(queries->n_buckets > keys->n_buckets ? queries->n_buckets
                                                                   : keys->n_buckets);
    plasticity *p = NULL;
    qks_status status = memory_zeroed(&p, 1, sizeof *p, error);
    if (status != QKS_OK)
        return status;
    *p = (plasticity){.d = q->d, .buckets = (int)buckets, .window = window};
    size_t doubles = 6 * d + d * d + 3 * buckets + PLASTICITY_VARIANTS * buckets * buckets +
                     BLOCK * d;
    status = memory_zeroed(&p->block, doubles, sizeof(double), error);
    if (status != QKS_OK) {
        plasticity_close(p);
        return status;
    }
    double *next = p->block;
    double **vectors[] = {&p->alpha,       &p->beta,       &p->plain.u,
                          &p->plain.sigma, &p->oriented.u, &p->oriented.sigma};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++, next += d)
        *vectors[i] = next;
    double **per_bucket[] = {&p->t, &p->last_key, &p->counts};
    for (size_t i = 0; i < sizeof per_bucket / sizeof *per_bucket; i++, next += buckets)
        *per_bucket[i] = next;
    for (int v = 0; v < PLASTICITY_VARIANTS; v++, next += buckets * buckets)
        p->sums[v] = next;
    p->residual = next;
    p->product = p->residual + d * d;

    put_regression(p, q);
    put_reflection(p, 1, &p->plain);
    p->same_orientation = !keys_point_back(keys);
    put_reflection(p, p->same_orientation ? 1 : -1, &p->oriented);
    fold(p);
    for (size_t b = 0; b < buckets; b++) {
        /* one query has no residual variance */
        bool some_q = q->n > 1 && b < (size_t)queries->n_buckets && queries->buckets[b].n > 0;
        p->t[b] = some_q ? queries->buckets[b].sum_position / queries->buckets[b].n : -1;
        p->last_key[b] = b < (size_t)keys->n_buckets ? keys->buckets[b].last_position : -1;
    }
    *out = p;
    return QKS_OK;
}

void plasticity_close(plasticity *p)
{
    if (!p)
        return;
    free(p->block);
    free(p);
}

static bool sees(const plasticity *p, int b, int c)
{
    return p->t[b] >= 0 && (p->window == 0 || p->last_key[c] > p->t[b] - (double)p->window);
}

/* 4 p (1 - p), p = Phi(m / sqrt(v)); without noise the query decides nothing, unless m = 0. */
static double pair_plasticity(double m, double v)
{
    if (m == 0)
        return 1;
    if (v <= 0)
        return 0;
    double z = fabs(m) / sqrt(v);
    double tail = 0.5 * erfc(z * M_SQRT1_2);
    return 4 * tail * (1 - tail);
}

/* v = sum_d sigma_d^2 (H w)_d^2; `squares` is room for the (H w)_d^2 */
static double diagonal_variance(const reflection *r, int d, const double *w, double *squares)
{
    double twice = 2 * dot(d, r->u, w);
    for (int j = 0; j < d; j++) {
        double reflected = w[j] - twice * r->u[j];
        squares[j] = reflected * reflected;
    }
    return dot(d, r->sigma, squares);
}

/* `product` is w times the folded residual, and room afterwards. */
static void add_pair(plasticity *p, int c, const double *w, double *product)
{
    double at_zero = dot(p->d, w, p->alpha), per_token = dot(p->d, w, p->beta);
    double variance[PLASTICITY_VARIANTS];
    variance[PLASTICITY_FULL] = dot(p->d, w, product);
    variance[PLASTICITY_DIAGONAL] = diagonal_variance(&p->plain, p->d, w, product);
    variance[PLASTICITY_ORIENTED] = p->same_orientation
                                        ? variance[PLASTICITY_DIAGONAL]
                                        : diagonal_variance(&p->oriented, p->d, w, product);
    p->counts[c]++;
    for (int b = c + 1; b < p->buckets; b++) {
        if (!sees(p, b, c))
            continue;
        double m = at_zero + per_token * p->t[b];
        double value[PLASTICITY_VARIANTS];
        value[PLASTICITY_DIAGONAL] = pair_plasticity(m, variance[PLASTICITY_DIAGONAL]);
        value[PLASTICITY_ORIENTED] = p->same_orientation
                                         ? value[PLASTICITY_DIAGONAL]
                                         : pair_plasticity(m, variance[PLASTICITY_ORIENTED]);
        value[PLASTICITY_FULL] = pair_plasticity(m, variance[PLASTICITY_FULL]);
        for (int v = 0; v < PLASTICITY_VARIANTS; v++)
            p->sums[v][(size_t)b * (size_t)p->buckets + (size_t)c] += value[v];
    }
}

qks_status plasticity_add(plasticity *p, int bucket, size_t n, const double *differences,
                          qks_error *error)
{
    if (bucket < 0 || bucket >= p->buckets)
        return qks_fail(error, QKS_INVALID, "key bucket %d is not one of the head's %d", bucket,
                        p->buckets);
    size_t d = (size_t)p->d;
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t rows = n - first < BLOCK ? n - first : BLOCK;
        const double *block = differences + first * d;
        triangle_times(p->d, p->residual, p->d, (int)rows, block, p->product);
        for (size_t i = 0; i < rows; i++) {
            const double *w = block + i * d;
            if (dot(p->d, w, w) > 0)
                add_pair(p, bucket, w, p->product + i * d);
        }
    }
    return QKS_OK;
}

double plasticity_cell(const plasticity *p, plasticity_variant variant, int b, int c)
{
    if (c >= b || !sees(p, b, c) || p->counts[c] == 0)
        return NAN;
    return p->sums[variant][(size_t)b * (size_t)p->buckets + (size_t)c] / p->counts[c];
}

typedef struct mean {
    double sum;
    int64_t n;
} mean;

static void mean_add(mean *m, double x)
{
    m->sum += x;
    m->n++;
}

static double mean_of(mean m)
{
    return m.n ? m.sum / (double)m.n : NAN;
}

void plasticity_row(const plasticity *p, plasticity_variant variant, int64_t context,
                    qks_plasticity_row *row)
{
    static const char *const names[] = {
#define X(code, name) [code] = name,
        PLASTICITY_LIST(X)
#undef X
    };
    mean all = {0}, first = {0}, last = {0};
    for (int b = 1; b < p->buckets; b++) {
        mean profile = {0};
        for (int c = 0; c < b; c++) {
            double x = plasticity_cell(p, variant, b, c);
            if (!isnan(x))
                mean_add(&profile, x);
        }
        all.sum += profile.sum;
        all.n += profile.n;
        if (profile.n == 0 || context <= 0)
            continue;
        double tenths = 10 * p->t[b] / (double)context;
        if (tenths < 2)
            mean_add(&first, mean_of(profile));
        if (tenths >= 8 && tenths < 10)
            mean_add(&last, mean_of(profile));
    }
    row->variant = names[variant];
    row->n_bucket_pairs = all.n;
    row->ap_overall = mean_of(all);
    row->ap_first_20 = mean_of(first);
    row->ap_last_20 = mean_of(last);
    row->ap_drop = row->ap_first_20 - row->ap_last_20; /* NaN, blank, if either is */
}
