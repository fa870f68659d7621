/* tables.h: the rows of qkscope's result tables, one struct per table, members in the order of the
 * columns (docs/formats.md says what each means; spec of the numbers: docs/METHOD.md).
 *
 * A blank cell ("not defined", never 0) is QKS_BLANK for integers, NaN for reals, NULL for text. */
#ifndef QKSCOPE_TABLES_H
#define QKSCOPE_TABLES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QKS_BLANK INT64_MIN

/* Head taxonomy on PC0: class, name in tables. */
#define QKS_CLASS_LIST(X)                                                                          \
    X(QKS_POSITION_DOMINATED, "position-dominated")                                                \
    X(QKS_Q_POSITIONAL, "Q-positional")                                                            \
    X(QKS_K_POSITIONAL, "K-positional")                                                            \
    X(QKS_CONTENT_FOCUSED, "content-focused")                                                      \
    X(QKS_MIXED, "mixed")

typedef enum qks_class {
#define X(code, name) code,
    QKS_CLASS_LIST(X)
#undef X
        QKS_CLASSES
} qks_class;

const char *qks_class_name(qks_class c);

/* One principal component of one query head. */
typedef struct qks_qk_row {
    const char *model;
    int64_t layer, head, k_head, pc;
    double explained_variance, r_q, r_k;
    double mu_q, mu_k;                            /* means of the raw projections */
    double alpha_q, alpha_k;                      /* slopes of projection on position */
    double se_explained_variance, se_r_q, se_r_k; /* jackknife over document groups, aligned */
} qks_qk_row;

/* One query head. */
typedef struct qks_head_row {
    const char *model;
    int64_t layer, head, k_head, n_q, n_k;
    const char *class_name;
    int64_t rope;                                            /* 1, 0, or blank: not known */
    double pos_share_q, pos_share_k;                         /* over the reported PCs */
    double separation, fisher_ratio, bias_term, interaction; /* on PC0 */
    double r_q_a, r_k_a, alpha_q, alpha_k;                   /* on the drift axis a */
    double mu_q_a, mu_k_a, mu_q_b, mu_k_b, separation_strength;
    double var_frac_a, var_frac_b, plane_var_fraction;
    double bias_strength, se_bias_strength;
    int64_t stable;    /* 0: some jackknife replicate's PC0 turns by more than cos 0.9 */
    const char *flags; /* why numbers are 0 or fewer by rule, blank for none: few-q, few-k (less
                          than 2 rows), flat-q, flat-k (no slope on PC0), few-rows (than
                          components), no-variance; with spaces between */
} qks_head_row;

/* One depth bin of one model; an empty bin has n_heads 0 and blanks. */
typedef struct qks_depth_row {
    const char *model;
    int64_t bin;
    const char *label;
    int64_t n_heads;
    double r_q, r_k, explained_variance, bias_strength, se_r_q, se_r_k;
} qks_depth_row;

/* One model or checkpoint. */
typedef struct qks_trajectory_row {
    int64_t order;
    const char *model;
    const char *group; /* column `phase` in a training study, `family` in a study of models */
    int64_t n_heads;
    double mean_r_q, sd_r_q, se_r_q, mean_r_k, sd_r_k, se_r_k, mean_abs_r_k;
    double mean_explained_variance, sd_explained_variance, pos_share_q, pos_share_k;
    double share[QKS_CLASSES];
} qks_trajectory_row;

/* Attention plasticity of one query head, by one way of taking the residual variance. */
typedef struct qks_plasticity_row {
    const char *model;
    int64_t layer, head, k_head;
    const char *variant; /* diagonal, diagonal_oriented, full */
    int64_t n_bucket_pairs;
    double ap_overall, ap_first_20, ap_last_20, ap_drop;
} qks_plasticity_row;

/* A captured vector's projections on the first two PCs, for the collage: a few heads only. */
typedef struct qks_collage_row {
    const char *model;
    int64_t layer, head; /* the query head, for keys too */
    const char *side;    /* q or k */
    int64_t position;
    double pc0, pc1; /* about the pooled mean */
} qks_collage_row;

/* A measured sentence. */
typedef struct qks_finding_row {
    const char *subject, *quantity;
    double value, se, z;
    const char *sentence;
} qks_finding_row;

#ifdef __cplusplus
}
#endif
#endif
