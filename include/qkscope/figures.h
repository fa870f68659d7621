/* figures.h: from tables to figures, each with its script, data and explanation.
 *
 *     qks_figures_report report;
 *     qks_status status = qks_figures("run/", NULL, NULL, &report, &error);
 *
 * gnuplot draws. Where it is missing, scripts and data are written all the same and the status is
 * QKS_PARTIAL. In option structs zero means the default. */
#ifndef QKSCOPE_FIGURES_H
#define QKSCOPE_FIGURES_H

#include "qkscope/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qks_figures_options {
    const char *study;   /* what a bare qk table does not say: a table (CSV or Parquet) of model,
                            layers, order, phase or family; or a study file (YAML), of which only
                            the portraits are taken */
    const char *shape;   /* "LAYERS/QHEADS/KVHEADS" of all models of a bare qk table */
    const char *only;    /* numbers or names, with commas: "7,change_map"; NULL: all there are */
    const char *formats; /* of png, svg, pdf, with commas; NULL: all three */
    const char *const *portraits; /* checkpoints that figure 12 shows; NULL: as the study says,
                                     else six of them */
    size_t n_portraits;
    int threads; /* figures drawn at once; 0: as many as there are cores */
} qks_figures_options;

typedef struct qks_figures_report {
    size_t drawn;
    size_t left_out; /* for want of their table; `notes` says why */
    size_t failed;
    char notes[QKS_MESSAGE_SIZE];  /* a line each, with its newline */
    char folder[QKS_MESSAGE_SIZE]; /* that they are in; cut if longer */
} qks_figures_report;

/* `input`: a run's directory, a folder of tables, a qk table, or a published heatmap (a table whose
 * first column is `model` or `checkpoint` and the others 0.0 to 0.9). Draws the figures of the
 * study's kind into
 * OUT/<nn>-<name>/{figure.png,figure.svg,figure.pdf,figure.gp,data.csv,README.md}; `out` NULL: the
 * folder `figures` in the input's. `report` may be NULL. */
QKS_MUST_CHECK qks_status qks_figures(const char *input, const char *out,
                                      const qks_figures_options *options,
                                      qks_figures_report *report, qks_error *error);

#ifdef __cplusplus
}
#endif
#endif
