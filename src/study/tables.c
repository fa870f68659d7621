/* tables.c: one line per column. The first columns of `qk` and their order are those of the
 * published files (spec/protocol.md, "Result tables"). */
#include "study/tables.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define ROW qks_qk_row
#define INTEGER(name, required)                                                                    \
    {                                                                                              \
#name, FIELD_INTEGER, offsetof(ROW, name), required                                        \
    }
#define REAL(name, required)                                                                       \
    {                                                                                              \
#name, FIELD_REAL, offsetof(ROW, name), required                                           \
    }
#define TEXT(name, required)                                                                       \
    {                                                                                              \
#name, FIELD_TEXT, offsetof(ROW, name), required                                           \
    }

static const field qk_fields[] = {
    TEXT(model, true),
    INTEGER(layer, true),
    INTEGER(head, true),
    INTEGER(k_head, true),
    INTEGER(pc, true),
    REAL(explained_variance, true),
    REAL(r_q, true),
    REAL(r_k, true),
    REAL(mu_q, false),
    REAL(mu_k, false),
    REAL(alpha_q, false),
    REAL(alpha_k, false),
    REAL(se_explained_variance, false),
    REAL(se_r_q, false),
    REAL(se_r_k, false),
};
const record QK_TABLE = {"qk", sizeof(ROW), COUNT(qk_fields), qk_fields};

#undef ROW
#define ROW qks_head_row
static const field head_fields[] = {
    TEXT(model, true),
    INTEGER(layer, true),
    INTEGER(head, true),
    INTEGER(k_head, true),
    INTEGER(n_q, false),
    INTEGER(n_k, false),
    {"class", FIELD_TEXT, offsetof(ROW, class_name), false},
    INTEGER(rope, false),
    REAL(pos_share_q, false),
    REAL(pos_share_k, false),
    REAL(separation, false),
    REAL(fisher_ratio, false),
    REAL(bias_term, false),
    REAL(interaction, false),
    REAL(r_q_a, false),
    REAL(r_k_a, false),
    REAL(alpha_q, false),
    REAL(alpha_k, false),
    REAL(mu_q_a, false),
    REAL(mu_k_a, false),
    REAL(mu_q_b, false),
    REAL(mu_k_b, false),
    REAL(separation_strength, false),
    REAL(var_frac_a, false),
    REAL(var_frac_b, false),
    REAL(plane_var_fraction, false),
    REAL(bias_strength, false),
    REAL(se_bias_strength, false),
    INTEGER(stable, false),
    TEXT(flags, false),
};
const record HEADS_TABLE = {"heads", sizeof(ROW), COUNT(head_fields), head_fields};

#undef ROW
#define ROW qks_depth_row
static const field depth_fields[] = {
    TEXT(model, true),
    INTEGER(bin, true),
    TEXT(label, true),
    INTEGER(n_heads, true),
    REAL(r_q, true),
    REAL(r_k, true),
    REAL(explained_variance, false),
    REAL(bias_strength, false),
    REAL(se_r_q, false),
    REAL(se_r_k, false),
};
const record DEPTH_TABLE = {"depth", sizeof(ROW), COUNT(depth_fields), depth_fields};

#undef ROW
#define ROW qks_trajectory_row
#define TRAJECTORY_FIELDS(group_name)                                                              \
    {                                                                                              \
        INTEGER(order, true), TEXT(model, true),                                                   \
            {group_name, FIELD_TEXT, offsetof(ROW, group), false}, INTEGER(n_heads, true),         \
            REAL(mean_r_q, true), REAL(sd_r_q, true), REAL(se_r_q, false), REAL(mean_r_k, true),   \
            REAL(sd_r_k, true), REAL(se_r_k, false), REAL(mean_abs_r_k, false),                    \
            REAL(mean_explained_variance, false), REAL(sd_explained_variance, false),              \
            REAL(pos_share_q, false), REAL(pos_share_k, false), QKS_CLASS_LIST(CLASS_SHARE)        \
    }
#define CLASS_SHARE(code, name)                                                                    \
    {name, FIELD_REAL, offsetof(ROW, share) + (code) * sizeof(double), false},
static const field trajectory_fields[] = TRAJECTORY_FIELDS("phase");
static const field models_fields[] = TRAJECTORY_FIELDS("family");
const record TRAJECTORY_TABLE = {"trajectory", sizeof(ROW), COUNT(trajectory_fields),
                                 trajectory_fields};
const record MODELS_TABLE = {"trajectory", sizeof(ROW), COUNT(models_fields), models_fields};

#undef ROW
#define ROW qks_plasticity_row
static const field plasticity_fields[] = {
    TEXT(model, true),      INTEGER(layer, true),    INTEGER(head, true),
    INTEGER(k_head, true),  TEXT(variant, true),     INTEGER(n_bucket_pairs, true),
    REAL(ap_overall, true), REAL(ap_first_20, true), REAL(ap_last_20, true),
    REAL(ap_drop, true),
};
const record PLASTICITY_TABLE = {"plasticity", sizeof(ROW), COUNT(plasticity_fields),
                                 plasticity_fields};

#undef ROW
#define ROW qks_finding_row
static const field finding_fields[] = {
    TEXT(subject, true), TEXT(quantity, true), REAL(value, true),
    REAL(se, true),      REAL(z, true),        TEXT(sentence, true),
};
const record FINDINGS_TABLE = {"findings", sizeof(ROW), COUNT(finding_fields), finding_fields};

#undef ROW
#define ROW qks_collage_row
static const field collage_fields[] = {
    TEXT(model, true),       INTEGER(layer, true), INTEGER(head, true), TEXT(side, true),
    INTEGER(position, true), REAL(pc0, true),      REAL(pc1, true),
};
const record COLLAGE_TABLE = {"collage", sizeof(ROW), COUNT(collage_fields), collage_fields};

#undef ROW
#define ROW study_row
static const field study_fields[] = {
    INTEGER(order, false), TEXT(model, true),       TEXT(phase, false),       TEXT(family, false),
    INTEGER(layers, true), INTEGER(q_heads, false), INTEGER(kv_heads, false),
};
const record STUDY_TABLE = {"study", sizeof(ROW), COUNT(study_fields), study_fields};
