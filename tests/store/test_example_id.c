/* test_example_id.c: example ids as the reference computes them (data/analysis/sampling), and
 * floats as Python prints them. */
#include "testing.h"

#include "base/hash.h"
#include "store/example_id.h"

static void test_fixture(void **state)
{
    (void)state;
    json_t *document = load_json("data/analysis/sampling/example_ids.json");
    const json_t *cases = member_of(document, "cases");
    size_t index = 0, checked = 0;
    json_t *one = NULL;
    json_array_foreach(cases, index, one) {
        const char *type = text_member(one, "type");
        int64_t expected = strtoll(text_member(one, "example_id"), NULL, 10);
        if (strcmp(type, "no id column") == 0)
            continue; /* test_corpus.c */
        const char *value = text_member(one, "value");
        int64_t id = strcmp(type, "int") == 0 ? example_id_of_digits(value, strlen(value))
                                              : example_id_of_text(value, strlen(value));
        assert_int_equal(id, expected);
        assert_int_equal((int32_t)id, whole_member(one, "stored"));
        checked++;
    }
    assert_int_equal(checked, 14);
    json_decref(document);
}

/* repr() of CPython 3.11. */
static void test_python_text(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.5, "0.5"},
        {3.0, "3.0"},
        {-0.0, "-0.0"},
        {0.1, "0.1"},
        {1.0 / 3.0, "0.3333333333333333"},
        {100.0, "100.0"},
        {123456.789, "123456.789"},
        {0.0001, "0.0001"},
        {0.00012345, "0.00012345"},
        {0.00001, "1e-05"},
        {0.000015, "1.5e-05"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e+16"},
        {12345678901234568.0, "1.2345678901234568e+16"},
        {9007199254740993.0, "9007199254740992.0"},
        {1e22, "1e+22"},
        {-1.5e300, "-1.5e+300"},
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[REAL_TEXT_SIZE];
        size_t length = python_text_of_real(cases[i].value, text);
        assert_string_equal(text, cases[i].text);
        assert_int_equal(length, strlen(cases[i].text));
    }
}

static int64_t of_text(const char *text)
{
    return example_id_of_text(text, strlen(text));
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        double value;
        int64_t id;
    } whole[] = {{3.0, 3},
                 {-0.0, 0},
                 {-7.0, -7},
                 {1e16, 10000000000000000},
                 {0x1p62, 1LL << 62},
                 {-0x1p63, INT64_MIN}};
    for (size_t i = 0; i < COUNT_OF(whole); i++)
        assert_int_equal(example_id_of_real(whole[i].value), whole[i].id);
    assert_int_equal(example_id_of_real(0.5), of_text("0.5"));
    assert_int_equal(example_id_of_real(0x1p63), of_text("9.223372036854776e+18"));
    assert_int_equal(example_id_of_real(1e22), of_text("1e+22"));
    assert_int_equal(example_id_of_real(NAN), of_text("nan"));

    static const char *const beyond[] = {"9223372036854775808", "-9223372036854775809",
                                         "123456789012345678901234567890123456789012345678901"};
    for (size_t i = 0; i < COUNT_OF(beyond); i++)
        assert_int_equal(example_id_of_digits(beyond[i], strlen(beyond[i])), of_text(beyond[i]));
    assert_int_equal(example_id_of_digits("+5", 2), 5);
    assert_int_equal(example_id_of_digits("007", 3), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixture),
        cmocka_unit_test(test_python_text),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
