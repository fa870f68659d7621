/* readme.c: README.md of a figure, from the view's facts and the figure's own sentences. */
#include "figures/readme.h"

#include "figures/names.h"

#include <inttypes.h>
#include <string.h>

static void put_name(text *out, arena *a, const char *name)
{
    const char *line = name_line(a, name, 200);
    if (line)
        markdown_string(out, line);
    else
        out->status = QKS_MEMORY;
}

static void put_heads(const view *v, text *out, arena *a)
{
    size_t least = v->models[0].n_heads, most = least;
    for (size_t i = 1; i < v->n_models; i++) {
        least = v->models[i].n_heads < least ? v->models[i].n_heads : least;
        most = v->models[i].n_heads > most ? v->models[i].n_heads : most;
    }
    text_addf(out, "- Measured: %zu %s, %s heads in all", v->n_models, view_noun(v, v->n_models),
              count_words(a, v->n_heads));
    if (v->n_models > 1 && least == most)
        text_addf(out, " (%zu each)", most);
    else if (v->n_models > 1)
        text_addf(out, " (%zu to %zu each)", least, most);
    text_addf(out, ", %" PRId64 " principal component%s per head.\n", v->pcs_in_table,
              v->pcs_in_table == 1 ? "" : "s");
}

static void put_text(const view *v, text *out, arena *a)
{
    const figure_facts *f = &v->facts;
    if (!f->text && f->documents <= 0 && f->tokens <= 0)
        return;
    text_add(out, "- Text: ");
    if (f->text)
        put_name(out, a, f->text);
    if (f->documents > 0)
        text_addf(out, "%s%s documents", f->text ? ", " : "", count_words(a, (size_t)f->documents));
    if (f->tokens > 0)
        text_addf(out, "%s%s tokens over all %s", f->text || f->documents > 0 ? ", " : "",
                  count_words(a, (size_t)f->tokens), view_noun(v, 2));
    text_add(out, ".\n");
}

static void put_line(text *out, arena *a, const char *before, const char *value, const char *after)
{
    if (!value)
        return;
    text_add(out, before);
    put_name(out, a, value);
    text_add(out, after);
}

static void put_production(const figure *f, const view *v, text *out, arena *a)
{
    const figure_facts *facts = &v->facts;
    bool bare = v->n_heads == 0; /* a published heatmap */
    if (bare)
        text_add(out, "- Drawn from a table of cells");
    else
        text_addf(out, "- Drawn from the table%s %s", strchr(f->tables, ',') ? "s" : "", f->tables);
    put_line(out, a, " of ", facts->source, "");
    put_line(out, a, ", by ", facts->drawn, "");
    text_add(out, ".\n");
    if (facts->study)
        put_line(out, a, "- Study: ", facts->study,
                 v->training ? " (training).\n" : " (models).\n");
    if (bare)
        text_addf(out, "- Rows: %zu %s.\n", v->n_models, view_noun(v, v->n_models));
    else
        put_heads(v, out, a);
    put_text(v, out, a);
    put_line(out, a, "- Settings: ", facts->capture, ".\n");
    put_line(out, a, "- Tables made by ", facts->program, ".\n");
    text_addf(out, "- Errors (±): %s.\n",
              v->errors ? "jackknife standard errors, leaving out one document group at a time"
                        : "none, since the tables have no standard errors");
    text_add(out, "- `data.csv` holds the numbers drawn, `figure.gp` draws them: `gnuplot "
                  "figure.gp` in this folder.\n");
}

static void put_caveats(const takeaway *t, text *out)
{
    if (t->untested)
        text_add(out, "\nThese tables have no standard errors for some of this: there, a rise or a "
                      "fall is the sign of the difference, not a tested one.\n");
    if (t->combined)
        text_add(out,
                 "\nWhere two numbers are compared that the findings do not pair, the error of "
                 "the difference is the root of the sum of their squared errors.\n");
    if (t->pooled)
        text_add(out, "\nThe error of a mean over models adds the models' errors as if they went "
                      "together, since all read the same text: an upper bound.\n");
}

void readme_print(const figure *f, const view *v, const char *image, text *out)
{
    arena a = {0};
    takeaway t = takeaway_new(&a);
    f->say(v, &t);
    text_addf(out, "# Figure %d: %s\n\n", f->number, f->name);
    if (image)
        text_addf(out, "![%s](%s)\n\n", f->name, image);
    text_addf(out, "## What it shows\n\n%s\n\n## How it was produced\n\n", f->shows);
    put_production(f, v, out, &a);
    text_add(out, "\n## Key takeaway\n\n");
    text_add(out, t.out.length ? text_string(&t.out)
                               : "- The tables hold no finding about this figure.\n");
    put_caveats(&t, out);
    if (t.out.status != QKS_OK)
        out->status = t.out.status;
    takeaway_free(&t);
    arena_free(&a);
}
