/* manifest.c: a plan as JSON. */
#include "study/manifest.h"

#include "base/file.h"
#include "qkscope/version.h"
#include "study/source.h"

#include <stdlib.h>
#include <string.h>

static json_t *model_facts(const plan *p, const plan_model *m)
{
    size_t done = 0;
    for (size_t u = 0; u < m->n_units; u++)
        done += m->units[u].done;
    json_t *facts = json_pack("{s:s, s:s*, s:s*, s:s, s:s*, s:s, s:s*, s:I, s:I, s:f}", "label",
                              m->model->label, "phase", m->model->phase, "family", m->model->family,
                              "checkpoint", m->model->model, "revision", m->model->revision,
                              "status",
                              m->failure           ? "failed"
                              : done == m->n_units ? "done"
                                                   : "to do",
                              "reason", m->failure, "units", (json_int_t)m->n_units, "units_done",
                              (json_int_t)done, "seconds", m->seconds);
    static const char *const copied[] = {"context",        "documents", "tokens", "truncated",
                                         "beyond_context", "too_short", "empty",  "not_utf8",
                                         "query_heads",    "key_heads", "layers", "memory"};
    for (size_t i = 0; facts && m->facts && i < sizeof copied / sizeof *copied; i++)
        json_object_set(facts, copied[i], json_object_get(m->facts, copied[i]));
    if (facts && p->calibrate && !m->failure)
        json_object_set_new(facts, "seconds_to_do", json_real(plan_seconds(m)));
    if (facts && m->model->rope_theta > 0)
        json_object_set_new(facts, "rope_theta", json_real(m->model->rope_theta));
    return facts;
}

/* A setting as a study file says it: a number, or the word for a special one. */
static json_t *setting(int64_t value, int64_t by_default, int64_t special, const char *word)
{
    return value == special ? json_string(word)
                            : json_integer((json_int_t)(value ? value : by_default));
}

static json_t *capture_facts(const study *s)
{
    return json_pack("{s:o, s:I, s:s, s:o, s:o}", "heads", setting(s->capture.heads, 0, 0, "all"),
                     "seed", (json_int_t)s->capture.seed, "sampler",
                     qks_sampler_name((qks_sampler)s->capture.sampler), "groups",
                     setting(s->capture.groups, GROUPS_DEFAULT, GROUPS_PER_DOCUMENT, "document"),
                     "pairs", setting(s->capture.pairs, PAIRS_DEFAULT, PAIRS_NONE, "none"));
}

json_t *manifest_of(const plan *p)
{
    const study *s = p->study;
    int64_t documents = 0, tokens = 0;
    json_t *models = json_array(), *parts = json_object();
    for (size_t i = 0; i < s->n_models; i++) {
        const json_t *facts = p->models[i].facts;
        int64_t n = json_integer_value(json_object_get(facts, "documents"));
        documents = n > documents ? n : documents;
        tokens += json_integer_value(json_object_get(facts, "tokens"));
        json_array_append_new(models, model_facts(p, &p->models[i]));
    }
    size_t n_parts = 0;
    const qks_part *linked = qks_parts(&n_parts);
    for (size_t i = 0; i < n_parts; i++)
        json_object_set_new(parts, linked[i].name, json_string(linked[i].version));
    return json_pack(
        "{s:i, s:s, s:s, s:s, s:o, s:{s:s, s:s}, s:{s:s, s:I, s:I}, s:o, s:i, s:s, s:o}", "format",
        1, "program", "qkscope", "version", qks_version(), "revision", qks_revision(), "parts",
        parts, "study", "name", s->name, "kind", s->training ? "training" : "models", "text",
        "path", s->text.path, "documents", (json_int_t)documents, "tokens", (json_int_t)tokens,
        "capture", capture_facts(s), "threads", p->options->threads, "backend",
        p->options->backend ? p->options->backend : "cpu", "models", models);
}

qks_status manifest_save(const plan *p, qks_error *error)
{
    arena a = {0};
    json_t *manifest = manifest_of(p);
    char *dumped = manifest ? json_dumps(manifest, JSON_INDENT(1)) : NULL;
    const char *path = arena_format(&a, "%s/manifest.json", p->out);
    qks_status status = dumped && path ? file_put(path, dumped, strlen(dumped), error)
                                       : qks_fail(error, QKS_INVALID,
                                                  "the manifest cannot be written: a name is not "
                                                  "UTF-8");
    free(dumped);
    json_decref(manifest);
    arena_free(&a);
    return status;
}
