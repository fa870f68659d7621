/* portraits.c: figure 12, the heads at chosen checkpoints side by side, all on the same axes. */
#include "figures/figure.h"
#include "figures/names.h"
#include "figures/panel.h"

#include <math.h>

enum { PANEL = 250, PANEL_TITLE = 44, GAP = 16, LEFT = 70, BELOW = 64, LEGEND_LINE = 21 };

static void put_data(const view *v, canvas *c)
{
    data_header(c, "panel,r_q,r_k,class,hollow,layer,head,rope,class_name,model");
    for (size_t p = 0; p < v->n_portraits; p++) {
        const view_model *m = &v->models[v->portraits[p]];
        for (size_t i = 0; i < m->n_heads; i++) {
            const view_head *h = &m->heads[i];
            data_number(c, (double)p + 1);
            data_number(c, h->r_q);
            data_number(c, h->r_k);
            data_number(c, h->class + 1.0);
            data_number(c, h->rope == 0);
            data_count(c, h->layer);
            data_count(c, h->head);
            data_count(c, h->rope);
            data_text(c, qks_class_name(h->class));
            data_text(c, m->name);
            data_end(c);
        }
    }
}

/* 6 as 2 rows of 3, 4 as 2 of 2, more than 9 in rows of 4. */
static size_t columns_for(size_t count)
{
    return count <= 3 ? count : count == 4 ? 2 : count <= 9 ? 3 : 4;
}

/* Classes in lines below the panels; `draw` false: only how high they are. */
static double put_legend(const view *v, canvas *c, double top, double width, bool draw)
{
    double x = LEFT, first = top;
    for (int class = 0; class < QKS_CLASSES + has_hollow(v); class ++) {
        bool hollow = class == QKS_CLASSES;
        legend_item item = {.label = hollow ? HOLLOW_LABEL : qks_class_name((qks_class) class),
                            .colour = hollow ? COLOUR_QUIET : CLASS_COLOURS[class],
                            .point = hollow ? 6 : 7};
        double length = legend_width(&item, 1) - 6;
        if (x + length > width && x > LEFT) {
            x = LEFT;
            top += LEGEND_LINE;
        }
        if (draw)
            legend_draw(c, &item, 1, x - 18, top);
        x += length;
    }
    return top + LEGEND_LINE - first;
}

/* `line`: of data.csv, where the checkpoint's heads begin. */
static void put_panel(const view *v, canvas *c, size_t number, size_t columns, size_t line)
{
    const view_model *m = &v->models[v->portraits[number]];
    size_t column = number % columns, row = number / columns;
    bool lowest = number + columns >= v->n_portraits;
    double left = LEFT + (double)column * (PANEL + GAP);
    double top = TITLE_ROOM - 8 + (double)row * (PANEL + PANEL_TITLE + GAP) + PANEL_TITLE;
    const char *phase = v->groups[m->group].label;
    canvas_area(c, left, top, left + PANEL, top + PANEL);
    double both = type_width(m->label, TYPE_SMALL) + type_width(phase ? phase : "", TYPE_SMALL);
    double small = fmin(TYPE_SMALL, TYPE_SMALL * (PANEL - 20) / both);
    canvas_text(c, left, top - 29, TEXT_LEFT, small, COLOUR_INK, m->label);
    if (phase)
        canvas_text(c, left + PANEL, top - 29, TEXT_RIGHT, small, COLOUR_QUIET, phase);
    canvas_text(c, left, top - 12, TEXT_LEFT, 8, COLOUR_QUIET,
                canvas_format(c, "%zu heads, mean r_q %.2f, mean r_k %.2f", m->n_heads,
                              m->row->mean_r_q, m->row->mean_r_k));
    panel_axes(c, lowest, column == 0);
    double dots = m->n_heads > 600 ? 0.35 : m->n_heads > 120 ? 0.55 : 0.8;
    text_addf(&c->script,
              "plot 'data.csv' every ::%zu::%zu using 2:($5 == 0 ? $3 : NaN):"
              "(class_colour[int($4)] + 0x58000000) \\\n"
              "         with points pt 7 ps %g*dot lw 0.01 lc rgb variable, \\\n"
              "     '' every ::%zu::%zu using 2:($5 == 1 ? $3 : NaN):(class_colour[int($4)]) \\\n"
              "         with points pt 6 ps %g*dot lw 0.8 lc rgb variable\n",
              line, line + m->n_heads - 1, dots, line, line + m->n_heads - 1, 0.9 * dots);
    panels_next(c);
}

static void draw_portraits(const view *v, canvas *c)
{
    size_t columns = columns_for(v->n_portraits);
    size_t rows = (v->n_portraits + columns - 1) / columns;
    static const char title[] = "Heads at chosen checkpoints";
    static const char subtitle[] = "r_q and r_k on PC0; dashed: thresholds of the head taxonomy";
    double width = fmax(LEFT + (double)columns * (PANEL + GAP) + 8,
                        LEFT + title_width(title, subtitle));
    double bottom = TITLE_ROOM - 8 + (double)rows * (PANEL + PANEL_TITLE + GAP) - GAP;
    put_data(v, c);
    canvas_size(c, width, bottom + BELOW + put_legend(v, c, bottom + BELOW, width, false) + 8);
    c->left = LEFT;
    canvas_title(c, title, subtitle);
    (void)put_legend(v, c, bottom + BELOW, width, true);
    text_addf(&c->script, "array class_colour[%d] = [", QKS_CLASSES);
    for (int class = 0; class < QKS_CLASSES; class ++)
        text_addf(&c->script, "%s0x%06x", class ? ", " : "", CLASS_COLOURS[class]);
    text_add(&c->script, "]\n# columns of data.csv: 1 panel, 2 r_q, 3 r_k, 4 class, 5 hollow\n");
    panels_begin(c);
    for (size_t i = 0, line = 0; i < v->n_portraits; i++) {
        put_panel(v, c, i, columns, line);
        line += v->models[v->portraits[i]].n_heads;
    }
    panels_end(c);
}

/* ---- what it says ---- */

static void say_flips(const view *v, takeaway *t, size_t from, size_t to)
{
    const char *subject = phrase(t, "%s -> %s", v->models[from].name, v->models[to].name);
    measured flips = finding_of(v, subject, "share_sign_flips");
    measured part = finding_of(v, subject, "change_mean_r_k_flipped_sign");
    if (is_known(flips) && is_known(part))
        say(t,
            "Between %s and %s the share of heads whose r_k changes sign is %s; they change the "
            "mean by %s.",
            name_of(t, v->models[from].name), name_of(t, v->models[to].name),
            number(t, flips, false), number(t, part, true));
}

static void say_portraits(const view *v, takeaway *t)
{
    size_t first = v->portraits[0], last = v->portraits[v->n_portraits - 1];
    if (v->n_portraits < 2) {
        measured opposed = model_finding(v, first, "share_opposed");
        if (is_known(opposed))
            say(t, "At %s the share of heads with r_k < -0.3 is %s.",
                name_of(t, v->models[first].name), number(t, opposed, false));
        return;
    }
    say_step(v, t, (spoken){"share_position-dominated", "the share of position-dominated heads"},
             first, last);
    say_step(v, t, (spoken){"share_opposed", "the share of heads with r_k < -0.3"}, first, last);
    say_step(v, t, (spoken){"mean_abs_r_k", "mean |r_k|"}, first, last);
    say_flips(v, t, first, last);
}

const figure PHASE_PORTRAITS = {
    .number = 12,
    .name = "phase_portraits",
    .study = TRAINING_STUDY,
    .tables = "qk, heads, trajectory, findings",
    .shows =
        "A panel per chosen checkpoint, every head a point: across its r_q, upwards its r_k, "
        "both on PC0. All panels have the same axes. Colour is the head's class, hollow markers "
        "are heads of layers without RoPE, dashed lines the thresholds of the taxonomy.",
    .draw = draw_portraits,
    .say = say_portraits,
};
