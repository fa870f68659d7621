/* model.h: what is said of a model (or checkpoint) as a whole: means over its heads, by depth and
 * altogether, with jackknife standard errors from its heads' replicates. */
#ifndef QKS_ANALYSIS_MODEL_H
#define QKS_ANALYSIS_MODEL_H

#include "analysis/head.h"
#include "base/memory.h"
#include "qkscope/status.h"
#include "qkscope/tables.h"

#include <stdbool.h>
#include <stddef.h>

enum { DEPTH_BINS = 10 };

typedef struct model_result {
    const char *model;
    const char *phase, *family; /* NULL: not said */
    int64_t order;
    int layers;
    head_result *heads; /* by layer, then head */
    size_t n_heads;
    int n_groups;             /* of documents; 0: no replicates (a bare qk table) */
    const int64_t *group_ids; /* [n_groups]: models with the same ids have paired replicates */
    qks_plasticity_row *plasticity;
    size_t n_plasticity;
} model_result;

/* Ten right-closed bins of depth, layer 0 in the first. */
int depth_bin(int64_t layer, int layers);

/* ---- a number of a set of heads, and its replicates ---- */
typedef double head_measure(const head_view *view);
typedef bool head_filter(const model_result *m, const head_result *h);

typedef struct estimate {
    size_t n_heads;
    double value, se;    /* NaN: not defined */
    double sd, se_sd;    /* over heads, ddof 1 */
    double *replicates;  /* [n_groups] the value without each group, or NULL; in the arena */
    const bool *present; /* [n_groups] */
} estimate;

/* Mean of `measure` over the heads that `filter` (NULL: all) lets through. */
QKS_MUST_CHECK qks_status estimate_mean(estimate *e, const model_result *m, head_measure *measure,
                                        head_filter *filter, arena *a, qks_error *error);

double measure_r_q(const head_view *v);
double measure_r_k(const head_view *v);
double measure_abs_r_k(const head_view *v);
double measure_explained_variance(const head_view *v);
double measure_bias_strength(const head_view *v);

/* ---- tables ---- */
QKS_MUST_CHECK qks_status depth_rows(const model_result *m, qks_depth_row rows[DEPTH_BINS],
                                     arena *a, qks_error *error);
QKS_MUST_CHECK qks_status trajectory_row(const model_result *m, bool training,
                                         qks_trajectory_row *row, arena *a, qks_error *error);

#endif
