/* canvas.h: a figure while it is composed: a gnuplot script, the data beside it, and a layout in
 * pixels (1/96 inch) that is the same in every format. All measures come from here, so that the
 * figures look like one family. */
#ifndef QKS_FIGURES_CANVAS_H
#define QKS_FIGURES_CANVAS_H

#include "base/memory.h"
#include "base/text.h"
#include "figures/colour.h"
#include "figures/view.h"
#include "qkscope/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Sizes of type, in points. */
enum { TYPE_TITLE = 13, TYPE_BODY = 10, TYPE_SMALL = 9 };

typedef struct canvas {
    text script; /* gnuplot commands for one format; those before them are the same everywhere */
    text data;   /* data.csv */
    bool row;    /* a row of it is begun */
    double width, height;
    double left, right, top, bottom; /* edges of the plot, pixels from the figure's left and top */
    const char *left_out;            /* why the figure cannot be drawn from these tables */
    arena *memory;
} canvas;

canvas canvas_new(arena *a);
void canvas_free(canvas *c);

/* A formatted string in the arena; "" (and the script's status set) when out of memory. */
#define canvas_format(c, ...) canvas_kept((c), arena_format((c)->memory, __VA_ARGS__))
const char *canvas_kept(canvas *c, const char *string);

/* The whole of figure.gp. */
void canvas_print(const canvas *c, const char *name, text *out);

/* ---- layout ---- */
/* Pixels that a line takes at a size in points. */
double type_width(const char *line, double points);
double type_height(double points);
/* Pixels to gnuplot's screen coordinates. */
double screen_x(const canvas *c, double x);
double screen_y(const canvas *c, double y);

/* The figure's size and where the plot stands in it; writes the margins. */
void canvas_size(canvas *c, double width, double height);
void canvas_area(canvas *c, double left, double top, double right, double bottom);
/* Several plots in one figure: what was set on the canvas is drawn with the first of them. */
void panels_begin(canvas *c);
void panels_next(canvas *c); /* after each plot: forget labels, arrows, objects */
void panels_end(canvas *c);

/* Title and a quiet line below it, at the area's left edge; room for them above is TITLE_ROOM. */
enum { TITLE_ROOM = 62 };
void canvas_title(canvas *c, const char *title, const char *subtitle);
double title_width(const char *title, const char *subtitle);
/* A quiet line at the bottom of the figure, NOTE_ROOM high. */
enum { NOTE_ROOM = 24 };
void canvas_note(canvas *c, const char *note);

/* Text centred (or at its left or right end) at pixels. */
typedef enum text_side { TEXT_LEFT, TEXT_CENTER, TEXT_RIGHT } text_side;
void canvas_text(canvas *c, double x, double y, text_side side, double points, colour ink,
                 const char *line);

/* Names of the axes: below, and `away` pixels left of the area; of a colour bar to its right. */
void canvas_xlabel(canvas *c, const char *line);
void canvas_ylabel(canvas *c, const char *line, double away);
void canvas_bar_label(canvas *c, const char *line, double away, double height);

/* Defines shown(x), a number as text: with so many decimals, a true minus, no "-0.00". */
void canvas_shown(canvas *c, bool plus, int decimals);

/* ---- models along the x axis, as 0, 1, 2, ... ---- */
/* How wide a plot of `count` slots is, and room for their names below. */
double slots_width(size_t count, double slot);
/* Height that the names need below a plot of this width, and room left of it: at least `left`. */
double slots_room(const view *v, double width);
double slots_left(const view *v, double width, double left);
void slots_tics(canvas *c, const view *v);
/* Height that phase names need above a plot of this width; 0 without phases. */
double phases_room(const view *v, double width);
/* Their names above the plot, and dashed lines between them; both for a plot that stands alone. */
void phases_names(canvas *c, const view *v);
void phases_lines(canvas *c, const view *v);
void phases_draw(canvas *c, const view *v);

/* ---- legend ---- */
typedef struct legend_item {
    const char *label;
    colour colour;
    int point; /* gnuplot's point type; 0: a box */
    bool line; /* a line through the point */
} legend_item;

/* Pixels a legend takes to the right of a plot. */
double legend_width(const legend_item *items, size_t count);
/* From `top` down, `left` pixels from the figure's left edge. */
void legend_draw(canvas *c, const legend_item *items, size_t count, double left, double top);

/* ---- data.csv: number columns first, text last, so that no name disturbs a column ---- */
void data_header(canvas *c, const char *columns);
void data_number(canvas *c, double value);
void data_count(canvas *c, int64_t value); /* blank stays blank */
void data_text(canvas *c, const char *value);
void data_end(canvas *c); /* of the row */

#endif
