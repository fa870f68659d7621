/* figures.h: all figures of a study: which there are, and drawing those asked for. */
#ifndef QKS_FIGURES_FIGURES_H
#define QKS_FIGURES_FIGURES_H

#include "base/text.h"
#include "figures/figure.h"
#include "figures/view.h"
#include "qkscope/figures.h"
#include "qkscope/status.h"

enum { FIGURES = 14 };
extern const figure *const FIGURE_LIST[FIGURES]; /* by number */

typedef struct figures_plan {
    bool wanted[FIGURES];
    const char *formats; /* as gnuplot's script takes them: "png svg pdf" */
    int threads;         /* figures at once */
} figures_plan;

/* "7,change_map" or NULL for all of the study's kind. A name or number that is none, or that is of
 * the other kind of study, is QKS_USAGE. */
QKS_MUST_CHECK qks_status figures_choose(figures_plan *plan, const char *only, bool training,
                                         qks_error *error);
/* "png,svg" to "png svg"; NULL: all. */
enum { FORMATS_SIZE = 16 };
QKS_MUST_CHECK qks_status figures_formats(const char *asked, char formats[FORMATS_SIZE],
                                          qks_error *error);

/* Into OUT/<nn>-<name>/. Each file is whole or not there. QKS_PARTIAL: some could not be drawn (or
 * none, for want of gnuplot); scripts, data and explanations are written all the same. */
QKS_MUST_CHECK qks_status figures_draw(const view *v, const figures_plan *plan, const char *out,
                                       qks_figures_report *report, qks_error *error);

#endif
