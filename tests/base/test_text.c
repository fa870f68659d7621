/* test_text.c: the string buffer with its maximum and its sticking errors; file-name slugs. */
#include "testing.h"

#include "base/text.h"

static void test_append(void **state)
{
    (void)state;
    text t = text_new(1000);
    qks_error error;
    assert_string_equal(text_string(&t), "");
    text_add(&t, "layer");
    text_addf(&t, " %d of %d", 7, 36);
    text_append(&t, ", x and more", 3);
    text_add(&t, "");
    assert_ok(text_status(&t, "title", &error), &error);
    assert_string_equal(text_string(&t), "layer 7 of 36, x");
    assert_int_equal(t.length, 16);
    text_free(&t);
    assert_string_equal(text_string(&t), "");
}

static void test_bytes_may_hold_nul(void **state)
{
    (void)state;
    text t = text_new(10);
    text_append(&t, "a\0b", 3);
    text_append(&t, NULL, 0);
    assert_int_equal(t.length, 3);
    assert_memory_equal(t.data, "a\0b", 4);
    text_free(&t);
}

static void test_grows(void **state)
{
    (void)state;
    text t = text_new(1 << 20);
    qks_error error;
    for (int i = 0; i < 10000; i++)
        text_addf(&t, "%05d,", i);
    assert_ok(text_status(&t, "list", &error), &error);
    assert_int_equal(t.length, 60000);
    for (size_t i = 0; i < 10000; i++)
        assert_int_equal(strtol(t.data + 6 * i, NULL, 10), i);
    text_free(&t);
}

/* Exactly the maximum fits; one byte more does not, and then nothing does. */
static void test_maximum(void **state)
{
    (void)state;
    text t = text_new(8);
    qks_error error;
    text_add(&t, "12345678");
    assert_ok(text_status(&t, "name", &error), &error);
    text_add(&t, "");
    assert_ok(text_status(&t, "name", &error), &error);
    text_add(&t, "9");
    assert_fails(text_status(&t, "the name", &error), QKS_INVALID, &error,
                 "the name is longer than 8 bytes");
    assert_string_equal(text_string(&t), "12345678");
    text_free(&t);
}

static void test_errors_stick(void **state)
{
    (void)state;
    text t = text_new(8);
    text_add(&t, "123");
    text_addf(&t, "%s", "456789");
    text_add(&t, "x");
    text_addf(&t, "%d", 1);
    assert_string_equal(text_string(&t), "123");
    assert_int_equal(text_status(&t, "x", NULL), QKS_INVALID);
    text_clear(&t);
    text_add(&t, "again");
    assert_int_equal(text_status(&t, "x", NULL), QKS_OK);
    assert_string_equal(text_string(&t), "again");
    text_free(&t);
}

/* printf itself fails on what its locale cannot encode; that may not pass unseen. */
static void test_format_that_fails(void **state)
{
    (void)state;
    text t = text_new(100);
    text_addf(&t, "%ls", L"\u20ac"); /* the tests run in the C locale */
    assert_int_equal(text_status(&t, "x", NULL), QKS_INVALID);
    assert_string_equal(text_string(&t), "");
    text_free(&t);
}

static void test_beyond_memory(void **state)
{
    (void)state;
    text t = text_new(SIZE_MAX);
    qks_error error;
    text_add(&t, "kept");
    text_append(&t, "x", SIZE_MAX / 4);
    assert_fails(text_status(&t, "page", &error), QKS_MEMORY, &error, "page");
    assert_string_equal(text_string(&t), "kept");
    text_free(&t);
}

static void test_slugs(void **state)
{
    (void)state;
    static const struct {
        const char *name, *slug;
    } cases[] = {
        {"S1-40K", "s1-40k"},
        {"Qwen/Qwen3-0.6B", "qwen-qwen3-0.6b"},
        {"org/name@main", "org-name-main"},
        {"snake_case", "snake_case"},
        {"", "x"},
        {".", "x"},
        {"..", "x"},
        {"...a", "a"},
        {"--help", "help"},
        {"../../etc/passwd", "etc-passwd"},
        {"/", "x"},
        {"a/../b", "a-..-b"},
        {"trailing / ", "trailing"},
        {"a  b\t\nc", "a-b-c"},
        {"`rm -rf $HOME`", "rm--rf-home"},
        {"'quoted' \"twice\"", "quoted-twice"},
        {"</script>", "script"},
        {"na\xC3\xAFve", "na-ve"},
        {"\xE6\x96\x87", "x"},
        {"TITLE I", "title-i"},
    };
    char slug[SLUG_SIZE];
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        slug_of(cases[i].name, slug);
        assert_string_equal(slug, cases[i].slug);
    }
}

static void test_long_slug(void **state)
{
    (void)state;
    char name[301], slug[SLUG_SIZE], expected[SLUG_SIZE];
    memset(name, 'A', 300);
    name[300] = '\0';
    memset(expected, 'a', 80);
    expected[80] = '\0';
    slug_of(name, slug);
    assert_string_equal(slug, expected);
    /* A dash may not remain where the name is cut. */
    name[79] = '/';
    expected[79] = '\0';
    slug_of(name, slug);
    assert_string_equal(slug, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append),        cmocka_unit_test(test_bytes_may_hold_nul),
        cmocka_unit_test(test_grows),         cmocka_unit_test(test_maximum),
        cmocka_unit_test(test_errors_stick),  cmocka_unit_test(test_format_that_fails),
        cmocka_unit_test(test_beyond_memory), cmocka_unit_test(test_slugs),
        cmocka_unit_test(test_long_slug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
