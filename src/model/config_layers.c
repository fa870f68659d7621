/* config_layers.c: which layers of config.json look through a window, which are passed by, which
 * have no rope. */
#include "model/config.h"

#include <string.h>

static const char *const kind_names[] = {
    [LAYER_FULL] = "full_attention", [LAYER_SLIDING] = "sliding_attention"};

/* layer_types, if the file has them: one name per layer. */
static qks_status read_layer_types(const config *c, bool *found, qks_error *error)
{
    size_t layers = (size_t)c->out->n_layers;
    const json_t *list = NULL;
    qks_status status = field_array(&c->fields, "layer_types", layers, layers, &list, error);
    *found = list != NULL;
    if (status != QKS_OK || !list)
        return status;
    for (size_t i = 0; i < layers; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (name && strcmp(name, kind_names[LAYER_SLIDING]) == 0)
            c->out->layers[i].kind = LAYER_SLIDING;
        else if (!name || strcmp(name, kind_names[LAYER_FULL]) != 0)
            return qks_fail(error, QKS_UNSUPPORTED,
                            "'%s': %slayer_types[%zu] is '%.60s'; supported are %s and %s",
                            c->fields.path, c->fields.prefix, i, name ? name : "no string",
                            kind_names[LAYER_FULL], kind_names[LAYER_SLIDING]);
    }
    return QKS_OK;
}

/* 0: no window. The default counts only if the field is absent, not if it is null. */
static qks_status read_window(const config *c, int64_t *window, qks_error *error)
{
    *window = json_object_get(c->fields.object, "sliding_window") ? 0 : c->family->window;
    qks_status status = field_whole(&c->fields, "sliding_window", false, 1, WINDOW_MAX, window,
                                    error);
    if (status != QKS_OK || c->family->windows != WINDOW_LATE)
        return status;
    bool used = false;
    status = field_flag(&c->fields, "use_sliding_window", &used, error);
    if (!used)
        *window = 0;
    return status;
}

/* The first layer with a window in a type that has them from some layer on. */
static qks_status slide_late(const config *c, int64_t window, qks_error *error)
{
    int64_t first = 28;
    qks_status status = field_whole(&c->fields, "max_window_layers", false, 0, INT64_MAX / 2,
                                    &first, error);
    for (int i = 0; status == QKS_OK && window && i < c->out->n_layers; i++)
        if (i >= first)
            c->out->layers[i].kind = LAYER_SLIDING;
    return status;
}

static qks_status slide_pattern(const config *c, qks_error *error)
{
    int64_t every = 6;
    qks_status status = field_whole(&c->fields, "sliding_window_pattern", false, 1, LAYERS_MAX,
                                    &every, error);
    for (int i = 0; status == QKS_OK && i < c->out->n_layers; i++)
        if ((i + 1) % every != 0)
            c->out->layers[i].kind = LAYER_SLIDING;
    return status;
}

static qks_status slide_nope(const config *c, int64_t window, qks_error *error)
{
    bool used = false;
    qks_status status = field_flag(&c->fields, "use_sliding_window", &used, error);
    for (int i = 0; status == QKS_OK && used && window && i < c->out->n_layers; i++) {
        bool has_rope = true;
        status = config_has_rope(c, i, &has_rope, error);
        if (!has_rope)
            c->out->layers[i].kind = LAYER_SLIDING;
    }
    return status;
}

static qks_status slide_by_rule(const config *c, int64_t window, qks_error *error)
{
    switch (c->family->windows) {
    case WINDOW_LATE:
        return slide_late(c, window, error);
    case WINDOW_NOPE:
        return slide_nope(c, window, error);
    case WINDOW_PATTERN:
        return slide_pattern(c, error);
    case WINDOW_ALL:
        for (int i = 0; window && i < c->out->n_layers; i++)
            c->out->layers[i].kind = LAYER_SLIDING;
        break;
    case WINDOW_NONE:
        break;
    }
    return QKS_OK;
}

/* transformers' mistral, and the types that have no windows, do not look at layer_types. */
static qks_status read_windows(const config *c, qks_error *error)
{
    int64_t window = 0;
    bool listed = false;
    qks_status status = read_window(c, &window, error);
    if (status == QKS_OK && c->family->windows != WINDOW_ALL && c->family->windows != WINDOW_NONE)
        status = read_layer_types(c, &listed, error);
    if (status == QKS_OK && !listed)
        status = slide_by_rule(c, window, error);
    for (int i = 0; status == QKS_OK && i < c->out->n_layers; i++) {
        if (c->out->layers[i].kind != LAYER_SLIDING)
            continue;
        if (!window)
            return qks_fail(
                error, QKS_INVALID,
                "'%s': layer %d has sliding attention, but there is no %ssliding_window "
                "in use",
                c->fields.path, i, c->fields.prefix);
        c->out->layers[i].window = (int)window;
    }
    return status;
}

/* mllama: layers that attend to an image only. */
static qks_status read_cross_layers(const config *c, qks_error *error)
{
    static const int usual[] = {3, 8, 13, 18, 23, 28, 33, 38};
    const json_t *list = NULL;
    qks_status status = field_array(&c->fields, "cross_attention_layers", 0, LAYERS_MAX, &list,
                                    error);
    if (status != QKS_OK)
        return status;
    size_t count = list ? json_array_size(list) : sizeof usual / sizeof *usual;
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = list ? json_array_get(list, i) : NULL;
        int64_t layer = list ? json_integer_value(entry) : usual[i];
        bool inside = layer >= 0 && layer < c->out->n_layers;
        if (list && (!json_is_integer(entry) || !inside))
            return qks_fail(error, QKS_INVALID,
                            "'%s': %scross_attention_layers[%zu] is not the number of a layer",
                            c->fields.path, c->fields.prefix, i);
        if (inside)
            c->out->layers[layer].kind = LAYER_SKIPPED;
    }
    return QKS_OK;
}

/* spec: no_rope_layers[i] = 1 means that layer i HAS rope */
qks_status config_has_rope(const config *c, int layer, bool *has, qks_error *error)
{
    *has = true;
    if (!c->family->nope)
        return QKS_OK;
    const json_t *list = NULL;
    qks_status status = field_array(&c->fields, "no_rope_layers", (size_t)c->out->n_layers,
                                    LAYERS_MAX, &list, error);
    if (status != QKS_OK)
        return status;
    if (list) {
        const json_t *entry = json_array_get(list, (size_t)layer);
        if (!json_is_integer(entry) && !json_is_boolean(entry))
            return qks_fail(error, QKS_INVALID, "'%s': %sno_rope_layers[%d] is neither 0 nor 1",
                            c->fields.path, c->fields.prefix, layer);
        *has = json_is_true(entry) || json_integer_value(entry) != 0;
        return QKS_OK;
    }
    int64_t every = 4;
    status = field_whole(&c->fields, "no_rope_layer_interval", false, 1, LAYERS_MAX, &every, error);
    *has = (layer + 1) % every != 0;
    return status;
}

qks_status config_layers(config *c, qks_error *error)
{
    qks_status status = read_windows(c, error);
    return status == QKS_OK && c->family->cross_attention ? read_cross_layers(c, error) : status;
}
