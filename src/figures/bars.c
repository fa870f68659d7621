/* bars.c: figures 1 and 5: what each principal component carries, over all heads of all models. */
#include "figures/figure.h"
#include "figures/names.h"

#include <math.h>

enum { GROUP_WIDTH = 76, PLOT_HEIGHT = 330, LEFT = 74 };

static void put_data(const view *v, canvas *c)
{
    data_header(c, "pc,mean_r_q,mean_r_k,mean_explained_variance,n_heads");
    for (int i = 0; i < v->n_pcs; i++) {
        data_number(c, i);
        data_number(c, v->pcs[i].r_q);
        data_number(c, v->pcs[i].r_k);
        data_number(c, v->pcs[i].explained_variance);
        data_number(c, (double)v->pcs[i].n_heads);
        data_end(c);
    }
}

static void lay_out(const view *v, canvas *c, const char *title, double legend)
{
    double right = LEFT + slots_width((size_t)v->n_pcs, GROUP_WIDTH);
    canvas_size(c, right + fmax(legend, 24), TITLE_ROOM + PLOT_HEIGHT + 56);
    canvas_area(c, LEFT, TITLE_ROOM, right, TITLE_ROOM + PLOT_HEIGHT);
    canvas_title(c, title,
                 canvas_format(c, "mean over %s heads of %zu %s",
                               count_words(c->memory, v->n_heads), v->n_models,
                               view_noun(v, v->n_models)));
    text_addf(&c->script, "set xrange [-0.6:%g]\nset xtics scale 0 ('PC0' 0",
              (double)v->n_pcs - 0.4);
    for (int i = 1; i < v->n_pcs; i++)
        text_addf(&c->script, ", 'PC%d' %d", i, i);
    text_add(&c->script, ")\n");
    canvas_xlabel(c, "principal component");
    canvas_shown(c, false, 2);
}

/* ---- 1: roles ---- */

static void draw_roles(const view *v, canvas *c)
{
    static const legend_item items[] = {{"mean r_q (queries)", COLOUR_Q, 0, false},
                                        {"mean r_k (keys)", COLOUR_K, 0, false}};
    double low = 0, high = 0.2;
    for (int i = 0; i < v->n_pcs; i++) {
        low = fmin(low, fmin(v->pcs[i].r_q, v->pcs[i].r_k));
        high = fmax(high, fmax(v->pcs[i].r_q, v->pcs[i].r_k));
    }
    put_data(v, c);
    lay_out(v, c, "Which component carries position", legend_width(items, 2));
    legend_draw(c, items, 2, c->right, c->top);
    canvas_ylabel(c, "mean correlation with position", 56);
    low = low < 0 ? low - 0.08 : 0;
    high += 0.08;
    text_addf(&c->script,
              "unset grid\nset yrange [%g:%g]\nset ytics %g\nset format y '%%.%df'\n"
              "set xzeroaxis lt 1 lw 0.8 lc rgb '#9ca3af'\n"
              "off(y) = y + (y < 0 ? -%.4f : %.4f) # a number stands just off its bar's end\n",
              low, high, high - low > 0.5 ? 0.2 : 0.05, high - low > 0.5 ? 1 : 2,
              9 * (high - low) / PLOT_HEIGHT, 9 * (high - low) / PLOT_HEIGHT);
    text_addf(&c->script,
              "# columns of data.csv: 1 pc, 2 mean r_q, 3 mean r_k\n"
              "plot 'data.csv' using ($1-0.2):2:(0.38) with boxes fc rgb '#%06x', \\\n"
              "     '' using ($1+0.2):3:(0.38) with boxes fc rgb '#%06x', \\\n"
              "     '' using ($1-0.2):(off($2)):(shown($2)) with labels font ',7.5', \\\n"
              "     '' using ($1+0.2):(off($3)):(shown($3)) with labels font ',7.5'\n",
              COLOUR_Q, COLOUR_K);
}

static double side_of(const view_pc *pc, bool keys)
{
    return fabs(keys ? pc->r_k : pc->r_q);
}

/* Is PC0 the one that carries this side's position, over all heads? */
static void say_carrier(const view *v, takeaway *t, bool keys)
{
    int best = 0, next = -1;
    for (int i = 1; i < v->n_pcs; i++)
        best = side_of(&v->pcs[i], keys) > side_of(&v->pcs[best], keys) ? i : best;
    for (int i = 0; i < v->n_pcs; i++)
        if (i != best && (next < 0 || side_of(&v->pcs[i], keys) > side_of(&v->pcs[next], keys)))
            next = i;
    const char *side = keys ? "keys" : "queries", *r = keys ? "r_k" : "r_q";
    measured first = pooled_finding(v, t, keys ? "mean_r_k" : "mean_r_q");
    if (next < 0)
        say(t, "Of the %s only PC0 is in the tables: mean %s is %s.", side, r,
            number(t, first, false));
    else if (best == 0)
        say(t,
            "Over all heads the %s follow position best on PC0: mean %s is %s there, and at most "
            "%.2f in size on any other component (PC%d).",
            side, r, number(t, first, false), side_of(&v->pcs[next], keys), next);
    else
        say(t,
            "Over all heads the %s follow position best on PC%d: mean %s is %.2f in size there, "
            "but %s on PC0.",
            side, best, r, side_of(&v->pcs[best], keys), number(t, first, false));
}

static void say_roles(const view *v, takeaway *t)
{
    say_carrier(v, t, false);
    say_carrier(v, t, true);
    measured q = pooled_finding(v, t, "share_q_not_pc0"),
             k = pooled_finding(v, t, "share_k_not_pc0");
    if (v->n_pcs > 1 && is_known(q) && is_known(k))
        say(t,
            "Head by head that differs: the share of heads whose queries follow position best on "
            "another component than PC0 is %s; for keys it is %s.",
            number(t, q, false), number(t, k, false));
}

const figure PC_ROLES = {
    .number = 1,
    .name = "pc_roles",
    .study = MODELS_STUDY,
    .tables = "qk, findings",
    .shows = "For each principal component of the pooled queries and keys, the mean over all heads "
             "of r_q (blue) and of r_k (red): the correlation of the queries' and of the keys' "
             "projections with token position.",
    .draw = draw_roles,
    .say = say_roles,
};

/* ---- 5: explained variance ---- */

static void draw_variance(const view *v, canvas *c)
{
    double high = 0;
    for (int i = 0; i < v->n_pcs; i++)
        high = fmax(high, v->pcs[i].explained_variance);
    put_data(v, c);
    lay_out(v, c, "Variance explained by each component", 0);
    canvas_ylabel(c, "mean explained variance", 56);
    text_addf(&c->script,
              "unset grid\nset yrange [0:%g]\nset format y '%%.0f%%%%'\n"
              "# columns of data.csv: 1 pc, 4 mean explained variance\n"
              "plot 'data.csv' using 1:(100*$4):(0.7) with boxes fc rgb '#%06x', \\\n"
              "     '' using 1:(100*$4):(sprintf('%%.1f%%%%', 100*$4)) with labels font ',%d' "
              "offset 0,0.6\n",
              fmax(112 * high, 1), COLOUR_VARIANCE, TYPE_SMALL);
}

static void say_variance(const view *v, takeaway *t)
{
    measured first = pooled_finding(v, t, "mean_explained_variance");
    double sum = 0;
    for (int i = 0; i < v->n_pcs; i++)
        sum += v->pcs[i].explained_variance;
    if (!is_known(first))
        return;
    if (v->n_pcs > 1 && v->pcs[1].explained_variance > 0)
        say(t, "PC0 explains a share of %s of the variance, %.1f times as much as PC1 (%.3f).",
            number(t, first, false), first.value / v->pcs[1].explained_variance,
            v->pcs[1].explained_variance);
    else
        say(t, "PC0 explains a share of %s of the variance.", number(t, first, false));
    if (v->n_pcs > 1)
        say(t, "The first %d components together explain %.2f of it.", v->n_pcs, sum);
}

const figure EXPLAINED_VARIANCE = {
    .number = 5,
    .name = "explained_variance",
    .study = MODELS_STUDY,
    .tables = "qk, findings",
    .shows = "For each principal component of the pooled queries and keys, the share of the total "
             "variance that it explains, mean over all heads.",
    .draw = draw_variance,
    .say = say_variance,
};
