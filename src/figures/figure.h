/* figure.h: one figure: its place in the list, how it is drawn, what its explanation says. */
#ifndef QKS_FIGURES_FIGURE_H
#define QKS_FIGURES_FIGURE_H

#include "figures/canvas.h"
#include "figures/takeaway.h"
#include "figures/view.h"

typedef enum figure_study { MODELS_STUDY, TRAINING_STUDY } figure_study;

typedef struct figure {
    int number;
    const char *name;
    figure_study study;
    const char *tables; /* that it is drawn from */
    const char *shows;  /* README.md: what one sees */
    void (*draw)(const view *v, canvas *c);
    void (*say)(const view *v, takeaway *t);
} figure;

extern const figure PC_ROLES, RQ_RK_SCATTER, MODELS_HEATMAP_RQ, MODELS_HEATMAP_RK,
    EXPLAINED_VARIANCE, COLLAGE;
extern const figure POSITION_SIGNAL, TAXONOMY_EVOLUTION, VARIANCE_EVOLUTION, TRAINING_HEATMAP_RQ,
    TRAINING_HEATMAP_RK, PHASE_PORTRAITS, SIGN_SPLIT, CHANGE_MAP;

#endif
