/* test_sample.c: drawn heads, kept positions and example ids against the reference's own draws
 * (data/analysis/sampling/), all of them exact. */
#include "testing.h"

#include "qkscope/sample.h"

enum { LONGEST = 131072, MOST_LAYERS = 64 };

/* FNV-1a over the positions as little-endian uint32. */
static uint64_t fnv1a64(const int32_t *positions, size_t count)
{
    uint64_t sum = 0xcbf29ce484222325U;
    for (size_t i = 0; i < count; i++)
        for (unsigned shift = 0; shift < 32; shift += 8)
            sum = (sum ^ ((uint32_t)positions[i] >> shift & 255U)) * 0x100000001b3U;
    return sum;
}

static void assert_heads(const qks_head *heads, size_t count, const json_t *expected)
{
    size_t i;
    const json_t *pair;
    assert_int_equal(count, json_array_size(expected));
    json_array_foreach(expected, i, pair) {
        assert_int_equal(heads[i].layer, json_integer_value(json_array_get(pair, 0)));
        assert_int_equal(heads[i].head, json_integer_value(json_array_get(pair, 1)));
    }
}

static void check_heads(const json_t *item)
{
    bool eligible[MOST_LAYERS];
    const json_t *layer;
    size_t i;
    for (i = 0; i < MOST_LAYERS; i++)
        eligible[i] = true;
    json_array_foreach(member_of(item, "skipped_layers"), i, layer)
        eligible[json_integer_value(layer)] = false;
    int32_t q_heads = (int32_t)whole_member(item, "q_heads");
    const qks_head_options options = {
        .layers = (int32_t)whole_member(item, "layers"),
        .heads = q_heads,
        .count = (int32_t)whole_member(item, "count"),
        .seed = strtoll(text_member(item, "seed"), NULL, 10),
        .eligible = i > 0 ? eligible : NULL,
    };
    qks_head *heads = NULL;
    size_t count = 0;
    qks_error error;
    assert_in_range(options.layers, 1, MOST_LAYERS);
    assert_ok(qks_draw_heads(&options, &heads, &count, &error), &error);
    assert_heads(heads, count, member_of(item, "drawn"));
    int32_t group = q_heads / (int32_t)whole_member(item, "kv_heads");
    count = qks_key_heads(heads, count, group, heads);
    assert_heads(heads, count, member_of(item, "key_heads"));
    free(heads);
}

static void test_heads(void **state)
{
    (void)state;
    json_t *document = load_json("data/analysis/sampling/heads.json");
    const json_t *item;
    size_t i;
    json_array_foreach(member_of(document, "cases"), i, item)
        check_heads(item);
    assert_int_equal(i, 20);
    json_decref(document);
}

static void test_default_is_the_reference(void **state)
{
    (void)state;
    qks_head *zero = NULL, *spelled = NULL;
    size_t n_zero = 0, n_spelled = 0;
    qks_error error;
    qks_head_options options = {.layers = 36, .heads = 16};
    assert_ok(qks_draw_heads(&options, &zero, &n_zero, &error), &error);
    options.count = 300;
    assert_ok(qks_draw_heads(&options, &spelled, &n_spelled, &error), &error);
    assert_int_equal(n_zero, 300);
    assert_int_equal(n_spelled, 300);
    assert_memory_equal(zero, spelled, 300 * sizeof *zero);
    free(zero);
    free(spelled);
}

static void test_all_heads_in_order(void **state)
{
    (void)state;
    const bool eligible[] = {false, true, false, true};
    const qks_head_options options = {
        .layers = 4, .heads = 3, .count = QKS_HEADS_ALL, .seed = 8, .eligible = eligible};
    static const qks_head expected[] = {{1, 0}, {1, 1}, {1, 2}, {3, 0}, {3, 1}, {3, 2}};
    qks_head *heads = NULL;
    size_t count = 0;
    qks_error error;
    assert_ok(qks_draw_heads(&options, &heads, &count, &error), &error);
    assert_int_equal(count, COUNT_OF(expected));
    assert_memory_equal(heads, expected, sizeof expected);
    free(heads);
}

static void test_sorted_heads(void **state)
{
    (void)state;
    qks_head heads[] = {{3, 1}, {0, 7}, {3, 0}, {0, 10}, {2, 5}};
    static const qks_head expected[] = {{0, 7}, {0, 10}, {2, 5}, {3, 0}, {3, 1}};
    qks_sort_heads(heads, COUNT_OF(heads));
    assert_memory_equal(heads, expected, sizeof expected);
    qks_sort_heads(NULL, 0);
    assert_int_equal(qks_key_heads(NULL, 0, 4, NULL), 0);
}

static void test_refused_heads(void **state)
{
    (void)state;
    static const bool none[2] = {false, false};
    static const struct {
        qks_head_options options;
        const char *message;
    } cases[] = {
        {{.layers = 0, .heads = 4}, "0 layers of 4 heads"},
        {{.layers = 2, .heads = 0}, "2 layers of 0 heads"},
        {{.layers = -2, .heads = 4}, "-2 layers"},
        {{.layers = 2, .heads = 4, .count = -1}, "-1 heads"},
        {{.layers = 2, .heads = 4, .eligible = none}, "none of 2 layers"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        qks_head *heads = NULL;
        size_t count = 77;
        qks_error error;
        assert_fails(qks_draw_heads(&cases[i].options, &heads, &count, &error), QKS_INVALID, &error,
                     cases[i].message);
        assert_null(heads);
        assert_int_equal(count, 77);
    }
}

static qks_position_options options_of(const json_t *item)
{
    qks_position_options options = {
        .bucket_size = (int32_t)whole_member(item, "bucket_size"),
        .base_rate = real_member(item, "base_rate"),
    };
    qks_error error;
    assert_ok(qks_sampler_of_name(text_member(item, "sampler"), &options.sampler, &error), &error);
    return options;
}

static void assert_kept(const json_t *item, qks_position_options options, const int32_t *kept,
                        size_t count)
{
    const json_t *all = json_object_get(item, "kept"), *value;
    const json_t *buckets = json_object_get(item, "buckets");
    qks_error error;
    size_t i;
    assert_ok(qks_position_options_resolve(&options, &error), &error);
    assert_int_equal(count, json_array_size(all));
    assert_int_equal(count, json_array_size(buckets));
    json_array_foreach(all, i, value) {
        assert_int_equal(kept[i], json_integer_value(value));
        assert_int_equal(qks_bucket_of(&options, kept[i]),
                         json_integer_value(json_array_get(buckets, i)));
    }
}

static void assert_digest(const json_t *item, const int32_t *kept, size_t count)
{
    const json_t *value;
    size_t i;
    int64_t sum = 0;
    for (i = 0; i < count; i++)
        sum += kept[i];
    assert_int_equal(sum, whole_member(item, "sum"));
    json_array_foreach(member_of(item, "first"), i, value)
        assert_int_equal(kept[i], json_integer_value(value));
    size_t before = count - json_array_size(member_of(item, "last"));
    json_array_foreach(member_of(item, "last"), i, value)
        assert_int_equal(kept[before + i], json_integer_value(value));
    assert_true(fnv1a64(kept, count) == strtoull(text_member(item, "fnv1a64"), NULL, 16));
}

static void check_positions(const json_t *item)
{
    static int32_t kept[LONGEST];
    static unsigned char mask[LONGEST];
    const qks_mask_of of = {
        .example_id = strtoll(text_member(item, "example_id"), NULL, 10),
        .layer = (int32_t)whole_member(item, "layer"),
        .kind = text_member(item, "kind")[0],
    };
    const qks_position_options options = options_of(item);
    size_t length = (size_t)whole_member(item, "n"), count = 0, in_mask = 0;
    qks_error error;
    assert_in_range(length, 1, LONGEST);
    assert_true(qks_mask_seed(of) == strtoull(text_member(item, "seed"), NULL, 16));
    assert_ok(qks_draw_positions(&options, of, length, kept, &count, &error), &error);
    assert_int_equal(count, whole_member(item, "count"));
    if (json_object_get(item, "kept"))
        assert_kept(item, options, kept, count);
    else
        assert_digest(item, kept, count);

    assert_ok(qks_draw_mask(&options, of, length, mask, &error), &error);
    for (size_t t = 0; t < length; t++) {
        assert_in_range(mask[t], 0, 1);
        if (mask[t])
            assert_int_equal(kept[in_mask++], t);
    }
    assert_int_equal(in_mask, count);
}

static void test_positions(void **state)
{
    (void)state;
    json_t *document = load_json("data/analysis/sampling/positions.json");
    const json_t *item;
    size_t i;
    json_array_foreach(member_of(document, "cases"), i, item)
        check_positions(item);
    assert_int_equal(i, 45);
    json_decref(document);
}

static void test_a_shorter_document_has_the_same_beginning(void **state)
{
    (void)state;
    static unsigned char whole[5000], part[5000];
    const qks_position_options options = {
        .sampler = QKS_SAMPLE_LOG_UNIFORM, .bucket_size = 16, .base_rate = 8};
    const qks_mask_of of = {.example_id = -4, .layer = 2, .kind = 'k'};
    qks_error error;
    assert_ok(qks_draw_mask(&options, of, sizeof whole, whole, &error), &error);
    for (size_t length = 0; length < sizeof part; length += 613) {
        memset(part, 2, sizeof part);
        assert_ok(qks_draw_mask(&options, of, length, part, &error), &error);
        assert_memory_equal(part, whole, length);
        assert_int_equal(part[length], 2);
    }
}

/* spec/protocol.md, the three samplers; probabilities are exact in binary or given as float32. */
static void test_buckets_and_probabilities(void **state)
{
    (void)state;
    enum { A = QKS_SAMPLE_ALL, U = QKS_SAMPLE_UNIFORM, L = QKS_SAMPLE_LOG_UNIFORM };
    static const struct {
        int sampler;
        int32_t size;
        double rate;
        int32_t position, bucket;
        float probability;
    } cases[] = {
        {U, 256, 1, 0, 0, 0x1p-8F},
        {U, 256, 1, 255, 0, 0x1p-8F},
        {U, 256, 1, 256, 1, 0x1p-8F},
        {U, 100, 30, 1999, 19, 0.3F},
        {U, 3, 2, 5, 1, 2.0F / 3},
        {U, 8, 9, 8, 1, 1},
        {U, 1, 1, 7, 7, 1},
        {U, 8192, 1, INT32_MAX, 262143, 0x1p-13F},
        {L, 128, 4, 0, 7, 0x1p-5F},
        {L, 128, 4, 254, 7, 0x1p-5F},
        {L, 128, 4, 255, 8, 0x1p-6F},
        {L, 100, 4, 0, 7, 0x1p-5F},
        {L, 129, 4, 0, 8, 0x1p-6F},
        {L, 1, 1, 0, 0, 1},
        {L, 1, 1, 1, 1, 0.5F},
        {L, 1, 1, 2, 1, 0.5F},
        {L, 1, 1, 3, 2, 0.25F},
        {L, 1, 3, 3, 2, 0.75F},
        {L, 2, 1, INT32_MAX, 31, 0x1p-31F},
        {L, INT32_MAX, 1, 0, 31, 0x1p-31F},
        {A, 64, 1, 63, 0, 1},
        {A, 64, 0.5, 64, 1, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const qks_position_options options = {.sampler = (qks_sampler)cases[i].sampler,
                                              .bucket_size = cases[i].size,
                                              .base_rate = cases[i].rate};
        assert_int_equal(qks_bucket_of(&options, cases[i].position), cases[i].bucket);
        assert_true(qks_keep_probability(&options, cases[i].position) == cases[i].probability);
    }
}

static void test_defaults(void **state)
{
    (void)state;
    static const struct {
        qks_position_options given, resolved;
    } cases[] = {
        {{0}, {.max_length = 131072, .bucket_size = 8192, .base_rate = 1}},
        {{.max_length = 4096}, {.max_length = 4096, .bucket_size = 256, .base_rate = 1}},
        {{.max_length = 15}, {.max_length = 15, .bucket_size = 1, .base_rate = 1}},
        {{.max_length = 64, .bucket_size = 5, .base_rate = 0.5},
         {.max_length = 64, .bucket_size = 5, .base_rate = 0.5}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        qks_position_options options = cases[i].given;
        const qks_position_options *expected = &cases[i].resolved;
        qks_error error;
        assert_ok(qks_position_options_resolve(&options, &error), &error);
        assert_int_equal(options.sampler, QKS_SAMPLE_ALL);
        assert_int_equal(options.max_length, expected->max_length);
        assert_int_equal(options.bucket_size, expected->bucket_size);
        assert_true(options.base_rate == expected->base_rate);
    }
}

static void test_refused_positions(void **state)
{
    (void)state;
    static const struct {
        qks_position_options options;
        char kind;
        size_t length;
        const char *message;
    } cases[] = {
        {{.sampler = (qks_sampler)3}, 'q', 4, "sampler number 3"},
        {{.max_length = -1}, 'q', 4, "length -1"},
        {{.bucket_size = -8}, 'q', 4, "bucket size -8"},
        {{.base_rate = -1}, 'q', 4, "rate -1"},
        {{.base_rate = (double)NAN}, 'q', 4, "rate"},
        {{.base_rate = (double)INFINITY}, 'q', 4, "rate inf"},
        {{0}, 'v', 4, "not 'v'"},
        {{0}, 'k', (size_t)INT32_MAX + 1, "2147483648 positions"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const qks_mask_of of = {.kind = cases[i].kind};
        unsigned char mask[4] = {9, 9, 9, 9};
        qks_error error;
        assert_fails(qks_draw_mask(&cases[i].options, of, cases[i].length, mask, &error),
                     QKS_INVALID, &error, cases[i].message);
        assert_int_equal(mask[0], 9);
    }
    int32_t kept[4];
    size_t count = 77;
    const qks_mask_of wrong = {.kind = 0};
    qks_error error;
    assert_fails(qks_draw_positions(&(qks_position_options){0}, wrong, 4, kept, &count, &error),
                 QKS_INVALID, &error, "kind");
    assert_int_equal(count, 77);
}

static void test_sampler_names(void **state)
{
    (void)state;
    static const char *const names[] = {"all", "uniform", "log_uniform"};
    qks_sampler sampler = QKS_SAMPLE_ALL;
    qks_error error;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_ok(qks_sampler_of_name(names[i], &sampler, &error), &error);
        assert_int_equal(sampler, i);
        assert_string_equal(qks_sampler_name(sampler), names[i]);
    }
    assert_string_equal(qks_sampler_name((qks_sampler)17), "unknown sampler");
    assert_fails(qks_sampler_of_name("log-uniform", &sampler, &error), QKS_INVALID, &error,
                 "'log-uniform'");
    assert_fails(qks_sampler_of_name("", &sampler, &error), QKS_INVALID, &error, "log_uniform");
}

/* Integer ids and row numbers are their own example_id; only text is hashed. */
static void test_example_ids(void **state)
{
    (void)state;
    json_t *document = load_json("data/analysis/sampling/example_ids.json");
    const json_t *item;
    size_t i, strings = 0;
    json_array_foreach(member_of(document, "cases"), i, item) {
        if (strcmp(text_member(item, "type"), "string") != 0)
            continue;
        const char *text = text_member(item, "value");
        int64_t id = qks_example_id_of_string(text, strlen(text));
        assert_int_equal(id, strtoll(text_member(item, "example_id"), NULL, 10));
        assert_int_equal((int32_t)id, whole_member(item, "stored"));
        strings++;
    }
    assert_int_equal(strings, 6);
    json_decref(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_default_is_the_reference),
        cmocka_unit_test(test_all_heads_in_order),
        cmocka_unit_test(test_sorted_heads),
        cmocka_unit_test(test_refused_heads),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_a_shorter_document_has_the_same_beginning),
        cmocka_unit_test(test_buckets_and_probabilities),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_refused_positions),
        cmocka_unit_test(test_sampler_names),
        cmocka_unit_test(test_example_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
