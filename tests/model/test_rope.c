/* Frequencies and attention factors against transformers 5.22.2 (torch 2.15, CPU): the numbers here
 * were printed by its ROPE_INIT_FUNCTIONS for the same settings. */
#include "testing.h"

#include "model/rope.h"

/* Two last bits of a float: PyTorch's own powf is off by one at times. */
static const double last_bits = 2.4e-7;

typedef struct rope_case {
    const char *name;
    rope_settings settings;
    double factor;
    float frequency[64];
} rope_case;

/* clang-format off */
static const rope_case cases[] = {
    {"default, theta 1e4", {.dimensions = 16, .theta = 1e4}, 1,
     {1, 0.316227764f, 0.100000001f, 0.0316227786f, 0.00999999978f, 0.00316227786f, 0.00100000005f,
      0.000316227786f}},
    {"default, 24 dimensions", {.dimensions = 24, .theta = 1e6}, 1,
     {1, 0.316227764f, 0.099999994f, 0.0316227786f, 0.00999999885f, 0.0031622781f, 0.00100000005f,
      0.000316227844f, 9.99999684e-05f, 3.16227743e-05f, 1.00000034e-05f, 3.16227693e-06f}},
    {"linear", {.kind = ROPE_LINEAR, .dimensions = 32, .theta = 1e4, .factor = 2.5}, 1,
     {0.400000006f, 0.22493653f, 0.1264911f, 0.0711311772f, 0.0399999991f, 0.0224936511f,
      0.0126491114f, 0.00711311772f, 0.00399999972f, 0.00224936521f, 0.00126491114f,
      0.000711311761f, 0.000400000019f, 0.000224936521f, 0.000126491112f, 7.11311732e-05f}},
    {"llama3, Llama-3.2-1B",
     {.kind = ROPE_LLAMA3, .dimensions = 64, .theta = 5e5, .factor = 32, .low_frequency = 1,
      .high_frequency = 4, .original = 8192}, 1,
     {1, 0.663601279f, 0.440366626f, 0.292227834f, 0.193922758f, 0.128687382f, 0.0853971019f,
      0.0566696189f, 0.0376060307f, 0.0249554086f, 0.0165604409f, 0.0109895291f, 0.00729266508f,
      0.00483942125f, 0.00321144611f, 0.00129054801f, 0.000429556705f, 9.70828623e-05f,
      1.94616387e-05f, 1.29147675e-05f, 8.57025589e-06f, 5.68723226e-06f, 3.77405445e-06f,
      2.50446715e-06f, 1.66196742e-06f, 1.10288363e-06f, 7.31874934e-07f, 4.85673127e-07f,
      3.22293289e-07f, 2.1387423e-07f, 1.41927202e-07f, 9.41830649e-08f}},
    {"yarn, Qwen3 x4",
     {.kind = ROPE_YARN, .dimensions = 128, .theta = 1e6, .factor = 4, .original = 32768},
     1.13862944,
     {1, 0.805842221f, 0.649381638f, 0.523299158f, 0.421696514f, 0.339820832f, 0.273841977f,
      0.220673397f, 0.177827939f, 0.143301263f, 0.115478203f, 0.0930572003f, 0.0749894157f,
      0.0604296438f, 0.0486967526f, 0.0392418988f, 0.0316227786f, 0.0254829675f, 0.0205352511f,
      0.0165481716f, 0.0133352149f, 0.0107460786f, 0.00865964312f, 0.00697830599f, 0.00537532149f,
      0.0041317381f, 0.00316842273f, 0.00242342241f, 0.00184827659f, 0.00140511245f,
      0.00106436096f, 0.000802959781f, 0.000602941145f, 0.000450323569f, 0.000334240554f,
      0.000246258394f, 0.000179841154f, 0.00012993149f, 9.26230132e-05f, 6.4903943e-05f,
      4.44569851e-05f, 3.58253164e-05f, 2.88695483e-05f, 2.32643015e-05f, 1.87473561e-05f,
      1.51074091e-05f, 1.21741887e-05f, 9.81047469e-06f, 7.90569356e-06f, 6.37074163e-06f,
      5.13381246e-06f, 4.13704265e-06f, 3.33380353e-06f, 2.68651957e-06f, 2.16491094e-06f,
      1.74457659e-06f, 1.40585337e-06f, 1.13289593e-06f, 9.1293532e-07f, 7.35681795e-07f,
      5.92843435e-07f, 4.7773824e-07f, 3.84981632e-07f, 3.10234441e-07f}},
    {"yarn, truncate false, both mscales",
     {.kind = ROPE_YARN, .dimensions = 32, .theta = 150000, .factor = 32, .original = 4096,
      .beta_fast = 32, .beta_slow = 1, .mscale = 0.7, .mscale_all = 1.3, .exact_range = true},
     0.856644186,
     {1, 0.47478205f, 0.225418001f, 0.107024424f, 0.0508132726f, 0.0193349998f, 0.00679495931f,
      0.00209379266f, 0.000456483918f, 3.83088118e-05f, 1.8188337e-05f, 8.63549576e-06f,
      4.09997847e-06f, 1.94659629e-06f, 9.24208962e-07f, 4.38797855e-07f}},
    {"yarn, mscale = mscale_all_dim (ministral3 fixture)",
     {.kind = ROPE_YARN, .dimensions = 16, .theta = 1e4, .factor = 16, .original = 32,
      .mscale = 1, .mscale_all = 1},
     1,
     {1, 0.167996004f, 0.00625000009f, 0.00197642366f, 0.000624999986f, 0.000197642366f,
      6.2500003e-05f, 1.97642366e-05f}},
};
/* clang-format on */

static void test_frequencies(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arena memory = {0};
        const rope *made = rope_make(&cases[i].settings, &memory);
        assert_non_null(made);
        print_message("%s\n", cases[i].name);
        assert_int_equal(made->dimensions, cases[i].settings.dimensions);
        assert_near_relative(made->factor, cases[i].factor, last_bits);
        for (int p = 0; p < made->dimensions / 2; p++)
            assert_near_relative(made->frequency[p], cases[i].frequency[p], last_bits);
        arena_free(&memory);
    }
}

/* 0.1 ln 4 + 1 by hand; a stated factor goes before every rule; one mscale alone counts nothing. */
static void test_attention_factor(void **state)
{
    (void)state;
    const struct {
        double factor, stated, mscale, mscale_all, expected;
    } rules[] = {
        {4, 0, 0, 0, 1.1386294361119891},
        {4, 0.5, 0, 0, 0.5},
        {4, 0.5, 1, 2, 0.5},
        {4, 0, 3, 0, 1.1386294361119891},
        {16, 0, 2, 2, 1},
        {1, 0, 0, 0, 1},
        {0.5, 0, 0, 0, 1},
        {4, 0, 2, 1, 1.1217512},
    };
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        arena memory = {0};
        rope_settings s = {.kind = ROPE_YARN,
                           .dimensions = 16,
                           .theta = 1e4,
                           .original = 64,
                           .factor = rules[i].factor,
                           .attention_factor = rules[i].stated,
                           .mscale = rules[i].mscale,
                           .mscale_all = rules[i].mscale_all};
        const rope *made = rope_make(&s, &memory);
        assert_non_null(made);
        assert_near_relative(made->factor, rules[i].expected, 2e-7);
        arena_free(&memory);
    }
}

static void test_divisors(void **state)
{
    (void)state;
    static const float divisors[] = {1, 2, 4, 8};
    arena memory = {0};
    rope_settings s = {.dimensions = 8, .theta = 1e4, .divisors = divisors, .interleaved = true};
    const rope *made = rope_make(&s, &memory);
    assert_non_null(made);
    assert_true(made->interleaved);
    static const double expected[] = {1, 0.05, 0.0025, 0.000125};
    for (int p = 0; p < 4; p++)
        assert_near_relative(made->frequency[p], expected[p], last_bits);
    arena_free(&memory);
}

static void test_kinds(void **state)
{
    (void)state;
    rope_kind kind = ROPE_DEFAULT;
    assert_true(rope_kind_of("yarn", &kind));
    assert_int_equal(kind, ROPE_YARN);
    assert_true(rope_kind_of("llama3", &kind));
    assert_int_equal(kind, ROPE_LLAMA3);
    assert_false(rope_kind_of("longrope", &kind));
    assert_false(rope_kind_of("", &kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frequencies),
        cmocka_unit_test(test_attention_factor),
        cmocka_unit_test(test_divisors),
        cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
