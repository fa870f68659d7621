/* scatter.c: figure 2, every head of every model as a point, coloured by family. */
#include "figures/figure.h"
#include "figures/names.h"
#include "figures/panel.h"

#include <math.h>
#include <stdlib.h>

enum { PLOT_WIDTH = 520, PLOT_HEIGHT = 520, LEFT = 76 };

/* Layer by layer over all models, so that no family is painted over another as a whole. */
static int by_layer(const void *a, const void *b)
{
    const view_head *x = *(const view_head *const *)a, *y = *(const view_head *const *)b;
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    if (x->head != y->head)
        return x->head < y->head ? -1 : 1;
    return x->model < y->model ? -1 : x->model > y->model;
}

static void put_data(const view *v, canvas *c)
{
    const view_head **heads = arena_alloc(c->memory, v->n_heads, sizeof *heads);
    if (!heads) {
        (void)canvas_kept(c, NULL);
        return;
    }
    for (size_t i = 0; i < v->n_heads; i++)
        heads[i] = &v->heads[i];
    qsort(heads, v->n_heads, sizeof(const view_head *), by_layer);
    data_header(c, "r_q,r_k,family,hollow,layer,head,rope,model,family_name");
    for (size_t i = 0; i < v->n_heads; i++) {
        const view_model *m = &v->models[heads[i]->model];
        data_number(c, heads[i]->r_q);
        data_number(c, heads[i]->r_k);
        data_number(c, (double)m->group + 1);
        data_number(c, heads[i]->rope == 0);
        data_count(c, heads[i]->layer);
        data_count(c, heads[i]->head);
        data_count(c, heads[i]->rope);
        data_text(c, m->name);
        data_text(c, v->groups[m->group].name);
        data_end(c);
    }
}

static size_t put_legend(const view *v, legend_item *items)
{
    size_t count = 0;
    for (; count < v->n_groups; count++)
        items[count] = (legend_item){.label = v->groups[count].label,
                                     .colour = family_colour(count),
                                     .point = family_marker(count)};
    if (has_hollow(v))
        items[count++] = (legend_item){HOLLOW_LABEL, COLOUR_QUIET, 6, false};
    return count;
}

static void put_families(const view *v, canvas *c)
{
    text_addf(&c->script, "array colour[%zu] = [", v->n_groups);
    for (size_t i = 0; i < v->n_groups; i++)
        text_addf(&c->script, "%s0x%06x", i ? ", " : "", family_colour(i));
    text_addf(&c->script, "]\narray marker[%zu] = [", v->n_groups);
    for (size_t i = 0; i < v->n_groups; i++)
        text_addf(&c->script, "%s%d", i ? ", " : "", family_marker(i));
    text_add(&c->script, "]\n");
}

static void draw_scatter(const view *v, canvas *c)
{
    legend_item *items = arena_alloc(c->memory, v->n_groups + 1, sizeof *items);
    if (!items) {
        (void)canvas_kept(c, NULL);
        return;
    }
    size_t count = put_legend(v, items);
    double right = LEFT + PLOT_WIDTH, bottom = TITLE_ROOM + PLOT_HEIGHT;
    put_data(v, c);
    canvas_size(c, right + legend_width(items, count),
                fmax(bottom, TITLE_ROOM + 22.0 * (double)count) + 58);
    canvas_area(c, LEFT, TITLE_ROOM, right, bottom);
    canvas_title(c, "Queries and keys on PC0, head by head",
                 canvas_format(c, "%s heads of %zu %s; dashed: thresholds of the head taxonomy",
                               count_words(c->memory, v->n_heads), v->n_models,
                               view_noun(v, v->n_models)));
    legend_draw(c, items, count, c->right, c->top);
    panel_axes(c, true, true);
    put_families(v, c);
    /* Few heads may be larger and less transparent. */
    bool few = v->n_heads < 400;
    text_addf(&c->script,
              "see_through = 0x%02x000000\n"
              "# columns of data.csv: 1 r_q, 2 r_k, 3 family, 4 hollow\n"
              "plot 'data.csv' using 1:($4 == 0 ? $2 : NaN):(marker[int($3)]):(colour[int($3)] + "
              "see_through) \\\n"
              "         with points pt variable ps %g*dot lw 0.01 lc rgb variable",
              few ? 0x30 : 0x68, few ? 0.85 : 0.58);
    if (has_hollow(v))
        text_addf(&c->script,
                  ", \\\n     '' using 1:($4 == 1 ? $2 : NaN):(marker[int($3)] - 1):"
                  "(colour[int($3)]) \\\n"
                  "         with points pt variable ps %g*dot lw 0.8 lc rgb variable",
                  few ? 0.8 : 0.52);
    text_add(&c->script, "\n");
}

/* ---- what it says ---- */

/* Mean of a family's models by their numbers of heads; errors as if they went together. */
static measured family_mean(const view *v, takeaway *t, size_t family, const char *quantity)
{
    double sum = 0, se = 0, heads = 0;
    size_t models = 0;
    for (size_t i = 0; i < v->n_models; i++) {
        measured m = model_finding(v, i, quantity);
        double n = (double)v->models[i].n_heads;
        if (v->models[i].group != family || !is_known(m))
            continue;
        sum += n * m.value;
        se += n * m.se;
        heads += n;
        models++;
    }
    t->pooled = t->pooled || (models > 1 && !isnan(se));
    return heads > 0 ? (measured){sum / heads, se / heads} : (measured){NAN, NAN};
}

static void say_families(const view *v, takeaway *t, spoken what)
{
    size_t best = v->n_groups, worst = v->n_groups;
    measured high = {NAN, NAN}, low = {NAN, NAN};
    for (size_t i = 0; i < v->n_groups; i++) {
        measured m = family_mean(v, t, i, what.quantity);
        if (!is_known(m))
            continue;
        if (!(m.value <= high.value)) {
            high = m;
            best = i;
        }
        if (!(m.value >= low.value)) {
            low = m;
            worst = i;
        }
    }
    if (best >= v->n_groups || worst >= v->n_groups || best == worst)
        return;
    measured gap = difference(t, low, high);
    if (way_of(t, gap) > 0)
        say(t, "%s is highest in %s (%s) and lowest in %s (%s).", capital(t, what.words),
            name_of(t, v->groups[best].label), number(t, high, false),
            name_of(t, v->groups[worst].label), number(t, low, false));
    else
        say(t, "In %s the families %s: %s in %s, %s in %s.", what.words,
            isnan(gap.se) ? "hardly differ" : "do not differ measurably", number(t, high, false),
            name_of(t, v->groups[best].label), number(t, low, false),
            name_of(t, v->groups[worst].label));
}

static void say_scatter(const view *v, takeaway *t)
{
    measured q = pooled_finding(v, t, "mean_r_q"), k = pooled_finding(v, t, "mean_r_k");
    if (is_known(q) && is_known(k))
        say(t, "Over all heads mean r_q is %s and mean r_k %s.", number(t, q, false),
            number(t, k, false));
    const char *shares = "";
    for (int class = 0; class < QKS_CLASSES; class ++) {
        const char *name = qks_class_name((qks_class) class);
        measured share = pooled_finding(v, t, phrase(t, "share_%s", name));
        if (is_known(share))
            shares = phrase(t, "%s%s%s %s", shares, *shares ? ", " : "", name,
                            number(t, share, false));
    }
    if (*shares)
        say(t, "Shares of the classes: %s.", shares);
    measured opposed = pooled_finding(v, t, "share_opposed");
    if (is_known(opposed))
        say(t, "The share of heads whose keys drift against their queries (r_k < -0.3) is %s.",
            number(t, opposed, false));
    say_families(v, t, (spoken){"mean_r_q", "mean r_q"});
    say_families(v, t, (spoken){"mean_r_k", "mean r_k"});
}

const figure RQ_RK_SCATTER = {
    .number = 2,
    .name = "rq_rk_scatter",
    .study = MODELS_STUDY,
    .tables = "qk, heads, findings",
    .shows = "Every head as a point: across, the correlation of its queries' projections on PC0 "
             "with position (r_q), upwards that of its keys' (r_k). Colour is the model's family; "
             "hollow markers are heads of layers without RoPE. Dashed lines are the thresholds of "
             "the head taxonomy (0.3 and 0.7).",
    .draw = draw_scatter,
    .say = say_scatter,
};
