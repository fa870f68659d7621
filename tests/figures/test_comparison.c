/* The map of differences from a published table, and what its explanation says of it. */
#include "testing.h"

#include "figures/comparison.h"

static qks_compare_row cell(const char *row, const char *column, double difference, double z)
{
    bool same = isnan(z) ? fabs(difference) <= 0.02 : fabs(z) <= 2;
    return (qks_compare_row){.row = row,
                             .column = column,
                             .ours = 0.5 + difference,
                             .published = 0.5,
                             .difference = difference,
                             .se = isnan(z) ? NAN : 0.01,
                             .z = z,
                             .verdict = same ? "agrees" : "differs"};
}

/* Sums up as compare does. */
static qks_compare_facts facts_of(const qks_compare_row *rows, size_t count)
{
    qks_compare_facts f = {.rows = rows, .cells = count};
    double within = 0, near = 0;
    for (size_t i = 0; i < count; i++) {
        bool same = strcmp(rows[i].verdict, "agrees") == 0;
        f.cells_agree += same;
        f.cells_with_se += !isnan(rows[i].z);
        within += !isnan(rows[i].z) && same;
        near += fabs(rows[i].difference) <= 0.02;
        f.mean_difference += fabs(rows[i].difference) / (double)count;
        f.max_difference = fmax(f.max_difference, fabs(rows[i].difference));
    }
    f.share_near = near / (double)count;
    f.share_within_2_se = within / (double)f.cells_with_se;
    f.verdict = (double)f.cells_agree >= 0.9 * (double)count ? "agrees" : "differs";
    return f;
}

typedef struct drawn {
    arena memory;
    canvas canvas;
    text readme;
} drawn;

static drawn draw(const qks_compare_row *rows, size_t count)
{
    qks_compare_facts facts = facts_of(rows, count);
    comparison_view v = {
        .facts = &facts, .run = "run_1", .table = "table.csv", .drawn = "qkscope 1, gnuplot 5"};
    drawn d = {.readme = text_new(1 << 20)};
    qks_error error;
    d.canvas = canvas_new(&d.memory);
    comparison_draw(&v, &d.canvas);
    comparison_readme(&v, "figure.png", &d.readme);
    assert_ok(text_status(&d.canvas.script, "figure", &error), &error);
    assert_ok(text_status(&d.canvas.data, "data", &error), &error);
    assert_ok(text_status(&d.readme, "README", &error), &error);
    return d;
}

static void draw_end(drawn *d)
{
    canvas_free(&d->canvas);
    text_free(&d->readme);
    arena_free(&d->memory);
}

static void assert_has(const text *t, const char *part, bool yes)
{
    if ((strstr(text_string(t), part) != NULL) == yes)
        return;
    print_error("it should %shave '%s':\n%s\n", yes ? "" : "not ", part, text_string(t));
    fail();
}

static void cells_stand_where_the_table_has_them(void **state)
{
    (void)state;
    const qks_compare_row rows[] = {cell("A", "0.0", 0.01, 0.5), cell("A", "0.1", -0.05, -4),
                                    cell("B", "0.1", 0, 0)};
    drawn d = draw(rows, COUNT_OF(rows));
    const char *data = text_string(&d.canvas.data);
    assert_non_null(strstr(data, "\n0,0,0.01,0.01,,0,0,\"0.0\",\"A\"\n"));
    assert_non_null(strstr(data, "\n0,1,-0.05,0.01,,0,1,\"0.1\",\"A\"\n")); /* outlined */
    assert_non_null(strstr(data, "\n1,0,,,,1,0,\"0.0\",\"B\"\n"));          /* only in one */
    assert_has(&d.canvas.script, "2 of 3 cells agree; as a whole the run differs", true);
    assert_has(&d.canvas.script, "outlined: beyond 2 standard errors'", true);
    assert_has(&d.canvas.script, "– not in both tables", true);
    assert_has(&d.canvas.script, "set cbrange [-0.05:0.05]", true);
    draw_end(&d);
}

/* Many quantities of all models together stand below one another. */
static void one_row_of_many_stands_upright(void **state)
{
    (void)state;
    static char names[20][24];
    qks_compare_row rows[COUNT_OF(names)];
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        (void)snprintf(names[i], sizeof names[i], "q%zu", i);
        rows[i] = cell("all models", names[i], 0.001, NAN);
    }
    drawn d = draw(rows, COUNT_OF(rows));
    assert_non_null(
        strstr(text_string(&d.canvas.data), "\n19,0,0.001,,,0,0,\"all models\",\"q19\"\n"));
    assert_true(d.canvas.height > d.canvas.width);
    assert_has(&d.canvas.script, "beyond 0.02, since there are no standard errors", true);
    draw_end(&d);
}

static void the_verdict_decides_the_sentence(void **state)
{
    (void)state;
    const qks_compare_row good[] = {cell("A_1", "0.0", 0.01, 0.5),
                                    cell("A_1", "0.1", -0.015, -1.5)};
    drawn d = draw(good, COUNT_OF(good));
    assert_has(&d.readme, "As a whole the run agrees with the published table: 2 of 2 cells", true);
    assert_has(&d.readme,
               "The largest difference is -0.0150 (A\\_1, 0.1: 0.4850 here, 0.5 published), z = "
               "-1.5.",
               true);
    assert_has(&d.readme, "0 of 2 cells with a standard error are beyond 2 of it", true);
    assert_has(&d.readme, "have no standard error", false);
    draw_end(&d);
    const qks_compare_row bad[] = {cell("A", "0.0", 0.1, 9), cell("A", "0.1", 0.03, NAN)};
    d = draw(bad, COUNT_OF(bad));
    assert_has(&d.readme, "the run does not agree with the published table: 0 of 2 cells", true);
    assert_has(&d.readme, "1 of 1 cells with a standard error are beyond 2 of it", true);
    assert_has(&d.readme, "1 cells have no standard error; they agree if they are within", true);
    assert_has(&d.readme, "- Run: run\\_1.", true);
    draw_end(&d);
}

static void names_stay_in_their_quotes(void **state)
{
    (void)state;
    const qks_compare_row rows[] = {cell("it's ''; system 'x'", "0.0", 0.01, 0.5),
                                    cell("`rm` \n$(x)", "0.0", 0.01, 0.5)};
    drawn d = draw(rows, COUNT_OF(rows));
    bool quoted = false;
    for (const char *c = text_string(&d.canvas.script); *c; c++) {
        if (*c == '\'')
            quoted = !quoted;
        assert_false(quoted && *c == '\n');
        assert_false(!quoted && *c == '`');
    }
    assert_false(quoted);
    draw_end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_stand_where_the_table_has_them),
        cmocka_unit_test(one_row_of_many_stands_upright),
        cmocka_unit_test(the_verdict_decides_the_sentence),
        cmocka_unit_test(names_stay_in_their_quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
