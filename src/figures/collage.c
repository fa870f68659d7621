/* collage.c: figure 6, queries and keys of a few heads on their first two components, shaded by
 * position. Drawn from table `collage`, which run and analyze write. */
#include "figures/figure.h"
#include "figures/names.h"

#include <math.h>
#include <string.h>

enum {
    PANEL = 330,
    PANEL_TITLE = 70,
    GAP_X = 64,
    GAP_Y = 62,
    LEFT = 72,
    PANELS_MOST = 16,
    BAR_HEIGHT = 130
};

static const double PALEST = 0.15;

typedef struct shown_head {
    const qks_collage_row *first;
    const qks_qk_row *pcs[2]; /* NULL: not in table qk */
    size_t rows;
    size_t line; /* of data.csv, its first */
} shown_head;

typedef struct shown {
    shown_head heads[PANELS_MOST];
    size_t count;
    int64_t last_position;
} shown;

static bool same_head(const qks_collage_row *row, const char *model, int64_t layer, int64_t head)
{
    return row->layer == layer && row->head == head && row->model && model &&
           strcmp(row->model, model) == 0;
}

static size_t find_shown(const shown *s, const qks_collage_row *row)
{
    size_t i = 0;
    while (i < s->count && !same_head(s->heads[i].first, row->model, row->layer, row->head))
        i++;
    return i;
}

static shown shown_heads(const view *v)
{
    shown s = {.count = 0};
    for (size_t i = 0; i < v->tables.n_collage; i++) {
        const qks_collage_row *row = &v->tables.collage[i];
        size_t at = find_shown(&s, row);
        if (!row->model || !row->side || at == PANELS_MOST)
            continue;
        if (at == s.count)
            s.heads[s.count++].first = row;
        s.heads[at].rows++;
        s.last_position = row->position > s.last_position ? row->position : s.last_position;
    }
    for (size_t i = 0; i < v->tables.n_qk; i++) {
        const qks_qk_row *row = &v->tables.qk[i];
        for (size_t h = 0; (row->pc == 0 || row->pc == 1) && h < s.count; h++)
            if (same_head(s.heads[h].first, row->model, row->layer, row->head))
                s.heads[h].pcs[row->pc] = row;
    }
    return s;
}

static bool is_key(const qks_collage_row *row)
{
    return row->side[0] == 'k';
}

/* The palest shades are left out: they would not be seen on white. */
static colour shade_of(const shown *s, const qks_collage_row *row)
{
    double t = s->last_position > 0 ? (double)row->position / (double)s->last_position : 0;
    return palette_at(is_key(row) ? &REDS : &BLUES, PALEST + (1 - PALEST) * t);
}

/* Panel by panel, keys first: queries are drawn over them. */
static void put_data(const view *v, canvas *c, shown *s)
{
    size_t line = 0;
    data_header(c, "pc0,pc1,colour,position,key,panel,layer,head,model");
    for (size_t panel = 0; panel < s->count; panel++) {
        s->heads[panel].line = line;
        for (int key = 1; key >= 0; key--)
            for (size_t i = 0; i < v->tables.n_collage; i++) {
                const qks_collage_row *row = &v->tables.collage[i];
                if (!row->side || is_key(row) != key || find_shown(s, row) != panel)
                    continue;
                data_number(c, row->pc0);
                data_number(c, row->pc1);
                data_number(c, shade_of(s, row));
                data_count(c, row->position);
                data_number(c, key);
                data_number(c, (double)panel + 1);
                data_count(c, row->layer);
                data_count(c, row->head);
                data_text(c, row->model);
                data_end(c);
                line++;
            }
    }
}

/* With a true minus, as the axes have. */
static const char *drawn_number(canvas *c, double value)
{
    double shown = fabs(value) < 0.005 ? 0 : value;
    return canvas_format(c, "%s%.2f", shown < 0 ? "−" : "", fabs(shown));
}

static const char *pc_words(canvas *c, const qks_qk_row *row, int number)
{
    if (!row)
        return canvas_format(c, "PC%d: not in table qk", number);
    return canvas_format(c, "PC%d: %.1f%% of variance, r_q %s, r_k %s", number,
                         100 * row->explained_variance, drawn_number(c, row->r_q),
                         drawn_number(c, row->r_k));
}

static void put_panel(canvas *c, const shown_head *head, size_t number, size_t columns)
{
    size_t column = number % columns, row = number / columns;
    double left = LEFT + (double)column * (PANEL + GAP_X);
    double top = TITLE_ROOM + PANEL_TITLE - 8 + (double)row * (PANEL + PANEL_TITLE + GAP_Y);
    const char *model = name_line(c->memory, head->first->model, 24);
    canvas_area(c, left, top, left + PANEL, top + PANEL);
    canvas_text(c, left, top - 57, TEXT_LEFT, TYPE_BODY, COLOUR_INK,
                canvas_format(c, "%s, layer %lld, head %lld", canvas_kept(c, model),
                              (long long)head->first->layer, (long long)head->first->head));
    text_addf(&c->script,
              "set object rectangle from screen %.5f, screen %.5f to screen %.5f, screen %.5f "
              "back fs solid 1 border lc rgb '#d1d5db' fc rgb '#f3f4f6'\n",
              screen_x(c, left), screen_y(c, top - 6), screen_x(c, left + PANEL),
              screen_y(c, top - 44));
    canvas_xlabel(c, "PC0");
    canvas_ylabel(c, "PC1", 48);
    for (int pc = 0; pc < 2; pc++)
        canvas_text(c, left + 8, top - 34 + 17.0 * pc, TEXT_LEFT, 8.5, COLOUR_INK,
                    pc_words(c, head->pcs[pc], pc));
    text_addf(&c->script,
              "set autoscale\nset offsets graph 0.03, graph 0.03, graph 0.03, graph 0.03\n"
              "plot 'data.csv' every ::%zu::%zu using 1:2:($3 + 0x70000000) with points pt 7 ps "
              "%g*dot lw 0.01 lc rgb variable\n",
              head->line, head->line + head->rows - 1,
              head->rows > 4000   ? 0.25
              : head->rows > 1500 ? 0.4
                                  : 0.55);
    panels_next(c);
}

/* A colour bar is a small plot of its own, since two maps are in use. */
static void put_bar(canvas *c, const shown *s, const char *map, const char *label, double left,
                    double top)
{
    canvas_area(c, left, top, left + 16, top + BAR_HEIGHT);
    canvas_text(c, left, top - 14, TEXT_LEFT, TYPE_SMALL, COLOUR_INK, label);
    text_addf(&c->script,
              "unset xtics; unset ytics; unset grid; unset offsets\n"
              "set border 0\nset xrange [0:1]; set yrange [0:64]\n"
              "set y2range [0:%lld]; set y2tics autofreq scale 0.3 offset -0.5,0 font ',8'\n"
              "set samples 64\n"
              "plot [0:1] '+' using (0.5):(64*$1):(0):(1):(int(64*$1) - 0.5):(int(64*$1) + 1.5):"
              "(%s(%g + %g * $1)) with boxxyerror lc rgb variable\n",
              (long long)(s->last_position > 0 ? s->last_position : 1), map, PALEST, 1 - PALEST);
    panels_next(c);
}

static void draw_collage(const view *v, canvas *c)
{
    shown s = shown_heads(v);
    if (s.count == 0) {
        c->left_out = "there is no table collage, or it is empty: no vectors were sampled";
        return;
    }
    size_t columns = s.count < 2 ? 1 : s.count <= 4 ? 2 : s.count <= 9 ? 3 : 4;
    size_t rows = (s.count + columns - 1) / columns;
    double right = LEFT + (double)columns * (PANEL + GAP_X) - GAP_X;
    double bottom = TITLE_ROOM - 8 + (double)rows * (PANEL + PANEL_TITLE + GAP_Y) - GAP_Y;
    put_data(v, c, &s);
    static const char title[] = "Queries and keys on the first two components";
    const char *subtitle = canvas_format(c,
                                         "%zu head%s drawn by lot; shade: position in the document",
                                         s.count, s.count == 1 ? "" : "s");
    canvas_size(c, fmax(right + 110, LEFT + title_width(title, subtitle)), bottom + 56);
    c->left = LEFT;
    canvas_title(c, title, subtitle);
    palette_function(&BLUES, "blues", &c->script);
    palette_function(&REDS, "reds", &c->script);
    text_add(&c->script,
             "# columns of data.csv: 1 pc0, 2 pc1, 3 colour (by 4 position and 5 key)\n");
    panels_begin(c);
    for (size_t i = 0; i < s.count; i++)
        put_panel(c, &s.heads[i], i, columns);
    put_bar(c, &s, "blues", "queries", right + 26, TITLE_ROOM + PANEL_TITLE + 6);
    put_bar(c, &s, "reds", "keys", right + 26, TITLE_ROOM + PANEL_TITLE + 6 + BAR_HEIGHT + 56);
    panels_end(c);
}

static void say_collage(const view *v, takeaway *t)
{
    shown s = shown_heads(v);
    for (size_t i = 0; i < s.count; i++) {
        const qks_qk_row *pc = s.heads[i].pcs[0];
        if (!pc)
            continue;
        say(t,
            "%s, layer %lld, head %lld: PC0 explains a share of %s of the variance, with r_q %s "
            "and r_k %s.",
            name_of(t, pc->model), (long long)pc->layer, (long long)pc->head,
            number(t, (measured){pc->explained_variance, pc->se_explained_variance}, false),
            number(t, (measured){pc->r_q, pc->se_r_q}, false),
            number(t, (measured){pc->r_k, pc->se_r_k}, false));
    }
}

const figure COLLAGE = {
    .number = 6,
    .name = "collage",
    .study = MODELS_STUDY,
    .tables = "collage, qk",
    .shows =
        "A panel per head: its queries (blue) and its key head's keys (red) projected on the "
        "first two principal components of both together, pale at the first positions and dark "
        "at the last. The box above a panel gives each component's share of variance and its "
        "correlations with position.",
    .draw = draw_collage,
    .say = say_collage,
};
