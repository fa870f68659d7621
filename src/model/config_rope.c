/* config_rope.c: the rotary embeddings of config.json in either spelling: rope_theta beside
 * rope_scaling, or rope_parameters; and what the command line puts in their place. */
#include "model/config.h"
#include "model/rope.h"

#include <string.h>

/* Where one rope's settings stand. Theta, partial_rotary_factor and the original length may stand
 * in the config itself, outside of the object. */
typedef struct rope_source {
    fields scaling;    /* in force; object NULL: no scaling */
    fields configured; /* the config's own, when the command line's is in force */
    const char *theta_key;
    double theta;          /* if nobody says; from --rope-theta if forced */
    bool forced, replaced; /* theta from the command line; the object too */
} rope_source;

static qks_status unknown_kind(const rope_source *s, const char *key, const char *name,
                               qks_error *error)
{
    const fields *f = &s->scaling;
    if (strcmp(name, "dynamic") == 0)
        return qks_fail(error, QKS_UNSUPPORTED,
                        "'%s': rope type 'dynamic' (%s%s) has other frequencies for each length of "
                        "text; up to max_position_embeddings, --rope-scaling null gives the same",
                        f->path, f->prefix, key);
    return qks_fail(error, QKS_UNSUPPORTED,
                    "'%s': rope type '%.60s' (%s%s) is not supported; supported are: default, "
                    "linear, llama3, yarn",
                    f->path, name, f->prefix, key);
}

static qks_status read_kind(const rope_source *s, rope_settings *settings, qks_error *error)
{
    const char *name = "default";
    const char *key = field_present(&s->scaling, "rope_type") ? "rope_type" : "type";
    qks_status status = field_string(&s->scaling, key, false, &name, error);
    if (status == QKS_OK && !rope_kind_of(name, &settings->kind))
        status = unknown_kind(s, key, name, error);
    return status;
}

/* The config's own number counts before that among its rope settings, the command line's before
 * both, and in the absence of all the context. */
static qks_status read_original(const config *c, bool replaced, const fields *settings,
                                int64_t *original, qks_error *error)
{
    static const char key[] = "original_max_position_embeddings";
    const fields *from = !replaced && field_present(&c->fields, key) ? &c->fields : settings;
    *original = c->out->max_positions;
    return field_whole(from, key, *original == 0, 1, POSITIONS_MAX, original, error);
}

static qks_status read_llama3(const rope_source *s, rope_settings *settings, qks_error *error)
{
    qks_status status = field_number(&s->scaling, "low_freq_factor", true, 1e-6, FACTOR_MAX,
                                     &settings->low_frequency, error);
    if (status == QKS_OK)
        status = field_number(&s->scaling, "high_freq_factor", true, 1e-6, FACTOR_MAX,
                              &settings->high_frequency, error);
    if (status == QKS_OK && settings->high_frequency <= settings->low_frequency)
        status = qks_fail(
            error, QKS_INVALID, "'%s': %shigh_freq_factor %g is not above low_freq_factor %g",
            s->scaling.path, s->scaling.prefix, settings->high_frequency, settings->low_frequency);
    return status;
}

static qks_status read_yarn(const rope_source *s, rope_settings *settings, qks_error *error)
{
    const struct {
        const char *key;
        double low;
        double *place;
    } numbers[] = {
        {"attention_factor", 1e-6, &settings->attention_factor},
        {"beta_fast", 0, &settings->beta_fast},
        {"beta_slow", 0, &settings->beta_slow},
        {"mscale", 0, &settings->mscale},
        {"mscale_all_dim", 0, &settings->mscale_all},
    };
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < sizeof numbers / sizeof *numbers; i++)
        status = field_number(&s->scaling, numbers[i].key, false, numbers[i].low, FACTOR_MAX,
                              numbers[i].place, error);
    bool truncate = !json_is_null(json_object_get(s->scaling.object, "truncate")); /* null: false */
    if (status == QKS_OK)
        status = field_flag(&s->scaling, "truncate", &truncate, error);
    settings->exact_range = !truncate;
    return status;
}

static qks_status read_scaling(const config *c, const rope_source *s, rope_settings *settings,
                               qks_error *error)
{
    qks_status status = read_kind(s, settings, error);
    if (status != QKS_OK || settings->kind == ROPE_DEFAULT)
        return status;
    bool implied = settings->kind == ROPE_YARN && c->out->max_positions > 0 &&
                   json_is_null(json_object_get(s->scaling.object, "factor"));
    status = field_number(&s->scaling, "factor", !implied, 1e-6, FACTOR_MAX, &settings->factor,
                          error);
    if (status != QKS_OK || settings->kind == ROPE_LINEAR)
        return status;
    int64_t original = 0;
    status = read_original(c, s->replaced, &s->scaling, &original, error);
    if (status != QKS_OK)
        return status;
    settings->original = (double)original;
    if (implied) /* transformers: a null factor is what the context was stretched by */
        settings->factor = (double)c->out->max_positions / settings->original;
    return settings->kind == ROPE_LLAMA3 ? read_llama3(s, settings, error)
                                         : read_yarn(s, settings, error);
}

/* The first of those that speak: the scaling in force, the one it replaced, the config. */
static const fields *speaker(const config *c, const rope_source *s, const char *key)
{
    if (s->scaling.object && field_present(&s->scaling, key))
        return &s->scaling;
    if (s->configured.object && field_present(&s->configured, key))
        return &s->configured;
    return &c->fields;
}

static qks_status read_theta(const config *c, const rope_source *s, rope_settings *settings,
                             qks_error *error)
{
    settings->theta = s->theta;
    if (s->forced)
        return QKS_OK;
    const fields *from = speaker(c, s, "rope_theta");
    return field_number(from, from == &c->fields ? s->theta_key : "rope_theta", false, THETA_MIN,
                        THETA_MAX, &settings->theta, error);
}

static qks_status read_dimensions(const config *c, const rope_source *s, rope_settings *settings,
                                  qks_error *error)
{
    static const char key[] = "partial_rotary_factor";
    double share = c->family->partial_rotary ? 0.5 : 1;
    const fields *from = speaker(c, s, key);
    qks_status status = field_number(from, key, false, 0, 1, &share, error);
    bool whole = share == 1 && (!c->extra.rotary || c->extra.rotary == c->out->head_dim);
    if (status == QKS_OK && !c->family->partial_rotary && !whole)
        status = qks_fail(
            error, QKS_UNSUPPORTED,
            "'%s': rope would turn a part of each head (%s), but it turns whole heads "
            "in a '%s' model",
            from->path, share == 1 ? "rope.dimension_count" : key, c->family->type);
    settings->dimensions = c->extra.rotary ? c->extra.rotary : (int)(c->out->head_dim * share);
    settings->interleaved = c->family->partial_rotary;
    if (status == QKS_OK && (settings->dimensions < 2 || settings->dimensions % 2 != 0))
        status = qks_fail(error, QKS_INVALID,
                          "'%s': rope would turn %d of head_dim %d dimensions; it turns pairs",
                          from->path, settings->dimensions, c->out->head_dim);
    return status;
}

/* GGUF's table of llama3 scaling, unless the command line puts something in its place. */
static qks_status take_divisors(const config *c, const rope_source *s, rope_settings *settings,
                                qks_error *error)
{
    if (!c->extra.divisors || s->replaced)
        return QKS_OK;
    bool fits = c->extra.n_divisors == settings->dimensions / 2;
    for (int p = 0; fits && p < settings->dimensions / 2; p++)
        fits = c->extra.divisors[p] >= 1e-6F && c->extra.divisors[p] <= FACTOR_MAX;
    if (!fits)
        return qks_fail(error, QKS_INVALID,
                        "'%s': rope_freqs.weight must hold %d factors from 1e-6 to 1e6",
                        c->fields.path, settings->dimensions / 2);
    settings->divisors = c->extra.divisors;
    return QKS_OK;
}

static qks_status make_rope(const config *c, const rope_source *s, const rope **made,
                            qks_error *error)
{
    rope_settings settings = {0};
    qks_status status = read_dimensions(c, s, &settings, error);
    if (status == QKS_OK)
        status = read_theta(c, s, &settings, error);
    if (status == QKS_OK && s->scaling.object)
        status = read_scaling(c, s, &settings, error);
    if (status == QKS_OK)
        status = take_divisors(c, s, &settings, error);
    if (status != QKS_OK)
        return status;
    *made = rope_make(&settings, &c->out->memory);
    return *made ? QKS_OK : out_of_memory(error, "rope");
}

/* ---- where the settings are ---- */

/* rope_scaling, else rope_parameters; of gemma's, which may be nested per layer type, the part for
 * `kind`. */
static qks_status find_scaling(const config *c, const char *kind, fields *scaling, qks_error *error)
{
    bool local = strcmp(kind, "sliding_attention") == 0;
    const json_t *old = NULL, *new = NULL;
    qks_status status = field_object(&c->fields, "rope_scaling", &old, error);
    if (status == QKS_OK)
        status = field_object(&c->fields, "rope_parameters", &new, error);
    if (status != QKS_OK)
        return status;
    scaling->path = c->fields.path;
    scaling->prefix = "rope_scaling.";
    scaling->object = json_object_size(old) > 0 && !local ? old : NULL;
    if (scaling->object || !new)
        return QKS_OK;
    scaling->prefix = "rope_parameters.";
    scaling->object = new;
    if (!c->family->gemma)
        return QKS_OK;
    if (field_present(scaling, "rope_theta") || field_present(scaling, "rope_type"))
        return qks_fail(error, QKS_INVALID,
                        "'%s': rope_parameters of a gemma3 model must hold full_attention and "
                        "sliding_attention",
                        c->fields.path);
    return field_object(scaling, kind, &scaling->object, error);
}

/* --rope-theta and --rope-scaling, and a type's own default. *loaded is decref'd by the caller. */
static qks_status override_scaling(const config *c, rope_source *s, json_t **loaded,
                                   qks_error *error)
{
    const rope_override *o = c->override;
    if (o && o->theta != 0) {
        if (!(o->theta >= THETA_MIN && o->theta <= THETA_MAX))
            return qks_fail(error, QKS_USAGE, "--rope-theta %g: it must be from %g to %g", o->theta,
                            THETA_MIN, THETA_MAX);
        s->forced = true;
        s->theta = o->theta;
    }
    const char *text = o && o->scaling ? o->scaling : s->scaling.object ? NULL : c->family->scaling;
    if (!text)
        return QKS_OK;
    json_error_t fault;
    *loaded = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &fault);
    if (!json_is_object(*loaded) && !json_is_null(*loaded))
        return qks_fail(error, QKS_USAGE, "--rope-scaling '%.200s' is no JSON object: %s", text,
                        *loaded ? "it is something else" : fault.text);
    s->replaced = true;
    s->scaling.object = json_is_object(*loaded) ? *loaded : NULL;
    s->scaling.prefix = o && o->scaling ? "--rope-scaling " : "";
    return QKS_OK;
}

/* Ministral 3: stands among the rope settings, but is no part of the rope; so if the command line
 * gives another scaling without it, the config's counts. */
static qks_status read_query_scaling(const config *c, const rope_source *s, qks_error *error)
{
    static const char key[] = "llama_4_scaling_beta";
    const fields *from = speaker(c, s, key);
    double beta = 0;
    qks_status status = field_number(from, key, false, 0, FACTOR_MAX, &beta, error);
    if (status != QKS_OK || beta == 0)
        return status;
    c->out->query_beta = (float)beta;
    return read_original(c, from == &s->scaling && s->replaced, from, &c->out->query_original,
                         error);
}

static qks_status read_global(const config *c, const rope **made, qks_error *error)
{
    rope_source s = {.theta_key = "rope_theta", .theta = c->family->theta};
    json_t *loaded = NULL;
    qks_status status = find_scaling(c, "full_attention", &s.scaling, error);
    s.configured = s.scaling;
    if (status == QKS_OK)
        status = override_scaling(c, &s, &loaded, error);
    if (status == QKS_OK)
        status = make_rope(c, &s, made, error);
    if (status == QKS_OK && strcmp(c->family->type, "ministral3") == 0)
        status = read_query_scaling(c, &s, error);
    json_decref(loaded);
    return status;
}

static qks_status read_local(const config *c, const rope **made, qks_error *error)
{
    rope_source s = {.theta_key = "rope_local_base_freq", .theta = 1e4};
    qks_status status = find_scaling(c, "sliding_attention", &s.scaling, error);
    return status == QKS_OK ? make_rope(c, &s, made, error) : status;
}

qks_status config_ropes(config *c, qks_error *error)
{
    const rope *global = NULL, *local = NULL;
    qks_status status = read_global(c, &global, error);
    if (status == QKS_OK && c->family->gemma)
        status = read_local(c, &local, error);
    for (int i = 0; status == QKS_OK && i < c->out->n_layers; i++) {
        layer_facts *layer = &c->out->layers[i];
        bool has_rope = true;
        status = config_has_rope(c, i, &has_rope, error);
        if (has_rope && layer->kind != LAYER_SKIPPED)
            layer->rope = layer->kind == LAYER_SLIDING && local ? local : global;
    }
    return status;
}
