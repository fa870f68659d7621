/* piece.h: one figure's files: script, data and explanation, and what gnuplot makes of them. */
#ifndef QKS_FIGURES_PIECE_H
#define QKS_FIGURES_PIECE_H

#include "base/text.h"
#include "figures/canvas.h"
#include "figures/names.h"
#include "qkscope/status.h"

typedef struct piece {
    char name[SLUG_SIZE]; /* of its folder */
    text script, data, readme;
    qks_status drawn; /* what became of it, with gnuplot's reason */
    qks_error error;
} piece;

piece piece_new(const char *name);
void piece_free(piece *p);

/* Script and data of a canvas that is done; what no font has is replaced. */
QKS_MUST_CHECK qks_status piece_take(piece *p, canvas *c, qks_error *error);

/* The drawn file that an explanation shows, or NULL. */
const char *piece_image(const char *formats);

/* Into OUT/<name>/; OUT is there. `formats` NULL: gnuplot is not run. A gnuplot that fails is not
 * an error here: p->drawn and p->error tell. Each file is whole or not there. */
QKS_MUST_CHECK qks_status piece_draw(piece *p, const char *out, const char *formats,
                                     qks_error *error);

#endif
