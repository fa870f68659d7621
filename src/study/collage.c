/* collage.c: table collage: a sample of the vectors of a few heads, projected on the first two
 * components of their combined PCA. Heads are drawn by seed over all models, so that a figure made
 * of them is no choice of anybody's. */
#include "study/results.h"

#include "analysis/pca.h"
#include "base/random.h"

#include <stdlib.h>

enum { AXES = 2, QUERIES = 0, KEYS = 1 };

typedef struct panel { /* a query head and its key head */
    const source *source;
    size_t sides[2];
} panel;
typedef ARRAY_OF(panel) panel_list;

static qks_status add_panels(panel_list *panels, const source *s, qks_error *error)
{
    const unit_info *info = source_info(s);
    int share = info->q_heads / info->kv_heads;
    for (size_t i = 0; info->samples && i < info->n_sides; i++) {
        side_id keys = {
            .layer = info->sides[i].layer, .head = info->sides[i].head / share, .kind = 'k'};
        ptrdiff_t k_side = info->sides[i].kind == 'q' ? unit_find(info, keys) : -1;
        if (k_side < 0)
            continue;
        qks_status status = array_push(panels, ((panel){s, {i, (size_t)k_side}}), error);
        if (status != QKS_OK)
            return status;
    }
    return QKS_OK;
}

static int by_number(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

/* Numbers of the panels shown, rising: models stay in their order. */
static qks_status draw_panels(const panel_list *panels, int64_t seed, size_t chosen[COLLAGE_HEADS],
                              size_t *count, qks_error *error)
{
    mt19937 g;
    *count = panels->length < COLLAGE_HEADS ? panels->length : COLLAGE_HEADS;
    mt19937_seed_python(&g, seed);
    qks_status status = random_sample(&g, panels->length, *count, chosen, error);
    if (status == QKS_OK)
        qsort(chosen, *count, sizeof *chosen, by_number);
    return status;
}

/* ---- one head ---- */

typedef struct projection {
    const panel *panel;
    side sides[2];
    moments *whole[2];
    pca axes;
} projection;

static void projection_close(projection *p)
{
    for (int kind = 0; kind < 2; kind++) {
        side_close(&p->sides[kind]);
        qks_moments_free(p->whole[kind]);
    }
    pca_close(&p->axes);
}

static qks_status load_side(projection *p, int kind, qks_error *error)
{
    const source *s = p->panel->source;
    side *into = &p->sides[kind];
    qks_status status = source_side(s, 'q', into, error); /* of keys too: their pairs are no use */
    if (status == QKS_OK)
        status = side_sample_open(into, source_info(s)->samples, error);
    if (status == QKS_OK)
        status = source_load(s, 0, p->panel->sides[kind], into, error);
    if (status == QKS_OK)
        status = qks_moments_new(&p->whole[kind], into->d, error);
    for (int g = 0; status == QKS_OK && g < into->n_groups; g++)
        moments_merge(p->whole[kind], into->groups[g]);
    return status;
}

static double on_axis(const projection *p, const float *vector, int axis)
{
    const double *mean = p->axes.pooled->mean;
    const double *along = p->axes.vectors + (size_t)axis * (size_t)p->axes.d;
    double sum = 0;
    for (int j = 0; j < p->axes.d; j++)
        sum += (vector[j] - mean[j]) * along[j];
    return sum;
}

static int by_position(const void *a, const void *b)
{
    const qks_collage_row *x = a, *y = b;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    if (x->pc0 != y->pc0)
        return x->pc0 < y->pc0 ? -1 : 1;
    return x->pc1 < y->pc1 ? -1 : x->pc1 > y->pc1;
}

static qks_status add_rows(results *r, const projection *p, int kind, qks_error *error)
{
    const unit_info *info = source_info(p->panel->source);
    const side_id *head = &info->sides[p->panel->sides[QUERIES]];
    const pair_reservoir *sample = &p->sides[kind].sample;
    size_t first = r->collage.length;
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < sample->count; i++) {
        const float *row = sample->difference + i * (size_t)sample->d;
        qks_collage_row found = {.model = info->model,
                                 .layer = head->layer,
                                 .head = head->head,
                                 .side = kind == KEYS ? "k" : "q",
                                 .position = (int64_t)row[info->d],
                                 .pc0 = on_axis(p, row, 0),
                                 .pc1 = p->axes.count > 1 ? on_axis(p, row, 1) : 0};
        status = array_push(&r->collage, found, error);
    }
    if (status == QKS_OK && sample->count)
        qsort(r->collage.data + first, sample->count, sizeof *r->collage.data, by_position);
    return status;
}

static qks_status add_head(results *r, const panel *panel, qks_error *error)
{
    projection p = {.panel = panel};
    qks_status status = load_side(&p, QUERIES, error);
    if (status == QKS_OK)
        status = load_side(&p, KEYS, error);
    if (status == QKS_OK)
        status = pca_open(&p.axes, source_info(panel->source)->d, AXES, error);
    if (status == QKS_OK)
        status = pca_of(&p.axes, p.whole[QUERIES], p.whole[KEYS], NULL, error);
    for (int kind = 0; status == QKS_OK && p.axes.count && kind < 2; kind++)
        status = add_rows(r, &p, kind, error);
    projection_close(&p);
    return status;
}

qks_status collage_of(results *r, source *const *sources, size_t count, int64_t seed,
                      qks_error *error)
{
    panel_list panels = {0};
    size_t chosen[COLLAGE_HEADS] = {0}, shown = 0;
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < count; i++)
        status = add_panels(&panels, sources[i], error);
    if (status == QKS_OK)
        status = draw_panels(&panels, seed, chosen, &shown, error);
    for (size_t i = 0; status == QKS_OK && i < shown; i++)
        status = add_head(r, &panels.data[chosen[i]], error);
    free(panels.data);
    return status;
}
