/* config.json as an architecture: every fixture's facts, both spellings, defaults, overrides, and
 * what is refused with which words. */
#include "testing.h"

#include "base/file.h"
#include "model/architecture.h"

static const char *const fixtures[] = {
    "gemma3",     "glm4-partial",   "llama-gqa",    "llama-sharded",  "llama-tied-bf16",
    "ministral3", "llama3-scaling", "mllama",       "mistral-window", "qwen2-bias",
    "qwen3-norm", "qwen3-yarn",     "smollm3-nope",
};

/* ---- facts of case.json ---- */

static bool listed(const json_t *list, int layer)
{
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
        if (json_integer_value(entry) == layer)
            return true;
    return false;
}

static void check_rope(const rope *r, const json_t *facts, const char *pairs)
{
    assert_non_null(r);
    assert_int_equal(r->dimensions, whole_member(facts, "rotary_dim"));
    assert_int_equal(r->interleaved, strcmp(pairs, "interleaved") == 0);
    assert_near_relative(r->factor, real_member(facts, "attention_factor"), 1e-7);
    assert_near(r->frequency[0], 1, 0); /* no fixture scales the fastest pair */
    const char *kind = text_member(facts, "rope_type");
    int last = r->dimensions / 2 - 1;
    double exponent = 2.0 * last / r->dimensions;
    double slowest = pow(real_member(facts, "rope_theta"), -exponent);
    if (strcmp(kind, "default") != 0) /* llama3 and yarn stretch the slowest wave by the factor */
        slowest /= real_member(facts, "factor");
    assert_near_relative(r->frequency[last], slowest, 1e-6);
}

static void check_layer(const architecture *a, int layer, const json_t *facts)
{
    const layer_facts *l = &a->layers[layer];
    const json_t *ropes = member_of(facts, "rope"), *windows = member_of(facts, "sliding_window");
    const json_t *window = json_array_get(windows, (size_t)layer);
    if (listed(member_of(facts, "cross_attention_layers"), layer)) {
        assert_int_equal(l->kind, LAYER_SKIPPED);
        assert_null(l->rope);
        return;
    }
    bool sliding = json_is_integer(window);
    assert_int_equal(l->kind, sliding ? LAYER_SLIDING : LAYER_FULL);
    assert_int_equal(l->window, json_integer_value(window));
    if (listed(member_of(facts, "nope_layers"), layer))
        assert_null(l->rope);
    else
        check_rope(l->rope, member_of(ropes, sliding ? "sliding_attention" : "full_attention"),
                   text_member(ropes, "pairs"));
}

static void check_case(const architecture *a, const json_t *facts)
{
    assert_int_equal(a->n_layers, whole_member(facts, "num_hidden_layers"));
    assert_int_equal(a->hidden, whole_member(facts, "hidden_size"));
    assert_int_equal(a->q_heads, whole_member(facts, "n_q_heads"));
    assert_int_equal(a->kv_heads, whole_member(facts, "n_kv_heads"));
    assert_int_equal(a->head_dim, whole_member(facts, "head_dim"));
    bool mllama = strcmp(text_member(facts, "model_type"), "mllama") == 0;
    assert_int_equal(a->embedding_rows, whole_member(facts, "vocab_size") + (mllama ? 8 : 0));
    for (int i = 0; i < a->n_layers; i++)
        check_layer(a, i, facts);
    const json_t *scaling = member_of(facts, "query_scaling");
    assert_near(a->query_beta, json_is_null(scaling) ? 0 : real_member(scaling, "beta"), 1e-8);
    if (!json_is_null(scaling))
        assert_int_equal(a->query_original, whole_member(scaling, "length"));
}

static void test_fixtures(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(fixtures); i++) {
        const char *folder = path_of("data/models", fixtures[i]);
        architecture a;
        qks_error error;
        print_message("%s\n", fixtures[i]);
        json_t *facts = load_json(path_of(folder, "case.json"));
        assert_ok(architecture_read(&a, path_of(folder, "config.json"), NULL, &error), &error);
        check_case(&a, facts);
        architecture_close(&a);
        json_decref(facts);
    }
}

/* What case.json does not say, by the spec's table. */
static void test_type_facts(void **state)
{
    (void)state;
    const struct {
        const char *fixture, *type;
        bool plus_one, q_k_norm, norms_after, qkv_bias, o_bias;
        activation activation;
        double epsilon, embedding_scale, score_scale;
    } rows[] = {
        {"llama-gqa", "llama", false, false, false, false, false, ACTIVATION_SILU, 1e-5, 1, 0.25},
        {"qwen2-bias", "qwen2", false, false, false, true, false, ACTIVATION_SILU, 1e-6, 1, 0.25},
        {"qwen3-norm", "qwen3", false, true, false, false, false, ACTIVATION_SILU, 1e-6, 1, 0.25},
        {"ministral3", "ministral3", false, false, false, false, false, ACTIVATION_SILU, 1e-5, 1,
         0.25},
        {"mllama", "mllama_text_model", false, false, false, false, false, ACTIVATION_SILU, 1e-5, 1,
         0.25},
        {"gemma3", "gemma3_text", true, true, true, false, false, ACTIVATION_GELU_TANH, 1e-6,
         6.928203230275509 /* sqrt 48 */, 0.20412414523193154 /* 1 / sqrt 24 */},
        {"glm4-partial", "glm4", false, false, true, true, false, ACTIVATION_SILU, 1e-5, 1, 0.25},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        architecture a;
        qks_error error;
        const char *folder = path_of("data/models", rows[i].fixture);
        assert_ok(architecture_read(&a, path_of(folder, "config.json"), NULL, &error), &error);
        assert_string_equal(a.type, rows[i].type);
        assert_int_equal(a.norm_plus_one, rows[i].plus_one);
        assert_int_equal(a.q_k_norm, rows[i].q_k_norm);
        assert_int_equal(a.norms_after, rows[i].norms_after);
        assert_int_equal(a.qkv_bias, rows[i].qkv_bias);
        assert_int_equal(a.o_bias, rows[i].o_bias);
        assert_int_equal(a.activation, rows[i].activation);
        assert_near_relative(a.norm_epsilon, rows[i].epsilon, 1e-7);
        assert_near_relative(a.embedding_scale, rows[i].embedding_scale, 1e-7);
        assert_near_relative(a.score_scale, rows[i].score_scale, 1e-7);
        architecture_close(&a);
    }
}

/* ---- small configs made here ---- */

/* A healthy llama of 8 layers; `changes` replace or add fields (null in them stays null). */
static json_t *changed_config(const char *changes)
{
    json_error_t fault;
    json_t *config = json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:f}", "model_type",
                               "llama", "num_hidden_layers", 8, "hidden_size", 64,
                               "num_attention_heads", 4, "num_key_value_heads", 2,
                               "intermediate_size", 96, "vocab_size", 300,
                               "max_position_embeddings", 1024, "rope_theta", 10000.0);
    json_t *more = json_loads(changes, 0, &fault);
    if (!config || !more)
        fail_msg("%s: %s", changes, fault.text);
    assert_int_equal(json_object_update(config, more), 0);
    json_decref(more);
    return config;
}

static qks_status read_changed(const char *folder, const char *changes,
                               const rope_override *override, architecture *a, qks_error *error)
{
    json_t *config = changed_config(changes);
    const char *path = path_of(folder, "config.json");
    assert_int_equal(json_dump_file(config, path, 0), 0);
    json_decref(config);
    return architecture_read(a, path, override, error);
}

/* One letter per layer: F full, S sliding, X passed by; small if it has no rope. */
static void layers_text(const architecture *a, char *out)
{
    for (int i = 0; i < a->n_layers; i++) {
        char c = "FSX"[a->layers[i].kind];
        out[i] = a->layers[i].rope ? c : (char)(c | 0x20);
    }
    out[a->n_layers] = '\0';
}

static void test_layer_rules(void **state)
{
    const struct {
        const char *changes, *layers;
        int window; /* of the sliding ones */
    } rows[] = {
        {"{}", "FFFFFFFF", 0},
        {"{\"sliding_window\": 9}", "FFFFFFFF", 0}, /* llama has none */
        {"{\"sliding_window\": 9, \"layer_types\": [\"sliding_attention\"]}", "FFFFFFFF", 0},
        {"{\"model_type\": \"mistral\"}", "SSSSSSSS", 4096},
        {"{\"model_type\": \"mistral\", \"sliding_window\": null}", "FFFFFFFF", 0},
        {"{\"model_type\": \"mistral\", \"sliding_window\": 7}", "SSSSSSSS", 7},
        {"{\"model_type\": \"qwen2\", \"sliding_window\": 7}", "FFFFFFFF", 0},
        {"{\"model_type\": \"qwen2\", \"sliding_window\": 7, \"use_sliding_window\": true,"
         " \"max_window_layers\": 5}",
         "FFFFFSSS", 7},
        {"{\"model_type\": \"qwen2\", \"sliding_window\": 7, \"use_sliding_window\": true}",
         "FFFFFFFF", 0}, /* max_window_layers is 28 */
        {"{\"model_type\": \"qwen3\", \"head_dim\": 16, \"use_sliding_window\": true,"
         " \"max_window_layers\": 0}",
         "SSSSSSSS", 4096},
        {"{\"model_type\": \"qwen2\", \"sliding_window\": 7, \"use_sliding_window\": true,"
         " \"layer_types\": [\"sliding_attention\", \"full_attention\", \"full_attention\","
         " \"full_attention\", \"full_attention\", \"full_attention\", \"full_attention\","
         " \"sliding_attention\"]}",
         "SFFFFFFS", 7},
        {"{\"model_type\": \"smollm3\"}", "FFFfFFFf", 0},
        {"{\"model_type\": \"smollm3\", \"no_rope_layer_interval\": 3}", "FFfFFfFF", 0},
        {"{\"model_type\": \"smollm3\", \"no_rope_layer_interval\": 1}", "ffffffff", 0},
        {"{\"model_type\": \"smollm3\", \"no_rope_layers\": [0, 1, 1, 1, 1, 1, 0, 0]}", "fFFFFFff",
         0},
        {"{\"model_type\": \"smollm3\", \"use_sliding_window\": true, \"sliding_window\": 5}",
         "FFFsFFFs", 5},
        {"{\"model_type\": \"smollm3\", \"use_sliding_window\": false, \"sliding_window\": 5}",
         "FFFfFFFf", 0},
        {"{\"model_type\": \"gemma3_text\"}", "SSSSSFSS", 4096},
        {"{\"model_type\": \"gemma3_text\", \"sliding_window_pattern\": 2, \"sliding_window\": 3}",
         "SFSFSFSF", 3},
        {"{\"model_type\": \"mllama\", \"text_config\": {\"num_hidden_layers\": 8,"
         " \"hidden_size\": 64, \"num_attention_heads\": 4, \"num_key_value_heads\": 2,"
         " \"intermediate_size\": 96, \"vocab_size\": 300}}",
         "FFFxFFFF", 0}, /* 3, 8, 13, ... */
        {"{\"model_type\": \"mllama\", \"text_config\": {\"num_hidden_layers\": 4,"
         " \"hidden_size\": 64, \"num_attention_heads\": 4, \"num_key_value_heads\": 2,"
         " \"intermediate_size\": 96, \"vocab_size\": 300, \"cross_attention_layers\": []}}",
         "FFFF", 0},
        {"{\"model_type\": \"glm\", \"head_dim\": 16}", "FFFFFFFF", 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        architecture a;
        qks_error error;
        char layers[64];
        assert_ok(read_changed(*state, rows[i].changes, NULL, &a, &error), &error);
        layers_text(&a, layers);
        assert_string_equal(layers, rows[i].layers);
        for (int l = 0; l < a.n_layers; l++)
            assert_int_equal(a.layers[l].window,
                             a.layers[l].kind == LAYER_SLIDING ? rows[i].window : 0);
        architecture_close(&a);
    }
}

static void test_head_dim_rules(void **state)
{
    const struct {
        const char *changes;
        int head_dim, kv_heads;
    } rows[] = {
        {"{}", 16, 2},
        {"{\"head_dim\": 32}", 32, 2},
        {"{\"num_key_value_heads\": null}", 16, 4},
        {"{\"model_type\": \"qwen3\"}", 128, 2},
        {"{\"model_type\": \"qwen3\", \"head_dim\": null}", 16, 2},
        {"{\"model_type\": \"qwen2\"}", 16, 2},
        {"{\"model_type\": \"glm4\"}", 128, 2},
        {"{\"model_type\": \"ministral3\"}", 128, 2},
        {"{\"hidden_size\": 64.0}", 16, 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        architecture a;
        qks_error error;
        assert_ok(read_changed(*state, rows[i].changes, NULL, &a, &error), &error);
        assert_int_equal(a.head_dim, rows[i].head_dim);
        assert_int_equal(a.kv_heads, rows[i].kv_heads);
        architecture_close(&a);
    }
}

/* google/gemma-3-4b-pt says only what differs from the class's defaults. */
static void test_wrapped_defaults(void **state)
{
    architecture a;
    qks_error error;
    char layers[64];
    const char *changes = "{\"model_type\": \"gemma3\", \"text_config\": {\"hidden_size\": 2560,"
                          " \"intermediate_size\": 10240, \"model_type\": \"gemma3_text\","
                          " \"num_hidden_layers\": 34, \"rope_scaling\": {\"factor\": 8.0, "
                          "\"rope_type\": \"linear\"},"
                          " \"sliding_window\": 1024}}";
    assert_ok(read_changed(*state, changes, NULL, &a, &error), &error);
    assert_int_equal(a.q_heads, 8);
    assert_int_equal(a.kv_heads, 4);
    assert_int_equal(a.head_dim, 256);
    assert_int_equal(a.embedding_rows, 262208);
    assert_near_relative(a.score_scale, 1.0 / 16, 1e-7);
    layers_text(&a, layers);
    assert_string_equal(layers, "SSSSSFSSSSSFSSSSSFSSSSSFSSSSSFSSSS");
    assert_int_equal(a.layers[0].window, 1024);
    assert_near_relative(a.layers[5].rope->frequency[0], 0.125, 1e-7);     /* scaled by 8 */
    assert_near_relative(a.layers[0].rope->frequency[0], 1, 1e-7);         /* not scaled */
    assert_near_relative(a.layers[0].rope->frequency[64], 1e-2, 1e-6);     /* theta 1e4 */
    assert_near_relative(a.layers[5].rope->frequency[64], 1e-3 / 8, 1e-6); /* theta 1e6 */
    architecture_close(&a);
}

/* ---- rope: spellings and overrides; frequency[1] of 16 dimensions is theta^(-1/8) ---- */

static void test_rope_spellings(void **state)
{
    const struct {
        const char *changes;
        double second, factor;
    } rows[] = {
        {"{}", 0.31622776601683794, 1},
        {"{\"rope_theta\": 1e6}", 0.17782794100389228, 1},
        {"{\"rope_parameters\": {\"rope_theta\": 1e6, \"rope_type\": \"default\"}}",
         0.17782794100389228, 1},
        {"{\"rope_parameters\": {\"rope_type\": \"default\"}}", 0.31622776601683794, 1},
        {"{\"rope_scaling\": {\"type\": \"linear\", \"factor\": 2.0}}", 0.15811388300841897, 1},
        {"{\"rope_scaling\": {\"rope_type\": \"linear\", \"type\": \"yarn\", \"factor\": 2}}",
         0.15811388300841897, 1},
        {"{\"rope_scaling\": {}, \"rope_theta\": 1e6}", 0.17782794100389228, 1},
        /* original_max_position_embeddings: the context, if nobody says */
        {"{\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4.0}, \"rope_theta\": 1e4,"
         " \"max_position_embeddings\": 48}",
         0.197642356, 1.1386294361119891},
        {"{\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4.0, \"attention_factor\": 2},"
         " \"rope_theta\": 1e4, \"original_max_position_embeddings\": 48}",
         0.197642356, 2},
        /* a null factor: context / original */
        {"{\"rope_scaling\": {\"type\": \"yarn\", \"factor\": null,"
         " \"original_max_position_embeddings\": 48}, \"rope_theta\": 1e4,"
         " \"max_position_embeddings\": 192}",
         0.197642356, 1.1386294361119891},
        /* the ramp ends at pair 1.7661, not at 2 */
        {"{\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4.0, \"truncate\": null},"
         " \"rope_theta\": 1e4, \"max_position_embeddings\": 48}",
         0.181938784, 1.1386294361119891},
        {"{\"model_type\": \"smollm3\", \"rope_theta\": null}", 0.163068940, 1}, /* 2e6 */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        architecture a;
        qks_error error;
        assert_ok(read_changed(*state, rows[i].changes, NULL, &a, &error), &error);
        assert_near_relative(a.layers[0].rope->frequency[1], rows[i].second, 1e-6);
        assert_near_relative(a.layers[0].rope->factor, rows[i].factor, 1e-6);
        architecture_close(&a);
    }
}

static void test_overrides(void **state)
{
    static const char yarn[] = "{\"rope_type\": \"yarn\", \"factor\": 4.0,"
                               " \"original_max_position_embeddings\": 48}";
    static const char linear[] = "{\"rope_scaling\": {\"type\": \"linear\", \"factor\": 2.0}}";
    const struct {
        const char *changes;
        rope_override override;
        double second, factor;
    } rows[] = {
        {"{}", {.theta = 1e6}, 0.17782794100389228, 1},
        {"{\"rope_parameters\": {\"rope_theta\": 5e5}}", {.theta = 1e6}, 0.17782794100389228, 1},
        {linear, {.theta = 1e6}, 0.08891397050194614, 1}, /* the scaling stays */
        {linear, {.scaling = "null"}, 0.31622776601683794, 1},
        {linear, {.scaling = yarn}, 0.197642356, 1.1386294361119891},
        {"{\"rope_parameters\": {\"rope_theta\": 1e4}}",
         {.scaling = yarn},
         0.197642356,
         1.1386294361119891},
        /* an unknown kind may be overridden */
        {"{\"rope_scaling\": {\"type\": \"longrope\"}}",
         {.scaling = "null"},
         0.31622776601683794,
         1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        architecture a;
        qks_error error;
        print_message("%s\n", rows[i].changes);
        assert_ok(read_changed(*state, rows[i].changes, &rows[i].override, &a, &error), &error);
        assert_near_relative(a.layers[0].rope->frequency[1], rows[i].second, 1e-6);
        assert_near_relative(a.layers[0].rope->factor, rows[i].factor, 1e-6);
        architecture_close(&a);
    }
}

/* gemma3: on the global layers only. Ministral 3: the query scaling stays. */
static void test_overrides_of_types(void **state)
{
    (void)state;
    architecture a;
    qks_error error;
    rope_override override = {.theta = 1e4, .scaling = "{\"type\": \"linear\", \"factor\": 2}"};
    assert_ok(architecture_read(&a, "data/models/gemma3/config.json", &override, &error), &error);
    assert_near_relative(a.layers[0].rope->frequency[6], 1e-2, 1e-6);
    assert_near_relative(a.layers[2].rope->frequency[6], 0.5e-2, 1e-6);
    architecture_close(&a);
    override = (rope_override){.scaling = "null"};
    assert_ok(architecture_read(&a, "data/models/ministral3/config.json", &override, &error),
              &error);
    assert_near(a.query_beta, 0.1, 1e-8);
    assert_int_equal(a.query_original, 32);
    assert_near_relative(a.layers[0].rope->frequency[4], 1e-2, 1e-6);
    architecture_close(&a);
}

/* Ministral 3's query scaling goes by the length that its rope goes by. */
static void test_query_original(void **state)
{
    const struct {
        const char *changes, *scaling;
        int original;
    } rows[] = {
        {"{\"model_type\": \"ministral3\", \"rope_parameters\": {\"rope_type\": \"yarn\", "
         "\"factor\": 4.0,"
         " \"llama_4_scaling_beta\": 0.1, \"original_max_position_embeddings\": 16}}",
         NULL, 16},
        {"{\"model_type\": \"ministral3\", \"original_max_position_embeddings\": 24, "
         "\"rope_parameters\": {\"rope_type\":"
         " \"yarn\", \"factor\": 4.0, \"llama_4_scaling_beta\": 0.1,"
         " \"original_max_position_embeddings\": 16}}",
         NULL, 24},
        {"{\"model_type\": \"ministral3\", \"max_position_embeddings\": 96, \"rope_parameters\": "
         "{\"rope_type\": \"yarn\","
         " \"factor\": 4.0, \"llama_4_scaling_beta\": 0.1}}",
         NULL, 96},
        {"{\"model_type\": \"ministral3\", \"original_max_position_embeddings\": 24, "
         "\"rope_parameters\": {\"rope_type\":"
         " \"yarn\", \"factor\": 4.0, \"llama_4_scaling_beta\": 0.1}}",
         "{\"rope_type\": \"yarn\", \"factor\": 2.0, \"llama_4_scaling_beta\": 0.1,"
         " \"original_max_position_embeddings\": 40}",
         40},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        architecture a;
        qks_error error;
        rope_override override = {.scaling = rows[i].scaling};
        assert_ok(read_changed(*state, rows[i].changes, &override, &a, &error), &error);
        assert_near(a.query_beta, 0.1, 1e-7);
        assert_int_equal(a.query_original, rows[i].original);
        architecture_close(&a);
    }
}

/* A second spelling of the gemma3 fixture: what transformers 5 writes. */
static void test_nested_rope_parameters(void **state)
{
    json_t *config = load_json("data/models/gemma3/config.json");
    const char *path = path_of(*state, "config.json");
    json_object_del(config, "rope_theta");
    json_object_del(config, "rope_local_base_freq");
    json_object_del(config, "rope_scaling");
    json_object_del(config, "sliding_window_pattern");
    json_object_set_new(config, "rope_parameters",
                        json_pack("{s:{s:s, s:f}, s:{s:s, s:f}}", "full_attention", "rope_type",
                                  "default", "rope_theta", 1e6, "sliding_attention", "rope_type",
                                  "default", "rope_theta", 1e4));
    json_object_set_new(config, "layer_types",
                        json_pack("[s, s, s, s, s, s]", "sliding_attention", "sliding_attention",
                                  "full_attention", "sliding_attention", "sliding_attention",
                                  "full_attention"));
    assert_int_equal(json_dump_file(config, path, 0), 0);
    json_decref(config);
    architecture old, new;
    qks_error error;
    assert_ok(architecture_read(&old, "data/models/gemma3/config.json", NULL, &error), &error);
    assert_ok(architecture_read(&new, path, NULL, &error), &error);
    for (int i = 0; i < old.n_layers; i++) {
        assert_int_equal(old.layers[i].kind, new.layers[i].kind);
        assert_int_equal(old.layers[i].window, new.layers[i].window);
        assert_memory_equal(old.layers[i].rope->frequency, new.layers[i].rope->frequency,
                            12 * sizeof(float));
    }
    architecture_close(&old);
    architecture_close(&new);
}

/* ---- what is refused ---- */

static void test_refused(void **state)
{
    const struct {
        const char *changes;
        qks_status status;
        const char *says;
    } rows[] = {
        {"{\"model_type\": \"gpt2\"}", QKS_UNSUPPORTED, "model_type 'gpt2' is not supported"},
        {"{\"model_type\": \"gpt2\"}", QKS_UNSUPPORTED, "llama, mistral, mistral3"},
        {"{\"model_type\": null}", QKS_INVALID, "model_type is missing"},
        {"{\"model_type\": 7}", QKS_INVALID, "model_type is 7"},
        {"{\"num_hidden_layers\": null}", QKS_INVALID, "num_hidden_layers is missing"},
        {"{\"num_hidden_layers\": 0}", QKS_INVALID, "num_hidden_layers is 0"},
        {"{\"num_hidden_layers\": -1}", QKS_INVALID, "num_hidden_layers is -1"},
        {"{\"num_hidden_layers\": 4097}", QKS_INVALID, "from 1 to 4096"},
        {"{\"num_hidden_layers\": \"8\"}", QKS_INVALID, "num_hidden_layers is \"8\""},
        {"{\"num_hidden_layers\": 7.5}", QKS_INVALID, "num_hidden_layers is 7.5"},
        {"{\"num_hidden_layers\": 1e300}", QKS_INVALID, "num_hidden_layers is"},
        {"{\"hidden_size\": 9223372036854775807}", QKS_INVALID, "hidden_size"},
        {"{\"num_attention_heads\": 100000}", QKS_INVALID, "num_attention_heads"},
        {"{\"vocab_size\": 0}", QKS_INVALID, "vocab_size"},
        {"{\"intermediate_size\": []}", QKS_INVALID, "intermediate_size is []"},
        {"{\"num_key_value_heads\": 3}", QKS_INVALID, "4 query heads cannot share 3 key heads"},
        {"{\"num_attention_heads\": 5, \"num_key_value_heads\": 5}", QKS_INVALID, "no multiple"},
        {"{\"head_dim\": 15}", QKS_INVALID, "it turns pairs"},
        {"{\"head_dim\": 16384, \"num_attention_heads\": 65536, \"num_key_value_heads\": 1}",
         QKS_INVALID, "too many"},
        {"{\"hidden_act\": \"relu\"}", QKS_UNSUPPORTED, "hidden_act 'relu' is not supported"},
        {"{\"rms_norm_eps\": -1}", QKS_INVALID, "rms_norm_eps"},
        {"{\"rms_norm_eps\": \"1e-6\"}", QKS_INVALID, "rms_norm_eps"},
        {"{\"attention_bias\": 1}", QKS_INVALID, "attention_bias is 1; it must be true or false"},
        {"{\"attn_logit_softcapping\": 50.0}", QKS_UNSUPPORTED, "attn_logit_softcapping"},
        {"{\"use_bidirectional_attention\": true}", QKS_UNSUPPORTED, "use_bidirectional_attention"},
        {"{\"quantization_config\": {\"quant_method\": \"fp8\"}}", QKS_UNSUPPORTED,
         "quantization_config"},
        {"{\"partial_rotary_factor\": 0.5}", QKS_UNSUPPORTED, "partial_rotary_factor"},
        {"{\"rope_theta\": 0}", QKS_INVALID, "rope_theta is 0"},
        {"{\"rope_theta\": -3.5}", QKS_INVALID, "rope_theta"},
        {"{\"rope_scaling\": 4}", QKS_INVALID, "rope_scaling is 4"},
        {"{\"rope_scaling\": {\"rope_type\": \"longrope\"}}", QKS_UNSUPPORTED,
         "rope type 'longrope' (rope_scaling.rope_type)"},
        {"{\"rope_scaling\": {\"rope_type\": \"longrope\"}}", QKS_UNSUPPORTED,
         "default, linear, llama3, yarn"},
        {"{\"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2}}", QKS_UNSUPPORTED,
         "--rope-scaling null"},
        {"{\"rope_scaling\": {\"type\": \"linear\"}}", QKS_INVALID,
         "rope_scaling.factor is missing"},
        {"{\"rope_scaling\": {\"type\": \"linear\", \"factor\": 0}}", QKS_INVALID,
         "rope_scaling.factor is 0"},
        {"{\"rope_parameters\": {\"rope_type\": \"llama3\", \"factor\": 8}}", QKS_INVALID,
         "rope_parameters.low_freq_factor is missing"},
        {"{\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8, \"low_freq_factor\": 4,"
         " \"high_freq_factor\": 4}}",
         QKS_INVALID, "not above"},
        {"{\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4,"
         " \"original_max_position_embeddings\": 0}}",
         QKS_INVALID, "original_max_position_embeddings"},
        {"{\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4, \"attention_factor\": 0}}",
         QKS_INVALID, "attention_factor"},
        {"{\"model_type\": \"qwen2\", \"layer_types\": [\"full_attention\"]}", QKS_INVALID,
         "layer_types has 1 entries"},
        {"{\"model_type\": \"smollm3\", \"layer_types\": [1,2,3,4,5,6,7,8]}", QKS_UNSUPPORTED,
         "layer_types[0]"},
        {"{\"model_type\": \"qwen2\", \"num_hidden_layers\": 1, \"layer_types\":"
         " [\"linear_attention\"]}",
         QKS_UNSUPPORTED, "'linear_attention'"},
        {"{\"model_type\": \"qwen2\", \"num_hidden_layers\": 1, \"layer_types\":"
         " [\"sliding_attention\"]}",
         QKS_INVALID, "no sliding_window in use"},
        {"{\"model_type\": \"mistral\", \"sliding_window\": 0}", QKS_INVALID,
         "sliding_window is 0"},
        {"{\"model_type\": \"smollm3\", \"no_rope_layers\": [1, 0]}", QKS_INVALID,
         "no_rope_layers has 2 entries"},
        {"{\"model_type\": \"smollm3\", \"num_hidden_layers\": 1, \"no_rope_layers\": [\"x\"]}",
         QKS_INVALID, "no_rope_layers[0]"},
        {"{\"model_type\": \"smollm3\", \"no_rope_layer_interval\": 0}", QKS_INVALID,
         "no_rope_layer_interval"},
        {"{\"model_type\": \"gemma3_text\", \"sliding_window_pattern\": 0}", QKS_INVALID,
         "sliding_window_pattern"},
        {"{\"model_type\": \"gemma3_text\", \"rope_parameters\": {\"rope_type\": \"default\"}}",
         QKS_INVALID, "must hold full_attention"},
        {"{\"model_type\": \"gemma3_text\", \"hidden_activation\": \"tanh\"}", QKS_UNSUPPORTED,
         "hidden_activation 'tanh'"},
        {"{\"model_type\": \"glm\", \"partial_rotary_factor\": 0.01}", QKS_INVALID, "turns pairs"},
        {"{\"model_type\": \"glm\", \"partial_rotary_factor\": 1.5}", QKS_INVALID,
         "partial_rotary_factor is 1.5"},
        {"{\"model_type\": \"mistral3\"}", QKS_INVALID, "text_config is missing"},
        {"{\"model_type\": \"mistral3\", \"text_config\": []}", QKS_INVALID, "text_config is []"},
        {"{\"model_type\": \"mistral3\", \"text_config\": {\"model_type\": \"qwen3\"}}",
         QKS_UNSUPPORTED, "text_config.model_type 'qwen3'"},
        {"{\"model_type\": \"mistral3\", \"text_config\": {\"hidden_size\": 0}}", QKS_INVALID,
         "text_config.hidden_size is 0"},
        {"{\"model_type\": \"mllama\", \"text_config\": {\"cross_attention_layers\": [40]}}",
         QKS_INVALID, "cross_attention_layers[0]"},
        {"{\"model_type\": \"mllama\", \"text_config\": {\"cross_attention_layers\": [-1]}}",
         QKS_INVALID, "cross_attention_layers[0]"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        architecture a;
        qks_error error;
        assert_fails(read_changed(*state, rows[i].changes, NULL, &a, &error), rows[i].status,
                     &error, rows[i].says);
        assert_non_null(strstr(error.message, "config.json"));
        assert_null(a.memory.head);
    }
}

static void test_refused_overrides(void **state)
{
    const struct {
        rope_override override;
        qks_status status;
        const char *says;
    } rows[] = {
        {{.theta = -1}, QKS_USAGE, "--rope-theta -1"},
        {{.theta = NAN}, QKS_USAGE, "--rope-theta"},
        {{.scaling = "yarn"}, QKS_USAGE, "--rope-scaling 'yarn' is no JSON object"},
        {{.scaling = "[]"}, QKS_USAGE, "--rope-scaling '[]'"},
        {{.scaling = "{\"rope_type\": \"yarn\"}"}, QKS_INVALID, "--rope-scaling factor is missing"},
        {{.scaling = "{\"rope_type\": \"su\", \"factor\": 1}"}, QKS_UNSUPPORTED, "'su'"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        architecture a;
        qks_error error;
        assert_fails(read_changed(*state, "{}", &rows[i].override, &a, &error), rows[i].status,
                     &error, rows[i].says);
    }
}

static void test_not_json(void **state)
{
    const struct {
        const char *bytes, *says;
    } rows[] = {
        {"", "not JSON"},
        {"[1, 2]", "no object"},
        {"{\"model_type\": \"llama\"", "not JSON"},
        {"{\"a\": 1, \"a\": 2}", "duplicate"},
        {"{\"model_type\": \"ll\\u0000ama\"}", "not JSON"},
        {"\xff\xfe", "not JSON"},
        {"{\"n\": 99999999999999999999999}", "not JSON"},
    };
    const char *path = path_of(*state, "config.json");
    architecture a;
    qks_error error;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_ok(file_put(path, rows[i].bytes, strlen(rows[i].bytes), &error), &error);
        assert_fails(architecture_read(&a, path, NULL, &error), QKS_INVALID, &error, rows[i].says);
    }
    enum { DEEP = 100000 };
    char *deep = malloc(DEEP);
    assert_non_null(deep);
    memset(deep, '[', DEEP);
    assert_ok(file_put(path, deep, DEEP, &error), &error);
    free(deep);
    assert_fails(architecture_read(&a, path, NULL, &error), QKS_INVALID, &error, "not JSON");
    assert_fails(architecture_read(&a, path_of(*state, "none.json"), NULL, &error), QKS_MISSING,
                 &error, "none.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_type_facts),
        cmocka_unit_test_setup_teardown(test_layer_rules, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_head_dim_rules, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_wrapped_defaults, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_rope_spellings, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_overrides, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_overrides_of_types),
        cmocka_unit_test_setup_teardown(test_query_original, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_nested_rope_parameters, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_refused_overrides, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_not_json, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
