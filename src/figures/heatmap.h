/* heatmap.h: rows of models by columns, mostly ten depth bins; each cell a number on its colour. */
#ifndef QKS_FIGURES_HEATMAP_H
#define QKS_FIGURES_HEATMAP_H

#include "figures/canvas.h"

typedef struct heatmap_cell {
    double value, se; /* NaN: blank */
    int64_t n_heads;  /* blank: not known */
    bool marked;
} heatmap_cell;

typedef struct heatmap {
    const char *title, *subtitle, *bar; /* `bar`: the colour bar's label */
    const char *quantity;               /* column of data.csv */
    bool plus;                          /* numbers have their sign */
    int decimals;                       /* of them; 0: two */
    const palette *palette;
    double low, high; /* ends of the colour map */
    size_t n_rows;
    const char **labels, **names; /* [n_rows] as drawn, as in the tables */
    size_t n_columns;
    const char *const *columns;           /* [n_columns] labels */
    const char *across;                   /* what the columns are */
    heatmap_cell *cells;                  /* [n_rows, n_columns] */
    const char *empty_note, *marked_note; /* said if there are such cells; NULL: nothing */
} heatmap;

/* Room for rows of n_columns cells (0: depth bins, which are then named), in the canvas's arena;
 * false (and the canvas's status set) without memory. */
bool heatmap_rows(heatmap *h, canvas *c, size_t count);
heatmap_cell *heatmap_at(const heatmap *h, size_t row, size_t column);
void heatmap_draw(const heatmap *h, canvas *c);

#endif
