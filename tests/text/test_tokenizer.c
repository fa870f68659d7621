/* test_tokenizer.c: each part of a tokenizer with a vocabulary of a few letters. The expected ids
 * are those of tokenizers 0.23.3. */
#include "testing.h"

#include "text/tokens.h"

/* a b c d e f g h, space, mark, full stop, newline: 0 to 11 */
#define LETTERS                                                                                    \
    "\"a\": 0, \"b\": 1, \"c\": 2, \"d\": 3, \"e\": 4, \"f\": 5, \"g\": 6, \"h\": 7, \" \": 8, "   \
    "\"\xE2\x96\x81\": 9, \".\": 10, \"\\n\": 11"
#define MARK "\xE2\x96\x81"

typedef struct example {
    recipe recipe;
    const char *text, *ids;
} example;

static void check_examples(void **state, const example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_ids(write_recipe(*state, &examples[i].recipe), examples[i].text,
                  strlen(examples[i].text), true, examples[i].ids);
}

/* ---- the model ---- */
#define JOINED "{" LETTERS ", \"ab\": 12, \"bc\": 13, \"abc\": 14, \"cd\": 15, \"abcd\": 16}"

static void test_merges(void **state)
{
    const recipe by_rank = {.vocab = JOINED,
                            .merges = "[\"b c\", \"a b\", \"a bc\", \"c d\", \"ab cd\"]"};
    const recipe pairs = {.vocab = JOINED, .merges = "[[\"b\", \"c\"], [\"a\", \"bc\"]]"};
    const recipe repeated = {.vocab = JOINED, .merges = "[\"a b\", \"b c\", \"a bc\", \"a b\"]"};
    const recipe whole = {
        .vocab = JOINED, .merges = "[\"a b\"]", .model = "\"ignore_merges\": true"};
    const recipe versioned = {.vocab = JOINED, .merges = "[\"#version: 0.2\", \"a b\"]"};
    const example examples[] = {
        {by_rank, "abc", "14"},     {by_rank, "abcd", "14 3"}, {by_rank, "abab", "12 12"},
        {by_rank, "aabc", "0 14"},  {pairs, "abc", "14"},      {repeated, "abc", "14"},
        {repeated, "ab", "12"},     {whole, "abcd", "16"},     {whole, "abcda", "12 2 3 0"},
        {versioned, "abc", "12 2"},
    };
    check_examples(state, examples, COUNT_OF(examples));
}

static void test_unknown_characters(void **state)
{
    const recipe unk = {.vocab = "{" LETTERS ", \"<unk>\": 12}",
                        .model = "\"unk_token\": \"<unk>\""};
    const recipe fused = {.vocab = "{" LETTERS ", \"<unk>\": 12}",
                          .model = "\"unk_token\": \"<unk>\", \"fuse_unk\": true"};
    const recipe none = {.vocab = JOINED, .merges = "[\"a b\"]"};
    const recipe bytes = {
        .vocab = "{" LETTERS ", \"<unk>\": 12, \"<0xC3>\": 13, \"<0xA9>\": 14}",
        .model = "\"unk_token\": \"<unk>\", \"fuse_unk\": true, \"byte_fallback\": true"};
    const example examples[] = {
        {unk, "axxb", "0 12 12 1"},
        {unk, "xaxx", "12 0 12 12"},
        {fused, "axxb", "0 12 1"},
        {fused, "xaxx", "12 0 12"},
        {none, "axb", "12"}, /* what is dropped joins its neighbours */
        {none, "x", ""},
        {bytes, "a\xC3\xA9\x62", "0 13 14 1"},
        {bytes, "x\xC3\xA9\x61", "13 14 12 0"}, /* the byte tokens overtake the unknown one */
        {bytes, "\xC3\xA9xa", "13 14 12 0"},
    };
    check_examples(state, examples, COUNT_OF(examples));
}

static void test_unk_token_without_id(void **state)
{
    const recipe r = {.vocab = "{" LETTERS "}", .model = "\"unk_token\": \"<unk>\""};
    const char *path = write_recipe(*state, &r);
    tokenizer *t = NULL;
    encoder *e = NULL;
    qks_error error;
    const int32_t *ids = NULL;
    size_t count = 0;
    assert_ok(tokenizer_open(&t, path, &error), &error);
    assert_ok(encoder_open(&e, t, &error), &error);
    assert_ok(encoder_run(e, "abc", 3, true, &ids, &count, &error), &error);
    assert_fails(encoder_run(e, "abx", 3, true, &ids, &count, &error), QKS_INVALID, &error,
                 "'x' has no token, and unk_token '<unk>' is not in the vocabulary");
    check_message_(&error, path, "encoder_run", __FILE__, __LINE__);
    encoder_close(e);
    tokenizer_close(t);
}

static void test_affixes(void **state)
{
    const recipe suffix = {.vocab = "{" LETTERS ", \"b</w>\": 12, \"ab</w>\": 13}",
                           .merges = "[\"a b</w>\"]",
                           .model = "\"end_of_word_suffix\": \"</w>\""};
    const recipe prefix = {.vocab = "{" LETTERS
                                    ", \"##b\": 12, \"##c\": 13, \"##bc\": 14, \"abc\": 15}",
                           .merges = "[\"##b ##c\", \"a ##bc\"]",
                           .model = "\"continuing_subword_prefix\": \"##\""};
    const example examples[] = {
        {suffix, "ab", "13"},  {suffix, "ba", "1"},    {suffix, "b", "12"},
        {prefix, "abc", "15"}, {prefix, "bc", "1 13"}, {prefix, "cab", "2 12"},
    };
    check_examples(state, examples, COUNT_OF(examples));
}

/* ---- added tokens ---- */
static void test_added_tokens(void **state)
{
#define WITH(list)                                                                                 \
    {                                                                                              \
        .vocab = "{" LETTERS "}", .added = "[" list "]"                                            \
    }
    const recipe plain = WITH(ADDED(12, "<t>", false, false, false, false));
    const recipe left = WITH(ADDED(12, "<t>", false, true, false, false));
    const recipe right = WITH(ADDED(12, "<t>", false, false, true, false));
    const recipe alone = WITH(ADDED(12, "<t>", true, false, false, false));
    const recipe longest = WITH(ADDED(12, "<", false, false, false, false) ", " ADDED(
        13, "<t", false, false, false, false) ", " ADDED(14, "<t>", false, false, false, false));
    const recipe no_second_try = WITH(ADDED(12, "ab", false, false, false, false) ", " ADDED(
        13, "abc", true, false, false, false));
    const recipe overlapping = WITH(ADDED(12, "<t>", false, false, true,
                                          false) ", " ADDED(13, "\\n", false, false, false, false));
    const recipe renumbered = WITH(ADDED(99, "<t>", false, false, false, false) ", " ADDED(
        12, "a", false, false, false, false) ", " ADDED(0, "", false, false, false, false));
    const example examples[] = {
        {plain, "a<t>b", "0 12 1"},
        {plain, "a <t> b", "0 8 12 8 1"},
        {plain, "<t><t>", "12 12"},
        {left, "a <t> b", "0 12 8 1"},
        {left, " \n <t>", "12"},
        {left, "a <t> <t>", "0 12 12"},
        {right, "a <t> b", "0 8 12 1"},
        {right, "<t> \n a", "12 0"},
        {alone, "a<t>b", "0 1"},
        {alone, "a <t> b", "0 8 12 8 1"},
        {alone, "<t>.", "12 10"},
        {alone, "a<t> <t>b", "0 8 1"},
        {longest, "<t>", "14"},
        {longest, "<t<", "13 12"},
        {longest, "<<t>", "12 14"},
        {no_second_try, "abc", "13"},
        {no_second_try, "abcd", "0 1 2 3"},
        {overlapping, "<t> \n\n a", "12 11 11 8 0"},
        {renumbered, "a<t>", "0 12"}, /* by the vocabulary, then in order */
    };
    check_examples(state, examples, COUNT_OF(examples));
}

static void test_normalized_added_tokens(void **state)
{
    const recipe r = {.vocab = "{" LETTERS "}",
                      .added = "[" ADDED(12, "ABC", false, false, false, true) ", " ADDED(
                          13, "DEF", false, false, false, false) "]",
                      .normalizer = "{\"type\": \"Lowercase\"}"};
    const example examples[] = {{r, "abc ABC DEF def", "12 8 12 8 13 8 3 4 5"}};
    check_examples(state, examples, COUNT_OF(examples));
}

/* ---- spaces ---- */
static void test_metaspace(void **state)
{
#define META(scheme, split)                                                                        \
    {                                                                                              \
        .vocab = "{" LETTERS ", \"" MARK "a\": 12, \"" MARK "b\": 13}",                            \
        .merges = "[\"" MARK " a\", \"" MARK " b\"]",                                              \
        .added = "[" ADDED(14, "<t>", false, false, false, false) "]",                             \
        .pre_tokenizer = "{\"type\": \"Metaspace\", \"replacement\": \"" MARK                      \
                         "\", \"prepend_scheme\": \"" scheme "\", \"split\": " #split "}"          \
    }
    const recipe recipes[][2] = {{META("first", true), META("first", false)},
                                 {META("always", true), META("always", false)},
                                 {META("never", true), META("never", false)}};
    const char *const expected[][4] = {{"12 13", "12 14 1", "14 1", "12"},
                                       {"12 13", "12 14 13", "14 13", "12"},
                                       {"0 13", "0 14 1", "14 1", "12"}};
    for (size_t scheme = 0; scheme < 3; scheme++)
        for (size_t split = 0; split < 2; split++) {
            recipe r = recipes[scheme][split];
            const example examples[] = {{r, "a b", expected[scheme][0]},
                                        {r, "a<t>b", expected[scheme][1]},
                                        {r, "<t>b", expected[scheme][2]},
                                        {r, " a", expected[scheme][3]}};
            check_examples(state, examples, COUNT_OF(examples));
        }
}

/* What a normalizer puts before the first character stands at the start of the text as well. */
static void test_metaspace_first_after_a_split(void **state)
{
    const recipe r = {
        .vocab = "{" LETTERS ", \"" MARK "a\": 12, \"" MARK "b\": 13}",
        .merges = "[\"" MARK " a\", \"" MARK " b\"]",
        .normalizer = "{\"type\": \"Prepend\", \"prepend\": \"b\"}",
        .pre_tokenizer =
            "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": "
            "{\"String\": \"b\"}, \"behavior\": \"Isolated\", \"invert\": false}, {\"type\": "
            "\"Metaspace\", \"replacement\": \"" MARK
            "\", \"prepend_scheme\": \"first\", \"split\": false}]}"};
    const example examples[] = {{r, "ab", "13 12 1"}, {r, "a", "13 12"}};
    check_examples(state, examples, COUNT_OF(examples));
}

static void test_prepend_to_each_stretch(void **state)
{
    const recipe r = {
        .vocab = "{" LETTERS ", \"" MARK "a\": 12, \"" MARK "b\": 13}",
        .merges = "[\"" MARK " a\", \"" MARK " b\"]",
        .added = "[" ADDED(14, "<t>", false, false, false, false) "]",
        .normalizer = "{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Prepend\", "
                      "\"prepend\": \"" MARK "\"}, {\"type\": \"Replace\", \"pattern\": "
                      "{\"String\": \" \"}, \"content\": \"" MARK "\"}]}"};
    const example examples[] = {{r, "a b", "12 13"},
                                {r, "a<t>b", "12 14 13"},
                                {r, "", ""},
                                {r, "<t>", "14"},
                                {r, " ", "9 9"}};
    check_examples(state, examples, COUNT_OF(examples));
}

/* ---- what is added around the text ---- */
static void test_template(void **state)
{
    const recipe r = {
        .vocab = "{" LETTERS "}",
        .post_processor =
            "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"<s>\", "
            "\"type_id\": 0}}, {\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, {\"SpecialToken\": "
            "{\"id\": \"</s>\", \"type_id\": 0}}], \"pair\": [], \"special_tokens\": {\"<s>\": "
            "{\"id\": \"<s>\", \"ids\": [40, 41], \"tokens\": [\"x\", \"y\"]}, \"</s>\": {\"id\": "
            "\"</s>\", \"ids\": [42], \"tokens\": [\"z\"]}}}"};
    const char *path = write_recipe(*state, &r);
    check_ids(path, "ab", 2, true, "40 41 0 1 42");
    check_ids(path, "", 0, true, "40 41 42");
    check_ids(path, "ab", 2, false, "0 1");
    check_ids(path, "", 0, false, "");
    tokenizer *t = NULL;
    qks_error error;
    assert_ok(tokenizer_open(&t, path, &error), &error);
    assert_int_equal(tokenizer_size(t), 43);
    tokenizer_close(t);
}

static void test_roberta(void **state)
{
    const recipe r = {
        .vocab = "{" LETTERS "}",
        .post_processor = "{\"type\": \"RobertaProcessing\", \"sep\": [\"</s>\", 42], "
                          "\"cls\": [\"<s>\", 40], \"trim_offsets\": true, "
                          "\"add_prefix_space\": true}"};
    const char *path = write_recipe(*state, &r);
    check_ids(path, "ab", 2, true, "40 0 1 42");
    check_ids(path, "ab", 2, false, "0 1");
}

/* ---- texts ---- */
static void test_bytes_of_any_value(void **state)
{
    /* In the byte-level alphabet NUL is U+0100 and 0xAD is U+0143. */
    const recipe r = {.vocab = "{\"\xC4\x80\": 0, \"\xC3\x82\": 1, \"\xC5\x83\": 2, \"a\": 3}",
                      .pre_tokenizer = "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, "
                                       "\"trim_offsets\": true, \"use_regex\": false}"};
    const char *path = write_recipe(*state, &r);
    check_ids(path, "a\0a", 3, true, "3 0 3");
    check_ids(path, "\xC2\xAD", 2, true, "1 2");
}

static void test_text_that_is_not_utf8(void **state)
{
    const recipe r = {.vocab = "{" LETTERS "}"};
    tokenizer *t = NULL;
    encoder *e = NULL;
    qks_error error;
    const int32_t *ids = NULL;
    size_t count = 0;
    assert_ok(tokenizer_open(&t, write_recipe(*state, &r), &error), &error);
    assert_ok(encoder_open(&e, t, &error), &error);
    assert_fails(encoder_run(e, "a\xFF", 2, true, &ids, &count, &error), QKS_INVALID, &error,
                 "not UTF-8");
    assert_ok(encoder_run(e, "ab", 2, true, &ids, &count, &error), &error);
    assert_int_equal(count, 2);
    encoder_close(e);
    tokenizer_close(t);
}

static void test_folder_without_tokenizer(void **state)
{
    tokenizer *t = NULL;
    qks_error error;
    assert_fails(tokenizer_open(&t, *state, &error), QKS_MISSING, &error, "no tokenizer.json");
    assert_ok(file_put(path_of(*state, "tokenizer.model"), "x", 1, &error), &error);
    assert_fails(tokenizer_open(&t, *state, &error), QKS_MISSING, &error, "save_pretrained");
    assert_fails(tokenizer_open(&t, path_of(*state, "nothing.json"), &error), QKS_MISSING, &error,
                 "nothing.json");
}

int main(void)
{
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        SCRATCH(test_merges),
        SCRATCH(test_unknown_characters),
        SCRATCH(test_unk_token_without_id),
        SCRATCH(test_affixes),
        SCRATCH(test_added_tokens),
        SCRATCH(test_normalized_added_tokens),
        SCRATCH(test_metaspace),
        SCRATCH(test_metaspace_first_after_a_split),
        SCRATCH(test_prepend_to_each_stretch),
        SCRATCH(test_template),
        SCRATCH(test_roberta),
        SCRATCH(test_bytes_of_any_value),
        SCRATCH(test_text_that_is_not_utf8),
        SCRATCH(test_folder_without_tokenizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
