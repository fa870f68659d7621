/* test_generated.c: small tokenizers of all parts and options, made to have what whole ones seldom
 * do; ids by the tokenizers library (data/tokenizers_generated/make.py). */
#include "testing.h"

#include "text/tokens.h"

static const char *const CASES = "data/tokenizers_generated/cases.jsonl";

static void check_texts(encoder *e, const json_t *row, const char *member, bool special)
{
    const json_t *texts = member_of(row, "texts"), *expected = member_of(row, member);
    assert_int_equal(json_array_size(texts), json_array_size(expected));
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const json_t *text = json_array_get(texts, i);
        char *other = other_ids(e, text, json_array_get(expected, i), special);
        if (other)
            fail_msg("%s: text %zu '%s' has other %s: %s", text_member(row, "name"), i,
                     json_string_value(text), member, other);
    }
}

static void check_case(const char *folder, const json_t *row)
{
    const char *path = path_of(folder, "tokenizer.json");
    tokenizer *t = NULL;
    encoder *e = NULL;
    qks_error error;
    assert_int_equal(json_dump_file(member_of(row, "tokenizer"), path, 0), 0);
    assert_ok(tokenizer_open(&t, path, &error), &error);
    assert_ok(encoder_open(&e, t, &error), &error);
    check_texts(e, row, "ids", true);
    check_texts(e, row, "ids_no_special", false);
    encoder_close(e);
    tokenizer_close(t);
}

static void test_cases(void **state)
{
    FILE *file = fopen(CASES, "r");
    assert_non_null(file);
    char *line = NULL;
    size_t size = 0, cases = 0;
    for (ssize_t length = 0; (length = getline(&line, &size, file)) > 0; cases++) {
        json_t *row = json_loadb(line, (size_t)length, JSON_ALLOW_NUL, NULL);
        assert_non_null(row);
        check_case(*state, row);
        json_decref(row);
    }
    free(line);
    (void)fclose(file);
    assert_int_equal(cases, 54);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cases, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
