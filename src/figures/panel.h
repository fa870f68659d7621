/* panel.h: a plot of (r_q, r_k) on PC0, a point per head, with the taxonomy's thresholds: the axes
 * that figures 2 and 12 share. */
#ifndef QKS_FIGURES_PANEL_H
#define QKS_FIGURES_PANEL_H

#include "figures/canvas.h"

/* Ranges, tics and threshold lines; `xlabels`, `ylabels`: whether the axes have names and numbers.
 */
void panel_axes(canvas *c, bool xlabels, bool ylabels);

/* Are there heads in layers without RoPE, which are drawn hollow? */
bool has_hollow(const view *v);
extern const char HOLLOW_LABEL[];

#endif
