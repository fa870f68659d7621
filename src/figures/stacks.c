/* stacks.c: figures 8 and 13: shares of heads per checkpoint as stacked bars. */
#include "figures/figure.h"
#include "figures/names.h"

#include <math.h>

enum { SLOT = 72, LEFT = 66, CLASSES_HEIGHT = 340, PANEL_HEIGHT = 170, PANEL_TITLE = 26 };

/* Bars of `count` columns from `first` on, one above the other; column 1 is the place. */
static void put_stack(canvas *c, size_t n_models, int first, int count, const colour *colours)
{
    double slot = (c->right - c->left) / (double)n_models;
    double half = slot < 6 ? 0.5 : 0.41;
    text_add(&c->script, "set yrange [0:1]\nset ytics 0.2 format '%.1f'\nplot \\\n");
    for (int i = 0; i < count; i++) {
        const char *below = i ? canvas_format(c, "(sum[k=%d:%d] column(k))", first, first + i - 1)
                              : "(0)";
        text_addf(&c->script,
                  "%s     'data.csv' using 1:%s:($1-%g):($1+%g):%s:(sum[k=%d:%d] column(k)) with "
                  "boxxyerror fc rgb '#%06x'",
                  i ? ", \\\n" : "", below, half, half, below, first, first + i, colours[i]);
    }
    for (int i = 0; slot >= 34 && i < count; i++) {
        bool white = contrast(colours[i], 0xffffff) > contrast(colours[i], 0x000000);
        text_addf(
            &c->script,
            "%s     'data.csv' using 1:((sum[k=%d:%d] column(k)) - $%d / 2):($%d < %.3f ? '' : "
            "sprintf('%%.0f%%%%', 100 * $%d)) with labels font ',8' tc rgb '#%s'",
            ", \\\n", first, first + i, first + i, first + i, 14 / (c->bottom - c->top), first + i,
            white ? "ffffff" : "000000");
    }
    text_add(&c->script, "\n");
}

/* ---- 8: classes ---- */

static void draw_taxonomy(const view *v, canvas *c)
{
    legend_item items[QKS_CLASSES];
    for (int i = 0; i < QKS_CLASSES; i++) { /* from the top of the bars down */
        qks_class class = (qks_class)(QKS_CLASSES - 1 - i);
        items[i] = (legend_item){qks_class_name(class), CLASS_COLOURS[class], 0, false};
    }
    data_header(c, "position,position-dominated,Q-positional,K-positional,content-focused,mixed,"
                   "n_heads,model,phase");
    for (size_t i = 0; i < v->n_models; i++) {
        data_number(c, (double)i);
        for (int class = 0; class < QKS_CLASSES; class ++)
            data_number(c, v->models[i].row->share[class]);
        data_number(c, (double)v->models[i].n_heads);
        data_text(c, v->models[i].name);
        data_text(c, v->models[i].row->group);
        data_end(c);
    }
    double width = slots_width(v->n_models, SLOT), left = slots_left(v, width, LEFT);
    double top = TITLE_ROOM + phases_room(v, width);
    canvas_size(c, left + width + legend_width(items, QKS_CLASSES),
                top + CLASSES_HEIGHT + slots_room(v, width) + 8);
    canvas_area(c, left, top, left + width, top + CLASSES_HEIGHT);
    canvas_title(c, "Head taxonomy along training",
                 canvas_format(c, "%zu %s in training order, %s; classes by r_q and |r_k| on PC0",
                               v->n_models, view_noun(v, v->n_models),
                               canvas_kept(c, view_heads(v, NULL, c->memory))));
    legend_draw(c, items, QKS_CLASSES, c->right, c->top);
    slots_tics(c, v);
    phases_draw(c, v);
    canvas_ylabel(c, "share of heads", 48);
    put_stack(c, v->n_models, 2, QKS_CLASSES, CLASS_COLOURS);
}

/* Classes that gain or lose are told one by one, the others in one sentence. */
static void say_class_changes(const view *v, takeaway *t)
{
    size_t last = v->n_models - 1;
    const char *quiet = "";
    bool tested = true;
    for (int class = 0; last > 0 && class < QKS_CLASSES; class ++) {
        const char *name = qks_class_name((qks_class) class);
        const char *quantity = phrase(t, "share_%s", name);
        measured change = step_finding(v, t, 0, last, quantity);
        if (!is_known(change))
            continue;
        if (way_of(t, change) != 0) {
            say_step(v, t, (spoken){quantity, phrase(t, "the share of %s heads", name)}, 0, last);
            continue;
        }
        quiet = phrase(t, "%s%s%s (%s)", quiet, *quiet ? ", " : "", name, number(t, change, true));
        tested = tested && !isnan(change.se);
    }
    if (*quiet)
        say(t, "Between %s and %s there is no %s change in the share of: %s.",
            name_of(t, v->models[0].name), name_of(t, v->models[last].name),
            tested ? "measurable" : "sizeable", quiet);
}

static measured class_share(const view *v, takeaway *t, size_t model, int class)
{
    measured share = model_finding(v, model,
                                   phrase(t, "share_%s", qks_class_name((qks_class) class)));
    return is_known(share) ? share : (measured){v->models[model].row->share[class], NAN};
}

/* The largest class at the end, and the next if they cannot be told apart. */
static void say_largest_class(const view *v, takeaway *t)
{
    size_t last = v->n_models - 1;
    const double *shares = v->models[last].row->share;
    int largest = 0;
    for (int class = 1; class < QKS_CLASSES; class ++)
        largest = shares[class] > shares[largest] ? class : largest;
    int next = largest == 0 ? 1 : 0;
    for (int class = 0; class < QKS_CLASSES; class ++)
        next = class != largest && shares[class] > shares[next] ? class : next;
    if (!isfinite(shares[largest]))
        return;
    measured first = class_share(v, t, last, largest), second = class_share(v, t, last, next);
    const char *model = name_of(t, v->models[last].name);
    const char *name = qks_class_name((qks_class)largest);
    if (is_known(second) && way_of(t, difference(t, second, first)) == 0)
        say(t, "At %s the largest classes are %s and %s, with shares of %s and %s.", model, name,
            qks_class_name((qks_class)next), number(t, first, false), number(t, second, false));
    else
        say(t, "At %s the largest class is %s, with a share of %s.", model, name,
            number(t, first, false));
}

static void say_taxonomy(const view *v, takeaway *t)
{
    say_class_changes(v, t);
    say_largest_class(v, t);
}

const figure TAXONOMY_EVOLUTION = {
    .number = 8,
    .name = "taxonomy_evolution",
    .study = TRAINING_STUDY,
    .tables = "trajectory, findings",
    .shows =
        "The shares of the five classes of heads at each checkpoint, in training order. "
        "Classes go by r_q and |r_k| on PC0: position-dominated (both above 0.7), Q-positional "
        "(r_q above 0.7, |r_k| below 0.3), K-positional (the other way round), content-focused "
        "(both below 0.3), mixed (the rest). Dashed lines separate the phases of training.",
    .draw = draw_taxonomy,
    .say = say_taxonomy,
};

/* ---- 13: signs of r_k ---- */

static const double SIGN_THRESHOLD = 0.3;

enum { SIGN_ABOVE, SIGN_BETWEEN, SIGN_BELOW, SIGNS };
static const colour SIGN_COLOURS[SIGNS] = {COLOUR_K, 0xd1d5db, 0x0d9488};

/* Layers with RoPE, without it, and of which it is not known. */
typedef struct layer_kind {
    int64_t rope;
    const char *name, *note, *column;
} layer_kind;
static const layer_kind KINDS[] = {
    {1, "layers with RoPE", "", "rope"},
    {0, "layers without RoPE", "", "nope"},
    {QKS_BLANK, "all layers", " (the tables do not say which have RoPE)", "unknown"},
};
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

static size_t count_signs(const view_model *m, const layer_kind *kind, double shares[SIGNS])
{
    size_t count = 0;
    shares[SIGN_ABOVE] = shares[SIGN_BETWEEN] = shares[SIGN_BELOW] = 0;
    for (size_t i = 0; i < m->n_heads; i++) {
        const view_head *h = &m->heads[i];
        if (h->rope != kind->rope)
            continue;
        count++;
        shares[h->r_k > SIGN_THRESHOLD    ? SIGN_ABOVE
               : h->r_k < -SIGN_THRESHOLD ? SIGN_BELOW
                                          : SIGN_BETWEEN] += 1;
    }
    for (int i = 0; i < SIGNS; i++)
        shares[i] = count ? shares[i] / (double)count : NAN;
    return count;
}

static size_t count_kind(const view *v, const layer_kind *kind)
{
    size_t count = 0;
    for (size_t i = 0; i < v->n_heads; i++)
        count += v->heads[i].rope == kind->rope;
    return count;
}

static void put_sign_data(const view *v, canvas *c)
{
    const char *header = "position";
    for (int k = 0; k < N_KINDS; k++)
        header = canvas_format(c, "%s,%s_above,%s_between,%s_below,%s_heads", header,
                               KINDS[k].column, KINDS[k].column, KINDS[k].column, KINDS[k].column);
    data_header(c, canvas_format(c, "%s,model,phase", header));
    for (size_t i = 0; i < v->n_models; i++) {
        data_number(c, (double)i);
        for (int k = 0; k < N_KINDS; k++) {
            double shares[SIGNS];
            size_t count = count_signs(&v->models[i], &KINDS[k], shares);
            for (int s = 0; s < SIGNS; s++)
                data_number(c, shares[s]);
            data_number(c, (double)count);
        }
        data_text(c, v->models[i].name);
        data_text(c, v->models[i].row->group);
        data_end(c);
    }
}

static void put_sign_panels(const view *v, canvas *c, double top, size_t panels)
{
    double left = c->left, right = c->right;
    size_t drawn = 0;
    panels_begin(c);
    for (int k = 0; k < N_KINDS; k++) {
        if (count_kind(v, &KINDS[k]) == 0)
            continue;
        double at = top + (double)drawn * (PANEL_HEIGHT + PANEL_TITLE);
        canvas_area(c, left, at, right, at + PANEL_HEIGHT);
        canvas_text(c, left, at - 12, TEXT_LEFT, TYPE_SMALL, COLOUR_INK,
                    canvas_format(c, "%s%s: %s", KINDS[k].name, KINDS[k].note,
                                  canvas_kept(c, view_heads(v, &KINDS[k].rope, c->memory))));
        slots_tics(c, v);
        if (++drawn < panels)
            text_add(&c->script, "unset xtics\n");
        phases_lines(c, v);
        canvas_ylabel(c, "share of heads", 48);
        put_stack(c, v->n_models, 2 + k * (SIGNS + 1), SIGNS, SIGN_COLOURS);
        panels_next(c);
    }
    panels_end(c);
}

static void draw_signs(const view *v, canvas *c)
{
    static const legend_item items[] = {{"r_k < −0.3", 0x0d9488, 0, false},
                                        {"between", 0xd1d5db, 0, false},
                                        {"r_k > 0.3", COLOUR_K, 0, false}};
    size_t panels = 0;
    for (int k = 0; k < N_KINDS; k++)
        panels += count_kind(v, &KINDS[k]) > 0;
    double width = slots_width(v->n_models, SLOT), left = slots_left(v, width, LEFT);
    double top = TITLE_ROOM + phases_room(v, width) + PANEL_TITLE;
    double bottom = top + (double)panels * (PANEL_HEIGHT + PANEL_TITLE) - PANEL_TITLE;
    put_sign_data(v, c);
    canvas_size(c, left + width + legend_width(items, 3), bottom + slots_room(v, width) + 8);
    c->left = left;
    c->right = left + width;
    c->top = top - PANEL_TITLE;
    canvas_title(c, "Sign of r_k on PC0 along training",
                 canvas_format(c, "%zu %s in training order, %s", v->n_models,
                               view_noun(v, v->n_models),
                               canvas_kept(c, view_heads(v, NULL, c->memory))));
    phases_names(c, v);
    legend_draw(c, items, 3, c->right, top);
    put_sign_panels(v, c, top, panels);
}

static void say_kind(const view *v, takeaway *t, const char *suffix, const char *where)
{
    size_t last = v->n_models - 1;
    const char *quantity = phrase(t, "share_opposed%s", suffix);
    if (last > 0) {
        say_step(v, t,
                 (spoken){quantity, phrase(t, "in %s the share of heads with r_k < -0.3", where)},
                 0, last);
        return;
    }
    measured m = model_finding(v, 0, quantity);
    if (is_known(m))
        say(t, "In %s the share of heads with r_k < -0.3 is %s.", where, number(t, m, false));
}

static size_t count_above(const view_model *m, const layer_kind *kind, size_t *heads)
{
    double shares[SIGNS];
    *heads = count_signs(m, kind, shares);
    return *heads ? (size_t)lround(shares[SIGN_ABOVE] * (double)*heads) : 0;
}

/* Counts, not a test: the findings have no share above. */
static void say_above(const view *v, takeaway *t)
{
    const view_model *first = &v->models[0], *last = &v->models[v->n_models - 1];
    for (int k = 0; k < N_KINDS; k++) {
        size_t heads = 0, above = count_above(first, &KINDS[k], &heads);
        const char *end = "";
        if (v->n_models > 1) {
            size_t heads_last = 0, above_last = count_above(last, &KINDS[k], &heads_last);
            end = phrase(t, ", and %zu of %zu at %s", above_last, heads_last,
                         name_of(t, last->name));
        }
        if (count_kind(v, &KINDS[k]))
            say(t, "In %s %zu of %zu heads have r_k > 0.3 at %s%s.", KINDS[k].name, above, heads,
                name_of(t, first->name), end);
    }
}

static void say_signs(const view *v, takeaway *t)
{
    say_above(v, t);
    size_t last = v->n_models - 1;
    measured rope = model_finding(v, last, "share_opposed[rope]");
    measured nope = model_finding(v, last, "share_opposed[nope]");
    if (!is_known(rope) && !is_known(nope))
        say_kind(v, t, "", "all layers");
    say_kind(v, t, "[rope]", "layers with RoPE");
    say_kind(v, t, "[nope]", "layers without RoPE");
    if (!is_known(rope) || !is_known(nope))
        return;
    measured gap = difference(t, rope, nope);
    int way = way_of(t, gap);
    const char *name = name_of(t, v->models[last].name);
    if (way == 0)
        say(t,
            "At %s layers with and without RoPE do not differ measurably in that share: %s and "
            "%s.",
            name, number(t, rope, false), number(t, nope, false));
    else
        say(t, "At %s that share is %s in layers without RoPE (%s) than in layers with it (%s).",
            name, way > 0 ? "higher" : "lower", number(t, nope, false), number(t, rope, false));
}

const figure SIGN_SPLIT = {
    .number = 13,
    .name = "sign_split",
    .study = TRAINING_STUDY,
    .tables = "qk, heads, findings",
    .shows = "The shares of heads whose keys drift the same way as their queries on PC0 (r_k > "
             "0.3), against them (r_k < -0.3), and neither, at each checkpoint; layers with and "
             "without RoPE apart. A mean r_k near zero can hide two groups of opposite sign: here "
             "they are seen. Dashed lines separate the phases of training.",
    .draw = draw_signs,
    .say = say_signs,
};
