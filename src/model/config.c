/* config.c: a Hugging Face config.json as an architecture: wrapper opened, sizes, norms, biases. */
#include "model/config.h"

#include <math.h>
#include <string.h>

static qks_status unsupported_type(const config *c, const char *type, qks_error *error)
{
    (void)qks_fail(error, QKS_UNSUPPORTED,
                   "'%s': %smodel_type '%.60s' is not supported; supported are: %s", c->fields.path,
                   c->fields.prefix, type, architecture_types());
    return QKS_UNSUPPORTED;
}

/* Steps into the text_config of a wrapper, finds the family. */
static qks_status find_family(config *c, qks_error *error)
{
    const char *type = NULL;
    qks_status status = field_string(&c->fields, "model_type", true, &type, error);
    if (status != QKS_OK)
        return status;
    const char *wrapper = type, *inner = wrapper_default(type);
    if (inner) {
        const json_t *text = NULL;
        status = field_object(&c->fields, "text_config", &text, error);
        if (status == QKS_OK && !text)
            status = qks_fail(error, QKS_INVALID, "'%s': text_config is missing in a '%s' model",
                              c->fields.path, wrapper);
        if (status != QKS_OK)
            return status;
        c->fields.object = text;
        c->fields.prefix = "text_config.";
        c->nested = true;
        type = inner;
        status = field_string(&c->fields, "model_type", false, &type, error);
        if (status != QKS_OK)
            return status;
        if (!wrapper_holds(wrapper, type))
            return unsupported_type(c, type, error);
    }
    c->family = family_find(type);
    return c->family ? QKS_OK : unsupported_type(c, type, error);
}

/* Well-formed, but not what the graph computes. */
static qks_status refuse_features(const fields *f, qks_error *error)
{
    static const char *const features[] = {"attn_logit_softcapping",
                                           "use_bidirectional_attention",
                                           "quantization_config",
                                           "use_mrope",
                                           "use_qk_norm",
                                           "qk_layernorm"};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        const json_t *value = json_object_get(f->object, features[i]);
        if (value && !json_is_null(value) && !json_is_false(value))
            return qks_fail(error, QKS_UNSUPPORTED,
                            "'%s': %s%s is set; qkscope does not compute that", f->path, f->prefix,
                            features[i]);
    }
    return QKS_OK;
}

static qks_status read_size(const config *c, const char *key, int64_t fallback, int64_t maximum,
                            int *size, qks_error *error)
{
    int64_t value = fallback;
    bool required = !c->nested || fallback == 0;
    qks_status status = field_whole(&c->fields, key, required, 1, maximum, &value, error);
    *size = (int)value;
    return status;
}

/* Null means hidden / heads for every type, absence the type's own default. */
static qks_status read_head_dim(const config *c, qks_error *error)
{
    architecture *a = c->out;
    int64_t head_dim = json_object_get(c->fields.object, "head_dim") ? 0 : c->family->head_dim;
    qks_status status = field_whole(&c->fields, "head_dim", false, 1, HEAD_DIM_MAX, &head_dim,
                                    error);
    if (status == QKS_OK && head_dim == 0) {
        if (a->hidden % a->q_heads != 0)
            return qks_fail(error, QKS_INVALID,
                            "'%s': hidden_size %d is no multiple of %d heads and there is no "
                            "head_dim",
                            c->fields.path, a->hidden, a->q_heads);
        head_dim = a->hidden / a->q_heads;
    }
    a->head_dim = (int)head_dim;
    return status;
}

/* llama's num_key_value_heads may be absent, any type's null: as many as query heads. */
static qks_status read_kv_heads(const config *c, qks_error *error)
{
    const json_t *value = json_object_get(c->fields.object, "num_key_value_heads");
    if (json_is_null(value) || (!value && strcmp(c->family->type, "llama") == 0)) {
        c->out->kv_heads = c->out->q_heads;
        return QKS_OK;
    }
    return read_size(c, "num_key_value_heads", c->family->sizes.kv_heads, HEADS_MAX,
                     &c->out->kv_heads, error);
}

static qks_status read_sizes(const config *c, qks_error *error)
{
    architecture *a = c->out;
    const family_sizes *usual = &c->family->sizes;
    int vocabulary = 0;
    const struct {
        const char *key;
        int64_t usual, maximum;
        int *place;
    } sizes[] = {
        {"num_hidden_layers", usual->layers, LAYERS_MAX, &a->n_layers},
        {"hidden_size", usual->hidden, HIDDEN_MAX, &a->hidden},
        {"num_attention_heads", usual->q_heads, HEADS_MAX, &a->q_heads},
        {"intermediate_size", usual->intermediate, INTERMEDIATE_MAX, &a->intermediate},
        {"vocab_size", usual->vocabulary, VOCABULARY_MAX, &vocabulary},
    };
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < sizeof sizes / sizeof *sizes; i++)
        status = read_size(c, sizes[i].key, sizes[i].usual, sizes[i].maximum, sizes[i].place,
                           error);
    if (status == QKS_OK)
        status = read_kv_heads(c, error);
    if (status == QKS_OK)
        status = read_head_dim(c, error);
    if (status == QKS_OK)
        status = field_whole(&c->fields, "max_position_embeddings", false, 1, POSITIONS_MAX,
                             &a->max_positions, error);
    a->embedding_rows = vocabulary + c->family->extra_embeddings;
    return status;
}

static qks_status read_activation(const config *c, qks_error *error)
{
    static const struct {
        const char *name;
        activation activation;
    } known[] = {{"silu", ACTIVATION_SILU},
                 {"swish", ACTIVATION_SILU},
                 {"gelu", ACTIVATION_GELU},
                 {"gelu_pytorch_tanh", ACTIVATION_GELU_TANH},
                 {"gelu_new", ACTIVATION_GELU_TANH}};
    const char *key = c->family->gemma ? "hidden_activation" : "hidden_act";
    const char *name = c->family->gemma ? "gelu_pytorch_tanh" : "silu";
    qks_status status = field_string(&c->fields, key, false, &name, error);
    if (status != QKS_OK)
        return status;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) {
            c->out->activation = known[i].activation;
            return QKS_OK;
        }
    return qks_fail(error, QKS_UNSUPPORTED,
                    "'%s': %s%s '%.60s' is not supported; supported are: silu, gelu, "
                    "gelu_pytorch_tanh",
                    c->fields.path, c->fields.prefix, key, name);
}

static qks_status read_biases(const config *c, qks_error *error)
{
    architecture *a = c->out;
    bool attention = c->family->biases == BIAS_QKV_FIELD;
    qks_status status = QKS_OK;
    if (c->family->biases == BIAS_QKVO_FIELD || c->family->biases == BIAS_QKV_FIELD)
        status = field_flag(&c->fields, "attention_bias", &attention, error);
    if (status == QKS_OK && c->family->ffn_bias_field)
        status = field_flag(&c->fields, "mlp_bias", &a->ffn_bias, error);
    a->qkv_bias = attention || c->family->biases == BIAS_QKV;
    a->o_bias = attention && c->family->biases == BIAS_QKVO_FIELD;
    return status;
}

static qks_status read_scales(const config *c, qks_error *error)
{
    architecture *a = c->out;
    double epsilon = c->family->norm_epsilon, score = a->head_dim;
    qks_status status = field_number(&c->fields, "rms_norm_eps", false, 0, 1, &epsilon, error);
    if (status == QKS_OK && c->family->gemma) {
        score = 256;
        status = field_number(&c->fields, "query_pre_attn_scalar", false, 1e-3, 1e9, &score, error);
    }
    a->norm_epsilon = (float)epsilon;
    a->score_scale = (float)(1 / sqrt(score));
    /* transformers rounds it to the weights' type as they are in memory: float32 here. */
    a->embedding_scale = c->family->gemma ? (float)sqrt(a->hidden) : 1;
    return status;
}

static qks_status read_all(config *c, qks_error *error)
{
    static qks_status (*const parts[])(const config *, qks_error *) = {read_sizes, read_activation,
                                                                       read_biases, read_scales};
    qks_status status = refuse_features(&c->fields, error);
    if (status == QKS_OK)
        status = find_family(c, error);
    if (status == QKS_OK && c->nested)
        status = refuse_features(&c->fields, error);
    for (size_t i = 0; status == QKS_OK && i < sizeof parts / sizeof *parts; i++)
        status = parts[i](c, error);
    if (status != QKS_OK)
        return status;
    architecture *a = c->out;
    a->type = c->family->type;
    a->q_k_norm = c->family->q_k_norm;
    a->norms_after = c->family->norms_after;
    a->norm_plus_one = c->family->gemma;
    a->layers = arena_alloc(&a->memory, (size_t)a->n_layers, sizeof *a->layers);
    if (!a->layers)
        return out_of_memory(error, "layers");
    status = config_layers(c, error);
    if (status == QKS_OK)
        status = config_ropes(c, error);
    return status == QKS_OK ? architecture_check(a, c->fields.path, error) : status;
}

qks_status config_read(architecture *a, const fields *content, const config_extra *extra,
                       const rope_override *override, qks_error *error)
{
    config c = {.fields = *content, .extra = *extra, .override = override, .out = a};
    *a = (architecture){0};
    qks_status status = read_all(&c, error);
    if (status != QKS_OK)
        architecture_close(a);
    return status;
}

qks_status architecture_read(architecture *a, const char *config_path,
                             const rope_override *override, qks_error *error)
{
    json_t *object = NULL;
    *a = (architecture){0};
    qks_status status = json_object_read(config_path, &object, error);
    if (status != QKS_OK)
        return status;
    fields content = {.object = object, .path = config_path, .prefix = ""};
    status = config_read(a, &content, &(config_extra){0}, override, error);
    json_decref(object);
    return status;
}
