/* test_random.c: MT19937, CPython's and PyTorch's draws, the seed mixing: against
 * data/analysis/sampling/primitives.json and numbers that CPython 3.11 printed. */
#include "testing.h"

#include "base/random.h"

static const char fixture[] = "data/analysis/sampling/primitives.json";

static uint64_t hex_member(const json_t *object, const char *name)
{
    return strtoull(text_member(object, name), NULL, 16);
}

static void assert_outputs(mt19937 *g, const json_t *expected)
{
    size_t i;
    const json_t *value;
    assert_true(json_array_size(expected) > 0);
    json_array_foreach(expected, i, value)
        assert_int_equal(mt19937_next(g), json_integer_value(value));
}

static void test_seed_of_pytorch(void **state)
{
    (void)state;
    json_t *document = load_json(fixture);
    const json_t *item;
    size_t i, j;
    json_array_foreach(member_of(document, "mt19937_from_uint32"), i, item) {
        mt19937 g, fork;
        mt19937_seed(&g, (uint32_t)whole_member(item, "seed"));
        fork = g;
        assert_outputs(&g, member_of(item, "outputs"));
        const json_t *uniform, *uniforms = member_of(item, "uniforms");
        float drawn[6];
        assert_int_equal(json_array_size(uniforms), COUNT_OF(drawn));
        random_uniforms(&fork, drawn, COUNT_OF(drawn));
        json_array_foreach(uniforms, j, uniform)
            assert_true((double)drawn[j] == json_real_value(uniform));
    }
    assert_true(i > 0);
    json_decref(document);
}

/* A decimal of up to 38 digits as 32-bit words; its sign is dropped. */
static size_t words_of_decimal(const char *text, uint32_t words[4])
{
    size_t count = 1;
    words[0] = 0;
    for (text += *text == '-'; *text; text++) {
        uint64_t carry = (uint64_t)(*text - '0');
        for (size_t i = 0; i < count; i++) {
            carry += (uint64_t)words[i] * 10;
            words[i] = (uint32_t)carry;
            carry >>= 32;
        }
        if (carry > 0 && count < 4)
            words[count++] = (uint32_t)carry;
    }
    return count;
}

static void test_seed_of_python(void **state)
{
    (void)state;
    json_t *document = load_json(fixture);
    const json_t *item;
    size_t i, of_64_bits = 0;
    json_array_foreach(member_of(document, "mt19937_from_python_int"), i, item) {
        const char *seed = text_member(item, "seed");
        uint32_t words[4];
        mt19937 g;
        size_t count = words_of_decimal(seed, words);
        mt19937_seed_words(&g, words, count);
        assert_outputs(&g, member_of(item, "outputs"));
        if (count > 2)
            continue;
        mt19937_seed_python(&g, strtoll(seed, NULL, 10));
        assert_outputs(&g, member_of(item, "outputs"));
        of_64_bits++;
    }
    assert_true(i > of_64_bits && of_64_bits > 0);
    json_decref(document);
}

/* [random.Random(seed).getrandbits(32) for _ in range(2)] */
static void test_seed_of_python_at_the_ends(void **state)
{
    (void)state;
    static const struct {
        int64_t seed;
        uint32_t outputs[2];
    } cases[] = {
        {INT64_MAX, {1359979423U, 2819855560U}},  {INT64_MIN, {2377109768U, 1691753470U}},
        {-4294967296, {485306839U, 1508871100U}}, {-1, {577090037U, 2444712010U}},
        {4294967295, {2728839433U, 2661025012U}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        mt19937 g;
        mt19937_seed_python(&g, cases[i].seed);
        assert_int_equal(mt19937_next(&g), cases[i].outputs[0]);
        assert_int_equal(mt19937_next(&g), cases[i].outputs[1]);
    }
}

/* More words than the state has: sum(1 << 32 * i for i in range(700)) as seed. */
static void test_seed_longer_than_the_state(void **state)
{
    (void)state;
    uint32_t words[700];
    for (size_t i = 0; i < COUNT_OF(words); i++)
        words[i] = 1;
    mt19937 g;
    mt19937_seed_words(&g, words, COUNT_OF(words));
    assert_int_equal(mt19937_next(&g), 3811663828U);
}

/* The standard's own check of MT19937: output 10,000 from seed 5489 (C++11, 26.5.3.2). */
static void test_ten_thousandth(void **state)
{
    (void)state;
    mt19937 g;
    mt19937_seed(&g, 5489);
    for (int i = 1; i < 10000; i++)
        (void)mt19937_next(&g);
    assert_int_equal(mt19937_next(&g), 4123659995U);
}

static void test_fill_is_many_nexts(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 5, 624, 623, 625, 2000, 1};
    mt19937 one, many;
    mt19937_seed(&one, 7);
    many = one;
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        uint32_t words[2000];
        mt19937_fill(&many, words, lengths[i]);
        for (size_t j = 0; j < lengths[i]; j++)
            assert_int_equal(words[j], mt19937_next(&one));
    }
    assert_int_equal(mt19937_next(&many), mt19937_next(&one));
}

/* r = random.Random(1); [r.getrandbits(bits) for bits in ...] */
static void test_bits(void **state)
{
    (void)state;
    static const struct {
        unsigned bits;
        uint64_t expected;
    } cases[] = {
        {1, 0U},
        {8, 145U},
        {0, 0U},
        {31, 1819850095U},
        {32, 3445702192U},
        {33, 3280387012U},
        {40, 129944532028U},
        {63, 7018639715332314491U},
        {64, 8711387064946514083U},
        {24, 10931916U},
    };
    mt19937 g;
    mt19937_seed_python(&g, 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_true(random_bits(&g, cases[i].bits) == cases[i].expected);
}

/* r = random.Random(1); [r.randrange(limit) for limit in ...] */
static void test_below(void **state)
{
    (void)state;
    static const struct {
        uint64_t limit, expected;
    } cases[] = {
        {1U, 0U},
        {2U, 0U},
        {3U, 1U},
        {7U, 0U},
        {8U, 7U},
        {9U, 7U},
        {1000U, 483U},
        {2147483648U, 1630434966U},
        {4294967295U, 3387541014U},
        {4294967296U, 901749037U},
        {4294967297U, 2095328386U},
        {9223372036854775809U, 7983143289132581517U},
        {18446744073709551615U, 14061585512234290806U},
    };
    mt19937 g;
    mt19937_seed_python(&g, 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_true(random_below(&g, cases[i].limit) == cases[i].expected);
    assert_true(random_below(&g, 0) == 0);
}

/* random.Random(5).sample(range(n), k) on both sides of every switch from pool to set: the last
 * number drawn, and the sum of i * number (1-based). */
static void test_sample(void **state)
{
    (void)state;
    static const struct {
        size_t n, k, last;
        uint64_t weighted_sum;
    } cases[] = {
        {21, 5, 0, 132},
        {22, 5, 16, 228},
        {85, 6, 59, 915},
        {86, 6, 3, 963},
        {85, 21, 35, 9196},
        {86, 21, 35, 8838},
        {277, 22, 81, 34312},
        {278, 22, 36, 30154},
        {277, 85, 272, 501604},
        {278, 85, 75, 486771},
        {1045, 86, 189, 1913377},
        {1046, 86, 426, 1913487},
        {1045, 300, 787, 24059943},
        {1046, 300, 252, 24946195},
        {1045, 341, 604, 30857179},
        {1046, 341, 662, 31617059},
        {4117, 342, 2265, 123185321},
        {4118, 342, 1795, 128419835},
        {300, 299, 251, 6693479},
        {40, 40, 23, 16298},
        {1, 1, 0, 0},
        {100000, 1000, 12939, 23931616583},
        {5000000, 3, 4446296, 21496942},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t *drawn = malloc(cases[i].k * sizeof *drawn);
        assert_non_null(drawn);
        mt19937 g;
        mt19937_seed_python(&g, 5);
        qks_error error;
        assert_ok(random_sample(&g, cases[i].n, cases[i].k, drawn, &error), &error);
        uint64_t sum = 0;
        for (size_t j = 0; j < cases[i].k; j++)
            sum += (j + 1) * drawn[j];
        assert_int_equal(drawn[cases[i].k - 1], cases[i].last);
        assert_int_equal(sum, cases[i].weighted_sum);
        free(drawn);
    }
}

static void test_sample_of_nothing_and_too_much(void **state)
{
    (void)state;
    mt19937 g;
    mt19937_seed_python(&g, 0);
    const mt19937 before = g;
    size_t drawn[4] = {9, 9, 9, 9};
    qks_error error;
    assert_ok(random_sample(&g, 0, 0, drawn, &error), &error);
    assert_ok(random_sample(&g, 3, 0, drawn, &error), &error);
    assert_fails(random_sample(&g, 3, 4, drawn, &error), QKS_INVALID, &error, "4 different");
    assert_memory_equal(&g, &before, sizeof g);
    assert_int_equal(drawn[0], 9);
}

static void test_mix_and_combine(void **state)
{
    (void)state;
    json_t *document = load_json(fixture);
    const json_t *item;
    size_t i;
    json_array_foreach(member_of(document, "mix"), i, item)
        assert_true(seed_mix(hex_member(item, "v")) == hex_member(item, "out"));
    assert_true(i > 0);
    json_array_foreach(member_of(document, "combine"), i, item)
        assert_true(seed_combine(hex_member(item, "s"), hex_member(item, "v")) ==
                    hex_member(item, "out"));
    assert_true(i > 0);
    json_decref(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seed_of_pytorch),
        cmocka_unit_test(test_seed_of_python),
        cmocka_unit_test(test_seed_of_python_at_the_ends),
        cmocka_unit_test(test_seed_longer_than_the_state),
        cmocka_unit_test(test_ten_thousandth),
        cmocka_unit_test(test_fill_is_many_nexts),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_below),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_sample_of_nothing_and_too_much),
        cmocka_unit_test(test_mix_and_combine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
