/* Figures on disk, drawn by the real gnuplot and by stand-ins that fail in every way it can. */
#include "testing.h"

#include "base/file.h"
#include "base/text.h"
#include "figures/fonts.h"
#include "figures/gnuplot.h"
#include "qkscope/figures.h"

#include <locale.h>
#include <sys/stat.h>

enum { BINS = 10, ROWS_MOST = 40 };
static const double TOLERANCE = 1e-9; /* tables behind figures */

#define STUDIES "data/analysis/figures/"

static char *read_all(const char *path)
{
    char *bytes = NULL;
    size_t length = 0;
    qks_error error;
    assert_ok(file_get(path, 1 << 26, &bytes, &length, &error), &error);
    return bytes;
}

/* ---- numbers ---- */

typedef struct cells {
    char names[ROWS_MOST][64];
    double values[ROWS_MOST][BINS];
    size_t count;
} cells;

/* model,0.0,...,0.9 */
static void read_expected(cells *c, const char *path)
{
    char *bytes = read_all(path), *rest = NULL;
    c->count = 0;
    (void)strtok_r(bytes, "\n", &rest);
    for (char *line = strtok_r(NULL, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *cell = NULL;
        (void)snprintf(c->names[c->count], sizeof c->names[0], "%s", strtok_r(line, ",", &cell));
        for (int bin = 0; bin < BINS; bin++)
            c->values[c->count][bin] = strtod(strtok_r(NULL, ",", &cell), NULL);
        c->count++;
    }
    free(bytes);
}

static void check_data(const char *path, const cells *expected)
{
    char *bytes = read_all(path), *rest = NULL;
    size_t lines = 0;
    (void)strtok_r(bytes, "\n", &rest);
    for (char *line = strtok_r(NULL, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *at = line, *name = strrchr(line, ',');
        size_t row = strtoul(at, &at, 10), bin = strtoul(at + 1, &at, 10);
        double value = strtod(at + 1, &at);
        assert_true(*at == ',' && row < expected->count && bin < BINS);
        char quoted[80];
        (void)snprintf(quoted, sizeof quoted, ",\"%s\"", expected->names[row]);
        assert_string_equal(name, quoted);
        assert_near(value, expected->values[row][bin], TOLERANCE);
        lines++;
    }
    assert_int_equal(lines, expected->count * BINS);
    free(bytes);
}

/* A text of the drawing with two decimals, which only cells have; NULL: there is no more. */
static const char *next_number(char **at, double *value)
{
    static const char minus[] = "\u2212";
    for (char *found = strstr(*at, "<text>"); found; found = strstr(found, "<text>")) {
        found += strlen("<text>");
        bool negative = strncmp(found, minus, strlen(minus)) == 0;
        const char *digits = found + (negative ? strlen(minus) : 0);
        char *end = NULL;
        *value = strtod(digits, &end) * (negative ? -1 : 1);
        *at = found;
        if (*digits != ' ' && end == digits + 4 && strncmp(end, "</text>", 7) == 0)
            return digits;
    }
    return NULL;
}

/* The numbers on the cells are these, no more and no fewer, row by row. */
static void check_printed(const char *path, const cells *expected)
{
    char *svg = read_all(path), *at = svg;
    double printed = NAN;
    for (size_t row = 0; row < expected->count; row++)
        for (int bin = 0; bin < BINS; bin++) {
            double value = expected->values[row][bin];
            if (isnan(value))
                continue;
            assert_non_null(next_number(&at, &printed));
            assert_near(printed, value, 0.005 + TOLERANCE);
        }
    assert_null(next_number(&at, &printed));
    free(svg);
}

static void heatmaps_print_the_expected_numbers(void **state)
{
    static const struct {
        const char *study, *expected, *folder;
    } cases[] = {
        {"models_synthetic", "depth_rq.csv", "03-layer_heatmap_rq"},
        {"models_synthetic", "depth_rk.csv", "04-layer_heatmap_rk"},
        {"training_synthetic", "depth_rq.csv", "10-layer_heatmap_rq"},
        {"training_synthetic", "depth_rk.csv", "11-layer_heatmap_rk"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *study = path_of("data/analysis/figures", cases[i].study);
        qks_figures_options options = {.study = path_of(study, "study.csv"),
                                       .only = cases[i].folder + 3,
                                       .formats = "svg",
                                       .threads = 1};
        qks_figures_report report;
        qks_error error;
        cells expected;
        assert_ok(qks_figures(path_of(study, "qk.csv"), *state, &options, &report, &error), &error);
        assert_int_equal(report.drawn, 1);
        read_expected(&expected, path_of(path_of(study, "expected"), cases[i].expected));
        const char *folder = path_of(*state, cases[i].folder);
        check_data(path_of(folder, "data.csv"), &expected);
        check_printed(path_of(folder, "figure.svg"), &expected);
    }
}

/* ---- a locale with a decimal comma ---- */

static void decimal_points_are_points(void **state)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
        skip();
    qks_figures_options options = {
        .study = STUDIES "models_synthetic/study.csv", .only = "5", .formats = "svg"};
    qks_error error;
    assert_ok(qks_figures(STUDIES "models_synthetic/qk.csv", *state, &options, NULL, &error),
              &error);
    assert_string_equal(localeconv()->decimal_point, ",");
    char *script = read_all(path_of(path_of(*state, "05-explained_variance"), "figure.gp"));
    assert_null(strstr(script, "0,"));
    free(script);
    (void)setlocale(LC_ALL, "C");
}

/* ---- gnuplots that fail ---- */

/* A folder with a `gnuplot` of our own as the whole PATH. */
static void stand_in(const char *folder, const char *script)
{
    qks_error error;
    const char *path = path_of(folder, "gnuplot");
    assert_ok(file_put(path, script, strlen(script), &error), &error);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(setenv("PATH", folder, 1), 0);
}

static char *path_before;

static int path_setup(void **state)
{
    const char *path = getenv("PATH");
    path_before = path ? strdup(path) : NULL;
    return path_before ? scratch_setup(state) : -1;
}

static int path_teardown(void **state)
{
    (void)setenv("PATH", path_before, 1);
    free(path_before);
    return scratch_teardown(state);
}

static void a_missing_gnuplot_is_told_with_how_to_get_it(void **state)
{
    char version[GNUPLOT_VERSION_SIZE];
    qks_error error;
    assert_int_equal(setenv("PATH", *state, 1), 0);
    assert_fails(gnuplot_version(version, &error), QKS_MISSING, &error, "apt install gnuplot-nox");
}

static void failures_of_gnuplot_are_told(void **state)
{
    static const struct {
        const char *script;
        qks_status status;
        const char *part;
    } cases[] = {
        {"#!/bin/sh\necho 'no such\nterminal' >&2\nexit 1\n", QKS_INTERNAL,
         "exit code 1): no such terminal"},
        {"#!/bin/sh\nexit 4\n", QKS_INTERNAL, "exit code 4): it says nothing"},
        {"#!/bin/sh\nkill -SEGV $$\n", QKS_IO, "signal 11"},
        {"#!/bin/sh\necho warning: empty range\nexit 0\n", QKS_INTERNAL,
         "gnuplot says: warning: empty range"},
        {"#!/bin/sh\nexit 0\n", QKS_IO, "gnuplot drew no figure.png"},
        {"#!/bin/sh\necho 'cut off in the middle of it' > figure.png\n", QKS_IO,
         "figure.png is cut off"},
        {"#!/bin/sh\nprintf '%s' 'long enough, and an end: IEND....' > figure.png\n", QKS_OK, ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        qks_error error = {QKS_OK, ""};
        stand_in(*state, cases[i].script);
        assert_fails(gnuplot_draw(*state, "png", &error), cases[i].status, &error, cases[i].part);
    }
}

/* One figure fails, the others are drawn, and nothing half-drawn stays behind. */
static void one_failure_does_not_stop_the_others(void **state)
{
    stand_in(*state, "#!/bin/sh\n[ \"$1\" = --version ] && { echo gnuplot 9; exit 0; }\n"
                     "case $PWD in *pc_roles*) echo boom >&2; exit 1;; esac\n"
                     "printf '%s' '<svg>........................</svg>' > figure.svg\n");
    const char *out = path_of(*state, "figures");
    qks_figures_options options = {.study = STUDIES "models_synthetic/study.csv", .formats = "svg"};
    qks_figures_report report;
    qks_error error;
    assert_fails(qks_figures(STUDIES "models_synthetic/qk.csv", out, &options, &report, &error),
                 QKS_PARTIAL, &error, "1 of 5 figures failed; 01-pc_roles: gnuplot failed");
    assert_int_equal(report.drawn, 4);
    assert_int_equal(report.failed, 1);
    assert_int_equal(report.left_out, 1);
    assert_non_null(strstr(report.notes, "figure 6, collage, is left out"));
    assert_true(is_file(path_of(out, "02-rq_rk_scatter/figure.svg")));
    assert_true(is_file(path_of(out, "01-pc_roles/figure.gp")));
    assert_false(is_file(path_of(out, "01-pc_roles/figure.svg")));
    arena a = {0};
    name_list names = {0};
    assert_ok(folder_list(&a, out, &names, &error), &error);
    assert_int_equal(names.length, 5); /* no temporary folder */
    free(names.data);
    arena_free(&a);
}

/* ---- fonts ---- */

static void characters_without_a_font_become_boxes(void **state)
{
    qks_error error;
    text script = text_new(1000);
    assert_int_equal(setenv("PATH", *state, 1), 0); /* no fc-list: nothing is known */
    text_add(&script, "set label 'Grüße – ± Ωλ日本 🌍'");
    assert_ok(fonts_check(&script, &error), &error);
    assert_string_equal(text_string(&script), "set label 'Grüße – ± Ωλ□□ □'");
    text_free(&script);
    script = text_new(1000);
    const char *list = path_of(*state, "fc-list");
    const char *says = "#!/bin/sh\necho '20-7e 65e5 1f300-1f3ff'\n";
    assert_ok(file_put(list, says, strlen(says), &error), &error);
    assert_int_equal(chmod(list, 0755), 0);
    text_add(&script, "日本 🌍");
    assert_ok(fonts_check(&script, &error), &error);
    assert_string_equal(text_string(&script), "日□ 🌍");
    text_free(&script);
}

#define path_test(function) cmocka_unit_test_setup_teardown(function, path_setup, path_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        path_test(heatmaps_print_the_expected_numbers),
        path_test(decimal_points_are_points),
        path_test(a_missing_gnuplot_is_told_with_how_to_get_it),
        path_test(failures_of_gnuplot_are_told),
        path_test(one_failure_does_not_stop_the_others),
        path_test(characters_without_a_font_become_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
