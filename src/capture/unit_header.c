/* unit_header.c: a unit file's header, a JSON object, from and to unit_info. */
#include "capture/unit_header.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum {
    LAYERS_MAX = 4096,
    HEADS_MAX = 65536,
    PAIRS_MAX = 1 << 20,
    GROUPS_MAX = 1 << 20,
};

/* ---- writing ---- */

static json_t *numbers(const int *from, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_integer(from[i]));
    return list;
}

static json_t *header_of(const unit_info *info)
{
    json_t *sides = json_array(), *groups = json_array();
    for (size_t i = 0; i < info->n_sides; i++)
        json_array_append_new(sides, json_pack("[iis%]", info->sides[i].layer, info->sides[i].head,
                                               &info->sides[i].kind, (size_t)1));
    for (size_t i = 0; i < info->n_groups; i++)
        json_array_append_new(groups, json_pack("[III]", (json_int_t)info->groups[i].id,
                                                (json_int_t)info->groups[i].documents,
                                                (json_int_t)info->groups[i].tokens));
    json_t *header = json_pack(
        "{s:s, s:[iii], s:i, s:I, s:I, s:i, s:I, s:I, s:o, s:o, s:o*, s:o*}", "model", info->model,
        "shape", info->layers, info->q_heads, info->kv_heads, "dimension", info->d, "context",
        (json_int_t)info->context, "bucket_size", (json_int_t)info->bucket_size, "buckets",
        info->n_buckets, "pairs", (json_int_t)info->pairs, "samples", (json_int_t)info->samples,
        "sides", sides, "groups", groups, "rope",
        info->rope ? numbers(info->rope, info->layers) : NULL, "provenance",
        info->provenance ? json_loads(info->provenance, JSON_REJECT_DUPLICATES, NULL) : NULL);
    return header;
}

char *unit_header_text(const unit_info *info)
{
    json_t *header = header_of(info);
    char *text = header ? json_dumps(header, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(header);
    return text;
}

/* ---- reading ---- */

static bool in_range(const json_t *number, int64_t low, int64_t high, int64_t *value)
{
    if (!json_is_integer(number))
        return false;
    *value = json_integer_value(number);
    return *value >= low && *value <= high;
}

static bool take(const json_t *object, const char *key, int64_t low, int64_t high, int64_t *value)
{
    return in_range(json_object_get(object, key), low, high, value);
}

static bool take_int(const json_t *list, size_t i, int low, int high, int *value)
{
    int64_t wide = 0;
    bool fine = in_range(json_array_get(list, i), low, high, &wide);
    *value = (int)wide;
    return fine;
}

static const char *take_sizes(unit_info *info, arena *memory, const json_t *header)
{
    const json_t *shape = json_object_get(header, "shape");
    int64_t d = 0, buckets = 0, pairs = 0, samples = 0;
    const char *model = json_string_value(json_object_get(header, "model"));
    if (!model || !(info->model = arena_string(memory, model)))
        return "its header names no model";
    if (!take_int(shape, 0, 1, LAYERS_MAX, &info->layers) ||
        !take_int(shape, 1, 1, HEADS_MAX, &info->q_heads) ||
        !take_int(shape, 2, 1, HEADS_MAX, &info->kv_heads) || info->q_heads % info->kv_heads != 0)
        return "its header's shape is no model's";
    if (!take(header, "dimension", 1, QKS_DIMENSION_MAX, &d) ||
        !take(header, "buckets", 0, BUCKETS_MAX, &buckets) ||
        !take(header, "pairs", 0, PAIRS_MAX, &pairs) ||
        !take(header, "samples", 0, PAIRS_MAX, &samples) ||
        !take(header, "context", 0, INT64_MAX, &info->context) ||
        !take(header, "bucket_size", 0, INT64_MAX, &info->bucket_size))
        return "its header's sizes are missing or out of range";
    info->d = (int)d;
    info->n_buckets = (int)buckets;
    info->pairs = (size_t)pairs;
    info->samples = (size_t)samples;
    return NULL;
}

static const char *take_sides(unit_info *info, arena *memory, const json_t *header)
{
    const json_t *sides = json_object_get(header, "sides");
    info->n_sides = json_array_size(sides);
    if (info->n_sides == 0)
        return "it holds no heads";
    info->sides = arena_alloc(memory, info->n_sides, sizeof *info->sides);
    if (!info->sides)
        return "too many sides for the memory";
    for (size_t i = 0; i < info->n_sides; i++) {
        const json_t *entry = json_array_get(sides, i);
        const char *kind = json_string_value(json_array_get(entry, 2));
        side_id *id = &info->sides[i];
        if (!kind || (strcmp(kind, "q") != 0 && strcmp(kind, "k") != 0))
            return "a side is neither queries nor keys";
        id->kind = kind[0];
        int heads = id->kind == 'q' ? info->q_heads : info->kv_heads;
        if (!take_int(entry, 0, 0, info->layers - 1, &id->layer) ||
            !take_int(entry, 1, 0, heads - 1, &id->head))
            return "a side is of a layer or head that the model does not have";
        if (i > 0 && side_order(id - 1, id) >= 0)
            return "its sides are not in order";
    }
    return NULL;
}

static const char *take_groups(unit_info *info, arena *memory, const json_t *header)
{
    const json_t *groups = json_object_get(header, "groups");
    info->n_groups = json_array_size(groups);
    if (info->n_groups < 1 || info->n_groups > GROUPS_MAX)
        return "it has no document groups, or too many";
    info->groups = arena_alloc(memory, info->n_groups, sizeof *info->groups);
    if (!info->groups)
        return "too many groups for the memory";
    for (size_t i = 0; i < info->n_groups; i++) {
        const json_t *entry = json_array_get(groups, i);
        unit_group *g = &info->groups[i];
        if (!in_range(json_array_get(entry, 0), INT64_MIN, INT64_MAX, &g->id) ||
            !in_range(json_array_get(entry, 1), 0, INT64_MAX, &g->documents) ||
            !in_range(json_array_get(entry, 2), 0, INT64_MAX, &g->tokens))
            return "a document group lacks id, documents or tokens";
        if (i > 0 && g->id <= g[-1].id)
            return "its document groups are not in order";
    }
    return NULL;
}

static const char *take_rope(unit_info *info, arena *memory, const json_t *header)
{
    const json_t *list = json_object_get(header, "rope");
    if (!list)
        return NULL;
    int *rope = arena_alloc(memory, (size_t)info->layers, sizeof *rope);
    if (!rope)
        return "too many layers for the memory";
    if (json_array_size(list) != (size_t)info->layers)
        return "its list of rope layers does not fit the model";
    for (int i = 0; i < info->layers; i++)
        if (!take_int(list, (size_t)i, -1, 1, &rope[i]))
            return "its list of rope layers does not fit the model";
    info->rope = rope;
    return NULL;
}

static const char *take_provenance(unit_info *info, arena *memory, const json_t *header)
{
    const json_t *provenance = json_object_get(header, "provenance");
    char *text = provenance ? json_dumps(provenance, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (text)
        info->provenance = arena_string(memory, text);
    free(text);
    return provenance && !json_is_object(provenance) ? "its provenance is no object" : NULL;
}

const char *unit_header_take(unit_info *info, arena *memory, const char *text, size_t length)
{
    static const char *(*const parts[])(unit_info *, arena *, const json_t *) = {
        take_sizes, take_sides, take_groups, take_rope, take_provenance};
    json_t *header = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const char *wrong = header ? NULL : "its header is not JSON";
    for (size_t i = 0; !wrong && i < sizeof parts / sizeof *parts; i++)
        wrong = parts[i](info, memory, header);
    json_decref(header);
    return wrong;
}
