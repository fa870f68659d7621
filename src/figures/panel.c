/* panel.c: axes of a head scatter (spec/figures.md, figures 2 and 12). */
#include "figures/panel.h"

const char HOLLOW_LABEL[] = "hollow: no RoPE";

static void threshold(canvas *c, bool vertical, double at)
{
    if (vertical)
        text_addf(&c->script, "set arrow from first %g, graph 0 to first %g, graph 1", at, at);
    else
        text_addf(&c->script, "set arrow from graph 0, first %g to graph 1, first %g", at, at);
    text_add(&c->script, " nohead back dt (10,8) lw 0.8 lc rgb '#9ca3af'\n");
}

void panel_axes(canvas *c, bool xlabels, bool ylabels)
{
    static const double thresholds[] = {0.3, 0.7};
    text_addf(&c->script,
              "unset grid\nset border 15 lw 0.8 lc rgb '#9ca3af'\n"
              "set xrange [-0.05:1.05]\nset yrange [-1.05:1.05]\n"
              "set xtics 0.2 format '%s'\nset ytics 0.5 format '%s'\n"
              "set arrow from graph 0, first 0 to graph 1, first 0 nohead back lw 0.8 lc rgb "
              "'#6b7280'\n",
              xlabels ? "%.1f" : "", ylabels ? "%.1f" : "");
    if (xlabels)
        canvas_xlabel(c, "r_q (queries)");
    if (ylabels)
        canvas_ylabel(c, "r_k (keys)", 50);
    for (int i = 0; i < 2; i++) {
        threshold(c, true, thresholds[i]);
        threshold(c, false, thresholds[i]);
        threshold(c, false, -thresholds[i]);
    }
}

bool has_hollow(const view *v)
{
    for (size_t i = 0; i < v->n_heads; i++)
        if (v->heads[i].rope == 0)
            return true;
    return false;
}
