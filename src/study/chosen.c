/* chosen.c: named heads, or heads drawn as the reference draws them. */
#include "study/chosen.h"

#include "qkscope/sample.h"

#include <stdlib.h>

typedef struct choice {
    const architecture *a;
    const qks_capture_options *o;
    arena *memory;
    unit_info *info;
    bool *layers;
} choice;

/* "0,3,8-11" */
static qks_status parse_layers(const char *text, int n_layers, bool *chosen, qks_error *error)
{
    const char *at = text;
    do {
        char *end = NULL;
        long first = strtol(at, &end, 10), last = first;
        if (end != at && *end == '-') {
            at = end + 1;
            last = strtol(at, &end, 10);
        }
        if (end == at || first < 0 || last < first || last >= n_layers ||
            (*end != '\0' && *end != ','))
            return qks_fail(error, QKS_USAGE,
                            "'%s' is no list of layers; write such as 0,3,8-11, below %d", text,
                            n_layers);
        for (long i = first; i <= last; i++)
            chosen[i] = true;
        at = *end ? end + 1 : end;
    } while (*at);
    return QKS_OK;
}

static int by_side(const void *a, const void *b)
{
    return side_order(a, b);
}

/* Heads of layers without self attention over text were drawn, too, and are dropped here. */
static qks_status put_sides(choice *c, qks_head *heads, size_t count, qks_error *error)
{
    const architecture *a = c->a;
    side_id *sides = arena_alloc(c->memory, 2 * count + 1, sizeof *sides);
    c->layers = arena_alloc(c->memory, (size_t)a->n_layers, sizeof *c->layers);
    if (!sides || !c->layers)
        return out_of_memory(error, "heads");
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < count; i++)
        if (a->layers[heads[i].layer].kind != LAYER_SKIPPED)
            heads[kept++] = heads[i];
    if (kept == 0)
        return qks_fail(error, QKS_INVALID, "no layer with self attention is among those wanted");
    for (size_t i = 0; i < kept; i++) {
        sides[n++] = (side_id){.layer = heads[i].layer, .head = heads[i].head, .kind = 'q'};
        c->layers[heads[i].layer] = true;
    }
    kept = qks_key_heads(heads, kept, a->q_heads / a->kv_heads, heads);
    for (size_t i = 0; i < kept; i++)
        sides[n++] = (side_id){.layer = heads[i].layer, .head = heads[i].head, .kind = 'k'};
    qsort(sides, n, sizeof *sides, by_side);
    c->info->sides = sides;
    c->info->n_sides = n;
    return QKS_OK;
}

/* The heads that were named; each counts once. */
static qks_status take_chosen(choice *c, qks_error *error)
{
    const architecture *a = c->a;
    const qks_head *chosen = c->o->chosen;
    qks_head *heads = arena_alloc(c->memory, c->o->n_chosen, sizeof *heads);
    if (!heads)
        return out_of_memory(error, "heads");
    size_t count = 0;
    for (size_t i = 0; i < c->o->n_chosen; i++) {
        if (chosen[i].layer < 0 || chosen[i].layer >= a->n_layers || chosen[i].head < 0 ||
            chosen[i].head >= a->q_heads)
            return qks_fail(error, QKS_USAGE,
                            "there is no head %d in layer %d; the model has %d layers of %d heads",
                            chosen[i].head, chosen[i].layer, a->n_layers, a->q_heads);
        heads[i] = chosen[i];
    }
    qks_sort_heads(heads, c->o->n_chosen);
    for (size_t i = 0; i < c->o->n_chosen; i++)
        if (i == 0 || heads[i].layer != heads[i - 1].layer || heads[i].head != heads[i - 1].head)
            heads[count++] = heads[i];
    return put_sides(c, heads, count, error);
}

static qks_status draw_heads(choice *c, qks_error *error)
{
    const architecture *a = c->a;
    bool *eligible = arena_alloc(c->memory, (size_t)a->n_layers, sizeof *eligible);
    if (!eligible)
        return out_of_memory(error, "layers");
    qks_status status = c->o->layers ? parse_layers(c->o->layers, a->n_layers, eligible, error)
                                     : QKS_OK;
    for (int i = 0; i < a->n_layers; i++) {
        bool sliding = a->layers[i].kind == LAYER_SLIDING;
        eligible[i] = (!c->o->layers || eligible[i]) && !(c->o->full_attention_only && sliding);
    }
    qks_head_options how = {.layers = a->n_layers,
                            .heads = a->q_heads,
                            .count = c->o->heads ? c->o->heads : QKS_HEADS_ALL,
                            .seed = c->o->seed,
                            .eligible = eligible};
    qks_head *heads = NULL;
    size_t count = 0;
    if (status == QKS_OK)
        status = qks_draw_heads(&how, &heads, &count, error);
    if (status == QKS_OK) {
        qks_sort_heads(heads, count);
        status = put_sides(c, heads, count, error);
    }
    free(heads);
    return status;
}

qks_status chosen_heads(const architecture *a, const qks_capture_options *o, arena *memory,
                        unit_info *info, bool **layers, qks_error *error)
{
    choice c = {.a = a, .o = o, .memory = memory, .info = info};
    qks_status status = o->n_chosen ? take_chosen(&c, error) : draw_heads(&c, error);
    *layers = c.layers;
    return status;
}
