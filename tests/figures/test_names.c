/* Names from strangers on their way into a drawing, a script, a CSV file, an explanation. */
#include "testing.h"

#include "base/file.h"
#include "figures/names.h"
#include "figures/process.h"

#define LONG50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static void lines_are_short_and_single(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t most;
        const char *line;
    } cases[] = {
        {"S1-40K", 28, "S1-40K"},
        {"two\nlines\r\n\tand a tab ", 28, "two lines and a tab"},
        {"  \x01\x7f ", 28, "(no name)"},
        {"", 28, "(no name)"},
        {"right\xe2\x80\xaeto left", 28, "right to left"}, /* U+202E */
        {"no\xff utf", 28, "no\xef\xbf\xbd utf"},
        {"0123456789", 10, "0123456789"},
        {"0123456789a", 10, "01234…789a"},
        {"日本語モデル名", 5, "日本…ル名"},
    };
    arena a = {0};
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(name_line(&a, cases[i].name, cases[i].most), cases[i].line);
    arena_free(&a);
}

static void widths_are_those_of_the_font(void **state)
{
    (void)state;
    assert_near(name_width("0.00"), 2.24, 1e-9);
    assert_near(name_width("Wi"), 1.27, 1e-9);
    assert_true(name_width("日") > name_width("M"));
}

static void csv_cells_stay_in_their_column(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"plain", "\"plain\""},
        {"a,\"b\"", "\"a,\"\"b\"\"\""},
        {"=1+1", "\"'=1+1\""},
        {"-x", "\"'-x\""},
        {"@x", "\"'@x\""},
        {"'+x", "\"''+x\""},
        {"two\nlines", "\"two lines\""},
        {"", "\"\""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        text csv = text_new(1000);
        csv_string(&csv, cases[i][0]);
        assert_string_equal(text_string(&csv), cases[i][1]);
        text_free(&csv);
    }
}

static void csv_numbers_read_back_the_same(void **state)
{
    (void)state;
    static const double cases[] = {0, 0.1, -1.0 / 3, 1e-300, 12345678.9, 0.5873884000000001};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        text csv = text_new(1000);
        csv_number(&csv, cases[i]);
        assert_true(strtod(text_string(&csv), NULL) == cases[i]);
        text_free(&csv);
    }
    text blank = text_new(1000);
    csv_number(&blank, NAN);
    assert_string_equal(text_string(&blank), "");
    text_free(&blank);
}

static void markdown_shows_markup_as_text(void **state)
{
    (void)state;
    text out = text_new(1000);
    markdown_string(&out, "<b>*a*</b> [x](y) `c` a_b\n# d");
    assert_string_equal(text_string(&out), "\\<b\\>\\*a\\*\\</b\\> \\[x\\](y) \\`c\\` a\\_b \\# d");
    text_free(&out);
}

static void counts_have_separators(void **state)
{
    (void)state;
    arena a = {0};
    assert_string_equal(count_words(&a, 0), "0");
    assert_string_equal(count_words(&a, 999), "999");
    assert_string_equal(count_words(&a, 32390), "32,390");
    assert_string_equal(count_words(&a, 1000007), "1,000,007");
    arena_free(&a);
}

/* What gnuplot itself makes of a quoted name: the name, with ’ for ', and nothing run. */
static void gnuplot_reads_names_as_they_are(void **state)
{
    static const char *const names[] = {
        "plain",
        "it's",
        "'",
        "''",
        "''''; system \"touch pwned\"; ''",
        "a'' . system(\"touch pwned\") . ''b",
        "'; system 'touch pwned'; '",
        "`touch pwned`",
        "$(touch pwned)",
        "@macro {/Bold x} }{ # no comment",
        "ends with a backslash \\",
        "\\'",
        "50% of %s %d",
        "\"quoted\"",
        LONG50 LONG50 LONG50 LONG50 LONG50 LONG50,
    };
    const char *folder = *state;
    text script = text_new(1 << 20), expected = text_new(1 << 20), said = text_new(1 << 20);
    text_add(&script, "set print '-'\nmacro = 'WRONG'\n");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        text_add(&script, "print ");
        gnuplot_string(&script, names[i]);
        text_add(&script, "\n");
        for (const char *c = names[i]; *c; c++)
            text_append(&expected, *c == '\'' ? "’" : c, *c == '\'' ? strlen("’") : 1);
        text_add(&expected, "\n");
    }
    qks_error error;
    assert_ok(file_put(path_of(folder, "names.gp"), script.data, script.length, &error), &error);
    char *arguments[] = {"gnuplot", "-d", "names.gp", NULL};
    int code = -1;
    assert_ok(process_run(arguments, folder, &said, &code, &error), &error);
    assert_int_equal(code, 0);
    assert_string_equal(text_string(&said), text_string(&expected));
    assert_false(is_file(path_of(folder, "pwned")));
    text_free(&script);
    text_free(&expected);
    text_free(&said);
}

/* A tic's label is a printf format to gnuplot. */
static void tics_have_no_formats(void **state)
{
    (void)state;
    text out = text_new(1000);
    gnuplot_tic(&out, "50% '%s'");
    assert_string_equal(text_string(&out), "'50%% ’%%s’'");
    text_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_short_and_single),
        cmocka_unit_test(widths_are_those_of_the_font),
        cmocka_unit_test(csv_cells_stay_in_their_column),
        cmocka_unit_test(csv_numbers_read_back_the_same),
        cmocka_unit_test(markdown_shows_markup_as_text),
        cmocka_unit_test(counts_have_separators),
        cmocka_unit_test_setup_teardown(gnuplot_reads_names_as_they_are, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(tics_have_no_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
