/* test_utf8.c: bytes that are UTF-8, and bytes that are not. */
#include "testing.h"

#include "base/utf8.h"

static void test_valid(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        bool valid;
    } cases[] = {
        {"", 0, true},
        {"plain ASCII, more than eight bytes", 34, true},
        {"a\0b", 3, true},
        {"\xC2\x80", 2, true},
        {"\xE0\xA0\x80", 3, true},
        {"\xED\x9F\xBF", 3, true},
        {"\xEF\xBF\xBF", 3, true}, /* a noncharacter is a character */
        {"\xF0\x90\x80\x80", 4, true},
        {"\xF4\x8F\xBF\xBF", 4, true},
        {"12345678\xC3\xA9", 10, true},
        {"\x80", 1, false},
        {"\xC0\x80", 2, false}, /* overlong */
        {"\xC1\xBF", 2, false},
        {"\xE0\x9F\xBF", 3, false},
        {"\xF0\x8F\xBF\xBF", 4, false},
        {"\xED\xA0\x80", 3, false},     /* a surrogate */
        {"\xF4\x90\x80\x80", 4, false}, /* past the last character */
        {"\xF5\x80\x80\x80", 4, false},
        {"\xFF", 1, false},
        {"\xC3", 1, false}, /* cut */
        {"\xE2\x82", 2, false},
        {"\xF0\x9F\x98", 3, false},
        {"\xE2\x28\xA1", 3, false},
        {"12345678\xC3", 9, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (utf8_valid(cases[i].bytes, cases[i].length) != cases[i].valid)
            fail_msg("case %zu is %s", i, cases[i].valid ? "valid" : "not valid");
}

/* A character's bytes where it is whole and valid. */
static void test_character(void **state)
{
    (void)state;
    assert_int_equal(utf8_character("a\xFF", 2), 1);
    assert_int_equal(utf8_character("\xE2\x82\xAC-", 4), 3);
    assert_int_equal(utf8_character("\xE2\x82\xAC", 2), 0);
    assert_int_equal(utf8_character("\x82\xAC", 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
