/* fonts.h: can this machine draw it? A character that no installed font has comes out of gnuplot's
 * cairo terminals as a box larger than the figure, so such characters are taken out of scripts. */
#ifndef QKS_FIGURES_FONTS_H
#define QKS_FIGURES_FONTS_H

#include "base/text.h"
#include "qkscope/status.h"

/* Put □ for every character of `script` that is beyond what DejaVu Sans has and that fontconfig
 * (fc-list) knows no font for. Costs nothing where there is none. */
QKS_MUST_CHECK qks_status fonts_check(text *script, qks_error *error);

#endif
