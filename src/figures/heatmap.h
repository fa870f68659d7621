/* heatmap.h: rows of models by ten depth bins, each cell a number on its colour. */
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
    const palette *palette;
    double low, high; /* ends of the colour map */
    size_t n_rows;
    const char **labels, **names;         /* [n_rows] as drawn, as in the tables */
    heatmap_cell (*cells)[DEPTH_BINS];    /* [n_rows] */
    const char *empty_note, *marked_note; /* said if there are such cells; NULL: nothing */
} heatmap;

/* Room for the rows, in the canvas's arena; false (and the canvas's status set) without memory. */
bool heatmap_rows(heatmap *h, canvas *c, size_t count);
void heatmap_draw(const heatmap *h, canvas *c);

#endif
