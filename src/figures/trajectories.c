/* trajectories.c: figures 7 and 9: means over heads along training, each with a band of one
 * standard deviation over heads and a narrow one of 1.96 standard errors of the mean. */
#include "figures/figure.h"
#include "figures/names.h"

#include <math.h>

enum { SLOT = 80, PLOT_HEIGHT = 340, LEFT = 72 };

typedef struct series {
    const char *column, *legend;
    colour colour;
    int point;
    double (*mean)(const view *v, size_t model);
    double (*sd)(const view *v, size_t model);
    double (*se)(const view *v, size_t model);
} series;

#define OF_ROW(name, member)                                                                       \
    static double name(const view *v, size_t model)                                                \
    {                                                                                              \
        return v->models[model].row->member;                                                       \
    }
OF_ROW(mean_r_q, mean_r_q)
OF_ROW(sd_r_q, sd_r_q)
OF_ROW(se_r_q, se_r_q)
OF_ROW(mean_r_k, mean_r_k)
OF_ROW(sd_r_k, sd_r_k)
OF_ROW(se_r_k, se_r_k)
OF_ROW(mean_variance, mean_explained_variance)
OF_ROW(sd_variance, sd_explained_variance)

static double se_variance(const view *v, size_t model)
{
    return model_finding(v, model, "mean_explained_variance").se;
}

static const series SIGNALS[] = {
    {"r_q", "mean r_q (queries)", COLOUR_Q, 7, mean_r_q, sd_r_q, se_r_q},
    {"r_k", "mean r_k (keys)", COLOUR_K, 5, mean_r_k, sd_r_k, se_r_k},
};
static const series VARIANCE[] = {
    {"explained_variance", "mean of PC0", COLOUR_VARIANCE, 7, mean_variance, sd_variance,
     se_variance},
};
enum { SERIES_MOST = 2 };

static void put_data(const view *v, canvas *c, const series *list, size_t count)
{
    const char *header = "position";
    for (size_t s = 0; s < count; s++)
        header = canvas_format(c, "%s,mean_%s,sd_%s,se_%s", header, list[s].column, list[s].column,
                               list[s].column);
    data_header(c, canvas_format(c, "%s,n_heads,model,phase", header));
    for (size_t i = 0; i < v->n_models; i++) {
        data_number(c, (double)i);
        for (size_t s = 0; s < count; s++) {
            data_number(c, list[s].mean(v, i));
            data_number(c, list[s].sd(v, i));
            data_number(c, list[s].se(v, i));
        }
        data_number(c, (double)v->models[i].n_heads);
        data_text(c, v->models[i].name);
        data_text(c, v->models[i].row->group);
        data_end(c);
    }
}

static void put_range(const view *v, canvas *c, const series *list, size_t count)
{
    double low = 0, high = 0.1;
    for (size_t i = 0; i < v->n_models; i++)
        for (size_t s = 0; s < count; s++) {
            double mean = list[s].mean(v, i), sd = list[s].sd(v, i), se = 1.96 * list[s].se(v, i);
            double reach = fmax(isnan(sd) ? 0 : sd, isnan(se) ? 0 : se);
            low = fmin(low, mean - reach);
            high = fmax(high, mean + reach);
        }
    double room = 0.05 * (high - low);
    text_addf(&c->script, "set yrange [%g:%g]\n", low < 0 ? low - room : 0, high + room);
}

static bool has_errors(const view *v, const series *s)
{
    for (size_t i = 0; i < v->n_models; i++)
        if (isfinite(s->se(v, i)))
            return true;
    return false;
}

/* A band along the checkpoints; of one alone, a box. `column`: of the mean. */
static void put_band(const view *v, canvas *c, colour fill, int see_through, int column, int width,
                     const char *times, double shift)
{
    if (v->n_models > 1)
        text_addf(&c->script,
                  "     'data.csv' using 1:($%d - %s$%d):($%d + %s$%d) with filledcurves fc rgb "
                  "'#%02x%06x', \\\n",
                  column, times, width, column, times, width, see_through, fill);
    else
        text_addf(&c->script,
                  "     'data.csv' using ($1 + %g):%d:($1 + %g):($1 + %g):($%d - %s$%d):($%d + "
                  "%s$%d) with boxxyerror fc rgb '#%02x%06x', \\\n",
                  shift, column, shift - 0.05, shift + 0.05, column, times, width, column, times,
                  width, see_through, fill);
}

static void put_plots(const view *v, canvas *c, const series *list, size_t count)
{
    text_addf(&c->script,
              "# columns of data.csv: 1 position, then mean, sd over heads and standard error of "
              "each line\nplot \\\n");
    for (size_t s = 0; s < count; s++) {
        int column = 2 + 3 * (int)s;
        double shift = v->n_models > 1 || count == 1 ? 0 : s ? 0.12 : -0.12;
        put_band(v, c, list[s].colour, 0xd4, column, column + 1, "", shift);
        if (has_errors(v, &list[s]))
            put_band(v, c, list[s].colour, 0x90, column, column + 2, "1.96*", shift);
    }
    for (size_t s = 0; s < count; s++) {
        double shift = v->n_models > 1 || count == 1 ? 0 : s ? 0.12 : -0.12;
        text_addf(&c->script,
                  "     'data.csv' using ($1 + %g):%d with linespoints lw 2 pt %d ps %g*dot lc rgb "
                  "'#%06x'%s",
                  shift, 2 + 3 * (int)s, list[s].point, v->n_models > 60 ? 0.4 : 0.9,
                  list[s].colour, s + 1 < count ? ", \\\n" : "\n");
    }
}

static void draw_series(const view *v, canvas *c, const series *list, size_t count,
                        const char *title, const char *axis)
{
    legend_item items[SERIES_MOST + 2];
    size_t n_items = 0;
    for (; n_items < count; n_items++)
        items[n_items] = (legend_item){list[n_items].legend, list[n_items].colour,
                                       list[n_items].point, true};
    items[n_items++] = (legend_item){"± 1 sd over heads", 0xd8dbe0, 0, false};
    if (has_errors(v, &list[0]))
        items[n_items++] = (legend_item){"± 1.96 standard errors", 0x8f96a3, 0, false};
    double width = slots_width(v->n_models, SLOT), left = slots_left(v, width, LEFT);
    double top = TITLE_ROOM + phases_room(v, width);
    put_data(v, c, list, count);
    canvas_size(c, left + width + legend_width(items, n_items),
                top + PLOT_HEIGHT + slots_room(v, width) + 8);
    canvas_area(c, left, top, left + width, top + PLOT_HEIGHT);
    canvas_title(c, title,
                 canvas_format(c, "%zu %s in training order, %s", v->n_models,
                               view_noun(v, v->n_models),
                               canvas_kept(c, view_heads(v, NULL, c->memory))));
    legend_draw(c, items, n_items, c->right, c->top);
    slots_tics(c, v);
    phases_draw(c, v);
    put_range(v, c, list, count);
    canvas_ylabel(c, axis, 52);
    text_add(&c->script, "set xzeroaxis lt 1 lw 1 lc rgb '#6b7280'\n");
    put_plots(v, c, list, count);
}

static void draw_signal(const view *v, canvas *c)
{
    draw_series(v, c, SIGNALS, 2, "Position signal on PC0 along training",
                "correlation with position");
}

static void draw_variance(const view *v, canvas *c)
{
    draw_series(v, c, VARIANCE, 1, "Variance explained by PC0 along training",
                "explained variance of PC0");
}

/* ---- what they say ---- */

/* "r_k falls at the start of LC 4K->32K: -0.08 ± 0.01, of which ..." */
static void say_boundary(const view *v, takeaway *t, size_t group, spoken what, bool parts, int way,
                         measured change)
{
    size_t to = v->groups[group].first;
    const char *subject = phrase(t, "%s -> %s", v->models[to - 1].name, v->models[to].name);
    const char *phase = v->groups[group].label;
    const char *told = "";
    measured flipped = finding_of(v, subject, "change_mean_r_k_flipped_sign");
    measured kept = finding_of(v, subject, "change_mean_r_k_kept_sign");
    if (parts && is_known(flipped) && is_known(kept))
        told = phrase(t, ", of which %s from heads whose sign flips and %s from heads that keep it",
                      number(t, flipped, true), number(t, kept, true));
    say(t, "%s %s at the start of %s (%s to %s): %s%s.", capital(t, what.words),
        way > 0 ? "rises" : "falls", phase ? name_of(t, phase) : "the next phase",
        name_of(t, v->models[to - 1].name), name_of(t, v->models[to].name), number(t, change, true),
        told);
}

static void say_boundaries(const view *v, takeaway *t, spoken what, bool parts)
{
    size_t quiet = 0, known = 0;
    const char *silent = "";
    for (size_t g = 1; g < v->n_groups; g++) {
        size_t to = v->groups[g].first;
        measured change = step_finding(v, t, to - 1, to, what.quantity);
        if (!is_known(change))
            continue;
        int way = way_of(t, change);
        known++;
        quiet += way == 0;
        silent = way == 0 ? no_change(change) : silent;
        if (way != 0)
            say_boundary(v, t, g, what, parts, way, change);
    }
    if (quiet)
        say(t, "At %zu of %zu phase boundaries %s %s.", quiet, known, what.words, silent);
}

/* The largest measurable step that is neither the first nor at a boundary: those are told anyway.
 */
static void say_within_phases(const view *v, takeaway *t, spoken what)
{
    size_t at = 0;
    measured largest = {0, NAN};
    for (size_t to = 2; to < v->n_models; to++) {
        measured change = step_finding(v, t, to - 1, to, what.quantity);
        if (v->models[to].group == v->models[to - 1].group && is_known(change) &&
            way_of(t, change) != 0 && fabs(change.value) > fabs(largest.value)) {
            largest = change;
            at = to;
        }
    }
    if (at)
        say(t, "The largest later step of %s within a phase is a %s (%s to %s): %s.", what.words,
            largest.value > 0 ? "rise" : "fall", name_of(t, v->models[at - 1].name),
            name_of(t, v->models[at].name), number(t, largest, true));
}

static void say_series(const view *v, takeaway *t, spoken what, bool parts)
{
    size_t last = v->n_models - 1;
    if (last == 0) {
        measured m = model_finding(v, 0, what.quantity);
        if (is_known(m))
            say(t, "At %s, the only checkpoint, %s is %s.", name_of(t, v->models[0].name),
                what.words, number(t, m, false));
        return;
    }
    say_step(v, t, what, 0, 1);
    if (last > 1)
        say_step(v, t, what, 0, last);
    say_boundaries(v, t, what, parts);
    say_within_phases(v, t, what);
    say_trend(v, t, what);
}

static void say_signal(const view *v, takeaway *t)
{
    say_series(v, t, (spoken){"mean_r_q", "mean r_q"}, false);
    say_series(v, t, (spoken){"mean_r_k", "mean r_k"}, true);
}

static void say_explained(const view *v, takeaway *t)
{
    say_series(v, t, (spoken){"mean_explained_variance", "the mean explained variance of PC0"},
               false);
}

const figure POSITION_SIGNAL = {
    .number = 7,
    .name = "position_signal",
    .study = TRAINING_STUDY,
    .tables = "trajectory, findings",
    .shows = "Mean r_q (blue circles) and mean r_k (red squares) on PC0 over the heads of each "
             "checkpoint, in training order. The wide bands are one standard deviation over heads "
             "(ddof 1), the narrow ones 1.96 jackknife standard errors of the mean. Dashed lines "
             "separate the phases of training.",
    .draw = draw_signal,
    .say = say_signal,
};

const figure VARIANCE_EVOLUTION = {
    .number = 9,
    .name = "explained_variance_evolution",
    .study = TRAINING_STUDY,
    .tables = "trajectory, findings",
    .shows = "The share of variance that PC0 explains, mean over the heads of each checkpoint, in "
             "training order. The wide band is one standard deviation over heads (ddof 1), the "
             "narrow one 1.96 jackknife standard errors of the mean. Dashed lines separate the "
             "phases of training.",
    .draw = draw_variance,
    .say = say_explained,
};
