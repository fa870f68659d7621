/* results.h: from sources of moments, or from a bare qk table, to all result tables. */
#ifndef QKS_STUDY_RESULTS_H
#define QKS_STUDY_RESULTS_H

#include "analysis/findings.h"
#include "analysis/model.h"
#include "base/memory.h"
#include "base/progress.h"
#include "qkscope/status.h"
#include "study/source.h"
#include "study/tables.h"

#include <stdbool.h>
#include <stddef.h>

enum { COMPONENTS_DEFAULT = 10 };

typedef struct analyze_options {
    int threads;    /* 0: all cores */
    int components; /* 0: COMPONENTS_DEFAULT */
    bool all_pairs; /* plasticity from every key pair, not from a sample */
    int64_t seed;   /* which heads the collage shows */
    progress *progress;
} analyze_options;

/* The models of a study, analysed. */
typedef struct results {
    model_result *models;
    size_t count;
    bool training;                            /* checkpoints of one run, in order */
    size_t heads_without_keys, heads_flagged; /* for a warning, once */
    ARRAY_OF(qks_collage_row) collage;        /* of a few heads of all models */
    arena *arenas;
    size_t n_arenas;
} results;

QKS_MUST_CHECK qks_status analyze_sources(results *r, source *const *sources, size_t count,
                                          const analyze_options *options, qks_error *error);

/* Sampled vectors of COLLAGE_HEADS heads, drawn by seed from all that have queries and keys, on
 * their first two components; into r->collage. Part of analyze_sources. */
enum { COLLAGE_HEADS = 4 };
QKS_MUST_CHECK qks_status collage_of(results *r, source *const *sources, size_t count, int64_t seed,
                                     qks_error *error);

/* From the rows of a qk table alone: what needs moments stays blank. `layers`: of every model,
 * where `study` (NULL: none) does not say. */
QKS_MUST_CHECK qks_status analyze_table(results *r, const qks_qk_row *rows, size_t count,
                                        const study_row *study, size_t n_study, int layers,
                                        qks_error *error);

/* Order, phase and family from a study's table; models that it does not name are refused. */
QKS_MUST_CHECK qks_status results_order(results *r, const study_row *study, size_t n_study,
                                        qks_error *error);

/* All tables as arrays of rows; strings are the results' or in the arena. */
typedef struct table_rows {
    ARRAY_OF(qks_qk_row) qk;
    ARRAY_OF(qks_head_row) heads;
    ARRAY_OF(qks_depth_row) depth;
    ARRAY_OF(qks_trajectory_row) trajectory;
    ARRAY_OF(qks_plasticity_row) plasticity;
    finding_list findings;
    arena memory;
} table_rows;

QKS_MUST_CHECK qks_status results_rows(const results *r, table_rows *t, qks_error *error);
void table_rows_free(table_rows *t);

/* qk, heads, depth, trajectory, plasticity, findings, collage as CSV and Parquet in `folder`. */
QKS_MUST_CHECK qks_status results_write(const results *r, store *s, const char *folder,
                                        qks_error *error);

void results_free(results *r);

#endif
