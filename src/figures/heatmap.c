/* heatmap.c: figures 3, 4, 10, 11, and the drawing that figure 14 shares. A cell is a box, so that
 * every format stays sharp; numbers are white on dark cells and black on light ones. */
#include "figures/heatmap.h"

#include "figures/figure.h"
#include "figures/names.h"

#include <math.h>

enum {
    CELL_WIDTH = 62,
    BAR_WIDTH = 16,
    BAR_LEAST = 120,
    BAR_MOST = 600,
    MOST_TALL = 12,
    MOST_MEDIUM = 24
};

static const char *const BIN_LABELS[DEPTH_BINS] = {"0.0", "0.1", "0.2", "0.3", "0.4",
                                                   "0.5", "0.6", "0.7", "0.8", "0.9"};

bool heatmap_rows(heatmap *h, canvas *c, size_t count)
{
    h->n_rows = count;
    if (h->n_columns == 0) {
        h->n_columns = DEPTH_BINS;
        h->columns = BIN_LABELS;
        h->across = "depth (layer / last layer), left edge of the bin";
    }
    h->labels = arena_alloc(c->memory, count, sizeof *h->labels);
    h->names = arena_alloc(c->memory, count, sizeof *h->names);
    h->cells = arena_alloc(c->memory, count * h->n_columns, sizeof *h->cells);
    bool room = h->labels && h->names && h->cells;
    (void)canvas_kept(c, room ? "" : NULL);
    return room;
}

heatmap_cell *heatmap_at(const heatmap *h, size_t row, size_t column)
{
    return &h->cells[row * h->n_columns + column];
}

static void put_data(const heatmap *h, canvas *c)
{
    data_header(c,
                canvas_format(c, "row,column,%s,se,n_heads,empty,marked,label,model", h->quantity));
    for (size_t row = 0; row < h->n_rows; row++)
        for (size_t column = 0; column < h->n_columns; column++) {
            const heatmap_cell *cell = heatmap_at(h, row, column);
            data_number(c, (double)row);
            data_number(c, (double)column);
            data_number(c, cell->value);
            data_number(c, cell->se);
            data_count(c, cell->n_heads);
            data_number(c, isnan(cell->value));
            data_number(c, cell->marked);
            data_text(c, h->columns[column]);
            data_text(c, h->names[row]);
            data_end(c);
        }
}

typedef struct cell_counts {
    bool empty, marked;
} cell_counts;

static cell_counts count_cells(const heatmap *h)
{
    cell_counts found = {false, false};
    for (size_t i = 0; i < h->n_rows * h->n_columns; i++) {
        found.empty = found.empty || isnan(h->cells[i].value);
        found.marked = found.marked || h->cells[i].marked;
    }
    return found;
}

static const char *note_of(const heatmap *h, canvas *c)
{
    cell_counts found = count_cells(h);
    const char *empty = found.empty && h->empty_note ? h->empty_note : "";
    const char *marked = h->marked_note ? h->marked_note : "";
    return canvas_format(c, "%s%s%s", empty, *empty && *marked ? "   " : "", marked);
}

/* As wide as a column's name. */
static double column_width(const heatmap *h)
{
    double width = CELL_WIDTH;
    for (size_t i = 0; i < h->n_columns; i++)
        width = fmax(width, type_width(h->columns[i], TYPE_BODY) + 14);
    return width;
}

static void lay_out(const heatmap *h, canvas *c, const char *note)
{
    double labels = 0;
    for (size_t i = 0; i < h->n_rows; i++)
        labels = fmax(labels, type_width(h->labels[i], TYPE_BODY));
    double cell = h->n_rows <= MOST_TALL ? 34 : h->n_rows <= MOST_MEDIUM ? 28 : 24;
    double left = labels + 24, right = left + column_width(h) * (double)h->n_columns;
    double bottom = TITLE_ROOM + cell * (double)h->n_rows;
    double text_end = left +
                      fmax(title_width(h->title, h->subtitle), type_width(note, TYPE_SMALL) + 12);
    double height = fmax(bottom + 52 + (*note ? NOTE_ROOM : 0), TITLE_ROOM + BAR_LEAST + 20);
    canvas_size(c, fmax(right + 112, text_end), height);
    canvas_area(c, left, TITLE_ROOM, right, bottom);
}

static void put_axes(const heatmap *h, canvas *c)
{
    text *s = &c->script;
    text_addf(s,
              "unset grid\nset border 0\nset tics scale 0\n"
              "set xrange [-0.5:%g]\nset xtics noenhanced offset 0,0.3 (",
              (double)h->n_columns - 0.5);
    for (size_t i = 0; i < h->n_columns; i++) {
        text_add(s, i ? ", " : "");
        gnuplot_tic(s, h->columns[i]);
        text_addf(s, " %zu", i);
    }
    text_addf(s, ")\nset yrange [%g:-0.5]\nset ytics noenhanced (", (double)h->n_rows - 0.5);
    for (size_t i = 0; i < h->n_rows; i++) {
        text_add(s, i ? ", " : "");
        gnuplot_tic(s, h->labels[i]);
        text_addf(s, " %zu", i);
    }
    text_add(s, ")\n");
}

static double bar_height(const canvas *c)
{
    return fmin(fmax(c->bottom - c->top, BAR_LEAST), BAR_MOST);
}

static void put_colours(const heatmap *h, canvas *c)
{
    text *s = &c->script;
    ink_rule ink = palette_ink(h->palette);
    palette_set(h->palette, s);
    text_addf(s,
              "set cbrange [%g:%g]\n"
              "set colorbox user origin screen %.5f, screen %.5f size screen %.5f, screen %.5f "
              "noborder\n"
              "set cbtics scale 0.3 offset -0.5,0\nset format cb '%s'\n",
              h->low, h->high, screen_x(c, c->right + 20), screen_y(c, c->top + bar_height(c)),
              BAR_WIDTH / c->width, bar_height(c) / c->height, h->high < 1 ? "%.2f" : "%.1f");
    text_addf(s,
              "shade(x) = (x - %g) / %g\n"
              "ink(x) = shade(x) < %.4f || shade(x) > %.4f ? 0xffffff : 0x000000\n",
              h->low, h->high - h->low, ink.dark_below, ink.dark_above);
}

static void put_plots(const heatmap *h, canvas *c)
{
    cell_counts found = count_cells(h);
    text *s = &c->script;
    text_add(s,
             "# columns of data.csv: 1 row, 2 column, 3 value, 6 empty, 7 marked\n"
             "plot 'data.csv' using 2:1:($2-0.5):($2+0.5):($1-0.5):($1+0.5):3 with boxxyerror \\\n"
             "         lw 1.2 fillcolor palette fs solid 1 border lc rgb '#ffffff', \\\n");
    if (found.empty)
        text_addf(
            s,
            "     '' using 2:($6 == 1 ? $1 : NaN):($2-0.46):($2+0.46):($1-0.42):($1+0.42) with "
            "boxxyerror \\\n"
            "         fs pattern 4 noborder fc rgb '#d1d5db', \\\n"
            "     '' using 2:1:($6 == 1 ? '–' : '') with labels font ',%d' tc rgb "
            "'#%06x', \\\n",
            TYPE_BODY, COLOUR_QUIET);
    if (found.marked)
        text_add(
            s, "     '' using 2:($7 == 1 ? $1 : NaN):($2-0.46):($2+0.46):($1-0.43):($1+0.43) with "
               "boxxyerror \\\n"
               "         lw 1.4 lc rgb '#000000' fs empty border, \\\n");
    text_addf(s, "     '' using 2:1:(shown($3)):(ink($3)) with labels font ',%d' tc rgb variable\n",
              TYPE_SMALL);
}

void heatmap_draw(const heatmap *h, canvas *c)
{
    const char *note = note_of(h, c);
    put_data(h, c);
    lay_out(h, c, note);
    canvas_title(c, h->title, h->subtitle);
    if (*note)
        canvas_note(c, note);
    canvas_xlabel(c, h->across);
    canvas_bar_label(c, h->bar, 95, bar_height(c));
    canvas_shown(c, h->plus, h->decimals ? h->decimals : 2);
    put_axes(h, c);
    put_colours(h, c);
    put_plots(h, c);
}

/* ---- mean r_q and r_k by depth ---- */

static void draw_means(const view *v, canvas *c, bool keys)
{
    heatmap h = {.title = keys ? "Mean r_k on PC0 by depth" : "Mean r_q on PC0 by depth",
                 .bar = keys ? "mean r_k" : "mean r_q",
                 .quantity = keys ? "r_k" : "r_q",
                 .palette = keys ? &REDS : &BLUES,
                 .low = 0,
                 .high = 1,
                 .empty_note = "– no heads in this bin"};
    if (!heatmap_rows(&h, c, v->n_models))
        return;
    for (size_t i = 0; i < v->n_models; i++) {
        const view_model *m = &v->models[i];
        h.labels[i] = m->label;
        h.names[i] = m->name;
        for (int bin = 0; bin < DEPTH_BINS; bin++) {
            const view_cell *cell = &m->cells[bin];
            *heatmap_at(&h, i,
                        (size_t)bin) = (heatmap_cell){.value = keys ? cell->r_k : cell->r_q,
                                                      .se = keys ? cell->se_r_k : cell->se_r_q,
                                                      .n_heads = cell->n_heads};
        }
    }
    const char *heads = v->n_heads ? canvas_format(c, ", %s",
                                                   canvas_kept(c, view_heads(v, NULL, c->memory)))
                                   : "";
    h.subtitle = canvas_format(c, "%zu %s%s; a cell is the mean over the heads of its bin",
                               v->n_models, view_noun(v, v->n_models), heads);
    heatmap_draw(&h, c);
}

static void draw_queries(const view *v, canvas *c)
{
    draw_means(v, c, false);
}

static void draw_keys(const view *v, canvas *c)
{
    draw_means(v, c, true);
}

/* ---- what they say ---- */

static measured cell_measured(const view *v, size_t model, int bin, bool keys)
{
    const view_cell *cell = &v->models[model].cells[bin];
    return (measured){keys ? cell->r_k : cell->r_q, keys ? cell->se_r_k : cell->se_r_q};
}

static void say_extremes(const view *v, takeaway *t, bool keys)
{
    measured ends[2] = {{NAN, NAN}, {NAN, NAN}};
    size_t models[2] = {0};
    int bins[2] = {0};
    for (size_t i = 0; i < v->n_models; i++)
        for (int bin = 0; bin < DEPTH_BINS; bin++) {
            measured m = cell_measured(v, i, bin, keys);
            for (int end = 0; end < 2 && is_known(m); end++)
                if (end == 0 ? !(m.value <= ends[0].value) : !(m.value >= ends[1].value)) {
                    ends[end] = m;
                    models[end] = i;
                    bins[end] = bin;
                }
        }
    if (is_known(ends[0]))
        say(t, "The highest cell is %s (%s, depth 0.%d), the lowest %s (%s, depth 0.%d).",
            number(t, ends[0], false), name_of(t, v->models[models[0]].name), bins[0],
            number(t, ends[1], false), name_of(t, v->models[models[1]].name), bins[1]);
}

/* From the first checkpoint to the last: the depth that changes most, of those that measurably do
 * if there are any. */
static void say_largest_change(const view *v, takeaway *t, bool keys)
{
    size_t last = v->n_models - 1;
    measured largest = {NAN, NAN};
    int at = 0, way = 0;
    for (int bin = 0; bin < DEPTH_BINS && last > 0; bin++) {
        measured from = cell_measured(v, 0, bin, keys), to = cell_measured(v, last, bin, keys);
        measured d = difference(t, from, to);
        if (!is_known(d))
            continue;
        int way_here = way_of(t, d);
        bool more = (way_here != 0) > (way != 0);
        bool larger = (way_here != 0) == (way != 0) && !(fabs(d.value) <= fabs(largest.value));
        if (more || larger) {
            largest = d;
            at = bin;
            way = way_here;
        }
    }
    if (!is_known(largest))
        return;
    if (way == 0)
        say(t, "From %s to %s no depth %s; the largest change is %s (depth 0.%d).",
            name_of(t, v->models[0].name), name_of(t, v->models[last].name),
            isnan(largest.se) ? "changes by as much as 0.01" : "changes measurably",
            number(t, largest, true), at);
    else
        say(t, "From %s to %s the largest change is a %s at depth 0.%d: %s.",
            name_of(t, v->models[0].name), name_of(t, v->models[last].name),
            way > 0 ? "rise" : "fall", at, number(t, largest, true));
}

static void say_means(const view *v, takeaway *t, bool keys)
{
    static const spoken measures[] = {{"mean_r_q", "mean r_q"}, {"mean_r_k", "mean r_k"}};
    say_gradients(v, t, measures[keys]);
    say_extremes(v, t, keys);
    if (v->training)
        say_largest_change(v, t, keys);
}

static void say_queries(const view *v, takeaway *t)
{
    say_means(v, t, false);
}

static void say_keys(const view *v, takeaway *t)
{
    say_means(v, t, true);
}

#define SHOWS(rows, r, side)                                                                       \
    "Rows are " rows ", columns ten bins of depth (layer / last layer, named by the bin's left "   \
    "edge). A cell is the mean " r " on PC0 over the heads of the bin: how strongly the " side     \
    " move along their first principal component with token position. A bin without heads is "     \
    "hatched and has a dash. Colours end at 0 and 1."

#define HEATMAP(symbol, n, file, kind, rows, r, side, draw_it, say_it)                             \
    const figure symbol = {.number = (n),                                                          \
                           .name = file,                                                           \
                           .study = kind,                                                          \
                           .tables = "depth, findings",                                            \
                           .shows = SHOWS(rows, r, side),                                          \
                           .draw = draw_it,                                                        \
                           .say = say_it}

HEATMAP(MODELS_HEATMAP_RQ, 3, "layer_heatmap_rq", MODELS_STUDY, "models", "r_q", "queries",
        draw_queries, say_queries);
HEATMAP(MODELS_HEATMAP_RK, 4, "layer_heatmap_rk", MODELS_STUDY, "models", "r_k", "keys", draw_keys,
        say_keys);
HEATMAP(TRAINING_HEATMAP_RQ, 10, "layer_heatmap_rq", TRAINING_STUDY,
        "checkpoints in training order", "r_q", "queries", draw_queries, say_queries);
HEATMAP(TRAINING_HEATMAP_RK, 11, "layer_heatmap_rk", TRAINING_STUDY,
        "checkpoints in training order", "r_k", "keys", draw_keys, say_keys);
