/* colour.h: the figures' colours (spec/figures.md) and colour maps, and which ink reads on them. */
#ifndef QKS_FIGURES_COLOUR_H
#define QKS_FIGURES_COLOUR_H

#include "base/text.h"
#include "qkscope/tables.h"

#include <stdbool.h>
#include <stddef.h>

typedef unsigned colour; /* 0xRRGGBB; gnuplot's transparency stands before it: 0xTTRRGGBB */

enum {
    COLOUR_Q = 0x3b82f6,
    COLOUR_K = 0xef4444,
    COLOUR_VARIANCE = 0x8b5cf6,
    COLOUR_INK = 0x1f2937,
    COLOUR_QUIET = 0x6b7280, /* notes, phase lines */
    COLOUR_GRID = 0xe5e7eb,
};

extern const colour CLASS_COLOURS[QKS_CLASSES];

/* Families, as many as there are: ten colours, then again with another marker. */
colour family_colour(size_t number);
int family_marker(size_t number); /* gnuplot's point type, filled; one less is the hollow one */

enum { PALETTE_STOPS = 9 };

/* Stops at even distances, lightness (CIE L*) falling evenly from one to the next, so that equal
 * steps of a value look equal. */
typedef struct palette {
    colour stops[PALETTE_STOPS];
} palette;

extern const palette BLUES, REDS; /* 0 light, 1 dark */
extern const palette CHANGES;     /* 0 dark blue, 0.5 nearly white, 1 dark red */

colour palette_at(const palette *p, double t); /* t from 0 to 1, clamped */
void palette_set(const palette *p, text *script);
/* The same as a gnuplot function NAME(t), for figures that need two maps at once. */
void palette_function(const palette *p, const char *name, text *script);

/* WCAG contrast of two colours, 1 to 21. */
double contrast(colour a, colour b);

/* White ink reads better than black where t < dark_below or t > dark_above. */
typedef struct ink_rule {
    double dark_below, dark_above;
} ink_rule;
ink_rule palette_ink(const palette *p);

#endif
