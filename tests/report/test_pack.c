/* test_pack.c: whatever a string holds, packed it is JSON that reads back the same, and no byte of
 * it can end a <script> element; numbers keep their digits in every locale. */
#include "testing.h"

#include "base/text.h"
#include "report/pack.h"

#include <locale.h>

enum { TEXT_MAX = 1 << 16 };

static json_t *parsed(const text *t)
{
    json_error_t error;
    json_t *value = json_loadb(t->data, t->length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (!value)
        fail_msg("%s: %s", text_string(t), error.text);
    return value;
}

static void assert_tame(const text *t)
{
    for (size_t i = 0; i < t->length; i++)
        if (strchr("<>&'", t->data[i]) || (unsigned char)t->data[i] < 0x20)
            fail_msg("byte 0x%02x stands bare in %s", (unsigned)t->data[i], t->data);
    assert_null(strstr(text_string(t), "\xe2\x80\xa8"));
    assert_null(strstr(text_string(t), "\xe2\x80\xa9"));
}

static void test_strings_read_back(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "S1-40K",
        "</script><img src=x onerror=alert(1)>",
        "<!--<script>",
        "]]> &amp; 'single' \"double\" `back`",
        "a\\b\\\\u003c\n\r\t\x01\x1f\x7f",
        "line\xe2\x80\xa8separators\xe2\x80\xa9",
        "Gr\xc3\xbc\xc3\x9f, \xe4\xb8\x96\xe7\x95\x8c \xf0\x9f\x8c\x8d \xc2\x85",
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        text t = text_new(TEXT_MAX);
        pack_string(&t, cases[i]);
        assert_tame(&t);
        json_t *value = parsed(&t);
        assert_string_equal(json_string_value(value), cases[i]);
        json_decref(value);
        text_free(&t);
    }
}

static void test_all_bytes(void **state)
{
    (void)state;
    char bytes[256];
    text t = text_new(TEXT_MAX);
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    pack_bytes(&t, bytes, sizeof bytes);
    assert_tame(&t);
    json_t *value = parsed(&t);
    assert_memory_equal(json_string_value(value), bytes, 128);
    /* from 0x80 on it is no UTF-8: a replacement character each */
    assert_int_equal(json_string_length(value), 128 + 128 * strlen("\xef\xbf\xbd"));
    json_decref(value);
    text_free(&t);
}

static const char *packed(text *t, void (*pack)(text *, double), double value)
{
    text_clear(t);
    pack(t, value);
    return text_string(t);
}

static void scaled_4(text *t, double value)
{
    pack_scaled(t, value, 4);
}

static void check_numbers(void)
{
    static const struct {
        double value;
        const char *real, *scaled;
    } cases[] = {
        {0, "0", "0"},
        {-0.0, "0", "0"},
        {1, "1", "10000"},
        {-0.89967, "-89967e-5", "-8997"},
        {0.5, "5e-1", "5000"},
        {0.123456789, "12346e-5", "1235"},
        {123456789, "12346e4", "1234567890000"},
        {4e-320, "4e-320", "0"},
        {1e300, "1e300", "1000000000000000"},
        {(double)NAN, "null", "null"},
        {(double)INFINITY, "null", "1000000000000000"},
    };
    text t = text_new(TEXT_MAX);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_string_equal(packed(&t, pack_real, cases[i].value), cases[i].real);
        assert_string_equal(packed(&t, scaled_4, cases[i].value), cases[i].scaled);
    }
    text_clear(&t);
    pack_integer(&t, INT64_MIN);
    assert_string_equal(text_string(&t), "null");
    text_free(&t);
}

static void test_numbers(void **state)
{
    (void)state;
    check_numbers();
}

static void test_numbers_with_decimal_comma(void **state)
{
    (void)state;
    const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
    const char *set = NULL;
    for (size_t i = 0; !set && i < COUNT_OF(names); i++)
        set = setlocale(LC_ALL, names[i]);
    if (!set)
        skip();
    check_numbers();
    (void)setlocale(LC_ALL, "C");
}

/* RFC 4648, section 10 */
static void test_base64(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *expected;
    } cases[] = {
        {"", "\"\""},
        {"f", "\"Zg==\""},
        {"fo", "\"Zm8=\""},
        {"foo", "\"Zm9v\""},
        {"foob", "\"Zm9vYg==\""},
        {"fooba", "\"Zm9vYmE=\""},
        {"foobar", "\"Zm9vYmFy\""},
        {"\xff\xfe\xfd", "\"//79\""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        text t = text_new(TEXT_MAX);
        pack_base64(&t, cases[i].bytes, strlen(cases[i].bytes));
        assert_string_equal(text_string(&t), cases[i].expected);
        text_free(&t);
    }
}

static void test_json_keeps_its_meaning(void **state)
{
    (void)state;
    text t = text_new(TEXT_MAX);
    pack_json(&t, "{\"</script>\":[\"a & 'b'\",1]}");
    assert_tame(&t);
    json_t *value = parsed(&t);
    const json_t *list = json_object_get(value, "</script>");
    assert_string_equal(json_string_value(json_array_get(list, 0)), "a & 'b'");
    json_decref(value);
    text_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strings_read_back),
        cmocka_unit_test(test_all_bytes),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_numbers_with_decimal_comma),
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_json_keeps_its_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
