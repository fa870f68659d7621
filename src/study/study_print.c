/* study_print.c: a study as YAML again, with all defaults filled in. */
#include "study/source.h"
#include "study/study.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* JSON strings are YAML strings. */
static void print_item(text *out, const char *before, const char *value)
{
    json_t *string = value ? json_string(value) : NULL;
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    if (quoted)
        text_addf(out, "%s%s", before, quoted);
    free(quoted);
    json_decref(string);
}

static void print_text(text *out, const char *name, const char *value)
{
    char before[64];
    (void)snprintf(before, sizeof before, ", %s: ", name);
    print_item(out, before, value);
}

/* A path that holds from any folder; a name of the hub stays as it is, and so does a path to a
 * folder whose name YAML cannot hold, because it is not UTF-8. */
static void print_path(text *out, const char *before, const char *path)
{
    char *whole = path ? realpath(path, NULL) : NULL;
    size_t length = out->length;
    print_item(out, before, whole);
    if (out->length == length)
        print_item(out, before, path);
    free(whole);
}

static void print_list(text *out, const char *name, const string_list *list)
{
    text_addf(out, "%s: [", name);
    for (size_t i = 0; i < list->length; i++)
        print_item(out, i ? ", " : "", list->data[i]);
    text_add(out, "]\n");
}

static void print_model(study *s, const study_model *m, text *out)
{
    text_add(out, "  - {full_attention_only: ");
    text_add(out, m->full_attention_only == 1 ? "true" : "false");
    print_text(out, "label", m->label);
    print_text(out, "phase", m->phase);
    print_text(out, "family", m->family);
    print_path(out, ", model: ", m->revision ? m->model : study_sees(s, m->model));
    print_text(out, "revision", m->revision);
    print_path(out, ", tokenizer: ", m->tokenizer ? study_sees(s, m->tokenizer) : NULL);
    if (m->max_length)
        text_addf(out, ", max_length: %lld", (long long)m->max_length);
    if (m->rope_theta > 0)
        text_addf(out, ", rope_theta: %.17g", m->rope_theta);
    if (m->rope_scaling)
        text_addf(out, ", rope_scaling: %s", m->rope_scaling);
    text_add(out, "}\n");
}

void study_print(study *s, text *out)
{
    text_addf(out, "format: %d\nkind: %s\n", STUDY_FORMAT, s->training ? "training" : "models");
    print_item(out, "name: ", s->name);
    print_path(out, "\ntext: {path: ", s->text.path);
    print_text(out, "column", s->text.column);
    print_text(out, "id", s->text.id);
    if (s->text.limit)
        text_addf(out, ", limit: %lld", (long long)s->text.limit);
    text_add(out, "}\ncapture: {");
    if (s->capture.heads)
        text_addf(out, "heads: %lld, ", (long long)s->capture.heads);
    text_addf(out, "seed: %lld, sampler: %s", (long long)s->capture.seed,
              qks_sampler_name((qks_sampler)s->capture.sampler));
    if (s->capture.bucket)
        text_addf(out, ", bucket: %lld", (long long)s->capture.bucket);
    if (s->capture.rate > 0)
        text_addf(out, ", rate: %.17g", s->capture.rate);
    if (s->capture.groups == GROUPS_PER_DOCUMENT)
        text_add(out, ", groups: document");
    else
        text_addf(out, ", groups: %lld",
                  (long long)(s->capture.groups ? s->capture.groups : GROUPS_DEFAULT));
    if (s->capture.pairs == PAIRS_NONE)
        text_add(out, ", pairs: none");
    else
        text_addf(out, ", pairs: %lld",
                  (long long)(s->capture.pairs ? s->capture.pairs : PAIRS_DEFAULT));
    print_text(out, "layers", s->capture.layers);
    text_addf(out, ", pre_rope: %s, no_special: %s}\nmodels:\n",
              s->capture.pre_rope ? "true" : "false", s->capture.no_special ? "true" : "false");
    for (size_t i = 0; i < s->n_models; i++)
        print_model(s, &s->models[i], out);
    if (s->portraits.length)
        print_list(out, "portraits", &s->portraits);
    if (s->no_figures)
        text_add(out, "figures: none\n");
    else if (s->figures.length)
        print_list(out, "figures", &s->figures);
}
