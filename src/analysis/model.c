/* model.c: means over heads, by depth bin and altogether. */
#include "analysis/model.h"

#include <math.h>
#include <string.h>

int depth_bin(int64_t layer, int layers)
{
    if (layer <= 0 || layers < 2)
        return 0;
    int64_t bin = (10 * layer - 1) / (layers - 1);
    return bin < DEPTH_BINS ? (int)bin : DEPTH_BINS - 1;
}

double measure_r_q(const head_view *v)
{
    return v->r_q;
}

double measure_r_k(const head_view *v)
{
    return v->r_k;
}

double measure_abs_r_k(const head_view *v)
{
    return fabs(v->r_k);
}

double measure_explained_variance(const head_view *v)
{
    return v->explained_variance;
}

double measure_bias_strength(const head_view *v)
{
    return v->bias_strength;
}

/* Sum of (x - about)^power over the heads that count: those the filter lets through and the measure
 * is defined for. */
static double sum_over(const model_result *m, head_measure *measure, head_filter *filter,
                       double about, int power, size_t *count)
{
    double sum = 0;
    *count = 0;
    for (size_t i = 0; i < m->n_heads; i++) {
        double x = measure(&m->heads[i].whole);
        if (isnan(x) || (filter && !filter(m, &m->heads[i])))
            continue;
        sum += power == 1 ? x : (x - about) * (x - about);
        ++*count;
    }
    return sum;
}

/* Sum, and sum of squares about the whole sample's mean, without each group; heads that the group
 * is not part of stand as they are. Sums of shares are exact, so that equal shares of two
 * checkpoints are a tie to Kendall's tau. */
static void put_replicates(const estimate *e, bool *present, double *squares, const model_result *m,
                           head_measure *measure, head_filter *filter)
{
    for (size_t i = 0; i < m->n_heads; i++) {
        const head_result *h = &m->heads[i];
        if (isnan(measure(&h->whole)) || (filter && !filter(m, h)))
            continue;
        for (int g = 0; g < m->n_groups; g++) {
            const head_view *view = h->replicates ? &h->replicates[g] : &h->whole;
            double x = measure(view);
            e->replicates[g] += x;
            squares[g] += (x - e->value) * (x - e->value);
            present[g] = present[g] || (h->replicates && view->present);
        }
    }
}

qks_status estimate_mean(estimate *e, const model_result *m, head_measure *measure,
                         head_filter *filter, arena *a, qks_error *error)
{
    *e = (estimate){.value = NAN, .se = NAN, .sd = NAN, .se_sd = NAN};
    double sum = sum_over(m, measure, filter, 0, 1, &e->n_heads);
    if (e->n_heads == 0)
        return QKS_OK;
    double n = (double)e->n_heads;
    e->value = sum / n;
    if (e->n_heads > 1)
        e->sd = sqrt(sum_over(m, measure, filter, e->value, 2, &e->n_heads) / (n - 1));
    if (m->n_groups < 2)
        return QKS_OK;
    bool *present = arena_alloc(a, (size_t)m->n_groups, sizeof *present);
    double *squares = arena_alloc(a, (size_t)m->n_groups, sizeof *squares);
    e->replicates = arena_alloc(a, (size_t)m->n_groups, sizeof *e->replicates);
    if (!present || !squares || !e->replicates)
        return out_of_memory(error, "jackknife replicates");
    put_replicates(e, present, squares, m, measure, filter);
    for (int g = 0; g < m->n_groups; g++) {
        e->replicates[g] /= n;
        double off = e->replicates[g] - e->value;
        squares[g] = n > 1 ? sqrt(fmax(squares[g] - n * off * off, 0) / (n - 1)) : 0;
    }
    e->present = present;
    e->se = replicates_se(e->replicates, present, (size_t)m->n_groups);
    e->se_sd = n > 1 ? replicates_se(squares, present, (size_t)m->n_groups) : NAN;
    return QKS_OK;
}

/* ---- tables ---- */

enum { R_Q, R_K, ABS_R_K, VARIANCE, BIAS, MEASURES };
static head_measure *const measures[MEASURES] = {measure_r_q, measure_r_k, measure_abs_r_k,
                                                 measure_explained_variance, measure_bias_strength};

static qks_status estimate_all(estimate e[MEASURES], const model_result *m, arena *a,
                               qks_error *error)
{
    qks_status status = QKS_OK;
    for (int i = 0; status == QKS_OK && i < MEASURES; i++)
        status = estimate_mean(&e[i], m, measures[i], NULL, a, error);
    return status;
}

/* The heads of one bin as a model of their own: a run, since heads are in layer order. */
static model_result bin_of(const model_result *m, int bin)
{
    model_result part = *m;
    size_t first = 0, end = 0;
    while (first < m->n_heads && depth_bin(m->heads[first].row.layer, m->layers) < bin)
        first++;
    for (end = first; end < m->n_heads && depth_bin(m->heads[end].row.layer, m->layers) == bin;)
        end++;
    part.heads = m->heads + first;
    part.n_heads = end - first;
    return part;
}

qks_status depth_rows(const model_result *m, qks_depth_row rows[DEPTH_BINS], arena *a,
                      qks_error *error)
{
    for (int bin = 0; bin < DEPTH_BINS; bin++) {
        model_result part = bin_of(m, bin);
        estimate e[MEASURES];
        qks_status status = estimate_all(e, &part, a, error);
        if (status != QKS_OK)
            return status;
        rows[bin] = (qks_depth_row){
            .model = m->model,
            .bin = bin,
            .label = arena_format(a, "0.%d", bin),
            .n_heads = (int64_t)part.n_heads,
            .r_q = e[R_Q].value,
            .r_k = e[R_K].value,
            .explained_variance = e[VARIANCE].value,
            .bias_strength = e[BIAS].value,
            .se_r_q = e[R_Q].se,
            .se_r_k = e[R_K].se,
        };
        if (!rows[bin].label)
            return out_of_memory(error, "depth table");
    }
    return QKS_OK;
}

static double mean_of_rows(const model_result *m, size_t offset)
{
    double sum = 0;
    for (size_t i = 0; i < m->n_heads; i++) {
        double x = 0;
        memcpy(&x, (const char *)&m->heads[i].row + offset, sizeof x);
        sum += x;
    }
    return m->n_heads ? sum / (double)m->n_heads : NAN;
}

qks_status trajectory_row(const model_result *m, bool training, qks_trajectory_row *row, arena *a,
                          qks_error *error)
{
    estimate e[MEASURES];
    qks_status status = estimate_all(e, m, a, error);
    if (status != QKS_OK)
        return status;
    *row = (qks_trajectory_row){
        .order = m->order,
        .model = m->model,
        .group = training ? m->phase : m->family,
        .n_heads = (int64_t)m->n_heads,
        .mean_r_q = e[R_Q].value,
        .sd_r_q = e[R_Q].sd,
        .se_r_q = e[R_Q].se,
        .mean_r_k = e[R_K].value,
        .sd_r_k = e[R_K].sd,
        .se_r_k = e[R_K].se,
        .mean_abs_r_k = e[ABS_R_K].value,
        .mean_explained_variance = e[VARIANCE].value,
        .sd_explained_variance = e[VARIANCE].sd,
        .pos_share_q = mean_of_rows(m, offsetof(qks_head_row, pos_share_q)),
        .pos_share_k = mean_of_rows(m, offsetof(qks_head_row, pos_share_k)),
    };
    for (size_t i = 0; i < m->n_heads; i++)
        row->share[taxonomy_of(m->heads[i].whole.r_q, m->heads[i].whole.r_k)] += 1;
    for (int c = 0; c < QKS_CLASSES; c++)
        row->share[c] = m->n_heads ? row->share[c] / (double)m->n_heads : NAN;
    return QKS_OK;
}
