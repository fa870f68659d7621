/* comparison.h: the figure of qkscope compare: a map of the differences between a run's numbers and
 * published ones, those that differ outlined, with its explanation. */
#ifndef QKS_FIGURES_COMPARISON_H
#define QKS_FIGURES_COMPARISON_H

#include "base/text.h"
#include "figures/canvas.h"
#include "qkscope/compare.h"
#include "qkscope/status.h"

typedef struct comparison_view {
    const qks_compare_facts *facts;
    const char *run, *table; /* as they were given */
    const char *drawn;       /* this program, and gnuplot, with versions */
} comparison_view;

void comparison_draw(const comparison_view *v, canvas *c);
void comparison_readme(const comparison_view *v, const char *image, text *out);

/* Into OUT/figure/. QKS_PARTIAL: gnuplot is missing or failed; script, data and explanation are
 * written all the same. `program`: this one, with its version. */
QKS_MUST_CHECK qks_status comparison_figure(const qks_compare_facts *facts, const char *run,
                                            const char *table, const char *program, const char *out,
                                            qks_error *error);

#endif
