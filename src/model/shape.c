/* shape.c: a model's shape from a short text or from config.json. */
#include "model/shape.h"

#include "model/architecture.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

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

/* Three numbers with slashes between them and nothing else. */
static bool parse_three(const char *text, int *const numbers[3])
{
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        errno = 0;
        long number = strtol(text, &end, 10);
        bool digits = *text >= '0' && *text <= '9';
        if (!digits || errno || number > SHAPE_HEADS_MAX || *end != (i < 2 ? '/' : '\0'))
            return false;
        *numbers[i] = (int)number;
        text = end + 1;
    }
    return true;
}

qks_status shape_parse(model_shape *shape, const char *text, qks_error *error)
{
    *shape = (model_shape){0};
    if (!parse_three(text, (int *const[3]){&shape->layers, &shape->q_heads, &shape->kv_heads}))
        return qks_fail(error, QKS_USAGE,
                        "'%s' is no shape; write LAYERS/QHEADS/KVHEADS, such as 36/16/4", text);
    qks_status status = shape_check(shape, text, error);
    return status == QKS_OK ? QKS_OK : qks_prefix(error, QKS_USAGE, "--shape");
}

/* As a capture would read it, but whatever its rope is: the analysis asks only which layers have
 * one. */
qks_status shape_read(model_shape *shape, const char *path, arena *a, qks_error *error)
{
    architecture read;
    *shape = (model_shape){0};
    qks_status status = architecture_read(&read, path, &(rope_override){.scaling = "null"}, error);
    if (status == QKS_UNSUPPORTED) /* of such a model nothing is known but what the user says */
        return qks_prefix(error, status, "no shape (give --shape LAYERS/QHEADS/KVHEADS)");
    if (status != QKS_OK)
        return status;
    int *turned = arena_alloc(a, (size_t)read.n_layers, sizeof *turned);
    for (int i = 0; turned && i < read.n_layers; i++)
        turned[i] = read.layers[i].rope != NULL;
    *shape = (model_shape){read.n_layers, read.q_heads, read.kv_heads, turned};
    architecture_close(&read);
    return turned ? QKS_OK : out_of_memory(error, "layers");
}
