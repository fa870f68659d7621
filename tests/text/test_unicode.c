/* test_unicode.c: UTF-8 decoded, character classes, normal forms. */
#include "testing.h"

#include "base/utf8.h"
#include "text/normal_form.h"
#include "text/unicode.h"

static void test_decode_and_encode(void **state)
{
    (void)state;
    static const uint32_t characters[] = {0,      'a',    0x7F,   0x80,    0x7FF,   0x800,
                                          0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x1F600, 0x10FFFF};
    for (size_t i = 0; i < COUNT_OF(characters); i++) {
        char bytes[1 + UTF8_MAX] = "x";
        size_t size = 0, length = utf8_encode(characters[i], bytes + 1);
        assert_int_equal(utf8_decode(bytes + 1, &size), characters[i]);
        assert_int_equal(size, length);
        assert_int_equal(utf8_decode_before(bytes, 1 + length, &size), characters[i]);
        assert_int_equal(size, length);
        assert_int_equal(utf8_size(bytes[1]), length);
    }
}

static void test_classes(void **state)
{
    (void)state;
    enum { SPACE = 1, NUMBER = 2, WORD = 4, PUNCTUATION = 8, MARK = 16 };
    static const struct {
        uint32_t character;
        unsigned classes;
    } cases[] = {
        {'a', WORD},
        {'_', WORD | PUNCTUATION},
        {'7', NUMBER | WORD},
        {' ', SPACE},
        {'\n', SPACE},
        {0x1C, 0},
        {'+', PUNCTUATION}, /* ASCII's, though a symbol */
        {0xBD, NUMBER},     /* a half */
        {0x2167, NUMBER | WORD},
        {0x0301, WORD | MARK},
        {0x1DF6, WORD}, /* a mark since Unicode 10 */
        {0x200D, WORD},
        {0x200B, 0},
        {0x24B6, WORD}, /* circled A */
        {0x3000, SPACE},
        {0x2014, PUNCTUATION},
        {0x2E52, 0}, /* punctuation since Unicode 14 */
        {0x20AC, 0},
        {0x4E00, WORD},
        {0x1F600, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint32_t c = cases[i].character;
        unsigned classes = (is_white_space(c) ? SPACE : 0) | (is_numeric(c) ? NUMBER : 0) |
                           (is_word(c) ? WORD : 0) | (is_punctuation(c) ? PUNCTUATION : 0) |
                           (is_combining_mark(c) ? MARK : 0);
        if (classes != cases[i].classes)
            fail_msg("U+%04X is of classes %u, expected %u", c, classes, cases[i].classes);
    }
}

static void test_lowercase(void **state)
{
    (void)state;
    uint32_t out[LOWERCASE_MAX];
    assert_int_equal(lowercase_of('A', out), 1);
    assert_int_equal(out[0], 'a');
    assert_int_equal(lowercase_of(0x3A3, out), 1);
    assert_int_equal(out[0], 0x3C3);
    assert_int_equal(lowercase_of(0x130, out), 2);
    assert_int_equal(out[0], 'i');
    assert_int_equal(out[1], 0x307);
}

static void test_shown(void **state)
{
    (void)state;
    char out[SHOWN_SIZE], text[200];
    assert_string_equal(shown("a\n\"b\"\x7F", 6, out), "a?\"b\"?");
    assert_string_equal(shown("a\0b", 3, out), "a?b");
    assert_string_equal(shown("", 0, out), "");
    memset(text, 'x', sizeof text);
    assert_int_equal(strlen(shown(text, sizeof text, out)), SHOWN_SIZE - 4);
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 ? '\xA9' : '\xC3';
    const char *cut = shown(text, sizeof text, out); /* between two characters */
    assert_true(utf8_valid(cut, strlen(cut)));
}

/* ---- normal forms; expected by tokenizers 0.23.3 ---- */
static const struct {
    const char *text, *forms[4]; /* NFC, NFD, NFKC, NFKD */
} FORMS[] = {
    {"plain", {"plain", "plain", "plain", "plain"}},
    {"e\u0301", {"\u00E9", "e\u0301", "\u00E9", "e\u0301"}},
    {"\u00E9", {"\u00E9", "e\u0301", "\u00E9", "e\u0301"}},
    {"\u1E9B\u0323", {"\u1E9B\u0323", "\u017F\u0323\u0307", "\u1E69", "s\u0323\u0307"}},
    {"\uFB01", {"\uFB01", "\uFB01", "fi", "fi"}},
    {"\u1100\u1161\u11A8", {"\uAC01", "\u1100\u1161\u11A8", "\uAC01", "\u1100\u1161\u11A8"}},
    {"a\u0301\u0323", {"\u1EA1\u0301", "a\u0323\u0301", "\u1EA1\u0301", "a\u0323\u0301"}},
    {"\u212B", {"\u00C5", "A\u030A", "\u00C5", "A\u030A"}},
    {"\u0958", {"\u0915\u093C", "\u0915\u093C", "\u0915\u093C", "\u0915\u093C"}}, /* excluded */
    {"\u0301\u0323a", {"\u0323\u0301a", "\u0323\u0301a", "\u0323\u0301a", "\u0323\u0301a"}},
    {"\u09C7\u09BE", {"\u09CB", "\u09C7\u09BE", "\u09CB", "\u09C7\u09BE"}}, /* two starters */
    {"a\u1DF6\u0323", /* the mark is newer than the library's Unicode 9 */
     {"a\u1DF6\u0323", "a\u1DF6\u0323", "a\u1DF6\u0323", "a\u1DF6\u0323"}},
};

static void test_normal_forms(void **state)
{
    (void)state;
    normal_form_scratch scratch = {0};
    qks_error error;
    for (size_t i = 0; i < COUNT_OF(FORMS); i++)
        for (size_t form = 0; form < 4; form++) {
            text out = text_new(1000);
            size_t head = 99;
            stretch in = {FORMS[i].text, strlen(FORMS[i].text), 0};
            assert_ok(normal_form_append(&out, in, (normal_form)form, &head, &scratch, &error),
                      &error);
            assert_string_equal(text_string(&out), FORMS[i].forms[form]);
            assert_int_equal(head, 0);
            text_free(&out);
        }
    free(scratch.marks.data);
    free(scratch.sorted.data);
}

/* What comes of the first character: all its parts, and what it joins. */
static void test_normal_form_head(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t head;
        normal_form form;
        size_t expected;
    } cases[] = {
        {"ab", 1, FORM_NFD, 1},       {"\u00E9b", 2, FORM_NFD, 3},  {"e\u0301b", 1, FORM_NFC, 2},
        {"\uFB01b", 3, FORM_NFKC, 2}, {"bb\u00E9", 1, FORM_NFD, 1},
    };
    normal_form_scratch scratch = {0};
    qks_error error;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        text out = text_new(1000);
        size_t head = 0;
        stretch in = {cases[i].text, strlen(cases[i].text), cases[i].head};
        assert_ok(normal_form_append(&out, in, cases[i].form, &head, &scratch, &error), &error);
        assert_int_equal(head, cases[i].expected);
        text_free(&out);
    }
    free(scratch.marks.data);
    free(scratch.sorted.data);
}

/* Many marks on one letter are sorted in time that is no square of their number. */
static void test_many_marks(void **state)
{
    (void)state;
    enum { MARKS = 200000 };
    static const char *const TWO[] = {"\u0301", "\u0323"}; /* above (230), below (220) */
    text in = text_new(1 << 20), out = text_new(1 << 20);
    normal_form_scratch scratch = {0};
    qks_error error;
    size_t head = 0;
    text_add(&in, "q");
    for (size_t i = 0; i < MARKS; i++)
        text_add(&in, TWO[i % 2]);
    stretch whole = {in.data, in.length, 0};
    assert_ok(normal_form_append(&out, whole, FORM_NFC, &head, &scratch, &error), &error);
    assert_int_equal(out.length, in.length);
    assert_memory_equal(out.data, "q\u0323\u0323", 5);
    assert_memory_equal(out.data + out.length - 4, "\u0301\u0301", 4);
    text_free(&in);
    text_free(&out);
    free(scratch.marks.data);
    free(scratch.sorted.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode_and_encode), cmocka_unit_test(test_classes),
        cmocka_unit_test(test_lowercase),         cmocka_unit_test(test_shown),
        cmocka_unit_test(test_normal_forms),      cmocka_unit_test(test_normal_form_head),
        cmocka_unit_test(test_many_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
