/* pca.h: combined QK PCA of one head from its moments (spec: method.md, "Combined QK PCA"), and the
 * drift plane. Pure functions: moments in, numbers out. */
#ifndef QKS_ANALYSIS_PCA_H
#define QKS_ANALYSIS_PCA_H

#include "analysis/linear.h"
#include "capture/moments.h"
#include "qkscope/status.h"

#include <stdbool.h>

/* One side (queries or keys) on one axis. */
typedef struct side_on_axis {
    double mean;     /* of the raw projections */
    double variance; /* of the projections, 1/n */
    double slope;    /* of projection on position */
    double r;        /* correlation of projection and position */
} side_on_axis;

typedef struct component {
    double eigenvalue, explained_variance;
    side_on_axis q, k;
} component;

typedef struct pca {
    int d, capacity, count; /* components wanted at most; found: at most min(n, d) too */
    double total_variance;  /* pooled, 1/n */
    component *components;  /* [count] */
    double *vectors;        /* [count, d], unit length */
    moments *pooled;        /* queries and keys together */
    /* room */
    eigen_room *eigen;
    double *matrix, *product; /* [d, stride] and [capacity, d] */
} pca;

QKS_MUST_CHECK qks_status pca_open(pca *p, int d, int components, qks_error *error);
void pca_close(pca *p);

/* The combined PCA of q and k. `turn_like` NULL: signs by the method's rule; else a pca of the same
 * head whose vectors say which way each component points (for jackknife replicates). */
QKS_MUST_CHECK qks_status pca_of(pca *p, const moments *q, const moments *k, const pca *turn_like,
                                 qks_error *error);

/* Would the sign rule turn this component the other way? */
bool sign_rule_turns(const component *c, int d, const double *vector);

/* The side's numbers on an axis; variances at most `negligible` count as zero. */
side_on_axis side_on(const moments *side, const double *axis, double negligible);

/* From one side's mean to the other's along an axis. */
double step_along(const moments *from, const moments *to, const double *axis);

/* spec: method.md, "Drift plane" */
typedef struct drift_plane {
    bool has_a, has_b; /* a: some direction varies with position; b: both sides have rows */
    side_on_axis q_a, k_a;
    double mu_q_b, mu_k_b;
    double separation_strength, var_frac_a, var_frac_b;
    double *a, *b; /* [d] each, in the room of the caller */
} drift_plane;

/* Needs p->pooled as pca_of left it. `plane->a` and `plane->b` must have room for d numbers; with
 * `only_a` what stands on b is left out. */
QKS_MUST_CHECK qks_status drift_plane_of(drift_plane *plane, pca *p, const moments *q,
                                         const moments *k, bool only_a, qks_error *error);

#endif
