/* view.h: a study as its figures see it. Built once from the tables: models in order with their
 * phase or family, their heads on PC0, their depth bins; means per PC over all heads. */
#ifndef QKS_FIGURES_VIEW_H
#define QKS_FIGURES_VIEW_H

#include "analysis/model.h"
#include "base/memory.h"
#include "qkscope/status.h"
#include "qkscope/tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the figures are made from; the caller's, must outlive the view. */
typedef struct figure_tables {
    bool training; /* checkpoints of one run; else different models */
    const qks_qk_row *qk;
    const qks_head_row *heads;
    const qks_depth_row *depth;
    const qks_trajectory_row *trajectory;
    const qks_finding_row *findings;
    const qks_collage_row *collage;
    size_t n_qk, n_heads, n_depth, n_trajectory, n_findings, n_collage;
    const char *const *portraits; /* checkpoints to draw one by one; none: chosen here */
    size_t n_portraits;
    bool portraits_checked; /* against the study: one that is not here is of a model that failed */
} figure_tables;

/* Where it all came from, for the explanations; NULL and 0 mean not known. */
typedef struct figure_facts {
    const char *source;  /* the folder or file that was given */
    const char *study;   /* its name */
    const char *text;    /* path of the corpus */
    const char *capture; /* settings, as "heads 300, seed 0" */
    const char *program; /* that made the tables, with version */
    const char *drawn;   /* this program, and gnuplot, with versions */
    int64_t documents, tokens;
} figure_facts;

typedef struct view_head {
    int64_t layer, head;
    double r_q, r_k; /* on PC0 */
    int64_t rope;    /* 1, 0, or blank: not known */
    qks_class class;
    size_t model;
} view_head;

typedef struct view_cell {
    int64_t n_heads; /* 0: an empty bin; blank: not known */
    double r_q, r_k, se_r_q, se_r_k;
} view_cell;

typedef struct view_model {
    const qks_trajectory_row *row; /* NULL: only a heatmap is known */
    const char *name;              /* as in the tables */
    const char *label;             /* short, one line */
    size_t group;                  /* number of its phase or family */
    view_cell cells[DEPTH_BINS];
    const view_head *heads; /* by layer, then head */
    size_t n_heads;
} view_model;

/* A run of checkpoints of one phase, or all models of one family. */
typedef struct view_group {
    const char *name, *label; /* NULL: the tables give none */
    size_t first, end;        /* models, of a phase */
} view_group;

/* A principal component, over all heads that have it. */
typedef struct view_pc {
    size_t n_heads;
    double explained_variance, r_q, r_k;
} view_pc;

enum { VIEW_PCS = 10 };

typedef struct view {
    figure_tables tables;
    figure_facts facts;
    bool training;
    view_model *models;
    size_t n_models;
    view_group *groups;
    size_t n_groups;
    const view_head *heads; /* of all models */
    size_t n_heads;
    view_pc pcs[VIEW_PCS];
    int n_pcs;            /* up to VIEW_PCS */
    int64_t pcs_in_table; /* of the head that has most */
    size_t *portraits;    /* models */
    size_t n_portraits;
    bool errors; /* some standard error is known */
    arena memory;
} view;

/* On QKS_OK end with view_free. QKS_INVALID: the tables do not go together. */
QKS_MUST_CHECK qks_status view_open(view *v, const figure_tables *tables, const figure_facts *facts,
                                    qks_error *error);

/* One row of a published heatmap: a model's (or checkpoint's) mean r_q or r_k by depth. */
typedef struct heatmap_row {
    const char *model;
    double bins[DEPTH_BINS]; /* NaN: blank */
} heatmap_row;

/* A view of which only the cells are known. */
QKS_MUST_CHECK qks_status view_open_heatmap(view *v, const heatmap_row *rows, size_t count,
                                            bool training, bool keys, const figure_facts *facts,
                                            qks_error *error);
void view_free(view *v);

/* "checkpoint" or "model", by the study's kind; "s" is added for other counts than 1. */
const char *view_noun(const view *v, size_t count);
/* "96 heads each", or, where models have different numbers of them, "352 heads" in all; of layers
 * of one kind if `rope` points to it. NULL: out of memory. */
const char *view_heads(const view *v, const int64_t *rope, arena *a);

#endif
