/* describe.c: a checkpoint's facts as JSON. */
#include "model/describe.h"

#include "base/text.h"
#include "model/weights_private.h"

#include <ggml.h>
#include <string.h>

enum { LIST_MAX = 4096 };

static void fact(json_t *facts, const char *name, int64_t value)
{
    (void)json_object_set_new(facts, name, json_integer(value));
}

static void describe_sizes(const architecture *a, json_t *facts)
{
    fact(facts, "layers", a->n_layers);
    fact(facts, "query heads", a->q_heads);
    fact(facts, "key heads", a->kv_heads);
    fact(facts, "head dimension", a->head_dim);
    fact(facts, "hidden size", a->hidden);
    fact(facts, "token ids", a->embedding_rows);
    if (a->max_positions)
        fact(facts, "context", a->max_positions);
}

/* Each text once, in order of first use. */
static void list_once(text *list, const char *item)
{
    const char *found = strstr(text_string(list), item);
    size_t end = found ? strlen(item) : 0;
    if (found && (found[end] == '\0' || found[end] == ';'))
        return;
    text_addf(list, "%s%s", list->length ? "; " : "", item);
}

static qks_status describe_layers(const architecture *a, json_t *facts, qks_error *error)
{
    int64_t nope = 0, sliding = 0, skipped = 0, window = 0;
    text ropes = text_new(LIST_MAX);
    for (int i = 0; i < a->n_layers; i++) {
        const layer_facts *l = &a->layers[i];
        skipped += l->kind == LAYER_SKIPPED;
        sliding += l->kind == LAYER_SLIDING;
        nope += l->kind != LAYER_SKIPPED && !l->rope;
        window = l->window > window ? l->window : window;
        if (l->rope)
            list_once(&ropes, l->rope->text);
    }
    (void)json_object_set_new(facts, "rope", json_string(text_string(&ropes)));
    fact(facts, "layers without RoPE", nope);
    if (sliding) {
        fact(facts, "layers with a window", sliding);
        fact(facts, "window", window);
    }
    if (skipped)
        fact(facts, "layers without self attention", skipped);
    qks_status status = text_status(&ropes, "ropes", error);
    text_free(&ropes);
    return status;
}

static qks_status describe_weights(const weights *w, json_t *facts, qks_error *error)
{
    text types = text_new(LIST_MAX);
    size_t bytes = (size_t)w->embedding.rows * w->embedding.row_bytes;
    list_once(&types, ggml_type_name((enum ggml_type)w->embedding.type));
    for (int layer = 0; layer < w->n_layers; layer++) {
        bytes += weights_layer_bytes(w, layer);
        for (int role = 0; role < WEIGHT_ROLES; role++)
            if (w->layers[layer][role].data)
                list_once(&types, ggml_type_name((enum ggml_type)w->layers[layer][role].type));
    }
    (void)json_object_set_new(facts, "weights", json_string(text_string(&types)));
    fact(facts, "bytes used", (int64_t)bytes);
    fact(facts, "files", (int64_t)w->checkpoint.files.length);
    qks_status status = text_status(&types, "types of weights", error);
    text_free(&types);
    return status;
}

qks_status checkpoint_describe(const char *path, json_t *facts, qks_error *error)
{
    weights *w = NULL;
    architecture a;
    qks_status status = weights_open(&w, &a, path, NULL, error);
    if (status != QKS_OK)
        return status;
    bool gguf = w->checkpoint.format == FORMAT_GGUF;
    (void)json_object_set_new(facts, "kind", json_string("checkpoint"));
    (void)json_object_set_new(facts, "format", json_string(gguf ? "GGUF" : "safetensors"));
    (void)json_object_set_new(facts, "type", json_string(a.type));
    describe_sizes(&a, facts);
    status = describe_weights(w, facts, error);
    if (status == QKS_OK)
        status = describe_layers(&a, facts, error);
    weights_close(w);
    architecture_close(&a);
    return status;
}
