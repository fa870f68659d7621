/* Weights of a Hugging Face directory: every fixture's tensors by role, every broken one refused,
 * and many more that are broken here. */
#include "testing.h"

#include "base/file.h"
#include "base/memory.h"
#include "model/describe.h"
#include "model/weights.h"

#include <ggml.h>
#include <sys/stat.h>

/* ---- a second, trusting reader of safetensors, to compare with ---- */

typedef struct plain_file {
    json_t *header;
    char *bytes;
    size_t length, data; /* where the data begins */
} plain_file;

static plain_file plain_open(const char *path)
{
    plain_file f = {0};
    qks_error error;
    uint64_t length = 0;
    assert_ok(file_get(path, 1 << 26, &f.bytes, &f.length, &error), &error);
    memcpy(&length, f.bytes, sizeof length);
    f.data = sizeof length + (size_t)length;
    f.header = json_loadb(f.bytes + sizeof length, (size_t)length, 0, NULL);
    assert_non_null(f.header);
    return f;
}

static void plain_close(plain_file *f)
{
    json_decref(f->header);
    free(f->bytes);
}

static const char *plain_tensor(const plain_file *f, const char *name, size_t *bytes)
{
    const json_t *range = json_object_get(json_object_get(f->header, name), "data_offsets");
    if (!range)
        return NULL;
    size_t from = (size_t)json_integer_value(json_array_get(range, 0));
    *bytes = (size_t)json_integer_value(json_array_get(range, 1)) - from;
    return f->bytes + f->data + from;
}

/* ---- the fixtures ---- */

static void check_tensor(const plain_file *f, const weight *t)
{
    size_t bytes = 0, used = (size_t)t->rows * t->row_bytes;
    const char *expected = plain_tensor(f, t->name, &bytes);
    if (!expected)
        fail_msg("'%s' is not in the file", t->name);
    bool half = bytes == 2 * used;
    assert_true(half || bytes == used);
    bool second = half && memcmp(t->data, expected, used) != 0;
    assert_memory_equal(t->data, expected + (second ? used : 0), used);
    assert_false(t->interleaved_rows); /* nothing is reordered in a folder */
}

static void test_fixtures(void **state)
{
    (void)state;
    const struct {
        const char *name;
        int roles;            /* per layer */
        const char *q, *norm; /* names of two tensors of layer 0 */
    } rows[] = {
        {"gemma3", 13, "model.layers.0.self_attn.q_proj.weight",
         "model.layers.0.pre_feedforward_layernorm.weight"},
        {"glm4-partial", 14, "model.layers.0.self_attn.q_proj.weight",
         "model.layers.0.post_attention_layernorm.weight"},
        {"llama-gqa", 9, "model.layers.0.self_attn.q_proj.weight",
         "model.layers.0.post_attention_layernorm.weight"},
        {"ministral3", 9, "language_model.model.layers.0.self_attn.q_proj.weight",
         "language_model.model.layers.0.post_attention_layernorm.weight"},
        {"mllama", 9, "language_model.model.layers.0.self_attn.q_proj.weight",
         "language_model.model.layers.0.post_attention_layernorm.weight"},
        {"qwen2-bias", 12, "model.layers.0.self_attn.q_proj.weight",
         "model.layers.0.post_attention_layernorm.weight"},
        {"qwen3-norm", 11, "model.layers.0.self_attn.q_proj.weight",
         "model.layers.0.post_attention_layernorm.weight"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *folder = path_of("data/models", rows[i].name);
        architecture a;
        weights *w = NULL;
        qks_error error;
        print_message("%s\n", rows[i].name);
        assert_ok(weights_open(&w, &a, folder, NULL, &error), &error);
        plain_file file = plain_open(path_of(folder, "model.safetensors"));
        check_tensor(&file, weights_embedding(w));
        assert_int_equal(weights_embedding(w)->rows, a.embedding_rows);
        for (int layer = 0; layer < a.n_layers; layer++) {
            int found = 0;
            for (int role = 0; role < WEIGHT_ROLES; role++) {
                const weight *t = weights_get(w, layer, role);
                found += t->data != NULL;
                if (t->data)
                    check_tensor(&file, t);
            }
            assert_int_equal(found, a.layers[layer].kind == LAYER_SKIPPED ? 0 : rows[i].roles);
        }
        assert_string_equal(weights_get(w, 0, WEIGHT_Q)->name, rows[i].q);
        assert_string_equal(weights_get(w, 0, WEIGHT_FFN_NORM)->name, rows[i].norm);
        plain_close(&file);
        weights_close(w);
        architecture_close(&a);
    }
}

/* spec: gate first */
static void test_fused_gate_up(void **state)
{
    (void)state;
    architecture a;
    weights *w = NULL;
    qks_error error;
    assert_ok(weights_open(&w, &a, "data/models/glm4-partial", NULL, &error), &error);
    const weight *gate = weights_get(w, 1, WEIGHT_GATE), *up = weights_get(w, 1, WEIGHT_UP);
    assert_string_equal(gate->name, "model.layers.1.mlp.gate_up_proj.weight");
    assert_int_equal(gate->rows, a.intermediate);
    assert_ptr_equal(up->data, (const char *)gate->data + (size_t)gate->rows * gate->row_bytes);
    weights_close(w);
    architecture_close(&a);
}

static void test_shards(void **state)
{
    (void)state;
    architecture a;
    weights *w = NULL;
    qks_error error;
    assert_ok(weights_open(&w, &a, "data/models/llama-sharded/", NULL, &error), &error);
    for (int layer = 0; layer < a.n_layers; layer++) {
        /* q, k, v, o, gate, up, down of 48 x 96, 32, 32, 96, 48, 48, 48 and two norms, bf16 */
        assert_int_equal(weights_layer_bytes(w, layer), 2 * (48 * 400 + 2 * 48));
        weights_prefetch(w, layer);
        weights_forget(w, layer);
    }
    const weight *q = weights_get(w, 3, WEIGHT_Q);
    unsigned sum = 0; /* it is still there after it was forgotten */
    for (size_t i = 0; i < (size_t)q->rows * q->row_bytes; i++)
        sum += ((const unsigned char *)q->data)[i];
    assert_int_not_equal(sum, 0);
    weights_close(w);
    architecture_close(&a);
    weights_close(NULL);
}

static void test_broken_fixtures(void **state)
{
    (void)state;
    const struct {
        const char *name;
        qks_status status;
        const char *file, *says;
    } rows[] = {
        {"config-not-json", QKS_INVALID, "config.json", "is not JSON"},
        {"header-past-end", QKS_INVALID, "model.safetensors", "past the end of the file"},
        {"heads-not-divisible", QKS_INVALID, "config.json", "4 query heads cannot share 3 key"},
        {"missing-tensor", QKS_MISSING, "model.safetensors",
         "layer 1 has no tensor 'model.layers.1.self_attn.k_proj.weight'"},
        {"offsets-overlap", QKS_INVALID, "model.safetensors", "overlaps"},
        {"shape-rows", QKS_INVALID, "model.safetensors",
         "tensor 'model.layers.0.self_attn.q_proj.weight' is [24, 32]"},
        {"truncated-file", QKS_INVALID, "model.safetensors", "cut short"},
        {"unknown-model-type", QKS_UNSUPPORTED, "config.json", "model_type 'llama9'"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        architecture a;
        weights *w = NULL;
        qks_error error;
        const char *folder = path_of("data/broken", rows[i].name);
        assert_fails(weights_open(&w, &a, folder, NULL, &error), rows[i].status, &error,
                     rows[i].says);
        check_message_(&error, path_of(folder, rows[i].file), "weights_open", __FILE__, __LINE__);
        assert_null(w);
        assert_null(a.memory.head);
    }
}

/* ---- a tiny llama made here: 1 layer, hidden 8, 2 query heads on 1 key head of 4 ---- */

static const char tiny_config[] =
    "{\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"hidden_size\": 8,"
    " \"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"intermediate_size\": 12,"
    " \"vocab_size\": 10}";

static const struct {
    const char *name;
    int rows, columns; /* rows 0: a vector */
} tiny_tensors[] = {
    {"model.embed_tokens.weight", 10, 8},
    {"model.layers.0.input_layernorm.weight", 0, 8},
    {"model.layers.0.self_attn.q_proj.weight", 8, 8},
    {"model.layers.0.self_attn.k_proj.weight", 4, 8},
    {"model.layers.0.self_attn.v_proj.weight", 4, 8},
    {"model.layers.0.self_attn.o_proj.weight", 8, 8},
    {"model.layers.0.post_attention_layernorm.weight", 0, 8},
    {"model.layers.0.mlp.gate_proj.weight", 12, 8},
    {"model.layers.0.mlp.up_proj.weight", 12, 8},
    {"model.layers.0.mlp.down_proj.weight", 8, 12},
    {"lm_head.weight", 10, 8}, /* never needed */
};

static json_t *tiny_header(size_t *data)
{
    json_t *header = json_object();
    size_t at = 0;
    for (size_t i = 0; i < COUNT_OF(tiny_tensors); i++) {
        int rows = tiny_tensors[i].rows, columns = tiny_tensors[i].columns;
        size_t bytes = (size_t)(rows ? rows : 1) * (size_t)columns * 4;
        json_t *shape = rows ? json_pack("[i, i]", rows, columns) : json_pack("[i]", columns);
        json_object_set_new(header, tiny_tensors[i].name,
                            json_pack("{s:s, s:o, s:[I, I]}", "dtype", "F32", "shape", shape,
                                      "data_offsets", (json_int_t)at, (json_int_t)(at + bytes)));
        at += bytes;
    }
    *data = at;
    return header;
}

static void write_file(const char *path, const char *const *parts, const size_t *lengths,
                       size_t count)
{
    FILE *file = fopen(path, "wb"); /* not file_put: thousands of these need no fsync */
    assert_non_null(file);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(fwrite(parts[i], 1, lengths[i], file), lengths[i]);
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *path, const char *content)
{
    size_t length = strlen(content);
    write_file(path, &content, &length, 1);
}

/* Header text and so many bytes of data, counted up. */
static void write_safetensors(const char *path, const char *header, size_t data)
{
    uint64_t length = strlen(header);
    char *bytes = malloc(data + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < data; i++)
        bytes[i] = (char)(i % 60);
    const char *parts[] = {(const char *)&length, header, bytes};
    const size_t lengths[] = {sizeof length, (size_t)length, data};
    write_file(path, parts, lengths, 3);
    free(bytes);
}

/* Members of `changes` go into the header's entries; null takes an entry out. */
static void change_header(json_t *header, const char *changes)
{
    json_t *more = json_loads(changes, 0, NULL);
    if (!more)
        fail_msg("not JSON: %s", changes);
    const char *name;
    json_t *value;
    json_object_foreach(more, name, value) {
        json_t *entry = json_object_get(header, name);
        if (json_is_null(value))
            json_object_del(header, name);
        else if (json_is_object(entry) && json_is_object(value))
            json_object_update(entry, value);
        else
            json_object_set(header, name, value);
    }
    json_decref(more);
}

static void write_tiny(const char *folder, const char *changes, long extra)
{
    size_t data = 0;
    json_t *header = tiny_header(&data);
    change_header(header, changes);
    char *text = json_dumps(header, JSON_COMPACT);
    assert_non_null(text);
    write_text(path_of(folder, "config.json"), tiny_config);
    write_safetensors(path_of(folder, "model.safetensors"), text, (size_t)((long)data + extra));
    free(text);
    json_decref(header);
}

static qks_status open_folder(const char *folder, qks_error *error)
{
    architecture a;
    weights *w = NULL;
    qks_status status = weights_open(&w, &a, folder, NULL, error);
    if (status == QKS_OK) {
        weights_close(w);
        architecture_close(&a);
    }
    return status;
}

#define Q "model.layers.0.self_attn.q_proj.weight"

static void test_accepted_headers(void **state)
{
    static const char *const rows[] = {
        "{}",
        "{\"__metadata__\": {\"format\": \"pt\"}}",
        "{\"lm_head.weight\": {\"dtype\": \"I32\"}}", /* whatever it is, it is not needed */
        "{\"lm_head.weight\": {\"dtype\": \"F8_E4M3\", \"shape\": [10, 8, 4, 1, 1]}}",
        "{\"empty\": {\"dtype\": \"F32\", \"shape\": [0], \"data_offsets\": [0, 0]}}",
        "{\"model.layers.0.self_attn.q_proj.bias\":" /* attention_bias is not set */
        " {\"dtype\": \"F32\", \"shape\": [0, 3], \"data_offsets\": [0, 0]}}",
        "{\"" Q "\": {\"dtype\": \"F32\", \"shape\": [8, 8]}}",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        qks_error error;
        write_tiny(*state, rows[i], 0);
        assert_ok(open_folder(*state, &error), &error);
    }
}

static void test_refused_headers(void **state)
{
    const struct {
        const char *changes;
        qks_status status;
        const char *says;
        long extra; /* bytes of data more than the tensors have */
    } rows[] = {
        {"{}", QKS_INVALID, "4 bytes of data belong to no tensor", 4},
        {"{}", QKS_INVALID, "cut short", -4},
        {"{\"" Q "\": null}", QKS_INVALID, "a hole in the data before", 0},
        {"{\"lm_head.weight\": null}", QKS_INVALID, "320 bytes of data belong to no tensor", 0},
        {"{\"" Q "\": {\"data_offsets\": [348, 604]}}", QKS_INVALID, "overlaps", 0},
        {"{\"" Q "\": {\"data_offsets\": [604, 348]}}", QKS_INVALID, "outside of the file", 0},
        {"{\"" Q "\": {\"data_offsets\": [352, 9223372036854775807]}}", QKS_INVALID,
         "outside of the file", 0},
        {"{\"" Q "\": {\"data_offsets\": [-1, 255]}}", QKS_INVALID, "no two offsets", 0},
        {"{\"" Q "\": {\"data_offsets\": [352]}}", QKS_INVALID, "no two offsets", 0},
        {"{\"" Q "\": {\"data_offsets\": [352, 608, 608]}}", QKS_INVALID, "no two offsets", 0},
        {"{\"" Q "\": {\"data_offsets\": [352.0, 608.0]}}", QKS_INVALID, "no two offsets", 0},
        {"{\"" Q "\": {\"data_offsets\": null}}", QKS_INVALID, "dtype, shape and data_offsets", 0},
        {"{\"" Q "\": {\"shape\": [8, 7]}}", QKS_INVALID, "needs 224 bytes", 0},
        {"{\"" Q "\": {\"shape\": [8, -8]}}", QKS_INVALID, "no list of sizes", 0},
        {"{\"" Q "\": {\"shape\": \"8x8\"}}", QKS_INVALID, "dtype, shape and data_offsets", 0},
        {"{\"" Q "\": {\"shape\": [4294967296, 4294967296]}}", QKS_INVALID, "too large", 0},
        {"{\"" Q "\": {\"shape\": [4611686018427387904, 4]}}", QKS_INVALID, "too large", 0},
        {"{\"" Q "\": {\"shape\": [2305843009213693952]}}", QKS_INVALID, "too large", 0},
        {"{\"" Q "\": {\"dtype\": \"F99\"}}", QKS_INVALID, "dtype is unknown", 0},
        {"{\"" Q "\": {\"dtype\": 32}}", QKS_INVALID, "dtype, shape and data_offsets", 0},
        {"{\"" Q "\": {\"strides\": [8, 1]}}", QKS_INVALID, "no more", 0},
        {"{\"" Q "\": [1, 2, 3]}", QKS_INVALID, "dtype, shape and data_offsets", 0},
        {"{\"__metadata__\": {\"format\": 1}}", QKS_INVALID, "__metadata__", 0},
        {"{\"__metadata__\": \"pt\"}", QKS_INVALID, "__metadata__", 0},
        {"{\"odd\": {\"dtype\": \"F4\", \"shape\": [1], \"data_offsets\": [0, 0]}}", QKS_INVALID,
         "too large", 0}, /* half a byte */
        /* fine as files, wrong for their role */
        {"{\"" Q "\": {\"dtype\": \"I32\"}}", QKS_UNSUPPORTED, "of type I32", 0},
        {"{\"" Q "\": {\"dtype\": \"F16\", \"shape\": [16, 8]}}", QKS_INVALID, "want [8, 8]", 0},
        {"{\"" Q "\": {\"shape\": [64]}}", QKS_INVALID, "is [64]", 0},
        {"{\"" Q "\": {\"shape\": [8, 4, 2]}}", QKS_INVALID, "of 3 dimensions", 0},
        {"{\"model.layers.0.input_layernorm.weight\": {\"shape\": [1, 8]}}", QKS_INVALID,
         "want [8]", 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        qks_error error;
        write_tiny(*state, rows[i].changes, rows[i].extra);
        assert_fails(open_folder(*state, &error), rows[i].status, &error, rows[i].says);
        check_message_(&error, "model.safetensors", "open", __FILE__, __LINE__);
    }
}

/* Headers that are no proper JSON object, given as text. */
static void test_refused_bytes(void **state)
{
    const struct {
        const char *header, *says;
    } rows[] = {
        {"", "no JSON object"},
        {"[]", "no JSON object"},
        {"{", "no JSON object"},
        {"{}garbage", "no JSON object"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [0], \"data_offsets\": [0, 0]},"
         " \"a\": {\"dtype\": \"F32\", \"shape\": [0], \"data_offsets\": [0, 0]}}",
         "duplicate"},
        {"{\"a\": {\"dtype\": \"F32\", \"dtype\": \"F16\", \"shape\": [0]}}", "duplicate"},
        {"{\"a\\u0000b\": {}}", "no JSON object"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [99999999999999999999], \"data_offsets\":"
         " [0, 0]}}",
         "no JSON object"},
        {"{}", "has no embedding"},
    };
    const char *path = path_of(*state, "model.safetensors");
    qks_error error;
    write_text(path_of(*state, "config.json"), tiny_config);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        write_safetensors(path, rows[i].header, 0);
        assert_int_not_equal(open_folder(*state, &error), QKS_OK);
        check_message_(&error, rows[i].says, rows[i].header, __FILE__, __LINE__);
    }
    static const unsigned char huge[16] = {0, 0x2d, 0xa5, 0x15, 0xff, 0xff, 0xff, 0x7f};
    const char *bytes = (const char *)huge;
    for (size_t length = 0; length <= sizeof huge; length++) {
        write_file(path, &bytes, &length, 1);
        assert_int_not_equal(open_folder(*state, &error), QKS_OK);
        check_message_(&error, "model.safetensors", "open", __FILE__, __LINE__);
    }
}

/* 100 MB and a byte of header, in a sparse file that has them. */
static void test_header_too_long(void **state)
{
    const char *path = path_of(*state, "model.safetensors");
    qks_error error;
    uint64_t length = 100000001;
    const char *bytes = (const char *)&length;
    size_t eight = sizeof length;
    write_text(path_of(*state, "config.json"), tiny_config);
    write_file(path, &bytes, &eight, 1);
    assert_int_equal(truncate(path, 200000000), 0);
    assert_fails(open_folder(*state, &error), QKS_INVALID, &error, "over 100 MB");
}

/* Cut anywhere, it is refused; with any byte of the header changed, refused or read, no worse. */
static void test_cut_and_changed(void **state)
{
    const char *path = path_of(*state, "model.safetensors");
    qks_error error;
    char *bytes = NULL;
    size_t length = 0, refused = 0;
    write_tiny(*state, "{}", 0);
    assert_ok(file_get(path, 1 << 20, &bytes, &length, &error), &error);
    const char *part = bytes;
    for (size_t cut = 0; cut < length; cut += 7) {
        write_file(path, &part, &cut, 1);
        assert_int_not_equal(open_folder(*state, &error), QKS_OK);
    }
    for (size_t i = 0; i < 1100; i++) {
        bytes[i] ^= i % 2 ? 0x01 : 0x11;
        write_file(path, &part, &length, 1);
        refused += open_folder(*state, &error) != QKS_OK;
        bytes[i] ^= i % 2 ? 0x01 : 0x11;
    }
    assert_true(refused > 900);
    free(bytes);
}

/* ---- folders ---- */

static void test_other_folders(void **state)
{
    const char *folder = *state;
    qks_error error;
    assert_fails(open_folder(folder, &error), QKS_MISSING, &error, "has neither model.safetensors");
    write_text(path_of(folder, "model.Q4_1.gguf"), "x");
    assert_fails(open_folder(folder, &error), QKS_MISSING, &error, "model.Q4_1.gguf' as the model");
    assert_int_equal(remove(path_of(folder, "model.Q4_1.gguf")), 0);
    write_text(path_of(folder, "config.json"), tiny_config);
    write_text(path_of(folder, "other.safetensors"), "x"); /* not every file is the model's */
    assert_fails(open_folder(folder, &error), QKS_MISSING, &error, "has neither model.safetensors");
    write_text(path_of(folder, "pytorch_model.bin"), "\x80\x02}q.");
    assert_fails(open_folder(folder, &error), QKS_UNSUPPORTED, &error, "pickled");
    check_message_(&error, "save_pretrained", "open", __FILE__, __LINE__);
    assert_int_equal(mkdir(path_of(folder, "model.safetensors"), 0755), 0);
    assert_int_not_equal(open_folder(folder, &error), QKS_OK);
    assert_int_equal(remove(path_of(folder, "model.safetensors")), 0);
    write_tiny(folder, "{}", 0); /* safetensors beside it: fine */
    assert_ok(open_folder(folder, &error), &error);
    assert_int_equal(remove(path_of(folder, "config.json")), 0);
    assert_fails(open_folder(folder, &error), QKS_MISSING, &error, "config.json");
    assert_fails(open_folder(path_of(folder, "none"), &error), QKS_MISSING, &error, "none");
    assert_fails(open_folder(path_of(folder, "other.safetensors"), &error), QKS_INVALID, &error,
                 "no GGUF file");
}

/* The tiny model as a shard beside an index whose weight_map is changed. */
static void write_index(const char *folder, const char *changes, const char *file)
{
    size_t data = 0;
    json_t *header = tiny_header(&data), *map = json_object();
    const char *name;
    json_t *entry;
    char *text = json_dumps(header, 0);
    write_text(path_of(folder, "config.json"), tiny_config);
    write_safetensors(path_of(folder, file), text, data);
    free(text);
    json_object_foreach(header, name, entry)
        json_object_set_new(map, name, json_string(file));
    json_decref(header);
    json_t *index = json_pack("{s:{s:i}, s:o}", "metadata", "total_size", 1, "weight_map", map);
    change_header(index, changes);
    assert_int_equal(json_dump_file(index, path_of(folder, "model.safetensors.index.json"), 0), 0);
    json_decref(index);
}

static void test_indexes(void **state)
{
    const struct {
        const char *changes;
        qks_status status;
        const char *says;
    } rows[] = {
        {"{}", QKS_OK, ""},
        {"{\"weight_map\": null}", QKS_INVALID, "weight_map is missing"},
        {"{\"weight_map\": []}", QKS_INVALID, "weight_map is []"},
        {"{\"weight_map\": {\"x\": \"a.safetensors\"}}", QKS_MISSING,
         "names the file 'a.safetensors', which is not there"},
        {"{\"weight_map\": {\"x\": \"../a.safetensors\"}}", QKS_INVALID, "'../a.safetensors'"},
        {"{\"weight_map\": {\"x\": \"/etc/a.safetensors\"}}", QKS_INVALID, "'/etc/a.safetensors'"},
        {"{\"weight_map\": {\"x\": \"sub/a.safetensors\"}}", QKS_INVALID, "'sub/a.safetensors'"},
        {"{\"weight_map\": {\"x\": \"..\"}}", QKS_INVALID, "'..'"},
        {"{\"weight_map\": {\"x\": \"\"}}", QKS_INVALID, "no name of a safetensors file"},
        {"{\"weight_map\": {\"x\": \"pytorch_model.bin\"}}", QKS_INVALID, "pytorch_model.bin"},
        {"{\"weight_map\": {\"x\": 7}}", QKS_INVALID, "no string"},
        {"{\"weight_map\": {\"x\": \"part-1.safetensors\"}}", QKS_INVALID,
         "tensor 'x' is not in 'part-1.safetensors'"},
        {"{\"weight_map\": {\"" Q "\": \"part-0.safetensors\"}}", QKS_INVALID,
         "is in '"}, /* both shards hold it */
    };
    qks_error error;
    size_t data = 0;
    json_t *header = tiny_header(&data);
    char *text = json_dumps(header, 0);
    write_safetensors(path_of(*state, "part-0.safetensors"), text, data);
    free(text);
    json_decref(header);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        write_index(*state, rows[i].changes, "part-1.safetensors");
        qks_status status = open_folder(*state, &error);
        check_status_(status, rows[i].status, &error, rows[i].changes, __FILE__, __LINE__);
        if (status != QKS_OK)
            check_message_(&error, rows[i].says, rows[i].changes, __FILE__, __LINE__);
    }
    write_index(*state, "{}", "part-1.safetensors");
    json_t *index = load_json(path_of(*state, "model.safetensors.index.json"));
    json_object_del(json_object_get(index, "weight_map"), "lm_head.weight");
    assert_int_equal(json_dump_file(index, path_of(*state, "model.safetensors.index.json"), 0), 0);
    json_decref(index);
    assert_fails(open_folder(*state, &error), QKS_INVALID, &error, "tensor 'lm_head.weight' of");
}

/* Newer saves of wrapped models call the same tensors model.language_model.*. */
static void test_newer_names(void **state)
{
    static const char *const names[] = {"ministral3", "mllama"};
    static const char old[] = "language_model.model.";
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *folder = path_of("data/models", names[i]);
        plain_file file = plain_open(path_of(folder, "model.safetensors"));
        json_t *renamed = json_object();
        const char *name;
        json_t *entry;
        json_object_foreach(file.header, name, entry) {
            char changed[200];
            bool text = strncmp(name, old, sizeof old - 1) == 0;
            (void)snprintf(changed, sizeof changed, "%s%s", text ? "model.language_model." : "",
                           name + (text ? sizeof old - 1 : 0));
            json_object_set(renamed, changed, entry);
        }
        char *header = json_dumps(renamed, 0), *config = NULL;
        uint64_t length = strlen(header);
        size_t config_length = 0;
        qks_error error;
        const char *parts[] = {(const char *)&length, header, file.bytes + file.data};
        const size_t lengths[] = {sizeof length, (size_t)length, file.length - file.data};
        write_file(path_of(*state, "model.safetensors"), parts, lengths, 3);
        assert_ok(
            file_get(path_of(folder, "config.json"), 1 << 20, &config, &config_length, &error),
            &error);
        write_text(path_of(*state, "config.json"), config);
        architecture a;
        weights *w = NULL;
        assert_ok(weights_open(&w, &a, *state, NULL, &error), &error);
        assert_string_equal(weights_get(w, 2, WEIGHT_K)->name,
                            "model.language_model.layers.2.self_attn.k_proj.weight");
        weights_close(w);
        architecture_close(&a);
        free(header);
        free(config);
        json_decref(renamed);
        plain_close(&file);
    }
}

/* ---- the key ---- */

static void key_of(const char *path, char key[WEIGHTS_KEY_SIZE])
{
    architecture a;
    weights *w = NULL;
    qks_error error;
    assert_ok(weights_open(&w, &a, path, NULL, &error), &error);
    assert_ok(weights_key(w, key, &error), &error);
    assert_int_equal(strlen(key), WEIGHTS_KEY_SIZE - 1);
    weights_close(w);
    architecture_close(&a);
}

static void flip(const char *path, long offset, int from)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, offset, from), 0);
    int c = fgetc(file);
    assert_int_equal(fseek(file, offset, from), 0);
    assert_int_not_equal(fputc(c ^ 1, file), EOF);
    assert_int_equal(fclose(file), 0);
}

static void test_key(void **state)
{
    char key[WEIGHTS_KEY_SIZE], other[WEIGHTS_KEY_SIZE];
    const char *path = path_of(*state, "model.safetensors");
    write_tiny(*state, "{}", 0);
    key_of(*state, key);
    key_of(*state, other);
    assert_string_equal(key, other);
    flip(path, -1, SEEK_END); /* lm_head: decides nothing */
    key_of(*state, other);
    assert_string_equal(key, other);
    flip(path, -321, SEEK_END); /* the last byte of down_proj */
    key_of(*state, other);
    assert_string_not_equal(key, other);
    flip(path, -321, SEEK_END);
    key_of(*state, other);
    assert_string_equal(key, other);
    char with_theta[400];
    (void)snprintf(with_theta, sizeof with_theta, "%.*s, \"rope_theta\": 20000}",
                   (int)strlen(tiny_config) - 1, tiny_config);
    write_text(path_of(*state, "config.json"), with_theta);
    key_of(*state, other);
    assert_string_not_equal(key, other);
}

/* How the tensors are spread over files decides nothing. */
static void test_key_of_shards(void **state)
{
    char key[WEIGHTS_KEY_SIZE], other[WEIGHTS_KEY_SIZE];
    write_tiny(*state, "{}", 0);
    key_of(*state, key);
    write_index(*state, "{}", "part-1.safetensors");
    assert_int_equal(remove(path_of(*state, "model.safetensors")), 0);
    key_of(*state, other);
    assert_string_equal(key, other);
}

/* ---- inspect ---- */

static void test_describe(void **state)
{
    (void)state;
    const struct {
        const char *path, *format, *type, *weights, *rope;
        int64_t bytes, nope, windows; /* -1: not said */
    } rows[] = {
        {"data/models/gemma3", "safetensors", "gemma3_text", "bf16",
         "default, theta 10000; default, theta 1000000", 196416 + 256 * 48 * 2, 0, 4},
        {"data/models/smollm3-nope", "safetensors", "smollm3", "bf16", "default, theta 50000",
         192000 + 256 * 48 * 2, 2, -1},
        {"data/gguf/qwen2-bias.gguf", "GGUF", "qwen2", "q8_0; f32; f16", "default, theta 1000000",
         66176 + 256 * 2 * 34, 0, -1},
        {"data/gguf/qwen3-yarn.gguf", "GGUF", "qwen3", "bf16; f32", "yarn x4 from 48, theta 10000",
         74752 + 256 * 48 * 2, 0, -1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        json_t *facts = json_object();
        qks_error error;
        assert_ok(checkpoint_describe(rows[i].path, facts, &error), &error);
        assert_string_equal(text_member(facts, "kind"), "checkpoint");
        assert_string_equal(text_member(facts, "format"), rows[i].format);
        assert_string_equal(text_member(facts, "type"), rows[i].type);
        assert_string_equal(text_member(facts, "weights"), rows[i].weights);
        assert_string_equal(text_member(facts, "rope"), rows[i].rope);
        assert_int_equal(whole_member(facts, "bytes used"), rows[i].bytes);
        assert_int_equal(whole_member(facts, "layers without RoPE"), rows[i].nope);
        const json_t *windows = json_object_get(facts, "layers with a window");
        assert_int_equal(windows ? json_integer_value(windows) : -1, rows[i].windows);
        json_decref(facts);
    }
    qks_error error;
    assert_fails(checkpoint_describe("data/broken/missing-tensor", NULL, &error), QKS_MISSING,
                 &error, "k_proj");
}

#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_fused_gate_up),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_broken_fixtures),
        SCRATCH(test_accepted_headers),
        SCRATCH(test_refused_headers),
        SCRATCH(test_refused_bytes),
        SCRATCH(test_header_too_long),
        SCRATCH(test_cut_and_changed),
        SCRATCH(test_other_folders),
        SCRATCH(test_indexes),
        SCRATCH(test_newer_names),
        SCRATCH(test_key),
        SCRATCH(test_key_of_shards),
        cmocka_unit_test(test_describe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
