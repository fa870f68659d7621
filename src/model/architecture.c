/* architecture.c: what holds for every architecture, wherever it was read. */
#include "model/architecture.h"

#include "model/limits.h"

void architecture_close(architecture *a)
{
    arena_free(&a->memory);
    *a = (architecture){0};
}

qks_status architecture_check(const architecture *a, const char *what, qks_error *error)
{
    if (a->q_heads % a->kv_heads != 0)
        return qks_fail(error, QKS_INVALID, "'%s': %d query heads cannot share %d key heads evenly",
                        what, a->q_heads, a->kv_heads);
    if ((int64_t)a->q_heads * a->head_dim > HEADS_WIDTH_MAX)
        return qks_fail(error, QKS_INVALID, "'%s': %d heads of dimension %d are too many", what,
                        a->q_heads, a->head_dim);
    for (int i = 0; i < a->n_layers; i++) {
        const rope *r = a->layers[i].rope;
        if (r && (r->dimensions < 2 || r->dimensions > a->head_dim || r->dimensions % 2 != 0))
            return qks_fail(error, QKS_INVALID,
                            "'%s': rope cannot turn %d of a head's %d dimensions; it turns pairs",
                            what, r->dimensions, a->head_dim);
    }
    return QKS_OK;
}
