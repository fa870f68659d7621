/* gnuplot.h: running gnuplot, without a shell: a script by its file name, messages caught. */
#ifndef QKS_FIGURES_GNUPLOT_H
#define QKS_FIGURES_GNUPLOT_H

#include "qkscope/status.h"

#include <stddef.h>

enum { GNUPLOT_VERSION_SIZE = 64 };

/* "gnuplot 5.4 patchlevel 4". QKS_MISSING: it is not on the PATH; the message says how to get it.
 */
QKS_MUST_CHECK qks_status gnuplot_version(char version[GNUPLOT_VERSION_SIZE], qks_error *error);

/* Run FOLDER/figure.gp in FOLDER for `formats` ("png svg"); what it says when it fails is in the
 * error. A figure is checked for its end, since gnuplot does not notice a full disk. */
QKS_MUST_CHECK qks_status gnuplot_draw(const char *folder, const char *formats, qks_error *error);

#endif
