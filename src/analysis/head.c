/* head.c: one head, whole and without each document group in turn. */
#include "analysis/head.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUANTITIES = 3 }; /* of each PC that the qk table gives a standard error for */

/* spec: a replicate's PC0 that turns by more than this cosine makes a head unstable */
static const double STABLE_COSINE = 0.9;

typedef struct level { /* of the recursion that leaves one group out */
    moments *q, *k;
} level;

struct head_room {
    int d, components, groups, n_levels;
    pca whole, part;
    moments *q, *k; /* all groups */
    level *levels;
    double *axes;    /* [2, d] for the drift plane */
    double *samples; /* [components, QUANTITIES, groups] of the present groups */
    double *biases;  /* [groups] */
};

qks_class taxonomy_of(double r_q, double r_k)
{
    double k = fabs(r_k);
    if (r_q > 0.7)
        return k > 0.7 ? QKS_POSITION_DOMINATED : k < 0.3 ? QKS_Q_POSITIONAL : QKS_MIXED;
    if (r_q < 0.3)
        return k > 0.7 ? QKS_K_POSITIONAL : k < 0.3 ? QKS_CONTENT_FOCUSED : QKS_MIXED;
    return QKS_MIXED;
}

const char *qks_class_name(qks_class c)
{
    static const char *const names[] = {
#define X(code, name) [code] = name,
        QKS_CLASS_LIST(X)
#undef X
    };
    return (unsigned)c < QKS_CLASSES ? names[c] : "";
}

double replicates_se(const double *x, const bool *present, size_t count)
{
    double mean = 0, sum = 0, furthest = 0, n = 0;
    for (size_t g = 0; g < count; g++)
        n += !present || present[g];
    if (n < 2)
        return NAN;
    for (size_t g = 0; g < count; g++)
        mean += !present || present[g] ? x[g] / n : 0;
    for (size_t g = 0; g < count; g++) {
        double off = !present || present[g] ? x[g] - mean : 0;
        sum += off * off;
        furthest = fmax(furthest, fabs(off));
    }
    if (furthest <= n * DBL_EPSILON * fabs(mean)) /* equal but for the rounding of their mean */
        return 0;
    return sqrt((n - 1) / n * sum);
}

double jackknife_se(const double *x, size_t count)
{
    return replicates_se(x, NULL, count);
}

qks_status head_open(head_room **out, int d, int components, int groups, qks_error *error)
{
    head_room *room = NULL;
    qks_status status = memory_zeroed(&room, 1, sizeof *room, error);
    if (status != QKS_OK)
        return status;
    *room = (head_room){.d = d, .components = components, .groups = groups, .n_levels = 1};
    for (int span = 1; span < groups; span *= 2)
        room->n_levels++;
    size_t n = (size_t)d, g = (size_t)groups;
    status = pca_open(&room->whole, d, components, error);
    if (status == QKS_OK)
        status = pca_open(&room->part, d, components, error);
    if (status == QKS_OK)
        status = qks_moments_new(&room->q, d, error);
    if (status == QKS_OK)
        status = qks_moments_new(&room->k, d, error);
    if (status == QKS_OK)
        status = memory_zeroed(&room->axes, 2 * n, sizeof(double), error);
    if (status == QKS_OK)
        status = memory_zeroed(&room->biases, g, sizeof(double), error);
    if (status == QKS_OK)
        status = memory_zeroed(&room->samples, (size_t)components * QUANTITIES * g, sizeof(double),
                               error);
    if (status == QKS_OK)
        status = memory_zeroed(&room->levels, (size_t)room->n_levels, sizeof(level), error);
    for (int i = 0; status == QKS_OK && i < room->n_levels; i++) {
        status = qks_moments_new(&room->levels[i].q, d, error);
        if (status == QKS_OK)
            status = qks_moments_new(&room->levels[i].k, d, error);
    }
    if (status != QKS_OK)
        head_close(room);
    else
        *out = room;
    return status;
}

void head_close(head_room *room)
{
    if (!room)
        return;
    pca_close(&room->whole);
    pca_close(&room->part);
    qks_moments_free(room->q);
    qks_moments_free(room->k);
    for (int i = 0; room->levels && i < room->n_levels; i++) {
        qks_moments_free(room->levels[i].q);
        qks_moments_free(room->levels[i].k);
    }
    free(room->levels);
    free(room->axes);
    free(room->samples);
    free(room->biases);
    free(room);
}

static head_view view_of(const pca *p, double bias_strength)
{
    head_view view = {.present = true, .bias_strength = bias_strength};
    const component *c = p->components;
    for (int i = 1; i < p->count; i++) {
        if (fabs(c[i].q.r) > fabs(c[view.top_q].q.r))
            view.top_q = i;
        if (fabs(c[i].k.r) > fabs(c[view.top_k].k.r))
            view.top_k = i;
    }
    if (p->count > 0) {
        view.explained_variance = c->explained_variance;
        view.r_q = c->q.r;
        view.r_k = c->k.r;
    }
    return view;
}

/* ---- the whole sample ---- */

static void put_pcs(const head_room *room, head_result *result)
{
    for (int i = 0; i < result->n_pcs; i++) {
        const component *c = &room->whole.components[i];
        result->pcs[i] = (qks_qk_row){
            .model = result->row.model,
            .layer = result->row.layer,
            .head = result->row.head,
            .k_head = result->row.k_head,
            .pc = i,
            .explained_variance = c->explained_variance,
            .r_q = c->q.r,
            .r_k = c->k.r,
            .mu_q = room->q->n ? c->q.mean : NAN,
            .mu_k = room->k->n ? c->k.mean : NAN,
            .alpha_q = c->q.slope,
            .alpha_k = c->k.slope,
            .se_explained_variance = NAN,
            .se_r_q = NAN,
            .se_r_k = NAN,
        };
    }
}

/* Why numbers of this head are 0 or blank by rule. */
static const char *flags_of(const head_room *room, arena *a)
{
    const component *c = room->whole.components;
    bool some = room->whole.count > 0;
    const char *flags = arena_format(
        a, "%s%s%s%s",
        room->q->n < 2            ? " few-q"
        : some && c->q.slope == 0 ? " flat-q"
                                  : "",
        room->k->n < 2            ? " few-k"
        : some && c->k.slope == 0 ? " flat-k"
                                  : "",
        room->whole.count < room->components && room->whole.count < room->d ? " few-rows" : "",
        room->whole.total_variance > 0 ? "" : " no-variance");
    return flags && *flags ? flags + 1 : NULL;
}

/* x y, but 0 for -0.0. */
static double product(double x, double y)
{
    return x * y + 0.0;
}

static void put_pc0(const head_room *room, qks_head_row *row)
{
    const pca *p = &room->whole;
    row->pos_share_q = row->pos_share_k = 0;
    for (int i = 0; i < p->count; i++) {
        const component *c = &p->components[i];
        row->pos_share_q += c->explained_variance * c->q.r * c->q.r;
        row->pos_share_k += c->explained_variance * c->k.r * c->k.r;
    }
    row->separation = row->fisher_ratio = row->bias_term = row->interaction = NAN;
    const component *c = p->components;
    row->class_name = qks_class_name(p->count ? taxonomy_of(c->q.r, c->k.r) : QKS_CONTENT_FOCUSED);
    if (room->q->n == 0 || room->k->n == 0)
        return;
    double step = step_along(room->k, room->q, p->vectors);
    double spread = c->q.variance + c->k.variance;
    row->separation = fabs(step);
    row->fisher_ratio = spread > 0 ? step * step / spread : NAN;
    row->bias_term = product(c->q.mean, c->k.slope);
    row->interaction = product(c->q.slope, c->k.slope);
}

static void put_plane(const head_room *room, const drift_plane *plane, qks_head_row *row)
{
    bool q = room->q->n > 0, k = room->k->n > 0, a = plane->has_a;
    row->r_q_a = plane->q_a.r;
    row->r_k_a = plane->k_a.r;
    row->alpha_q = plane->q_a.slope;
    row->alpha_k = plane->k_a.slope;
    row->mu_q_a = q && a ? plane->q_a.mean : NAN;
    row->mu_k_a = k && a ? plane->k_a.mean : NAN;
    row->bias_strength = q && k ? product(plane->q_a.mean, plane->k_a.slope) : NAN;
    row->var_frac_a = plane->var_frac_a;
    row->mu_q_b = plane->has_b ? plane->mu_q_b : NAN;
    row->mu_k_b = plane->has_b ? plane->mu_k_b : NAN;
    row->separation_strength = plane->has_b ? plane->separation_strength : NAN;
    row->var_frac_b = plane->has_b ? plane->var_frac_b : NAN;
    row->plane_var_fraction = plane->has_b ? plane->var_frac_a + plane->var_frac_b : NAN;
}

static drift_plane empty_plane(const head_room *room)
{
    return (drift_plane){.a = room->axes, .b = room->axes + room->d};
}

static qks_status analyze_whole(head_room *room, moments *const *q, moments *const *k, arena *a,
                                head_result *result, qks_error *error)
{
    moments_clear(room->q);
    moments_clear(room->k);
    for (int g = 0; g < room->groups; g++) {
        moments_merge(room->q, q[g]);
        moments_merge(room->k, k[g]);
    }
    qks_status status = pca_of(&room->whole, room->q, room->k, NULL, error);
    if (status != QKS_OK)
        return status;
    result->n_pcs = room->whole.count;
    result->pcs = arena_alloc(a, (size_t)result->n_pcs + 1, sizeof *result->pcs);
    if (!result->pcs)
        return out_of_memory(error, "rows of a head");
    result->row.n_q = room->q->n;
    result->row.n_k = room->k->n;
    result->row.flags = flags_of(room, a);
    drift_plane plane = empty_plane(room);
    status = drift_plane_of(&plane, &room->whole, room->q, room->k, false, error);
    if (status != QKS_OK)
        return status;
    put_pcs(room, result);
    put_pc0(room, &result->row);
    put_plane(room, &plane, &result->row);
    result->whole = view_of(&room->whole, result->row.bias_strength);
    return QKS_OK;
}

/* ---- the jackknife ---- */

typedef struct jackknife {
    head_room *room;
    moments *const *q, *const *k;
    head_result *result;
    size_t done; /* replicates of present groups so far */
    qks_error *error;
} jackknife;

static qks_status replicate_without(jackknife *j, int group, const level *rest)
{
    head_room *room = j->room;
    if (j->q[group]->n == 0 && j->k[group]->n == 0)
        return QKS_OK;
    drift_plane plane = empty_plane(room);
    qks_status status = pca_of(&room->part, rest->q, rest->k, &room->whole, j->error);
    if (status == QKS_OK)
        status = drift_plane_of(&plane, &room->part, rest->q, rest->k, true, j->error);
    if (status != QKS_OK)
        return status;
    size_t groups = (size_t)room->groups;
    for (int i = 0; i < room->whole.count; i++) {
        component none = {.eigenvalue = 0};
        const component *c = i < room->part.count ? &room->part.components[i] : &none;
        double *sample = room->samples + (size_t)i * QUANTITIES * groups + j->done;
        sample[0] = c->explained_variance;
        sample[groups] = c->q.r;
        sample[2 * groups] = c->k.r;
    }
    double bias = rest->q->n && rest->k->n ? plane.q_a.mean * plane.k_a.slope : 0;
    j->result->replicates[group] = view_of(&room->part, bias);
    room->biases[j->done++] = bias;
    /* The sign rule would turn it, or it has moved: either way PC0 is not one stable direction. */
    if (room->part.count == 0 ||
        dot(room->d, room->part.vectors, room->whole.vectors) < STABLE_COSINE ||
        sign_rule_turns(room->part.components, room->d, room->part.vectors))
        j->result->row.stable = 0;
    return QKS_OK;
}

/* Halve the groups: what lies outside the half at hand is merged once and shared by all of it, so
 * G replicates need about G log G merges and no subtraction, which would lose digits. */
static qks_status leave_out(jackknife *j, int first, int end, int depth)
{
    const level *outside = &j->room->levels[depth];
    if (end - first == 1)
        return replicate_without(j, first, outside);
    int middle = first + (end - first) / 2;
    level *inner = &j->room->levels[depth + 1];
    qks_status status = QKS_OK;
    for (int half = 0; half < 2 && status == QKS_OK; half++) {
        moments_copy(inner->q, outside->q);
        moments_copy(inner->k, outside->k);
        for (int g = half ? first : middle; g < (half ? middle : end); g++) {
            moments_merge(inner->q, j->q[g]);
            moments_merge(inner->k, j->k[g]);
        }
        status = half ? leave_out(j, middle, end, depth + 1)
                      : leave_out(j, first, middle, depth + 1);
    }
    return status;
}

static void put_errors(const head_room *room, head_result *result, size_t count)
{
    size_t groups = (size_t)room->groups;
    for (int i = 0; i < result->n_pcs; i++) {
        const double *sample = room->samples + (size_t)i * QUANTITIES * groups;
        result->pcs[i].se_explained_variance = jackknife_se(sample, count);
        result->pcs[i].se_r_q = jackknife_se(sample + groups, count);
        result->pcs[i].se_r_k = jackknife_se(sample + 2 * groups, count);
    }
    if (!isnan(result->row.bias_strength))
        result->row.se_bias_strength = jackknife_se(room->biases, count);
}

static qks_status analyze_parts(head_room *room, moments *const *q, moments *const *k, arena *a,
                                head_result *result, qks_error *error)
{
    result->row.se_bias_strength = NAN;
    result->row.stable = QKS_BLANK;
    int present = 0;
    for (int g = 0; g < room->groups; g++)
        present += q[g]->n > 0 || k[g]->n > 0;
    if (present < 2 || result->n_pcs == 0)
        return QKS_OK;
    result->row.stable = 1;
    result->replicates = arena_alloc(a, (size_t)room->groups, sizeof *result->replicates);
    if (!result->replicates)
        return out_of_memory(error, "jackknife replicates");
    for (int g = 0; g < room->groups; g++) {
        result->replicates[g] = result->whole;
        result->replicates[g].present = false;
    }
    moments_clear(room->levels[0].q);
    moments_clear(room->levels[0].k);
    jackknife j = {.room = room, .q = q, .k = k, .result = result, .error = error};
    qks_status status = leave_out(&j, 0, room->groups, 0);
    if (status == QKS_OK)
        put_errors(room, result, j.done);
    return status;
}

qks_status head_analyze(head_room *room, const qks_head_row *id, moments *const *q,
                        moments *const *k, arena *a, head_result *result, qks_error *error)
{
    *result = (head_result){.row = *id, .n_groups = room->groups};
    qks_status status = analyze_whole(room, q, k, a, result, error);
    if (status == QKS_OK)
        status = analyze_parts(room, q, k, a, result, error);
    return status;
}

const moments *head_queries(const head_room *room)
{
    return room->q;
}
