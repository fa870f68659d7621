/* change_map.c: figure 14, how mean r_k changes from one checkpoint to the next, by depth. */
#include "figures/figure.h"
#include "figures/heatmap.h"
#include "figures/names.h"

#include <math.h>

static const double MARKED_Z = 2;

/* Errors as if the two checkpoints' were independent: the tables do not have the replicates. Where
 * both saw the same documents this is, if anything, too wide. */
static heatmap_cell change_of(const view *v, size_t model, int bin)
{
    const view_cell *before = &v->models[model - 1].cells[bin],
                    *after = &v->models[model].cells[bin];
    double se = sqrt(before->se_r_k * before->se_r_k + after->se_r_k * after->se_r_k);
    double change = after->r_k - before->r_k;
    bool known = before->n_heads != QKS_BLANK && after->n_heads != QKS_BLANK;
    return (heatmap_cell){
        .value = change,
        .se = se,
        .n_heads = !known                             ? QKS_BLANK
                   : before->n_heads < after->n_heads ? before->n_heads
                                                      : after->n_heads,
        .marked = fabs(change) > MARKED_Z * se,
    };
}

static void draw_changes(const view *v, canvas *c)
{
    if (v->n_models < 2) {
        c->left_out = "there is one checkpoint, and a change needs two";
        return;
    }
    heatmap h = {.title = "Change of mean r_k on PC0 by depth",
                 .bar = "change of mean r_k",
                 .quantity = "change_r_k",
                 .plus = true,
                 .palette = &CHANGES,
                 .empty_note = "– no heads in this bin"};
    if (!heatmap_rows(&h, c, v->n_models - 1))
        return;
    double largest = 0.05;
    bool errors = false;
    for (size_t i = 1; i < v->n_models; i++) {
        h.labels[i - 1] = v->models[i].label;
        h.names[i - 1] = v->models[i].name;
        for (int bin = 0; bin < DEPTH_BINS; bin++) {
            heatmap_cell *cell = heatmap_at(&h, i - 1, (size_t)bin);
            *cell = change_of(v, i, bin);
            largest = fmax(largest, isnan(cell->value) ? 0 : fabs(cell->value));
            errors = errors || !isnan(cell->se);
        }
    }
    h.high = ceil(largest * 20 - 1e-9) / 20;
    h.low = -h.high;
    h.marked_note = errors ? "outlined: beyond 2 standard errors"
                           : "the tables have no standard errors, so no cell is outlined";
    h.subtitle = canvas_format(c, "%zu checkpoints, each against the one before it", v->n_models);
    heatmap_draw(&h, c);
}

static void say_changes(const view *v, takeaway *t)
{
    size_t cells = 0, tested = 0, marked = 0, at = 1;
    measured largest = {NAN, NAN};
    int at_bin = 0;
    for (size_t i = 1; i < v->n_models; i++)
        for (int bin = 0; bin < DEPTH_BINS; bin++) {
            heatmap_cell cell = change_of(v, i, bin);
            cells += !isnan(cell.value);
            tested += !isnan(cell.value) && !isnan(cell.se);
            marked += cell.marked;
            if (!isnan(cell.value) && !(fabs(cell.value) <= fabs(largest.value))) {
                largest = (measured){cell.value, cell.se};
                at = i;
                at_bin = bin;
            }
        }
    if (cells == 0)
        return;
    int way = way_of(t, largest);
    say(t, "The largest change is %s, at depth 0.%d from %s to %s%s.", number(t, largest, true),
        at_bin, name_of(t, v->models[at - 1].name), name_of(t, v->models[at].name),
        way == 0 ? ", and is within its error" : "");
    if (tested) {
        say(t,
            "%zu of %zu cells change by more than 2 standard errors; by chance alone about %.0f "
            "would.",
            marked, tested, ceil(0.0455 * (double)tested));
        t->combined = true;
    }
}

const figure CHANGE_MAP = {
    .number = 14,
    .name = "change_map",
    .study = TRAINING_STUDY,
    .tables = "depth",
    .shows =
        "Rows are checkpoints from the second on, columns ten bins of depth (layer / last "
        "layer, named by the bin's left edge). A cell is the change of mean r_k on PC0 against "
        "the checkpoint before, blue for a fall, red for a rise. Cells beyond 2 standard errors "
        "are outlined; the error of a change is the root of the sum of both checkpoints' squared "
        "errors. A bin without heads is hatched and has a dash.",
    .draw = draw_changes,
    .say = say_changes,
};
