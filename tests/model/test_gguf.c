/* GGUF: llama.cpp's files of the fixtures give the same architecture and weights as the fixtures;
 * every damaged header is refused. */
#include "testing.h"

#include "base/file.h"
#include "base/memory.h"
#include "model/weights.h"

#include <ggml.h>
#include <gguf.h>

/* ---- the same model in both formats ---- */

static const char *const fixtures[] = {"gemma3",         "glm4-partial", "ministral3",
                                       "llama3-scaling", "smollm3-nope", "qwen2-bias",
                                       "qwen3-yarn"};

static void compare_layers(const architecture *gguf, const architecture *folder)
{
    for (int i = 0; i < gguf->n_layers; i++) {
        const layer_facts *one = &gguf->layers[i], *other = &folder->layers[i];
        assert_int_equal(one->kind, other->kind);
        assert_int_equal(one->window, other->window);
        assert_int_equal(one->rope != NULL, other->rope != NULL);
        if (!one->rope || !other->rope)
            continue;
        assert_int_equal(one->rope->dimensions, other->rope->dimensions);
        assert_int_equal(one->rope->interleaved, other->rope->interleaved);
        assert_near_relative(one->rope->factor, other->rope->factor, 1e-6);
        for (int p = 0; p < one->rope->dimensions / 2; p++)
            assert_near_relative(one->rope->frequency[p], other->rope->frequency[p], 3e-7);
    }
}

static void compare_architectures(const architecture *gguf, const architecture *folder)
{
    assert_string_equal(gguf->type, folder->type);
    assert_int_equal(gguf->hidden, folder->hidden);
    assert_int_equal(gguf->q_heads, folder->q_heads);
    assert_int_equal(gguf->kv_heads, folder->kv_heads);
    assert_int_equal(gguf->head_dim, folder->head_dim);
    assert_int_equal(gguf->intermediate, folder->intermediate);
    assert_int_equal(gguf->embedding_rows, folder->embedding_rows);
    assert_int_equal(gguf->max_positions, folder->max_positions);
    assert_int_equal(gguf->q_k_norm, folder->q_k_norm);
    assert_int_equal(gguf->norms_after, folder->norms_after);
    assert_int_equal(gguf->qkv_bias, folder->qkv_bias);
    assert_int_equal(gguf->o_bias, folder->o_bias);
    assert_int_equal(gguf->ffn_bias, folder->ffn_bias);
    assert_int_equal(gguf->activation, folder->activation);
    assert_false(gguf->norm_plus_one); /* the file has the 1 in its norms */
    assert_near(gguf->norm_epsilon, folder->norm_epsilon, 0);
    assert_near(gguf->embedding_scale, folder->embedding_scale, 0);
    assert_near_relative(gguf->score_scale, folder->score_scale, 1e-7);
    assert_near(gguf->query_beta, folder->query_beta, 0);
    assert_int_equal(gguf->query_original, folder->query_original);
    compare_layers(gguf, folder);
}

/* A tensor's bytes with its rows (a bias's elements) in the checkpoint's own order. */
static void put_in_order(const architecture *a, const weight *t, void *out)
{
    size_t count = (size_t)(t->rows == 1 ? t->columns : t->rows);
    size_t unit = (size_t)t->rows * t->row_bytes / count;
    bool whole = t->rows == 1 && !t->interleaved_rows; /* a row that may be of blocks */
    if (whole)
        memcpy(out, t->data, t->row_bytes);
    for (size_t i = 0; !whole && i < count; i++)
        memcpy((char *)out + i * unit,
               (const char *)t->data + (size_t)weight_stored(a, t, (int64_t)i) * unit, unit);
}

/* A tensor in the checkpoint's own order, as float; the caller frees. */
static float *widened(const architecture *a, const weight *t)
{
    size_t elements = (size_t)t->rows * (size_t)t->columns;
    unsigned char *bytes = malloc((size_t)t->rows * t->row_bytes);
    float *numbers = malloc(elements * sizeof *numbers);
    assert_non_null(bytes);
    assert_non_null(numbers);
    put_in_order(a, t, bytes);
    if (t->type == GGML_TYPE_F32)
        memcpy(numbers, bytes, elements * sizeof *numbers);
    else
        ggml_get_type_traits((enum ggml_type)t->type)->to_float(bytes, numbers, (int64_t)elements);
    free(bytes);
    return numbers;
}

/* q8_0 keeps 127 steps of each block's largest number. */
static double step_of(const weight *t, const float *numbers, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)numbers[i]));
    return ggml_is_quantized((enum ggml_type)t->type) ? largest / 127 : 0;
}

static void compare_weight(const architecture *a, const weight *gguf, const architecture *b,
                           const weight *folder, double shift)
{
    assert_int_equal(gguf->data != NULL, folder->data != NULL);
    if (!gguf->data)
        return;
    assert_int_equal(gguf->rows, folder->rows);
    assert_int_equal(gguf->columns, folder->columns);
    float *one = widened(a, gguf), *other = widened(b, folder);
    size_t count = (size_t)gguf->rows * (size_t)gguf->columns;
    double tolerance = step_of(gguf, other, count);
    for (size_t i = 0; i < count; i++)
        if (!near_absolute(one[i], other[i] + shift, tolerance + (shift != 0 ? 1e-7 : 0)))
            fail_msg("%s[%zu] is %g, expected %g", gguf->name, i, one[i], other[i] + shift);
    free(one);
    free(other);
}

static bool is_norm(weight_role role)
{
    return role == WEIGHT_ATTENTION_NORM || role == WEIGHT_FFN_NORM ||
           role == WEIGHT_POST_ATTENTION_NORM || role == WEIGHT_POST_FFN_NORM ||
           role == WEIGHT_Q_NORM || role == WEIGHT_K_NORM;
}

static void test_same_as_folder(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(fixtures); i++) {
        char path[128];
        architecture a, b;
        weights *gguf = NULL, *folder = NULL;
        qks_error error;
        print_message("%s\n", fixtures[i]);
        (void)snprintf(path, sizeof path, "data/gguf/%s.gguf", fixtures[i]);
        assert_ok(weights_open(&gguf, &a, path, NULL, &error), &error);
        assert_ok(weights_open(&folder, &b, path_of("data/models", fixtures[i]), NULL, &error),
                  &error);
        compare_architectures(&a, &b);
        compare_weight(&a, weights_embedding(gguf), &b, weights_embedding(folder), 0);
        for (int layer = 0; layer < a.n_layers; layer++)
            for (int role = 0; role < WEIGHT_ROLES; role++)
                compare_weight(&a, weights_get(gguf, layer, role), &b,
                               weights_get(folder, layer, role),
                               b.norm_plus_one && is_norm(role) ? 1 : 0);
        weights_close(gguf);
        weights_close(folder);
        architecture_close(&a);
        architecture_close(&b);
    }
}

/* Only the llama family is reordered, and only its q and k. */
static void test_interleaved_rows(void **state)
{
    (void)state;
    const struct {
        const char *path;
        bool interleaved;
    } rows[] = {{"data/gguf/llama3-scaling.gguf", true}, {"data/gguf/smollm3-nope.gguf", true},
                {"data/gguf/ministral3.gguf", true},     {"data/gguf/qwen3-yarn.gguf", false},
                {"data/gguf/glm4-partial.gguf", false},  {"data/gguf/gemma3.gguf", false},
                {"data/models/llama3-scaling", false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        architecture a;
        weights *w = NULL;
        qks_error error;
        assert_ok(weights_open(&w, &a, rows[i].path, NULL, &error), &error);
        assert_int_equal(weights_get(w, 1, WEIGHT_Q)->interleaved_rows, rows[i].interleaved);
        assert_int_equal(weights_get(w, 1, WEIGHT_K)->interleaved_rows, rows[i].interleaved);
        assert_false(weights_get(w, 1, WEIGHT_V)->interleaved_rows);
        assert_false(weights_get(w, 1, WEIGHT_O)->interleaved_rows);
        weights_close(w);
        architecture_close(&a);
    }
}

static void test_overrides(void **state)
{
    (void)state;
    architecture a;
    weights *w = NULL;
    qks_error error;
    rope_override override = {.theta = 1e4, .scaling = "null"};
    assert_ok(weights_open(&w, &a, "data/gguf/llama3-scaling.gguf", &override, &error), &error);
    for (int p = 0; p < 32; p++) /* the file's table of factors is out of force, too */
        assert_near_relative(a.layers[0].rope->frequency[p], pow(1e4, -p / 32.0), 1e-6);
    weights_close(w);
    architecture_close(&a);
    override = (rope_override){.theta = 1e6};
    assert_ok(weights_open(&w, &a, "data/gguf/qwen3-yarn.gguf", &override, &error), &error);
    assert_near_relative(a.layers[0].rope->factor, 1.1386294361119891, 1e-7);
    assert_near_relative(a.layers[0].rope->frequency[7], pow(1e6, -7 / 8.0) / 4, 1e-6);
    weights_close(w);
    architecture_close(&a);
}

/* ---- files made here: a llama of one layer, hidden 8, 2 query heads on 1 key head of 4 ---- */

typedef ARRAY_OF(unsigned char) buffer;

static void put_bytes(buffer *b, const void *bytes, size_t length)
{
    assert_int_equal(array_reserve(b, length, NULL), QKS_OK);
    memcpy(b->data + b->length, bytes, length);
    b->length += length;
}

static void put_u32(buffer *b, uint32_t value)
{
    put_bytes(b, &value, sizeof value);
}

static void put_u64(buffer *b, uint64_t value)
{
    put_bytes(b, &value, sizeof value);
}

static void put_string(buffer *b, const char *string)
{
    put_u64(b, strlen(string));
    put_bytes(b, string, strlen(string));
}

static void put_whole_key(buffer *b, const char *key, uint32_t value)
{
    put_string(b, key);
    put_u32(b, GGUF_TYPE_UINT32);
    put_u32(b, value);
}

static void put_real_key(buffer *b, const char *key, float value)
{
    put_string(b, key);
    put_u32(b, GGUF_TYPE_FLOAT32);
    put_bytes(b, &value, sizeof value);
}

static void put_string_key(buffer *b, const char *key, const char *value)
{
    put_string(b, key);
    put_u32(b, GGUF_TYPE_STRING);
    put_string(b, value);
}

typedef struct made_tensor {
    const char *name;
    uint64_t dimensions[4];
    uint64_t offset; /* NOWHERE: after the one before */
    uint32_t n_dimensions, type;
} made_tensor;

enum { MADE_MAX = 24 };
#define NOWHERE UINT64_MAX

static const made_tensor plain_tensors[] = {
    {"token_embd.weight", {8, 10}, NOWHERE, 2, GGML_TYPE_F32},
    {"blk.0.attn_norm.weight", {8}, NOWHERE, 1, GGML_TYPE_F32},
    {"blk.0.attn_q.weight", {8, 8}, NOWHERE, 2, GGML_TYPE_F32},
    {"blk.0.attn_k.weight", {8, 4}, NOWHERE, 2, GGML_TYPE_F32},
    {"blk.0.attn_v.weight", {8, 4}, NOWHERE, 2, GGML_TYPE_F32},
    {"blk.0.attn_output.weight", {8, 8}, NOWHERE, 2, GGML_TYPE_F32},
    {"blk.0.ffn_norm.weight", {8}, NOWHERE, 1, GGML_TYPE_F32},
    {"blk.0.ffn_gate.weight", {8, 12}, NOWHERE, 2, GGML_TYPE_F32},
    {"blk.0.ffn_up.weight", {8, 12}, NOWHERE, 2, GGML_TYPE_F32},
    {"blk.0.ffn_down.weight", {12, 8}, NOWHERE, 2, GGML_TYPE_F32},
};

typedef struct made {
    const char *magic, *architecture;
    uint32_t version;
    uint64_t n_keys, n_tensors; /* claimed beyond the true numbers */
    const char *skip_key;       /* left out */
    const unsigned char *raw;   /* one more key and value, as bytes */
    size_t raw_length;
    made_tensor tensors[MADE_MAX];
    size_t count;
} made;

static made healthy(void)
{
    made m = {.magic = "GGUF", .architecture = "llama", .version = 3};
    m.count = COUNT_OF(plain_tensors);
    memcpy(m.tensors, plain_tensors, sizeof plain_tensors);
    return m;
}

static uint64_t put_keys(const made *m, buffer *b)
{
    const struct {
        const char *suffix;
        uint32_t value;
    } sizes[] = {
        {"block_count", 1},          {"embedding_length", 8},        {"feed_forward_length", 12},
        {"attention.head_count", 2}, {"attention.head_count_kv", 1}, {"context_length", 64}};
    uint64_t count = 2;
    put_string_key(b, "general.architecture", m->architecture);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        char key[64];
        (void)snprintf(key, sizeof key, "llama.%s", sizes[i].suffix);
        if (m->skip_key && strcmp(key, m->skip_key) == 0)
            continue;
        put_whole_key(b, key, sizes[i].value);
        count++;
    }
    put_real_key(b, "llama.attention.layer_norm_rms_epsilon", 1e-5F);
    if (m->raw_length) {
        put_bytes(b, m->raw, m->raw_length);
        count++;
    }
    return count;
}

static size_t data_bytes(const made_tensor *t)
{
    size_t elements = 1;
    for (uint32_t i = 0; i < t->n_dimensions && i < 4; i++)
        elements *= t->dimensions[i];
    return elements * 4;
}

/* Data: the floats 0, 1, 2, ... through the whole file. */
static void make(const made *m, buffer *b)
{
    buffer keys = {0};
    uint64_t count = put_keys(m, &keys), at = 0;
    put_bytes(b, m->magic, 4);
    put_u32(b, m->version);
    put_u64(b, m->count + m->n_tensors);
    put_u64(b, count + m->n_keys);
    put_bytes(b, keys.data, keys.length);
    free(keys.data);
    for (size_t i = 0; i < m->count; i++) {
        const made_tensor *t = &m->tensors[i];
        put_string(b, t->name);
        put_u32(b, t->n_dimensions);
        for (uint32_t d = 0; d < t->n_dimensions && d < 4; d++)
            put_u64(b, t->dimensions[d]);
        put_u32(b, t->type);
        put_u64(b, t->offset == NOWHERE ? at : t->offset);
        if (t->offset == NOWHERE && data_bytes(t) < 4096)
            at += (data_bytes(t) + 31) / 32 * 32;
    }
    while (b->length % 32 != 0)
        put_bytes(b, "", 1);
    for (uint64_t i = 0; i < at / 4; i++) {
        float number = (float)i;
        put_bytes(b, &number, sizeof number);
    }
}

static qks_status open_bytes(const char *folder, const void *bytes, size_t length, weights **w,
                             architecture *a, qks_error *error)
{
    const char *path = path_of(folder, "made.gguf");
    FILE *file = fopen(path, "wb"); /* not file_put: thousands of these need no fsync */
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return weights_open(w, a, path, NULL, error);
}

static qks_status open_made(const char *folder, const made *m, weights **w, architecture *a,
                            qks_error *error)
{
    buffer b = {0};
    make(m, &b);
    qks_status status = open_bytes(folder, b.data, b.length, w, a, error);
    free(b.data);
    return status;
}

static void test_made_file(void **state)
{
    for (uint32_t version = 2; version <= 3; version++) {
        made m = healthy();
        architecture a;
        weights *w = NULL;
        qks_error error;
        m.version = version;
        assert_ok(open_made(*state, &m, &w, &a, &error), &error);
        assert_int_equal(a.head_dim, 4);
        assert_int_equal(a.embedding_rows, 10);
        assert_false(a.qkv_bias);
        const float *q = weights_get(w, 0, WEIGHT_Q)->data;
        float copy[64];
        put_in_order(&a, weights_get(w, 0, WEIGHT_Q), copy);
        /* rows 0 1 2 3 of the file are dimensions 0 2 1 3 of the first head, and so on */
        static const int place[8] = {0, 2, 1, 3, 4, 6, 5, 7};
        for (int row = 0; row < 8; row++)
            assert_memory_equal(copy + (size_t)8 * place[row], q + (size_t)8 * row,
                                8 * sizeof *copy);
        weights_close(w);
        architecture_close(&a);
    }
}

/* q, k and v in one tensor, with a bias; and the biases put back in order, too. */
static void test_fused(void **state)
{
    made m = healthy();
    architecture a;
    weights *w = NULL;
    qks_error error;
    m.tensors[2] = (made_tensor){"blk.0.attn_qkv.weight", {8, 16}, NOWHERE, 2, GGML_TYPE_F32};
    m.tensors[3] = (made_tensor){"blk.0.attn_qkv.bias", {16}, NOWHERE, 1, GGML_TYPE_F32};
    m.tensors[4] = (made_tensor){"blk.0.unused", {1}, NOWHERE, 1, GGML_TYPE_F32};
    assert_ok(open_made(*state, &m, &w, &a, &error), &error);
    assert_true(a.qkv_bias);
    const float *q = weights_get(w, 0, WEIGHT_Q)->data, *k = weights_get(w, 0, WEIGHT_K)->data;
    const float *v = weights_get(w, 0, WEIGHT_V)->data;
    assert_near(k[0] - q[0], 64, 0);
    assert_near(v[0] - q[0], 96, 0);
    const weight *bias = weights_get(w, 0, WEIGHT_K_BIAS);
    const float *whole = weights_get(w, 0, WEIGHT_Q_BIAS)->data;
    float copy[4];
    assert_int_equal(bias->rows, 1);
    assert_int_equal(bias->columns, 4);
    put_in_order(&a, bias, copy);
    static const float order[4] = {8, 10, 9, 11}; /* after the 8 of q: 8 9 10 11 of the file */
    for (int i = 0; i < 4; i++)
        assert_near(copy[i] - whole[0], order[i], 0);
    weights_close(w);
    architecture_close(&a);
}

/* ---- what is refused ---- */

/* "\x01..." as little-endian lengths: a key's length, the key, a type, a value */
static void test_refused_keys(void **state)
{
    const struct {
        const char *raw;
        size_t length;
        const char *says;
    } rows[] = {
#define ROW(text, says) {text, sizeof(text) - 1, says}
        ROW("\x01\0\0\0\0\0\0\0k\x63\0\0\0", "key 'k' has the unknown type 99"),
        ROW("\0\0\0\0\0\0\0\0", "a key of 0 bytes"),
        ROW("\xff\xff\xff\xff\xff\xff\xff\xff", "a key of 18446744073709551615 bytes"),
        ROW("\xff\xff\0\0\0\0\0\0", "cut short"),
        ROW("\x02\0\0\0\0\0\0\0k\0\x04\0\0\0\x01\0\0\0", "NUL"),
        /* a string, and arrays, longer than the file */
        ROW("\x01\0\0\0\0\0\0\0k\x08\0\0\0\xff\xff\xff\xff\xff\xff\xff\x7f", "cut short"),
        ROW("\x01\0\0\0\0\0\0\0k\x09\0\0\0\x04\0\0\0\xff\xff\xff\xff\xff\xff\xff\x7f", "cut short"),
        ROW("\x01\0\0\0\0\0\0\0k\x09\0\0\0\x08\0\0\0\xff\xff\xff\xff\xff\xff\xff\x7f", "cut short"),
        ROW("\x01\0\0\0\0\0\0\0k\x09\0\0\0\x63\0\0\0\x01\0\0\0\0\0\0\0", "unknown type 99"),
        /* arrays within arrays within arrays ... */
        ROW("\x01\0\0\0\0\0\0\0k\x09\0\0\0\x09\0\0\0\x01\0\0\0\0\0\0\0\x09\0\0\0\x01\0\0\0\0\0\0\0"
            "\x09\0\0\0\x01\0\0\0\0\0\0\0\x09\0\0\0\x01\0\0\0\0\0\0\0\x09\0\0\0\x01\0\0\0\0\0\0\0",
            "too deep"),
        ROW("\x11\0\0\0\0\0\0\0general.alignment\x04\0\0\0\x03\0\0\0", "general.alignment"),
        ROW("\x11\0\0\0\0\0\0\0general.alignment\x04\0\0\0\0\0\0\0", "general.alignment"),
        ROW("\x11\0\0\0\0\0\0\0general.alignment\x04\0\0\0\0\0\0\x80", "general.alignment"),
        ROW("\x14\0\0\0\0\0\0\0llama.context_length\x04\0\0\0\x40\0\0\0", "is there twice"),
        ROW("\x0b\0\0\0\0\0\0\0split.count\x02\0\0\0\x03\0", "one of 3 parts"),
        ROW("\x12\0\0\0\0\0\0\0llama.expert_count\x04\0\0\0\x08\0\0\0", "llama.expert_count"),
        ROW("\x16\0\0\0\0\0\0\0llama.attention.causal\x07\0\0\0\0", "not causal"),
        ROW("\x14\0\0\0\0\0\0\0llama.rope.freq_base\x06\0\0\0\0\0\xc0\x7f", "no finite number"),
        ROW("\x14\0\0\0\0\0\0\0llama.rope.freq_base\x06\0\0\0\0\0\x80\xbf", "rope_theta is -1"),
        ROW("\x14\0\0\0\0\0\0\0llama.rope.freq_base\x06\0\0\0\0\0\0\0", "rope_theta is 0"),
        ROW("\x1a\0\0\0\0\0\0\0llama.rope.dimension_count\x04\0\0\0\0\0\0\0",
            "rope.dimension_count is 0"),
        ROW("\x1a\0\0\0\0\0\0\0llama.rope.dimension_count\x04\0\0\0\x02\0\0\0",
            "turns whole heads"),
        ROW("\x17\0\0\0\0\0\0\0llama.rope.scaling.type\x08\0\0\0\x08\0\0\0\0\0\0\0longrope",
            "rope type 'longrope'"),
        ROW("\x1e\0\0\0\0\0\0\0llama.rope.scaling.attn_factor\x06\0\0\0\0\0\0\x40",
            "only 1 is computed"),
        ROW("\x1a\0\0\0\0\0\0\0llama.attention.key_length\x04\0\0\0\x05\0\0\0", "turns pairs"),
#undef ROW
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        made m = healthy();
        architecture a;
        weights *w = NULL;
        qks_error error;
        m.raw = (const unsigned char *)rows[i].raw;
        m.raw_length = rows[i].length;
        qks_status status = open_made(*state, &m, &w, &a, &error);
        print_message("%s\n", status == QKS_OK ? "opened" : error.message);
        assert_int_not_equal(status, QKS_OK);
        check_message_(&error, rows[i].says, "open", __FILE__, __LINE__);
        check_message_(&error, "made.gguf", "open", __FILE__, __LINE__);
    }
}

static void test_refused_tensors(void **state)
{
    const struct {
        made_tensor tensor; /* in place of attn_q */
        qks_status status;
        const char *says;
    } rows[] = {
        {{"blk.0.attn_q.weight", {8, 8}, NOWHERE, 0, 0}, QKS_INVALID, "has 0 dimensions"},
        {{"blk.0.attn_q.weight", {8, 8}, NOWHERE, 5, 0}, QKS_INVALID, "has 5 dimensions"},
        {{"blk.0.attn_q.weight", {0, 8}, NOWHERE, 2, 0}, QKS_INVALID, "impossible dimensions"},
        {{"blk.0.attn_q.weight", {1ULL << 33, 1ULL << 33}, NOWHERE, 2, 0},
         QKS_INVALID,
         "impossible dimensions"},
        {{"blk.0.attn_q.weight", {1ULL << 62}, NOWHERE, 1, 0},
         QKS_INVALID,
         "impossible dimensions"},
        {{"blk.0.attn_q.weight", {UINT64_MAX}, NOWHERE, 1, 0},
         QKS_INVALID,
         "impossible dimensions"},
        {{"blk.0.attn_q.weight", {1ULL << 40}, NOWHERE, 1, 0}, QKS_INVALID, "outside of the file"},
        {{"blk.0.attn_q.weight", {8, 8}, NOWHERE, 2, 4}, QKS_UNSUPPORTED, "quantisation type 4"},
        {{"blk.0.attn_q.weight", {8, 8}, NOWHERE, 2, 999},
         QKS_UNSUPPORTED,
         "quantisation type 999"},
        {{"blk.0.attn_q.weight", {8, 8}, 0, 2, GGML_TYPE_Q8_0},
         QKS_INVALID,
         "impossible dimensions for type q8_0"}, /* 8 is no multiple of 32 */
        {{"blk.0.attn_q.weight", {8, 8}, NOWHERE, 2, GGML_TYPE_I32},
         QKS_UNSUPPORTED,
         "of type i32"},
        {{"blk.0.attn_q.weight", {8, 8}, 7, 2, 0}, QKS_INVALID, "not aligned"},
        {{"blk.0.attn_q.weight", {8, 8}, 1ULL << 63, 2, 0}, QKS_INVALID, "outside of the file"},
        {{"blk.0.attn_q.weight", {8, 8}, 32, 2, 0}, QKS_INVALID, "overlaps"},
        {{"blk.0.attn_q.weight", {8, 4}, NOWHERE, 2, 0}, QKS_INVALID, "is [4, 8]"},
        {{"blk.0.attn_q.weight", {64}, NOWHERE, 1, 0}, QKS_INVALID, "is [64]"},
        {{"blk.0.attn_q.weight", {8, 8, 1}, NOWHERE, 3, 0}, QKS_INVALID, "of 3 dimensions"},
        {{"blk.0.attn_k.weight", {8, 8}, NOWHERE, 2, 0}, QKS_INVALID, "is there twice"},
        {{"blk.0.attn_x.weight", {8, 8}, NOWHERE, 2, 0},
         QKS_MISSING,
         "layer 0 has no tensor 'blk.0.attn_q.weight'"},
        {{"", {8, 8}, NOWHERE, 2, 0}, QKS_INVALID, "name of 0 bytes"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        made m = healthy();
        architecture a;
        weights *w = NULL;
        qks_error error;
        m.tensors[2] = rows[i].tensor;
        assert_fails(open_made(*state, &m, &w, &a, &error), rows[i].status, &error, rows[i].says);
        check_message_(&error, "made.gguf", "open", __FILE__, __LINE__);
    }
}

static void test_refused_headers(void **state)
{
    const struct {
        made made; /* only what differs; architecture and magic if set */
        qks_status status;
        const char *says;
    } rows[] = {
        {{.magic = "GGML"}, QKS_INVALID, "does not begin with GGUF"},
        {{.version = 1}, QKS_UNSUPPORTED, "version 1"},
        {{.version = 4}, QKS_UNSUPPORTED, "version 4"},
        {{.version = 0x03000000}, QKS_UNSUPPORTED, "big-endian"},
        {{.n_tensors = 1}, QKS_INVALID, "a tensor's name of 0 bytes"},
        {{.n_tensors = 1ULL << 60}, QKS_INVALID, "claims"},
        {{.n_keys = 1ULL << 60}, QKS_INVALID, "claims"},
        {{.n_keys = 1}, QKS_INVALID, "made.gguf"},
        {{.architecture = "gpt2"},
         QKS_UNSUPPORTED,
         "'gpt2' is not supported; supported are: llama"},
        {{.architecture = "mllama"}, QKS_UNSUPPORTED, "'mllama' is not supported"},
        {{.architecture = "qwen3"}, QKS_INVALID, "key 'qwen3.block_count' is missing"},
        {{.skip_key = "llama.block_count"}, QKS_INVALID, "key 'llama.block_count' is missing"},
        {{.skip_key = "llama.embedding_length"}, QKS_INVALID, "llama.embedding_length"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        made m = healthy();
        architecture a;
        weights *w = NULL;
        qks_error error;
        m.magic = rows[i].made.magic ? rows[i].made.magic : m.magic;
        m.architecture = rows[i].made.architecture ? rows[i].made.architecture : m.architecture;
        m.version = rows[i].made.version ? rows[i].made.version : m.version;
        m.n_keys = rows[i].made.n_keys;
        m.n_tensors = rows[i].made.n_tensors;
        m.skip_key = rows[i].made.skip_key;
        assert_fails(open_made(*state, &m, &w, &a, &error), rows[i].status, &error, rows[i].says);
    }
}

/* Cut anywhere, it is refused; with any byte changed, it is refused or read, but nothing worse. */
static void test_cut_and_changed(void **state)
{
    made m = healthy();
    buffer b = {0};
    architecture a;
    weights *w = NULL;
    qks_error error;
    make(&m, &b);
    for (size_t length = 0; length < b.length; length += length < 1024 ? 1 : 97)
        assert_int_not_equal(open_bytes(*state, b.data, length, &w, &a, &error), QKS_OK);
    size_t refused = 0, opened = 0;
    for (size_t i = 0; i < 1200; i++) {
        static const unsigned char changes[] = {0x01, 0x80, 0xff};
        b.data[i] ^= changes[i % COUNT_OF(changes)];
        if (open_bytes(*state, b.data, b.length, &w, &a, &error) == QKS_OK) {
            weights_close(w);
            architecture_close(&a);
            opened++;
        } else {
            refused++;
        }
        b.data[i] ^= changes[i % COUNT_OF(changes)];
    }
    print_message("%zu changed files refused, %zu read\n", refused, opened);
    assert_true(refused > 500);
    free(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_folder),
        cmocka_unit_test(test_interleaved_rows),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test_setup_teardown(test_made_file, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_fused, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_refused_keys, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_refused_tensors, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_refused_headers, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_cut_and_changed, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
