/* compare.h: a run's tables against a published table, cell by cell.
 *
 *     qks_comparison *c;
 *     if (qks_compare("runs/smollm3-training", "published/smollm3_rq.csv", NULL, &c, &error) !=
 *         QKS_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *     printf("%s\n", qks_comparison_facts(c)->verdict);
 *     qks_comparison_free(c);
 */
#ifndef QKSCOPE_COMPARE_H
#define QKSCOPE_COMPARE_H

#include "qkscope/analyze.h"
#include "qkscope/status.h"

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One cell that both sides have. */
typedef struct qks_compare_row {
    const char *row, *column; /* as our tables call the model; as the published table the column */
    double ours, published, difference;
    double se; /* jackknife, of ours; NaN: not known */
    double z;  /* difference / sqrt(se^2 + variance of the published number's rounding), or NaN */
    const char *verdict; /* agrees: |z| <= 2, or without se |difference| <= 0.02; else differs */
} qks_compare_row;

typedef struct qks_compare_facts {
    const qks_compare_row *rows;
    size_t cells, cells_with_se, cells_agree;
    double mean_difference, max_difference; /* absolute ones */
    double share_near;                      /* |difference| <= 0.02 */
    double share_within_2_se;               /* of cells with se; NaN: there is none */
    const char *verdict;                    /* agrees: 9 of 10 cells do; else differs */
} qks_compare_facts;

typedef struct qks_comparison qks_comparison;

/* `run`: a run's directory or a folder of tables. `table`: a published table (.csv or .parquet) of
 * one of three kinds: columns 0.0 to 0.9 (mean r by depth, a row per model or checkpoint), mean_rq
 * and its like (a row per model or checkpoint), or quantity and value (all models together).
 * `quantity`: r_q or r_k, which a table by depth is of; NULL: by its name, which has rq or rk in
 * it. Fails when not one cell is in both. The caller frees. */
QKS_MUST_CHECK qks_status qks_compare(const char *run, const char *table, const char *quantity,
                                      qks_comparison **out, qks_error *error);
const qks_compare_facts *qks_comparison_facts(const qks_comparison *c);
void qks_comparison_free(qks_comparison *c); /* NULL is fine */

/* The cells. JSON has the summary too. */
QKS_MUST_CHECK qks_status qks_comparison_print(const qks_comparison *c, qks_sql_format format,
                                               FILE *out, qks_error *error);
/* A few lines on the whole. */
void qks_comparison_summary(const qks_comparison *c, FILE *out);
/* compare.csv and compare.parquet in `folder`. */
QKS_MUST_CHECK qks_status qks_comparison_write(const qks_comparison *c, const char *folder,
                                               qks_error *error);

/* FOLDER/figure/: the differences as a map, as PNG, SVG and PDF, with script, data and explanation.
 * QKS_PARTIAL: gnuplot is missing or failed, and the rest is there. */
QKS_MUST_CHECK qks_status qks_comparison_draw(const qks_comparison *c, const char *folder,
                                              qks_error *error);

#ifdef __cplusplus
}
#endif
#endif
