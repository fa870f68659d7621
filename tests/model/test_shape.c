/* A model's shape: from "36/16/4", and from config.json as a capture would read it. */
#include "testing.h"

#include "model/shape.h"

static void test_parse(void **state)
{
    (void)state;
    model_shape shape;
    qks_error error;
    assert_ok(shape_parse(&shape, "36/16/4", &error), &error);
    assert_int_equal(shape.layers, 36);
    assert_int_equal(shape.q_heads, 16);
    assert_int_equal(shape.kv_heads, 4);
    assert_null(shape.rope);
    static const char *const wrong[] = {"",       "36",       "36/16",   "36/16/4/1", "a/b/c",
                                        "0/16/4", "36/16/3",  "36/0/4",  "36/16/0",   "36/16/-4",
                                        "-1/4/4", "4097/1/1", "36/16/4 "};
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        check_status_(shape_parse(&shape, wrong[i], &error), QKS_USAGE, &error, wrong[i], __FILE__,
                      __LINE__);
    assert_fails(shape_parse(&shape, "36/16/3", &error), QKS_USAGE, &error,
                 "16 query heads cannot share 3 key heads");
}

static void test_read(void **state)
{
    (void)state;
    const struct {
        const char *path;
        int layers, q_heads, kv_heads, without_rope;
    } rows[] = {
        {"data/models/smollm3-nope/config.json", 8, 3, 1, 2},
        {"data/models/ministral3/config.json", 3, 4, 2, 0},
        {"data/models/qwen3-yarn/config.json", 3, 4, 2, 0},
        {"data/models/mllama/config.json", 5, 4, 2, 2}, /* the layers without self attention */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        arena a = {0};
        model_shape shape;
        qks_error error;
        assert_ok(shape_read(&shape, rows[i].path, &a, &error), &error);
        assert_int_equal(shape.layers, rows[i].layers);
        assert_int_equal(shape.q_heads, rows[i].q_heads);
        assert_int_equal(shape.kv_heads, rows[i].kv_heads);
        int without = 0;
        for (int l = 0; l < shape.layers; l++)
            without += shape.rope[l] == 0;
        assert_int_equal(without, rows[i].without_rope);
        arena_free(&a);
    }
}

/* What cannot be captured has a shape all the same, if it is only the rope. */
static void test_read_any_rope(void **state)
{
    json_t *config = load_json("data/models/llama-gqa/config.json");
    const char *path = path_of(*state, "config.json");
    json_object_set_new(config, "rope_scaling", json_pack("{s:s}", "rope_type", "longrope"));
    assert_int_equal(json_dump_file(config, path, 0), 0);
    arena a = {0};
    model_shape shape;
    qks_error error;
    assert_ok(shape_read(&shape, path, &a, &error), &error);
    assert_int_equal(shape.layers, 3);
    json_object_set_new(config, "model_type", json_string("phi3"));
    assert_int_equal(json_dump_file(config, path, 0), 0);
    assert_fails(shape_read(&shape, path, &a, &error), QKS_UNSUPPORTED, &error, "--shape");
    assert_fails(shape_read(&shape, "data/broken/config-not-json/config.json", &a, &error),
                 QKS_INVALID, &error, "not JSON");
    json_decref(config);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_read),
        cmocka_unit_test_setup_teardown(test_read_any_rope, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
