/* takeaway.c: selection from the findings table, and the words around its numbers. */
#include "figures/takeaway.h"

#include "analysis/words.h"
#include "figures/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUT_MAX = 1 << 20, NAME_MOST = 80 };

/* Without an error bar a smaller difference is not told as one. */
static const double LEAST_UNTESTED = 0.01;
/* As in the findings: a smaller |tau| is no trend. */
static const double STEADY_TAU = 0.5;
/* Below this a change without an error bar is told to three decimals. */
static const double SMALL_CHANGE = 0.095;

takeaway takeaway_new(arena *a)
{
    return (takeaway){.out = text_new(OUT_MAX), .memory = a};
}

void takeaway_free(takeaway *t)
{
    text_free(&t->out);
}

void say(takeaway *t, const char *format, ...)
{
    char *sentence = NULL;
    va_list values;
    va_start(values, format);
    int length = vasprintf(&sentence, format, values);
    va_end(values);
    if (length < 0) {
        t->out.status = QKS_MEMORY;
        return;
    }
    text_addf(&t->out, "- %s\n", sentence);
    free(sentence);
}

const char *phrase_kept(takeaway *t, const char *string)
{
    if (!string)
        t->out.status = QKS_MEMORY;
    return string ? string : "";
}

const char *capital(takeaway *t, const char *words)
{
    char *copy = arena_string(t->memory, words);
    if (copy && *copy >= 'a' && *copy <= 'z')
        *copy = (char)(*copy - 'a' + 'A');
    return phrase_kept(t, copy);
}

const char *name_of(takeaway *t, const char *name)
{
    text escaped = text_new(OUT_MAX);
    const char *line = name_line(t->memory, name, NAME_MOST);
    markdown_string(&escaped, line ? line : "");
    const char *kept = line && escaped.status == QKS_OK
                           ? arena_string(t->memory, text_string(&escaped))
                           : NULL;
    text_free(&escaped);
    return phrase_kept(t, kept);
}

/* ---- numbers ---- */

static const measured UNKNOWN = {NAN, NAN};

bool is_known(measured m)
{
    return isfinite(m.value);
}

const char *number(takeaway *t, measured m, bool sign)
{
    if (sign && isnan(m.se) && fabs(m.value) < SMALL_CHANGE)
        return phrase(t, "%+.3f", m.value);
    return words_number(t->memory, m.value, m.se, sign);
}

int way_of(takeaway *t, measured m)
{
    if (!isnan(m.se))
        return words_direction(m.value, m.se);
    t->untested = true;
    return fabs(m.value) < LEAST_UNTESTED ? 0 : words_direction(m.value, m.se);
}

const char *no_change(measured m)
{
    return isnan(m.se) ? "hardly changes" : "does not change measurably";
}

measured difference(takeaway *t, measured from, measured to)
{
    measured d = {to.value - from.value, sqrt(from.se * from.se + to.se * to.se)};
    t->combined = t->combined || !isnan(d.se);
    return d;
}

measured finding_of(const view *v, const char *subject, const char *quantity)
{
    for (size_t i = 0; subject && i < v->tables.n_findings; i++) {
        const qks_finding_row *row = &v->tables.findings[i];
        if (row->quantity && row->subject && strcmp(row->quantity, quantity) == 0 &&
            strcmp(row->subject, subject) == 0)
            return (measured){row->value, row->se};
    }
    return UNKNOWN;
}

measured model_finding(const view *v, size_t model, const char *quantity)
{
    return finding_of(v, v->models[model].name, quantity);
}

measured step_finding(const view *v, takeaway *t, size_t from, size_t to, const char *quantity)
{
    const char *subject = phrase(t, "%s -> %s", v->models[from].name, v->models[to].name);
    measured told = finding_of(v, subject, phrase(t, "change_%s", quantity));
    if (is_known(told))
        return told;
    return difference(t, model_finding(v, from, quantity), model_finding(v, to, quantity));
}

measured pooled_finding(const view *v, takeaway *t, const char *quantity)
{
    measured sum = {0, 0};
    double heads = 0;
    for (size_t i = 0; i < v->n_models; i++) {
        measured m = model_finding(v, i, quantity);
        double n = (double)v->models[i].n_heads;
        if (!is_known(m))
            continue;
        sum.value += n * m.value;
        sum.se += n * m.se;
        heads += n;
    }
    if (heads == 0)
        return UNKNOWN;
    t->pooled = t->pooled || (v->n_models > 1 && !isnan(sum.se));
    return (measured){sum.value / heads, sum.se / heads};
}

/* ---- sentences ---- */

void say_step(const view *v, takeaway *t, spoken what, size_t from, size_t to)
{
    measured before = model_finding(v, from, what.quantity);
    measured after = model_finding(v, to, what.quantity);
    measured change = step_finding(v, t, from, to, what.quantity);
    if (!is_known(before) || !is_known(after) || !is_known(change))
        return;
    const char *from_name = name_of(t, v->models[from].name);
    const char *to_name = name_of(t, v->models[to].name), *words = capital(t, what.words);
    int way = way_of(t, change);
    bool fine = fabs(change.value) < 0.01 && (way != 0 || isnan(change.se));
    int decimals = fine ? 3 : 2;
    if (change.value == 0 && change.se == 0)
        say(t, "%s is %.2f at %s and at %s, whatever group of documents is left out.", words,
            before.value, from_name, to_name);
    else if (way == 0)
        say(t, "%s %s from %s to %s: %.*f and %.*f, a change of %s.", words, no_change(change),
            from_name, to_name, decimals, before.value, decimals, after.value,
            number(t, change, true));
    else
        say(t, "%s %s from %.*f at %s to %.*f at %s: %s.", words, way > 0 ? "rises" : "falls",
            decimals, before.value, from_name, decimals, after.value, to_name,
            number(t, change, true));
}

/* The highest checkpoint that is not `other`; n_models if none is known. */
static size_t highest_but(const view *v, const char *quantity, size_t other)
{
    size_t best = v->n_models;
    measured highest = UNKNOWN;
    for (size_t i = 0; i < v->n_models; i++) {
        measured m = model_finding(v, i, quantity);
        if (i == other || !is_known(m) || m.value <= highest.value)
            continue;
        highest = m;
        best = i;
    }
    return best;
}

/* Where it peaks; a peak that does not stand out from the next highest is said not to. */
static void say_peak(const view *v, takeaway *t, spoken what)
{
    size_t peak = highest_but(v, what.quantity, v->n_models);
    size_t next = highest_but(v, what.quantity, peak);
    if (peak == v->n_models || next == v->n_models)
        return;
    measured highest = model_finding(v, peak, what.quantity);
    measured second = model_finding(v, next, what.quantity);
    const char *close = "";
    if (way_of(t, difference(t, second, highest)) == 0)
        close = phrase(t, ", but %s above %s (%s)", isnan(highest.se) ? "hardly" : "not measurably",
                       name_of(t, v->models[next].name), number(t, second, false));
    say(t, "%s is highest at %s: %s%s.", capital(t, what.words), name_of(t, v->models[peak].name),
        number(t, highest, false), close);
}

void say_trend(const view *v, takeaway *t, spoken what)
{
    measured tau = finding_of(v, "training", phrase(t, "trend_%s", what.quantity));
    if (is_known(tau) && v->n_models > 2) {
        int way = fabs(tau.value) > STEADY_TAU ? way_of(t, tau) : 0;
        say(t, "%s %s along training: Kendall's tau over %zu checkpoints is %s.",
            capital(t, what.words),
            way > 0   ? "tends to rise"
            : way < 0 ? "tends to fall"
                      : "has no steady trend",
            v->n_models, number(t, tau, true));
    }
    if (v->n_models > 2)
        say_peak(v, t, what);
}

typedef struct gradients {
    size_t known, count[3]; /* of models, by way + 1: falls are positive, early minus late */
    size_t steepest;
    measured largest;
} gradients;

static gradients count_gradients(const view *v, takeaway *t, const char *quantity)
{
    gradients g = {.largest = UNKNOWN};
    for (size_t i = 0; i < v->n_models; i++) {
        measured m = model_finding(v, i, quantity);
        if (!is_known(m))
            continue;
        g.known++;
        g.count[way_of(t, m) + 1]++;
        if (!(fabs(m.value) <= fabs(g.largest.value))) {
            g.largest = m;
            g.steepest = i;
        }
    }
    return g;
}

/* "rises in 9 of 10 checkpoints and falls in 1" */
static const char *gradient_counts(const view *v, takeaway *t, const gradients *g)
{
    const struct {
        int way; /* of early minus late */
        const char *verb;
    } ways[] = {{-1, "rises"}, {1, "falls"}, {0, no_change(g->largest)}};
    const char *told = "";
    size_t counted = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        size_t n = g->count[ways[i].way + 1];
        if (n && counted == 0)
            told = phrase(t, "%s in %zu of %zu %s", ways[i].verb, n, g->known,
                          view_noun(v, g->known));
        else if (n)
            told = phrase(t, "%s%s %s in %zu", told, counted + n == g->known ? " and" : ",",
                          ways[i].verb, n);
        counted += n;
    }
    return told;
}

void say_gradients(const view *v, takeaway *t, spoken what)
{
    gradients g = count_gradients(v, t, phrase(t, "depth_gradient_%s", what.quantity));
    if (g.known == 0)
        return;
    const char *name = name_of(t, v->models[g.steepest].name);
    const char *size = phrase(t, "early minus late is %s", number(t, g.largest, true));
    if (g.known == 1) {
        say(t, "From early to late layers %s %s in %s: %s.", what.words,
            g.count[0]   ? "rises"
            : g.count[2] ? "falls"
                         : no_change(g.largest),
            name, size);
        return;
    }
    say(t, "From early to late layers %s %s.", what.words, gradient_counts(v, t, &g));
    if (way_of(t, g.largest) != 0)
        say(t, "It is steepest in %s: %s.", name, size);
}
