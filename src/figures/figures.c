/* figures.c: the list of figures, the choice among them, and their way to disk. Composing is quick
 * and done here one after the other; gnuplot runs for several figures at once. */
#include "figures/figures.h"

#include "base/file.h"
#include "base/parallel.h"
#include "figures/gnuplot.h"
#include "figures/piece.h"
#include "figures/readme.h"

#include <stdio.h>
#include <string.h>

const figure *const FIGURE_LIST[FIGURES] = {
    &PC_ROLES,
    &RQ_RK_SCATTER,
    &MODELS_HEATMAP_RQ,
    &MODELS_HEATMAP_RK,
    &EXPLAINED_VARIANCE,
    &COLLAGE,
    &POSITION_SIGNAL,
    &TAXONOMY_EVOLUTION,
    &VARIANCE_EVOLUTION,
    &TRAINING_HEATMAP_RQ,
    &TRAINING_HEATMAP_RK,
    &PHASE_PORTRAITS,
    &SIGN_SPLIT,
    &CHANGE_MAP,
};

/* ---- the choice ---- */

static bool of_kind(const figure *f, bool training)
{
    return (f->study == TRAINING_STUDY) == training;
}

static bool is_called(const figure *f, const char *word, size_t length)
{
    char number[8], padded[8];
    (void)snprintf(number, sizeof number, "%d", f->number);
    (void)snprintf(padded, sizeof padded, "%02d", f->number);
    const char *names[] = {f->name, number, padded};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0)
            return true;
    return false;
}

static qks_status choose_one(figures_plan *plan, const char *word, size_t length, bool training,
                             qks_error *error)
{
    const figure *other = NULL;
    for (int i = 0; i < FIGURES; i++) {
        if (!is_called(FIGURE_LIST[i], word, length))
            continue;
        if (of_kind(FIGURE_LIST[i], training)) {
            plan->wanted[i] = true;
            return QKS_OK;
        }
        other = FIGURE_LIST[i];
    }
    if (other)
        return qks_fail(error, QKS_USAGE,
                        "figure %d, %s, is of a study of %s; this is a study of %s", other->number,
                        other->name, training ? "models" : "training",
                        training ? "training" : "models");
    text names = text_new(4096);
    for (int i = 0; i < FIGURES; i++)
        if (of_kind(FIGURE_LIST[i], training))
            text_addf(&names, "%s%d %s", names.length ? ", " : "", FIGURE_LIST[i]->number,
                      FIGURE_LIST[i]->name);
    (void)qks_fail(error, QKS_USAGE, "there is no figure '%.*s'; this study has %s",
                   length < 80 ? (int)length : 80, word, text_string(&names));
    text_free(&names);
    return QKS_USAGE;
}

qks_status figures_choose(figures_plan *plan, const char *only, bool training, qks_error *error)
{
    for (int i = 0; i < FIGURES; i++)
        plan->wanted[i] = !only && of_kind(FIGURE_LIST[i], training);
    qks_status status = QKS_OK;
    while (only && status == QKS_OK) {
        const char *word = only + strspn(only, " ");
        size_t length = strcspn(word, ", ");
        status = choose_one(plan, word, length, training, error);
        only = strchr(word, ',');
        only = only ? only + 1 : NULL;
    }
    return status;
}

qks_status figures_formats(const char *asked, char formats[FORMATS_SIZE], qks_error *error)
{
    static const char *const known[] = {"png", "svg", "pdf"};
    bool wanted[3] = {!asked, !asked, !asked};
    for (const char *word = asked; word;) {
        size_t length = strcspn(word, ","), i = 0;
        while (i < 3 && (strlen(known[i]) != length || memcmp(known[i], word, length) != 0))
            i++;
        if (i == 3)
            return qks_fail(error, QKS_USAGE, "'%.*s' is no format; there are png, svg and pdf",
                            length < 80 ? (int)length : 80, word);
        wanted[i] = true;
        word = word[length] ? word + length + 1 : NULL;
    }
    size_t length = 0;
    for (size_t i = 0; i < 3; i++)
        if (wanted[i])
            length += (size_t)snprintf(formats + length, FORMATS_SIZE - length, "%s%s",
                                       length ? " " : "", known[i]);
    return QKS_OK;
}

/* ---- composing ---- */

typedef struct work {
    const figures_plan *plan;
    const char *out;
    bool gnuplot;
    piece pieces[FIGURES];
    size_t count;
} work;

static void note(qks_figures_report *report, const char *format, ...) QKS_PRINTF(2, 3);

static void note(qks_figures_report *report, const char *format, ...)
{
    size_t used = strlen(report->notes);
    va_list values;
    va_start(values, format);
    (void)vsnprintf(report->notes + used, sizeof report->notes - used, format, values);
    va_end(values);
}

/* `*whole` false with QKS_OK: the tables do not have what it takes. */
static qks_status compose(piece *p, const figure *f, const view *v, const char *formats,
                          qks_figures_report *report, bool *whole, qks_error *error)
{
    arena a = {0};
    canvas c = canvas_new(&a);
    char name[SLUG_SIZE];
    (void)snprintf(name, sizeof name, "%02d-%s", f->number, f->name);
    *p = piece_new(name);
    f->draw(v, &c);
    *whole = !c.left_out;
    qks_status status = text_status(&c.script, "figure", error);
    if (status == QKS_OK && c.left_out) {
        report->left_out++;
        note(report, "figure %d, %s, is left out: %s\n", f->number, f->name, c.left_out);
    } else if (status == QKS_OK) {
        readme_print(f, v, piece_image(formats), &p->readme);
        status = piece_take(p, &c, error);
        if (status == QKS_OK)
            status = text_status(&p->readme, "figure's explanation", error);
    }
    canvas_free(&c);
    arena_free(&a);
    return status;
}

static qks_status draw_piece(void *context, size_t index, int thread, qks_error *error)
{
    (void)thread;
    work *w = context;
    return piece_draw(&w->pieces[index], w->out, w->gnuplot ? w->plan->formats : NULL, error);
}

/* Figures that failed are told, and the first one's reason is the error. */
static qks_status judge(const work *w, qks_figures_report *report, qks_error *error)
{
    const piece *first = NULL;
    for (size_t i = 0; i < w->count; i++) {
        const piece *p = &w->pieces[i];
        report->drawn += w->gnuplot && p->drawn == QKS_OK;
        report->failed += p->drawn != QKS_OK;
        first = first || p->drawn == QKS_OK ? first : p;
    }
    if (!first)
        return QKS_OK;
    return qks_fail(error, QKS_PARTIAL, "%zu of %zu figures failed; %s: %s", report->failed,
                    w->count, first->name, first->error.message);
}

qks_status figures_draw(const view *v, const figures_plan *plan, const char *out,
                        qks_figures_report *report, qks_error *error)
{
    work w = {.plan = plan, .out = out};
    view shown = *v;
    char version[GNUPLOT_VERSION_SIZE] = "", drawn[GNUPLOT_VERSION_SIZE + 64];
    qks_error missing = {QKS_OK, ""};
    w.gnuplot = gnuplot_version(version, &missing) == QKS_OK;
    (void)snprintf(drawn, sizeof drawn, "%s%s%s", v->facts.drawn ? v->facts.drawn : "",
                   v->facts.drawn && w.gnuplot ? ", " : "", version);
    shown.facts.drawn = *drawn ? drawn : NULL;
    qks_status status = folder_make(out, error);
    for (int i = 0; status == QKS_OK && i < FIGURES; i++) {
        if (!plan->wanted[i])
            continue;
        bool whole = false;
        piece *p = &w.pieces[w.count];
        status = compose(p, FIGURE_LIST[i], &shown, plan->formats, report, &whole, error);
        if (whole)
            w.count++;
        else
            piece_free(p);
    }
    if (status == QKS_OK)
        status = parallel_for(w.count, plan->threads, draw_piece, &w, error);
    if (status == QKS_OK)
        status = judge(&w, report, error);
    for (size_t i = 0; i < w.count; i++)
        piece_free(&w.pieces[i]);
    if (status == QKS_OK && !w.gnuplot && w.count)
        return qks_fail(error, QKS_PARTIAL, "no figure was drawn: %s; scripts and data are in %s",
                        missing.message, out);
    return status;
}
