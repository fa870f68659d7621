/* comparison.c: cells of a comparison laid out as the published table has them. */
#include "figures/comparison.h"

#include "base/file.h"
#include "figures/gnuplot.h"
#include "figures/heatmap.h"
#include "figures/names.h"
#include "figures/piece.h"
#include "figures/takeaway.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_MOST = 34, WIDE = 12 };

static const char FORMATS[] = "png svg pdf";
/* Of a normal number beyond 2 standard errors. */
static const double CHANCE = 0.0455;

/* ---- the grid ---- */

typedef struct names {
    const char **list;
    size_t count;
} names;

/* The number of `name`, which is added if it is new. */
static size_t number_of(names *n, const char *name)
{
    size_t i = 0;
    while (i < n->count && strcmp(n->list[i], name) != 0)
        i++;
    if (i == n->count)
        n->list[n->count++] = name;
    return i;
}

typedef struct grid {
    names rows, columns;
    bool turned; /* one row of many quantities stands upright */
} grid;

static bool grid_of(grid *g, const qks_compare_facts *f, canvas *c)
{
    *g = (grid){.rows.list = arena_alloc(c->memory, f->cells, sizeof *g->rows.list),
                .columns.list = arena_alloc(c->memory, f->cells, sizeof *g->columns.list)};
    bool room = g->rows.list && g->columns.list;
    (void)canvas_kept(c, room ? "" : NULL);
    for (size_t i = 0; room && i < f->cells; i++) {
        (void)number_of(&g->rows, f->rows[i].row);
        (void)number_of(&g->columns, f->rows[i].column);
    }
    g->turned = g->rows.count == 1 && g->columns.count > WIDE;
    return room;
}

static bool is_depth(const char *column)
{
    return strlen(column) == 3 && strncmp(column, "0.", 2) == 0;
}

static bool differs(const qks_compare_row *cell)
{
    return strcmp(cell->verdict, "differs") == 0;
}

static bool fill(heatmap *h, grid *g, const qks_compare_facts *f, canvas *c)
{
    names *down = g->turned ? &g->columns : &g->rows, *across = g->turned ? &g->rows : &g->columns;
    h->n_columns = across->count;
    h->columns = across->list;
    if (!heatmap_rows(h, c, down->count))
        return false;
    for (size_t i = 0; i < down->count; i++) {
        h->names[i] = down->list[i];
        h->labels[i] = canvas_kept(c, name_line(c->memory, down->list[i], LABEL_MOST));
    }
    for (size_t i = 0; i < down->count * across->count; i++)
        h->cells[i] = (heatmap_cell){.value = NAN, .se = NAN, .n_heads = QKS_BLANK};
    for (size_t i = 0; i < f->cells; i++) {
        size_t row = number_of(&g->rows, f->rows[i].row);
        size_t column = number_of(&g->columns, f->rows[i].column);
        heatmap_cell *cell = g->turned ? heatmap_at(h, column, row) : heatmap_at(h, row, column);
        cell->value = f->rows[i].difference;
        cell->se = f->rows[i].se;
        cell->marked = differs(&f->rows[i]);
    }
    return true;
}

void comparison_draw(const comparison_view *v, canvas *c)
{
    const qks_compare_facts *f = v->facts;
    grid g;
    heatmap h = {.title = "Difference from the published table",
                 .bar = "ours − published",
                 .quantity = "difference",
                 .plus = true,
                 .decimals = 3,
                 .palette = &CHANGES,
                 .empty_note = "– not in both tables",
                 .marked_note = f->cells_with_se == 0 ? "outlined: beyond 0.02, since there are no "
                                                        "standard errors"
                                : f->cells_with_se < f->cells
                                    ? "outlined: beyond 2 standard errors, or 0.02 without any"
                                    : "outlined: beyond 2 standard errors"};
    if (!grid_of(&g, f, c) || !fill(&h, &g, f, c))
        return;
    h.across = g.turned                      ? ""
               : is_depth(g.columns.list[0]) ? "depth (layer / last layer), left edge of the bin"
                                             : "quantity";
    h.high = fmax(0.05, ceil(f->max_difference * 20 - 1e-9) / 20);
    h.low = -h.high;
    h.subtitle = canvas_format(c, "%zu of %zu cells agree; as a whole the run %s", f->cells_agree,
                               f->cells, strcmp(f->verdict, "agrees") == 0 ? "agrees" : "differs");
    heatmap_draw(&h, c);
}

/* ---- what it says ---- */

static const qks_compare_row *largest_of(const qks_compare_facts *f)
{
    const qks_compare_row *largest = &f->rows[0];
    for (size_t i = 1; i < f->cells; i++)
        if (fabs(f->rows[i].difference) > fabs(largest->difference))
            largest = &f->rows[i];
    return largest;
}

static void say_all(const qks_compare_facts *f, takeaway *t)
{
    const qks_compare_row *largest = largest_of(f);
    say(t,
        "As a whole the run %s with the published table: %zu of %zu cells agree, and 9 of 10 "
        "must.",
        strcmp(f->verdict, "agrees") == 0 ? "agrees" : "does not agree", f->cells_agree, f->cells);
    say(t, "The mean size of a difference is %.4f, and %.0f%% of the cells are within 0.02.",
        f->mean_difference, 100 * f->share_near);
    say(t, "The largest difference is %+.4f (%s, %s: %.4f here, %g published)%s.",
        largest->difference, name_of(t, largest->row), name_of(t, largest->column), largest->ours,
        largest->published,
        isnan(largest->z) ? ", without a standard error" : phrase(t, ", z = %+.1f", largest->z));
    if (f->cells_with_se) {
        double tested = (double)f->cells_with_se;
        say(t,
            "%.0f of %zu cells with a standard error are beyond 2 of it; by chance alone about "
            "%.0f would be.",
            tested * (1 - f->share_within_2_se), f->cells_with_se, ceil(CHANCE * tested));
    }
    if (f->cells_with_se < f->cells)
        say(t, "%zu cells have no standard error; they agree if they are within 0.02.",
            f->cells - f->cells_with_se);
}

void comparison_readme(const comparison_view *v, const char *image, text *out)
{
    arena a = {0};
    takeaway t = takeaway_new(&a);
    say_all(v->facts, &t);
    text_add(out, "# Comparison with a published table\n\n");
    if (image)
        text_addf(out, "![comparison](%s)\n\n", image);
    text_addf(
        out,
        "## What it shows\n\nRows and columns are those of the published table, as far as the run "
        "has "
        "them. A cell is the run's number minus the published one, blue where it is lower, red "
        "where "
        "it is higher. Outlined cells differ: by more than 2 standard errors, the jackknife's and "
        "that "
        "of the published number's rounding together, or, without a standard error, by more than "
        "0.02. "
        "A cell that only one of the two has is hatched and has a dash.\n\n"
        "## How it was produced\n\n- Run: %s.\n- Published table: %s.\n- Drawn by %s.\n"
        "- `data.csv` holds the numbers drawn, `figure.gp` draws them: `gnuplot figure.gp` in this "
        "folder; `compare.csv` beside it has both numbers and z of each cell.\n\n"
        "## Key takeaway\n\n%s",
        name_of(&t, v->run), name_of(&t, v->table), name_of(&t, v->drawn), text_string(&t.out));
    if (t.out.status != QKS_OK)
        out->status = t.out.status;
    takeaway_free(&t);
    arena_free(&a);
}

/* ---- to disk ---- */

static qks_status compose(piece *p, const comparison_view *v, qks_error *error)
{
    arena a = {0};
    canvas c = canvas_new(&a);
    comparison_draw(v, &c);
    qks_status status = text_status(&c.script, "figure", error);
    if (status == QKS_OK)
        status = piece_take(p, &c, error);
    comparison_readme(v, piece_image(FORMATS), &p->readme);
    if (status == QKS_OK)
        status = text_status(&p->readme, "figure's explanation", error);
    canvas_free(&c);
    arena_free(&a);
    return status;
}

qks_status comparison_figure(const qks_compare_facts *facts, const char *run, const char *table,
                             const char *program, const char *out, qks_error *error)
{
    char version[GNUPLOT_VERSION_SIZE] = "", drawn[GNUPLOT_VERSION_SIZE + 64];
    qks_error missing = {QKS_OK, ""};
    bool gnuplot = gnuplot_version(version, &missing) == QKS_OK;
    (void)snprintf(drawn, sizeof drawn, "%s%s%s", program, gnuplot ? ", " : "", version);
    comparison_view v = {.facts = facts, .run = run, .table = table, .drawn = drawn};
    piece p = piece_new("figure");
    qks_status status = folder_make(out, error);
    if (status == QKS_OK)
        status = compose(&p, &v, error);
    if (status == QKS_OK)
        status = piece_draw(&p, out, gnuplot ? FORMATS : NULL, error);
    if (status == QKS_OK && !gnuplot)
        status = qks_fail(error, QKS_PARTIAL,
                          "the figure is not drawn: %s; script and data are in "
                          "%s/figure",
                          missing.message, out);
    else if (status == QKS_OK && p.drawn != QKS_OK)
        status = qks_fail(error, QKS_PARTIAL, "the figure is not drawn: %s", p.error.message);
    piece_free(&p);
    return status;
}
