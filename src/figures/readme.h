/* readme.h: a figure's explanation: what it shows, how it was produced, its key takeaway. */
#ifndef QKS_FIGURES_README_H
#define QKS_FIGURES_README_H

#include "base/text.h"
#include "figures/figure.h"

/* `image`: the drawn file to show, or NULL. */
void readme_print(const figure *f, const view *v, const char *image, text *out);

#endif
