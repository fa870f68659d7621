/* test_goldens.c: whole tokenizers of eleven kinds, some 200 texts each, equal to the last id to
 * the tokenizers library (data/tokenizers/README.md). */
#include "testing.h"

#include "text/tokens.h"

static size_t check_texts(encoder *e, const char *path, const char *member, bool special)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *line = NULL;
    size_t size = 0, texts = 0;
    ssize_t length = 0;
    while ((length = getline(&line, &size, file)) > 0) {
        json_t *row = json_loadb(line, (size_t)length, JSON_ALLOW_NUL, NULL);
        assert_non_null(row);
        char *other = other_ids(e, member_of(row, "text"), member_of(row, member), special);
        if (other)
            fail_msg("%s: text '%s' has other %s: %s", path, text_member(row, "name"), member,
                     other);
        json_decref(row);
        texts++;
    }
    free(line);
    (void)fclose(file);
    return texts;
}

static void check_case(const char *folder, const char *file)
{
    tokenizer *t = NULL;
    encoder *e = NULL;
    qks_error error;
    assert_ok(tokenizer_open(&t, path_of(folder, file), &error), &error);
    assert_ok(encoder_open(&e, t, &error), &error);
    json_t *facts = load_json(path_of(folder, "case.json"));
    size_t texts = (size_t)whole_member(facts, "texts");
    const char *expected = path_of(folder, "expected.jsonl");
    assert_int_equal(check_texts(e, expected, "ids", true), texts);
    assert_int_equal(check_texts(e, expected, "ids_no_special", false), texts);
    json_decref(facts);
    encoder_close(e);
    tokenizer_close(t);
}

static void test_tokenizer_json(void **state)
{
    (void)state;
    static const char *const cases[] = {"llama3", "qwen",   "smollm2",           "gpt2",
                                        "tekken", "llama2", "mistral-metaspace", "gemma",
                                        "glm4"};
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_case(path_of("data/tokenizers", cases[i]), "tokenizer.json");
}

static void test_gguf(void **state)
{
    (void)state;
    check_case("data/tokenizers_gguf/smollm", "vocab.gguf");
    check_case("data/tokenizers_gguf/llama-spm", "vocab.gguf");
}

/* A model's folder stands for the tokenizer.json in it. */
static void test_folder(void **state)
{
    (void)state;
    check_case("data/tokenizers/gpt2", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokenizer_json),
        cmocka_unit_test(test_gguf),
        cmocka_unit_test(test_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
