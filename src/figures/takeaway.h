/* takeaway.h: the sentences of a figure's explanation, made from the findings table. A sentence is
 * written only if its number supports it: up, down, or "not measurably", by two standard errors. */
#ifndef QKS_FIGURES_TAKEAWAY_H
#define QKS_FIGURES_TAKEAWAY_H

#include "base/memory.h"
#include "base/text.h"
#include "figures/view.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct takeaway {
    text out;      /* Markdown, a list item per sentence */
    bool untested; /* some direction was told without an error bar */
    bool combined; /* some error was combined here from two, as if they were independent */
    bool pooled;   /* some error is of a mean over models */
    arena *memory;
} takeaway;

takeaway takeaway_new(arena *a);
void takeaway_free(takeaway *t);

/* One sentence, with its full stop. */
void say(takeaway *t, const char *format, ...) QKS_PRINTF(2, 3);

/* A piece of a sentence, in the arena; never NULL. */
#define phrase(t, ...) phrase_kept((t), arena_format((t)->memory, __VA_ARGS__))
const char *phrase_kept(takeaway *t, const char *string);
/* The same with its first letter in upper case. */
const char *capital(takeaway *t, const char *words);
/* A model's or group's name as Markdown. */
const char *name_of(takeaway *t, const char *name);

/* ---- numbers ---- */
typedef struct measured {
    double value, se; /* NaN: not known */
} measured;

bool is_known(measured m);
/* "0.67 ± 0.01"; `sign`: "+0.14 ± 0.01" */
const char *number(takeaway *t, measured m, bool sign);
/* 1 up, -1 down, 0 not measurably; notes whether there was an error bar to tell by. */
int way_of(takeaway *t, measured m);
/* "does not change measurably", or, where there is no error bar to measure by, "hardly changes". */
const char *no_change(measured m);
/* The difference of two numbers, errors as if independent. */
measured difference(takeaway *t, measured from, measured to);

/* The finding of a subject; unknown if the table has none. */
measured finding_of(const view *v, const char *subject, const char *quantity);
measured model_finding(const view *v, size_t model, const char *quantity);
/* change_<quantity> of that step if the findings have it, else the difference of the two models'
 * findings. */
measured step_finding(const view *v, takeaway *t, size_t from, size_t to, const char *quantity);
/* Mean over all heads of all models; the models' errors add up as if they went together. */
measured pooled_finding(const view *v, takeaway *t, const char *quantity);

/* ---- sentences that several figures share ---- */
typedef struct spoken {           /* a quantity of the findings, in words */
    const char *quantity, *words; /* "mean_r_q", "mean r_q" */
} spoken;

/* "Mean r_q rises from 0.67 (S1-40K) to 0.81 (S1-1.2M): +0.14 ± 0.01." or falls, or not. */
void say_step(const view *v, takeaway *t, spoken what, size_t from, size_t to);
/* The trend along training and its peak. */
void say_trend(const view *v, takeaway *t, spoken what);
/* In how many models the quantity rises from early to late layers, falls, or does neither. */
void say_gradients(const view *v, takeaway *t, spoken what);

#endif
