/* pca.c: combined QK PCA and drift plane from moments. */
#include "analysis/pca.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* spec: a side's variance at most this share of the pooled total counts as zero */
static const double NEGLIGIBLE_SHARE = 1e-12;
/* spec: below this |r_q| the keys decide a component's sign */
static const double WEAK_R_Q = 0.05;

qks_status pca_open(pca *p, int d, int components, qks_error *error)
{
    size_t n = (size_t)d, capacity = (size_t)(components < d ? components : d);
    *p = (pca){.d = d, .capacity = (int)capacity};
    qks_status status = qks_moments_new(&p->pooled, d, error);
    if (status == QKS_OK)
        status = eigen_open(&p->eigen, d, error);
    if (status == QKS_OK)
        status = memory_zeroed(&p->components, capacity, sizeof *p->components, error);
    if (status == QKS_OK)
        status = memory_zeroed(&p->vectors, capacity * n, sizeof(double), error);
    if (status == QKS_OK)
        status = memory_zeroed(&p->matrix, n * n, sizeof(double), error);
    if (status == QKS_OK)
        status = memory_zeroed(&p->product, capacity * n, sizeof(double), error);
    if (status != QKS_OK)
        pca_close(p);
    return status;
}

void pca_close(pca *p)
{
    qks_moments_free(p->pooled);
    eigen_close(p->eigen);
    free(p->components);
    free(p->vectors);
    free(p->matrix);
    free(p->product);
    *p = (pca){0};
}

/* sum over coordinates of axis_j Cov(x_j, t), times n */
static double position_scatter(const moments *side, const double *axis)
{
    double sum = 0;
    for (int j = 0; j < side->d; j++)
        sum += axis[j] * moments_scatter(side, side->d, j);
    return sum;
}

static side_on_axis side_of(const moments *side, const double *axis, double scatter,
                            double negligible)
{
    side_on_axis s = {.mean = 0};
    if (side->n == 0)
        return s;
    double n = (double)side->n;
    s.mean = dot(side->d, side->mean, axis);
    s.variance = fmax(scatter / n, 0);
    double position_variance = moments_scatter(side, side->d, side->d) / n;
    if (side->n < 2 || s.variance <= negligible || position_variance <= 0)
        return s;
    double covariance = position_scatter(side, axis) / n;
    s.slope = covariance / position_variance;
    s.r = fmax(-1, fmin(1, covariance / sqrt(s.variance * position_variance)));
    return s;
}

side_on_axis side_on(const moments *side, const double *axis, double negligible)
{
    return side_of(side, axis, quadratic_form(side->d, side->scatter, side->stride, axis),
                   negligible);
}

double step_along(const moments *from, const moments *to, const double *axis)
{
    double sum = 0;
    for (int j = 0; j < from->d; j++)
        sum += axis[j] * moments_step(from, to, j);
    return sum;
}

static int largest_component(int d, const double *v)
{
    int at = 0;
    for (int j = 1; j < d; j++)
        if (fabs(v[j]) > fabs(v[at]))
            at = j;
    return at;
}

bool sign_rule_turns(const component *c, int d, const double *vector)
{
    if (fabs(c->q.r) >= WEAK_R_Q)
        return c->q.r < 0;
    if (c->k.r != 0)
        return c->k.r < 0;
    if (c->q.r != 0)
        return c->q.r < 0;
    return vector[largest_component(d, vector)] < 0;
}

static void turn(component *c, int d, double *vector)
{
    for (int j = 0; j < d; j++)
        vector[j] = -vector[j];
    side_on_axis *sides[] = {&c->q, &c->k};
    for (int s = 0; s < 2; s++) { /* 0 - x and not -x, so that no table shows -0.0 */
        sides[s]->mean = 0 - sides[s]->mean;
        sides[s]->slope = 0 - sides[s]->slope;
        sides[s]->r = 0 - sides[s]->r;
    }
}

/* Both sides on all components: one matrix product per side instead of a form per component. */
static void put_sides(pca *p, const moments *q, const moments *k)
{
    const moments *sides[] = {q, k};
    double negligible = NEGLIGIBLE_SHARE * p->total_variance;
    for (int s = 0; s < 2; s++) {
        symmetric_times(p->d, sides[s]->scatter, sides[s]->stride, p->count, p->vectors,
                        p->product);
        for (int i = 0; i < p->count; i++) {
            const double *v = p->vectors + (size_t)i * (size_t)p->d;
            double scatter = dot(p->d, v, p->product + (size_t)i * (size_t)p->d);
            side_on_axis on = side_of(sides[s], v, scatter, negligible);
            *(s == 0 ? &p->components[i].q : &p->components[i].k) = on;
        }
    }
}

/* The lower triangle of the leading d x d of the pooled scatter, over n. */
static void put_covariance(pca *p)
{
    size_t d = (size_t)p->d, stride = (size_t)p->pooled->stride;
    double n = (double)p->pooled->n;
    p->total_variance = 0;
    for (size_t j = 0; j < d; j++) {
        const double *from = p->pooled->scatter + j * stride;
        double *to = p->matrix + j * d;
        for (size_t i = j; i < d; i++)
            to[i] = from[i] / n;
        p->total_variance += to[j];
    }
}

qks_status pca_of(pca *p, const moments *q, const moments *k, const pca *turn_like,
                  qks_error *error)
{
    moments_copy(p->pooled, q);
    moments_merge(p->pooled, k);
    p->count = p->pooled->n < p->capacity ? (int)p->pooled->n : p->capacity;
    p->total_variance = 0;
    if (p->count == 0)
        return QKS_OK;
    put_covariance(p);
    double values[QKS_DIMENSION_MAX];
    qks_status status = eigen_top(p->eigen, p->d, p->matrix, p->d, p->count, values, p->vectors,
                                  error);
    if (status != QKS_OK)
        return status;
    put_sides(p, q, k);
    for (int i = 0; i < p->count; i++) {
        component *c = &p->components[i];
        double *v = p->vectors + (size_t)i * (size_t)p->d;
        c->eigenvalue = fmax(values[i], 0);
        c->explained_variance = p->total_variance > 0 ? c->eigenvalue / p->total_variance : 0;
        bool turned = turn_like && i < turn_like->count
                          ? dot(p->d, v, turn_like->vectors + (size_t)i * (size_t)p->d) < 0
                          : sign_rule_turns(c, p->d, v);
        if (turned)
            turn(c, p->d, v);
    }
    return QKS_OK;
}

/* C = E[delta delta^T], delta = q - k: the two covariances and the step between the means. */
static double put_difference_moments(pca *p, const moments *q, const moments *k)
{
    size_t d = (size_t)p->d;
    double trace = 0;
    for (size_t j = 0; j < d; j++) {
        const double *from_q = q->scatter + j * (size_t)q->stride;
        const double *from_k = k->scatter + j * (size_t)k->stride;
        double step = moments_step(k, q, (int)j);
        for (size_t i = j; i < d; i++)
            p->matrix[j * d + i] = from_q[i] / (double)q->n + from_k[i] / (double)k->n +
                                   step * moments_step(k, q, (int)i);
        trace += p->matrix[j * d + j];
    }
    return trace;
}

/* matrix = (I - a a^T) matrix (I - a a^T) - below a a^T, through u = matrix a: what is left has its
 * top eigenvector at right angles to a, also where nothing is left. */
static void remove_axis(pca *p, const double *a, double below)
{
    size_t d = (size_t)p->d;
    double *u = p->product;
    symmetric_times(p->d, p->matrix, p->d, 1, a, u);
    double along = dot(p->d, a, u) - below;
    for (size_t j = 0; j < d; j++)
        for (size_t i = j; i < d; i++)
            p->matrix[j * d + i] += along * a[i] * a[j] - u[i] * a[j] - a[i] * u[j];
}

static qks_status put_axis_b(drift_plane *plane, pca *p, const moments *q, const moments *k,
                             qks_error *error)
{
    double strength = 0, trace = put_difference_moments(p, q, k);
    remove_axis(p, plane->a, trace > 0 ? trace : 1);
    qks_status status = eigen_top(p->eigen, p->d, p->matrix, p->d, 1, &strength, plane->b, error);
    if (status != QKS_OK)
        return status;
    plane->has_b = true;
    plane->mu_q_b = dot(p->d, q->mean, plane->b);
    plane->mu_k_b = dot(p->d, k->mean, plane->b);
    if (step_along(k, q, plane->b) < 0) {
        plane->mu_q_b = 0 - plane->mu_q_b;
        plane->mu_k_b = 0 - plane->mu_k_b;
        for (int j = 0; j < p->d; j++)
            plane->b[j] = -plane->b[j];
    }
    plane->separation_strength = trace > 0 ? fmax(strength, 0) / trace : 0;
    plane->var_frac_b = p->total_variance > 0
                            ? side_on(p->pooled, plane->b, 0).variance / p->total_variance
                            : 0;
    return QKS_OK;
}

qks_status drift_plane_of(drift_plane *plane, pca *p, const moments *q, const moments *k,
                          bool only_a, qks_error *error)
{
    *plane = (drift_plane){.a = plane->a, .b = plane->b};
    int d = p->d;
    for (int j = 0; j < d; j++)
        plane->a[j] = moments_scatter(p->pooled, d, j);
    double length = sqrt(dot(d, plane->a, plane->a));
    plane->has_a = length > 0;
    for (int j = 0; plane->has_a && j < d; j++)
        plane->a[j] /= length;
    double negligible = NEGLIGIBLE_SHARE * p->total_variance;
    plane->q_a = side_on(q, plane->a, negligible);
    plane->k_a = side_on(k, plane->a, negligible);
    if (only_a)
        return QKS_OK;
    plane->var_frac_a = p->total_variance > 0
                            ? side_on(p->pooled, plane->a, 0).variance / p->total_variance
                            : 0;
    bool room_for_b = d > 1 || !plane->has_a;
    return q->n > 0 && k->n > 0 && room_for_b ? put_axis_b(plane, p, q, k, error) : QKS_OK;
}
