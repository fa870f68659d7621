/* test_splitting.c: patterns and what finds them, the steps of pre-tokenizers, hash tables.
 * Expected pieces are those of tokenizers 0.23.3, shown with bars between them. */
#include "testing.h"

#include "text/pattern.h"
#include "text/pre_tokenizer.h"
#include "text/table.h"

static qks_status add_piece(void *context, stretch word, qks_error *error)
{
    (void)error;
    text *out = context;
    if (out->length)
        text_add(out, "|");
    text_append(out, word.bytes, word.length);
    return QKS_OK;
}

/* Split `in` by the steps, whose patterns it frees. */
static void check_pieces(const pre_step *steps, size_t count, const char *in, const char *expected)
{
    pre_tokenizer p = {0};
    qks_error error;
    for (size_t i = 0; i < count; i++)
        assert_ok(array_push(&p, steps[i], &error), &error);
    text texts[4] = {text_new(1000), text_new(1000), text_new(1000), text_new(1000)};
    pre_scratch scratch = {.texts = texts, .count = COUNT_OF(texts)};
    assert_ok(search_open(&scratch.search, &error), &error);
    search_begin(scratch.search, strlen(in));
    text out = text_new(1000);
    stretch whole = {in, strlen(in), 1};
    assert_ok(pre_tokenize(&p, &scratch, whole, add_piece, &out, &error), &error);
    assert_string_equal(text_string(&out), expected);
    text_free(&out);
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        text_free(&texts[i]);
    search_close(scratch.search);
    pre_tokenizer_free(&p);
}

static pattern *regex_of(const char *expression)
{
    pattern *p = NULL;
    qks_error error;
    assert_ok(pattern_compile(&p, expression, strlen(expression), &error), &error);
    return p;
}

static pattern *plain_of(const char *string)
{
    pattern *p = NULL;
    qks_error error;
    assert_ok(pattern_plain(&p, string, strlen(string), &error), &error);
    return p;
}

static void test_behaviors(void **state)
{
    (void)state;
    static const struct {
        split_behavior behavior;
        const char *pieces, *inverted, *stars;
    } cases[] = {
        {SPLIT_REMOVED, "the|final|countdown", "-|-|-|-|-", "a|b"},
        {SPLIT_ISOLATED, "-|the|-|final|-|-|countdown|-", "-|the|-|final|-|-|countdown|-",
         "a|xx|b"},
        {SPLIT_MERGED_WITH_PREVIOUS, "-|the-|final-|-|countdown-", "-the|-final|-|-countdown|-",
         "axx|b"},
        {SPLIT_MERGED_WITH_NEXT, "-the|-final|-|-countdown|-", "-|the-|final-|-|countdown-",
         "a|xxb"},
        {SPLIT_CONTIGUOUS, "-|the|-|final|--|countdown|-", "-|the|-|final|--|countdown|-",
         "a|xx|b"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        pre_step step = {.kind = PRE_SPLIT, .behavior = cases[i].behavior};
        step.pattern = plain_of("-");
        check_pieces(&step, 1, "-the-final--countdown-", cases[i].pieces);
        step.pattern = regex_of("x*"); /* has empty matches */
        check_pieces(&step, 1, "axxb", cases[i].stars);
        step.pattern = regex_of("-");
        step.invert = true;
        check_pieces(&step, 1, "-the-final--countdown-", cases[i].inverted);
    }
}

static void test_classes(void **state)
{
    (void)state;
    pre_step digits = {.kind = PRE_SPLIT_CLASS, .class = CLASS_NUMERIC};
    digits.behavior = SPLIT_ISOLATED;
    check_pieces(&digits, 1, "a12\u00BD\x62", "a|1|2|\u00BD|b");
    digits.behavior = SPLIT_CONTIGUOUS;
    check_pieces(&digits, 1, "a12\u00BD\x62", "a|12\u00BD|b");
    pre_step punctuation = {
        .kind = PRE_SPLIT_CLASS, .class = CLASS_PUNCTUATION, .behavior = SPLIT_ISOLATED};
    check_pieces(&punctuation, 1, "Hey!? \u201Cyou\u201D", "Hey|!|?| |\u201C|you|\u201D");
    pre_step spaces = {
        .kind = PRE_SPLIT_CLASS, .class = CLASS_WHITE_SPACE, .behavior = SPLIT_REMOVED};
    check_pieces(&spaces, 1, " don't  stop\u3000it\n", "don't|stop|it");
    pre_step words = {.kind = PRE_WORDS};
    check_pieces(&words, 1, "don't stop_it  at 3.5!\n", "don|'|t|stop_it|at|3|.|5|!");
    pre_step threes = {.kind = PRE_FIXED_LENGTH, .count = 3};
    check_pieces(&threes, 1, "abcd\u00E9fgh", "abc|d\u00E9\x66|gh");
}

static void test_byte_level(void **state)
{
    (void)state;
    const pre_step steps[] = {
        {.kind = PRE_PREFIX_SPACE},
        {.kind = PRE_SPLIT, .behavior = SPLIT_ISOLATED, .pattern = regex_of(GPT2_EXPRESSION)},
        {.kind = PRE_BYTES}};
    check_pieces(steps, COUNT_OF(steps), "We'll go  now", "\u0120We|'ll|\u0120go|\u0120|\u0120now");
    check_pieces(&steps[2], 1, "a \u00E9", "a\u0120\u00C3\u00A9");
}

/* ---- patterns ---- */
static void test_bad_patterns(void **state)
{
    (void)state;
    static const char *const bad[] = {"(", "[a", "*", "\\p{Nonsense}", "(?<n>a)\\k<m>"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        pattern *p = NULL;
        qks_error error;
        assert_fails(pattern_compile(&p, bad[i], strlen(bad[i]), &error), QKS_INVALID, &error,
                     "bad regular expression");
        assert_null(p);
    }
}

/* A pattern made to take forever ends in an error; without limits this test would not end. */
static void test_hostile_patterns(void **state)
{
    (void)state;
    static const char *const hostile[] = {"(\\p{L}+)+\\d", "(a|a)*\\d", "(\\w*)*\\d",
                                          "(.*)(.*)(.*)(.*)(.*)(.*)(.*)\\d",
                                          "(((a?){1000}){1000}){1000}\\d"};
    enum { LETTERS = 3000 };
    char letters[LETTERS];
    memset(letters, 'a', sizeof letters);
    for (size_t i = 0; i < COUNT_OF(hostile); i++) {
        pattern *p = regex_of(hostile[i]);
        search *s = NULL;
        qks_error error;
        match m = {0};
        assert_ok(search_open(&s, &error), &error);
        search_begin(s, sizeof letters);
        assert_fails(pattern_next(p, s, letters, sizeof letters, &m, &error), QKS_INVALID, &error,
                     "fails on this text");
        search_close(s);
        pattern_free(p);
    }
}

/* ---- tables ---- */
static void test_tables(void **state)
{
    (void)state;
    enum { WORDS = 5000 };
    static char names[WORDS][16];
    word_table words = {0};
    key_table keys = {0};
    qks_error error;
    assert_int_equal(word_find(&words, "x", 1), NO_ID);
    assert_true(key_find(&keys, 7) == NO_VALUE);
    for (int32_t i = 0; i < WORDS; i++) {
        (void)snprintf(names[i], sizeof names[i], "w%d", i);
        int32_t id = i;
        assert_ok(word_add(&words, names[i], strlen(names[i]), &id, &error), &error);
        assert_int_equal(id, i);
        assert_ok(key_put(&keys, (uint64_t)i << 32, (uint64_t)i, &error), &error);
    }
    int32_t again = 9999;
    assert_ok(word_add(&words, "w77", 3, &again, &error), &error);
    assert_int_equal(again, 77); /* it keeps its id */
    assert_ok(key_put(&keys, (uint64_t)77 << 32, 1234, &error), &error);
    assert_true(key_find(&keys, (uint64_t)77 << 32) == 1234); /* it takes the new value */
    assert_int_equal(words.count, WORDS);
    assert_int_equal(keys.count, WORDS);
    for (int32_t i = 0; i < WORDS; i++) {
        assert_int_equal(word_find(&words, names[i], strlen(names[i])), i);
        assert_int_equal(word_find(&words, names[i], strlen(names[i]) - 1) == i, false);
        if (i != 77)
            assert_true(key_find(&keys, (uint64_t)i << 32) == (uint64_t)i);
        assert_true(key_find(&keys, (uint64_t)i << 32 | 1) == NO_VALUE);
    }
    word_table_free(&words);
    key_table_free(&keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_behaviors),        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_byte_level),       cmocka_unit_test(test_bad_patterns),
        cmocka_unit_test(test_hostile_patterns), cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
