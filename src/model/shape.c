/* shape.c: a model's shape from a short text or from config.json. */
#include "model/shape.h"

#include "base/file.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIG_MAX = 16 << 20, NOPE_INTERVAL = 4 };

qks_status shape_check(const model_shape *shape, const char *what, qks_error *error)
{
    if (shape->layers < 1 || shape->layers > SHAPE_LAYERS_MAX)
        return qks_fail(error, QKS_INVALID, "%s: %d layers; a model has 1 to %d", what,
                        shape->layers, SHAPE_LAYERS_MAX);
    if (shape->q_heads < 1 || shape->q_heads > SHAPE_HEADS_MAX || shape->kv_heads < 1 ||
        shape->q_heads % shape->kv_heads != 0)
        return qks_fail(error, QKS_INVALID, "%s: %d query heads cannot share %d key heads evenly",
                        what, shape->q_heads, shape->kv_heads);
    return QKS_OK;
}

qks_status shape_parse(model_shape *shape, const char *text, qks_error *error)
{
    int used = 0;
    *shape = (model_shape){0};
    if (sscanf(text, "%5d/%5d/%5d%n", &shape->layers, &shape->q_heads, &shape->kv_heads, &used) !=
            3 ||
        text[used] != '\0')
        return qks_fail(error, QKS_USAGE,
                        "'%s' is no shape; write LAYERS/QHEADS/KVHEADS, such as 36/16/4", text);
    qks_status status = shape_check(shape, text, error);
    return status == QKS_OK ? QKS_OK
                            : qks_fail(error, QKS_USAGE, "%s", error ? error->message : "");
}

static bool take(const json_t *config, const char *key, int low, int high, int *value)
{
    const json_t *number = json_object_get(config, key);
    if (!json_is_integer(number) || json_integer_value(number) < low ||
        json_integer_value(number) > high)
        return false;
    *value = (int)json_integer_value(number);
    return true;
}

/* spec: no_rope_layers[i] = 1 means layer i HAS rope; absent, every n-th layer of SmolLM3 has
 * none. Every other supported type has rope in all layers. */
static qks_status take_rope(model_shape *shape, const json_t *config, const char *path, arena *a,
                            qks_error *error)
{
    int *rope = arena_alloc(a, (size_t)shape->layers, sizeof *rope);
    if (!rope)
        return out_of_memory(error, "layers");
    const json_t *list = json_object_get(config, "no_rope_layers");
    const char *type = json_string_value(json_object_get(config, "model_type"));
    int interval = 0;
    if (!take(config, "no_rope_layer_interval", 1, SHAPE_LAYERS_MAX, &interval) && type &&
        strcmp(type, "smollm3") == 0)
        interval = NOPE_INTERVAL;
    if (json_is_array(list) && json_array_size(list) != (size_t)shape->layers)
        return qks_fail(error, QKS_INVALID, "'%s': no_rope_layers has %zu entries for %d layers",
                        path, json_array_size(list), shape->layers);
    for (int i = 0; i < shape->layers; i++)
        rope[i] = json_is_array(list) ? json_integer_value(json_array_get(list, (size_t)i)) != 0
                                      : interval == 0 || (i + 1) % interval != 0;
    shape->rope = rope;
    return QKS_OK;
}

static qks_status take_config(model_shape *shape, const json_t *config, const char *path, arena *a,
                              qks_error *error)
{
    const json_t *inner = json_object_get(config, "text_config");
    if (json_is_object(inner))
        config = inner;
    static const char *const keys[] = {"num_hidden_layers", "num_attention_heads"};
    int *const places[] = {&shape->layers, &shape->q_heads};
    for (size_t i = 0; i < 2; i++)
        if (!take(config, keys[i], 1, SHAPE_HEADS_MAX, places[i]))
            return qks_fail(error, QKS_INVALID, "'%s': %s is missing or no sensible number", path,
                            keys[i]);
    const json_t *shared = json_object_get(config, "num_key_value_heads");
    if (!shared || json_is_null(shared))
        shape->kv_heads = shape->q_heads;
    else if (!take(config, "num_key_value_heads", 1, SHAPE_HEADS_MAX, &shape->kv_heads))
        return qks_fail(error, QKS_INVALID, "'%s': num_key_value_heads is no sensible number",
                        path);
    qks_status status = shape_check(shape, path, error);
    return status == QKS_OK ? take_rope(shape, config, path, a, error) : status;
}

qks_status shape_read(model_shape *shape, const char *path, arena *a, qks_error *error)
{
    char *text = NULL;
    size_t length = 0;
    json_error_t fault;
    *shape = (model_shape){0};
    qks_status status = file_get(path, CONFIG_MAX, &text, &length, error);
    if (status != QKS_OK)
        return status;
    json_t *config = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
    free(text);
    if (json_is_object(config))
        status = take_config(shape, config, path, a, error);
    else
        status = qks_fail(error, QKS_INVALID, "'%s' is not JSON: line %d, %s", path, fault.line,
                          config ? "no object" : fault.text);
    json_decref(config);
    return status;
}
