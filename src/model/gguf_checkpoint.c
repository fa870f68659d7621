/* gguf_checkpoint.c: a GGUF file as a checkpoint. Its keys are put into the words of config.json,
 * so that both formats go through one reader, one set of checks and one set of overrides. What
 * llama.cpp's converter changes in the tensors is noted: rows of q and k in interleaved order,
 * norms with the 1 added, biases known only by being there. */
#include "model/checkpoint.h"
#include "model/config.h"
#include "model/gguf.h"

#include <ggml.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KEY_SIZE = 128 };

static const struct gguf_type_row {
    const char *architecture, *type; /* general.architecture, model_type */
    bool interleaved;                /* the converter reorders the rows of q and k */
} gguf_types[] = {
    {"llama", "llama", true},  {"mistral3", "ministral3", true}, {"qwen2", "qwen2", false},
    {"qwen3", "qwen3", false}, {"smollm3", "smollm3", true},     {"gemma3", "gemma3_text", false},
    {"chatglm", "glm", false}, {"glm4", "glm4", false},
};

typedef struct translation {
    const gguf_header *header;
    const tensor_table *tensors;
    const struct gguf_type_row *row;
    json_t *config; /* being made */
    bool out_of_memory;
} translation;

static void put(translation *t, json_t *object, const char *field, json_t *value)
{
    if (json_object_set_new(object, field, value) != 0)
        t->out_of_memory = true;
}

/* "<architecture>.<suffix>" */
static const gguf_value *find(const translation *t, const char *suffix, char key[KEY_SIZE])
{
    (void)snprintf(key, KEY_SIZE, "%s.%s", t->row->architecture, suffix);
    return gguf_value_find(t->header, key);
}

static qks_status wrong_key(const translation *t, const char *key, const char *what,
                            qks_error *error)
{
    (void)qks_fail(error, QKS_INVALID, "'%s': key '%s' %s", t->header->path, key, what);
    return QKS_INVALID;
}

/* *number is left alone if the key is not there. */
static qks_status get_number(const translation *t, const char *suffix, double *number,
                             qks_error *error)
{
    char key[KEY_SIZE];
    const gguf_value *v = find(t, suffix, key);
    if (v && !gguf_value_number(v, number))
        return wrong_key(t, key, "is no finite number", error);
    return QKS_OK;
}

/* ---- sizes ---- */

static qks_status put_sizes(translation *t, qks_error *error)
{
    static const struct {
        const char *suffix, *field;
        bool required;
    } sizes[] = {
        {"block_count", "num_hidden_layers", true},
        {"embedding_length", "hidden_size", true},
        {"feed_forward_length", "intermediate_size", true},
        {"attention.head_count", "num_attention_heads", true},
        {"attention.head_count_kv", "num_key_value_heads", false},
        {"attention.key_length", "head_dim", false},
        {"context_length", "max_position_embeddings", false},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char key[KEY_SIZE];
        int64_t number = 0;
        const gguf_value *v = find(t, sizes[i].suffix, key);
        if (!v && sizes[i].required)
            return wrong_key(t, key, "is missing", error);
        if (v && (v->is_array || !gguf_value_whole(v, 0, &number)))
            return wrong_key(t, key, "is not one whole number for all layers", error);
        /* null: kv heads as q heads, head_dim by division */
        put(t, t->config, sizes[i].field, v ? json_integer(number) : json_null());
    }
    double epsilon = NAN;
    qks_status status = get_number(t, "attention.layer_norm_rms_epsilon", &epsilon, error);
    if (status == QKS_OK && isnan(epsilon))
        return wrong_key(t, "attention.layer_norm_rms_epsilon", "is missing", error);
    put(t, t->config, "rms_norm_eps", json_real(epsilon));
    return status;
}

/* The converter drops unused rows, so the tensor itself says how many there are. */
static qks_status put_vocabulary(translation *t, qks_error *error)
{
    const tensor *embedding = tensor_table_find(t->tensors, "token_embd.weight");
    if (!embedding || embedding->n_dimensions != 2)
        return qks_fail(error, QKS_MISSING, "'%s' has no embedding 'token_embd.weight'",
                        t->header->path);
    put(t, t->config, "vocab_size", json_integer(embedding->shape[0]));
    return QKS_OK;
}

/* Files that are only parts, or models with more than the graph computes. */
static qks_status refuse_features(const translation *t, qks_error *error)
{
    static const char *const suffixes[] = {"expert_count",           "nextn_predict_layers",
                                           "embedding_scale",        "residual_scale",
                                           "attn_logit_softcapping", "rope.dimension_sections"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char key[KEY_SIZE];
        double number = 0;
        const gguf_value *v = find(t, suffixes[i], key);
        if (v && (!gguf_value_number(v, &number) || number != 0))
            return qks_fail(error, QKS_UNSUPPORTED,
                            "'%s': key '%s' is set; qkscope does not compute that", t->header->path,
                            key);
    }
    const gguf_value *parts = gguf_value_find(t->header, "split.count");
    int64_t count = 0;
    if (parts && gguf_value_whole(parts, 0, &count) && count > 1)
        return qks_fail(error, QKS_UNSUPPORTED,
                        "'%s' is one of %lld parts; join them: llama-gguf-split --merge FIRST OUT",
                        t->header->path, (long long)count);
    double key_length = 0, value_length = 0, causal = 1;
    qks_status status = get_number(t, "attention.key_length", &key_length, error);
    if (status == QKS_OK)
        status = get_number(t, "attention.value_length", &value_length, error);
    if (status == QKS_OK && value_length != 0 && key_length != 0 && value_length != key_length)
        status = qks_fail(error, QKS_UNSUPPORTED, "'%s': keys of %g and values of %g dimensions",
                          t->header->path, key_length, value_length);
    if (status == QKS_OK)
        status = get_number(t, "attention.causal", &causal, error);
    if (status == QKS_OK && causal == 0)
        status = qks_fail(error, QKS_UNSUPPORTED, "'%s': its attention is not causal",
                          t->header->path);
    return status;
}

/* ---- rope ---- */

/* The type of scaling; "linear" is what an old file means that gives only a factor. */
static qks_status scaling_type(const translation *t, double factor, const char **type,
                               qks_error *error)
{
    char key[KEY_SIZE];
    const char *bytes = NULL;
    size_t length = 0;
    const gguf_value *v = find(t, "rope.scaling.type", key);
    *type = factor == 0 ? "default" : "linear";
    if (!v)
        return QKS_OK;
    if (!gguf_value_string(v, &bytes, &length))
        return wrong_key(t, key, "is no string", error);
    static const char *const known[][2] = {
        {"none", "default"}, {"linear", "linear"}, {"yarn", "yarn"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (length == strlen(known[i][0]) && memcmp(bytes, known[i][0], length) == 0) {
            *type = factor == 0 ? "default" : known[i][1];
            return QKS_OK;
        }
    return qks_fail(
        error, QKS_UNSUPPORTED,
        "'%s': rope type '%.*s' (%s) is not supported; supported are: none, linear, yarn",
        t->header->path, length < 60 ? (int)length : 60, bytes, key);
}

/* Factors that llama.cpp multiplies in and config.json does not know. */
static qks_status refuse_rope_factors(const translation *t, qks_error *error)
{
    static const char *const suffixes[] = {"rope.scaling.attn_factor",
                                           "rope.scaling.yarn_ext_factor"};
    for (size_t i = 0; i < 2; i++) {
        double factor = 1;
        qks_status status = get_number(t, suffixes[i], &factor, error);
        if (status != QKS_OK)
            return status;
        if (factor != 1)
            return qks_fail(error, QKS_UNSUPPORTED, "'%s': key '%s.%s' is %g; only 1 is computed",
                            t->header->path, t->row->architecture, suffixes[i], factor);
    }
    return QKS_OK;
}

static qks_status put_scaling(translation *t, json_t *global, qks_error *error)
{
    static const struct {
        const char *suffix, *field; /* the field is absent where the key is, or 0 */
    } numbers[] = {
        {"rope.scaling.original_context_length", "original_max_position_embeddings"},
        {"rope.scaling.yarn_attn_factor", "attention_factor"},
        {"rope.scaling.yarn_beta_fast", "beta_fast"},
        {"rope.scaling.yarn_beta_slow", "beta_slow"},
        {"rope.scaling.yarn_log_multiplier", "mscale_all_dim"},
        {"attention.temperature_scale", "llama_4_scaling_beta"},
    };
    double theta = NAN, factor = 0, log_multiplier = 0;
    const char *type = NULL;
    qks_status status = get_number(t, "rope.freq_base", &theta, error);
    if (status == QKS_OK)
        status = get_number(t, "rope.scale_linear", &factor, error); /* an old name */
    if (status == QKS_OK)
        status = get_number(t, "rope.scaling.factor", &factor, error);
    if (status == QKS_OK)
        status = scaling_type(t, factor, &type, error);
    if (status == QKS_OK)
        status = get_number(t, "rope.scaling.yarn_log_multiplier", &log_multiplier, error);
    if (status != QKS_OK)
        return status;
    if (!isnan(theta))
        put(t, global, "rope_theta", json_real(theta));
    put(t, global, "rope_type", json_string(type));
    put(t, global, "factor", json_real(factor));
    if (log_multiplier != 0)
        put(t, global, "mscale",
            json_real(1)); /* which the file does not say; all there are have 1 */
    for (size_t i = 0; status == QKS_OK && i < sizeof numbers / sizeof *numbers; i++) {
        double number = 0;
        status = get_number(t, numbers[i].suffix, &number, error);
        if (number != 0)
            put(t, global, numbers[i].field, json_real(number));
    }
    return status;
}

/* gemma: one rope per kind of layer. */
static qks_status put_rope(translation *t, qks_error *error)
{
    json_t *global = json_object();
    qks_status status = refuse_rope_factors(t, error);
    if (status == QKS_OK)
        status = put_scaling(t, global, error);
    if (status != QKS_OK || strcmp(t->row->type, "gemma3_text") != 0) {
        put(t, t->config, "rope_parameters", global);
        return status;
    }
    double theta = 1e4;
    status = get_number(t, "rope.freq_base_swa", &theta, error);
    json_t *both = json_object(), *local = json_object();
    put(t, local, "rope_theta", json_real(theta));
    put(t, both, "full_attention", global);
    put(t, both, "sliding_attention", local);
    put(t, t->config, "rope_parameters", both);
    return status;
}

/* ---- windows ---- */

/* A pattern is one number, every n-th layer full, or a list that says which layers have windows. */
static qks_status put_pattern(translation *t, qks_error *error)
{
    char key[KEY_SIZE];
    int64_t number = 0;
    const gguf_value *v = find(t, "attention.sliding_window_pattern", key);
    if (!v)
        return QKS_OK;
    if (!v->is_array) {
        if (!gguf_value_whole(v, 0, &number))
            return wrong_key(t, key, "is no whole number", error);
        put(t, t->config, "sliding_window_pattern", json_integer(number));
        return QKS_OK;
    }
    if (v->count > LAYERS_MAX)
        return wrong_key(t, key, "has too many entries", error);
    json_t *types = json_array();
    put(t, t->config, "layer_types", types);
    for (uint64_t i = 0; i < v->count; i++) {
        if (!gguf_value_whole(v, i, &number))
            return wrong_key(t, key, "is no list of true and false", error);
        if (json_array_append_new(
                types, json_string(number ? "sliding_attention" : "full_attention")) != 0)
            t->out_of_memory = true;
    }
    return QKS_OK;
}

/* llama.cpp has windows in gemma3 only, and writes mistral as llama without one; a file that says
 * sliding_window is believed. */
static qks_status put_window(translation *t, qks_error *error)
{
    double window = 0;
    bool gemma = strcmp(t->row->type, "gemma3_text") == 0;
    qks_status status = get_number(t, "attention.sliding_window", &window, error);
    if (status != QKS_OK)
        return status;
    if (window == 0) {
        put(t, t->config, "sliding_window", json_null());
        put(t, t->config, "sliding_window_pattern", json_integer(1));
        return QKS_OK;
    }
    put(t, t->config, "sliding_window", json_real(window));
    if (strcmp(t->row->type, "llama") == 0)
        put(t, t->config, "model_type", json_string("mistral"));
    return gemma ? put_pattern(t, error) : QKS_OK;
}

/* ---- together ---- */

static qks_status find_row(translation *t, qks_error *error)
{
    const gguf_value *v = gguf_value_find(t->header, "general.architecture");
    const char *bytes = NULL;
    size_t length = 0;
    if (!v || !gguf_value_string(v, &bytes, &length))
        return wrong_key(t, "general.architecture", "is missing or no string", error);
    for (size_t i = 0; i < sizeof gguf_types / sizeof *gguf_types; i++)
        if (length == strlen(gguf_types[i].architecture) &&
            memcmp(bytes, gguf_types[i].architecture, length) == 0) {
            t->row = &gguf_types[i];
            return QKS_OK;
        }
    (void)qks_fail(error, QKS_UNSUPPORTED,
                   "'%s': general.architecture '%.*s' is not supported; supported are: llama (and "
                   "mistral under that name), mistral3, qwen2, qwen3, smollm3, gemma3, chatglm, "
                   "glm4",
                   t->header->path, length < 60 ? (int)length : 60, bytes);
    return QKS_UNSUPPORTED;
}

static qks_status translate(translation *t, qks_error *error)
{
    static qks_status (*const parts[])(translation *, qks_error *) = {put_sizes, put_vocabulary,
                                                                      put_window, put_rope};
    qks_status status = refuse_features(t, error);
    put(t, t->config, "model_type", json_string(t->row->type));
    for (size_t i = 0; status == QKS_OK && i < sizeof parts / sizeof *parts; i++)
        status = parts[i](t, error);
    return status == QKS_OK && t->out_of_memory ? out_of_memory(error, "GGUF keys") : status;
}

static qks_status read_extra(const translation *t, arena *memory, config_extra *extra,
                             qks_error *error)
{
    double rotary = NAN;
    qks_status status = get_number(t, "rope.dimension_count", &rotary, error);
    if (status != QKS_OK)
        return status;
    if (!isnan(rotary) && !(rotary >= 1 && rotary <= HEAD_DIM_MAX))
        return qks_fail(error, QKS_INVALID, "'%s': rope.dimension_count is %g", t->header->path,
                        rotary);
    extra->rotary = isnan(rotary) ? 0 : (int)rotary;
    const tensor *table = tensor_table_find(t->tensors, "rope_freqs.weight");
    if (!table)
        return QKS_OK;
    if (table->n_dimensions != 1 || table->type != GGML_TYPE_F32 || table->shape[0] > HEAD_DIM_MAX)
        return qks_fail(error, QKS_INVALID, "'%s': rope_freqs.weight is no vector of F32",
                        t->header->path);
    float *divisors = arena_alloc(memory, (size_t)table->shape[0], sizeof *divisors);
    if (!divisors)
        return out_of_memory(error, "rope factors");
    memcpy(divisors, table->data, table->bytes);
    extra->divisors = divisors;
    extra->n_divisors = table->shape[0];
    return QKS_OK;
}

/* What only the tensors or llama.cpp's own rules say. */
static qks_status finish(const translation *t, architecture *a, qks_error *error)
{
    enum { LAYERS_OF_GEMMA3_27B = 62 };
    a->norm_plus_one = false;
    a->qkv_bias = tensor_table_find(t->tensors, "blk.0.attn_q.bias") ||
                  tensor_table_find(t->tensors, "blk.0.attn_qkv.bias");
    a->o_bias = tensor_table_find(t->tensors, "blk.0.attn_output.bias") != NULL;
    a->ffn_bias = tensor_table_find(t->tensors, "blk.0.ffn_down.bias") != NULL;
    double scale = 0;
    if (strcmp(a->type, "gemma3_text") == 0)
        scale = 1 /
                sqrt(a->n_layers == LAYERS_OF_GEMMA3_27B ? a->hidden / a->q_heads : a->head_dim);
    qks_status status = get_number(t, "attention.scale", &scale, error);
    if (scale != 0)
        a->score_scale = (float)scale;
    return status;
}

static qks_status read_architecture(checkpoint *c, const gguf_header *header, architecture *a,
                                    const rope_override *override, qks_error *error)
{
    translation t = {.header = header, .tensors = &c->tensors, .config = json_object()};
    config_extra extra = {0};
    qks_status status = t.config ? find_row(&t, error) : out_of_memory(error, "GGUF keys");
    if (status == QKS_OK)
        status = translate(&t, error);
    if (status == QKS_OK)
        status = read_extra(&t, &c->memory, &extra, error);
    if (status == QKS_OK) {
        fields content = {t.config, header->path, "GGUF's "};
        status = config_read(a, &content, &extra, override, error);
    }
    if (status == QKS_OK)
        status = finish(&t, a, error);
    if (status == QKS_OK)
        c->interleaved = t.row->interleaved;
    json_decref(t.config);
    return status;
}

qks_status gguf_read(checkpoint *c, architecture *a, const char *path,
                     const rope_override *override, qks_error *error)
{
    size_t file = 0;
    gguf_header header;
    c->format = FORMAT_GGUF;
    qks_status status = checkpoint_map(c, path, &file, error);
    if (status != QKS_OK)
        return status;
    const checkpoint_file *opened = &c->files.data[file];
    c->name = opened->path;
    status = gguf_header_read(&header, &opened->mapping, c->name, &c->memory, &c->tensors, error);
    if (status != QKS_OK)
        return status;
    c->settings = (const char *)opened->mapping.bytes;
    c->settings_length = header.length;
    status = tensor_table_sort(&c->tensors, error);
    if (status == QKS_OK)
        status = read_architecture(c, &header, a, override, error);
    gguf_header_close(&header);
    return status;
}
