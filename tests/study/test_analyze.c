/* The library's verbs called as another program would: options that make no sense, defaults, the
 * report. The numbers are tested through the program (tests/cli). */
#include "qkscope/analyze.h"
#include "testing.h"

static const char *const DATASET[] = {"data/analysis/dataset"};

static void test_options_out_of_range(void **state)
{
    static const qks_analyze_options cases[] = {
        {.components = -1},
        {.components = QKS_COMPONENTS_MAX + 1},
        {.context = -1},
        {.bucket = -1},
        {.groups = -2},
        {.groups = (int64_t)QKS_GROUPS_MAX + 1},
        {.pairs = -3},
        {.pairs = (int64_t)QKS_PAIRS_MAX + 1},
        {.threads = -1},
        {.threads = QKS_THREADS_MAX + 1},
        {.shape = "1/1/1", .config = "config.json"},
    };
    const char *out = path_of(*state, "out");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        qks_error error;
        assert_fails(qks_analyze(DATASET, 1, out, &cases[i], NULL, &error), QKS_USAGE, &error, "");
        assert_fails(qks_merge(DATASET, 1, out, &cases[i], &error), QKS_USAGE, &error, "");
        assert_true(strlen(error.message) > 10);
    }
    assert_int_equal(qks_analyze(DATASET, 1, out, &cases[0], NULL, NULL), QKS_USAGE);
    qks_error error;
    assert_fails(qks_analyze(NULL, 0, out, NULL, NULL, &error), QKS_USAGE, &error, "nothing");
    assert_fails(qks_merge(NULL, 0, out, NULL, &error), QKS_USAGE, &error, "nothing");
    assert_int_not_equal(access(out, F_OK), 0);
}

static void test_defaults_and_report(void **state)
{
    const char *out = path_of(*state, "a/b/tables"); /* its folders are made */
    qks_error error;
    qks_analyze_report report;
    assert_ok(qks_analyze(DATASET, 1, out, NULL, &report, &error), &error);
    assert_true(report.models == 1 && report.heads == 12 && report.heads_without_keys == 0 &&
                report.heads_flagged == 2);
    static const char *const tables[] = {"qk",         "heads",      "depth",
                                         "trajectory", "plasticity", "findings"};
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "%s.csv", tables[i]);
        assert_int_equal(access(path_of(out, name), R_OK), 0);
        (void)snprintf(name, sizeof name, "%s.parquet", tables[i]);
        assert_int_equal(access(path_of(out, name), R_OK), 0);
    }
}

/* Two inputs of one name would be two models that nobody can tell apart. */
static void test_twice_the_same_model(void **state)
{
    const char *inputs[] = {DATASET[0], DATASET[0]};
    qks_error error;
    assert_fails(qks_analyze(inputs, 2, path_of(*state, "out"), NULL, NULL, &error), QKS_INVALID,
                 &error, "two inputs are of a model called 'toy-3x4'");
}

static void test_inspect_and_sql_to_a_stream(void **state)
{
    qks_error error;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_ok(qks_inspect(DATASET[0], true, stream, &error), &error);
    assert_int_equal(fclose(stream), 0);
    json_t *facts = json_loads(text, 0, NULL);
    assert_string_equal(text_member(facts, "kind"), "captured dataset");
    assert_int_equal(whole_member(facts, "keys"), 4020);
    json_decref(facts);
    free(text);

    stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_ok(qks_sql("data/analysis/expected", "SELECT count(*) AS n FROM qk", QKS_SQL_CSV, stream,
                      &error),
              &error);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text, "n\n120\n");
    free(text);
    assert_fails(qks_sql(path_of(*state, "none"), "SELECT 1", QKS_SQL_CSV, stdout, &error),
                 QKS_MISSING, &error, "no folder of tables");
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_options_out_of_range),
        IN_SCRATCH(test_defaults_and_report),
        IN_SCRATCH(test_twice_the_same_model),
        IN_SCRATCH(test_inspect_and_sql_to_a_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
