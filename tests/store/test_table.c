/* test_table.c: arrays of structs go to CSV and Parquet and come back the same to the last bit;
 * what a spreadsheet would run is defused; files of others are read by column names and checked. */
#include "store_testing.h"

#include <float.h>
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>

typedef struct row {
    const char *name;
    int64_t count;
    double value;
    const char *note;
} row;

static const field FIELDS[] = {
    {"name", FIELD_TEXT, offsetof(row, name), true},
    {"count", FIELD_INTEGER, offsetof(row, count), true},
    {"value", FIELD_REAL, offsetof(row, value), true},
    {"note", FIELD_TEXT, offsetof(row, note), false},
};
static const record TYPE = {"things", sizeof(row), COUNT_OF(FIELDS), FIELDS};
static const int64_t BLANK = INT64_MIN;

static void assert_same_text(const char *actual, const char *expected)
{
    if (expected && *expected)
        assert_string_equal(actual, expected);
    else /* a blank and an empty text are one in a file */
        assert_true(!actual || !*actual);
}

static void assert_same_rows(const row *actual, size_t count, const row *expected, size_t n)
{
    assert_int_equal(count, n);
    for (size_t i = 0; i < n; i++) {
        assert_same_text(actual[i].name, expected[i].name);
        assert_same_text(actual[i].note, expected[i].note);
        assert_int_equal(actual[i].count, expected[i].count);
        if (isnan(expected[i].value))
            assert_true(isnan(actual[i].value));
        else
            assert_memory_equal(&actual[i].value, &expected[i].value, sizeof(double));
    }
}

static char *content_of(const char *path)
{
    char *bytes = NULL;
    size_t length = 0;
    qks_error error;
    assert_ok(file_get(path, 1 << 20, &bytes, &length, &error), &error);
    return bytes;
}

static void check_round_trip(const bench *b, const row *rows, size_t n)
{
    static const char *const files[] = {"things.csv", "things.parquet"};
    arena a = {0};
    qks_error error;
    assert_ok(table_write(b->store, &TYPE, rows, n, b->folder, &error), &error);
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        void *back = NULL;
        size_t count = 0;
        assert_ok(
            table_read(b->store, &TYPE, path_of(b->folder, files[i]), &a, &back, &count, &error),
            &error);
        assert_same_rows(back, count, rows, n);
    }
    assert_names(b->folder, "things.csv things.parquet");
    arena_free(&a);
}

/* ---- there and back ---- */
static void test_texts(void **state)
{
    static char long_text[301];
    memset(long_text, 'x', 300);
    const row rows[] = {
        {"plain", 0, 0.0, NULL},
        {"comma, quote \" and 'apostrophe'", 1, 0.0, "two\nlines\r\nand\rmore"},
        {" spaces ", 2, 0.0, "\ttab\t"},
        {"na\xc3\xafve \xe6\x96\x87\xe6\x9b\xb8 \xf0\x9f\x99\x82", 3, 0.0, ""},
        {"=1+1", 4, 0.0, "+1"},
        {"-1", 5, 0.0, "@SUM(A1)"},
        {"'=1", 6, 0.0, "''@x"},
        {"'", 7, 0.0, "'plain'"},
        {"NULL", 8, 0.0, "nan"},
        {"007", 9, 0.0, "1e5"},
        {"\"", 10, 0.0, "\"\""},
        {"</script>", 11, 0.0, "; DROP TABLE qkscope_table; --"},
        {long_text, 12, 0.0, "#comment"},
    };
    check_round_trip(*state, rows, COUNT_OF(rows));
}

static void test_numbers(void **state)
{
    const row rows[] = {
        {"zero", 0, 0.0, NULL},
        {"minus zero", -1, -0.0, NULL},
        {"tenth", INT64_MAX, 0.1, NULL},
        {"third", INT64_MIN + 1, 1.0 / 3.0, NULL},
        {"largest", 1, DBL_MAX, NULL},
        {"smallest", 2, 5e-324, NULL},
        {"next to one", 3, 1.0 + DBL_EPSILON, NULL},
        {"sixteen digits", 4, 123456789012345680.0, NULL},
        {"power", 5, 1e22, NULL},
        {"blank", BLANK, NAN, NULL},
    };
    check_round_trip(*state, rows, COUNT_OF(rows));
}

/* Bits at random: every finite double survives. More rows than one chunk of DuckDB's holds. */
static void test_any_double(void **state)
{
    enum { N = 5000 };
    static row rows[N];
    uint64_t bits = 88172645463325252;
    for (size_t i = 0; i < N; i++) {
        rows[i] = (row){i % 3 ? "a" : "b", (int64_t)i, 0, NULL};
        do {
            bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
            memcpy(&rows[i].value, &bits, sizeof bits);
        } while (!isfinite(rows[i].value));
    }
    check_round_trip(*state, rows, N);
}

static void test_no_rows(void **state)
{
    check_round_trip(*state, NULL, 0);
}

/* ---- bytes ---- */
static void test_csv_bytes(void **state)
{
    const bench *b = *state;
    const row rows[] = {
        {"a,b", 1, 0.1, NULL}, {"=x", BLANK, NAN, "it's"}, {"", -2, -1e-7, "\"q\""}};
    qks_error error;
    assert_ok(table_write(b->store, &TYPE, rows, COUNT_OF(rows), b->folder, &error), &error);
    char *first = content_of(path_of(b->folder, "things.csv"));
    assert_string_equal(first, "name,count,value,note\n"
                               "\"a,b\",1,0.1,\n"
                               "'=x,,,it's\n"
                               "\"\",-2,-1e-07,\"\"\"q\"\"\"\n");
    free(first);
}

static void test_same_bytes_again(void **state)
{
    const bench *b = *state;
    static const char *const files[] = {"things.csv", "things.parquet"};
    const row rows[] = {{"a", 1, 0.1, NULL}, {"b", 2, 1.0 / 3.0, "x"}};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        char *bytes[2] = {NULL};
        size_t length[2] = {0};
        qks_error error;
        for (int turn = 0; turn < 2; turn++) {
            assert_ok(table_write(b->store, &TYPE, rows, COUNT_OF(rows), b->folder, &error),
                      &error);
            assert_ok(file_get(path_of(b->folder, files[i]), 1 << 20, &bytes[turn], &length[turn],
                               &error),
                      &error);
        }
        assert_int_equal(length[0], length[1]);
        assert_memory_equal(bytes[0], bytes[1], length[0]);
        free(bytes[0]);
        free(bytes[1]);
    }
}

/* Skipped where the system has no locale with a decimal comma. */
static void test_decimal_comma(void **state)
{
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "es_ES.UTF-8"};
    const row rows[] = {{"a", 1, 0.5, NULL}};
    size_t i = 0;
    while (i < COUNT_OF(locales) && !setlocale(LC_ALL, locales[i]))
        i++;
    if (i == COUNT_OF(locales))
        skip();
    check_round_trip(*state, rows, COUNT_OF(rows));
    char *csv = content_of(path_of(((const bench *)*state)->folder, "things.csv"));
    setlocale(LC_ALL, "C");
    assert_string_equal(csv, "name,count,value,note\na,1,0.5,\n");
    free(csv);
}

/* ---- writing that fails ---- */
static void test_refused_writes(void **state)
{
    const bench *b = *state;
    const row good[] = {{"a", 1, 0.5, NULL}},
              infinite[] = {{"a", 1, 0.5, NULL}, {"a", 1, -INFINITY, NULL}};
    const row bad_text[] = {{"\xff", 1, 0.5, NULL}};
    qks_error error;
    assert_ok(table_write(b->store, &TYPE, good, 1, b->folder, &error), &error);
    char *before = content_of(path_of(b->folder, "things.csv"));
    assert_fails(table_write(b->store, &TYPE, infinite, 2, b->folder, &error), QKS_INVALID, &error,
                 "table things: row 2: value is infinite");
    assert_fails(table_write(b->store, &TYPE, bad_text, 1, b->folder, &error), QKS_INVALID, &error,
                 "table things: row 1: name is not UTF-8");
    const char *file = put_file(b, "file", "");
    assert_fails(table_write(b->store, &TYPE, good, 1, file, &error), QKS_IO, &error, "file");
    char *after = content_of(path_of(b->folder, "things.csv"));
    assert_string_equal(after, before);
    assert_names(b->folder, "file things.csv things.parquet");
    free(before);
    free(after);
    assert_ok(table_write(b->store, &TYPE, good, 1, path_of(b->folder, "new/folder"), &error),
              &error);
}

/* A disk that fills up: the old files stay, and nothing beside them. */
static void test_disk_full(void **state)
{
    enum { N = 20000, LIMIT = 4096 };
    const bench *b = *state;
    static row rows[N];
    const row good[] = {{"a", 1, 0.5, NULL}};
    qks_error error;
    for (size_t i = 0; i < N; i++)
        rows[i] = (row){"name", (int64_t)(i * i * 7919), 1.0 / (double)(i + 1), NULL};
    assert_ok(table_write(b->store, &TYPE, good, 1, b->folder, &error), &error);
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){LIMIT, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    qks_status status = table_write(b->store, &TYPE, rows, N, b->folder, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, QKS_IO);
    assert_non_null(strstr(error.message, "cannot write '"));
    assert_names(b->folder, "things.csv things.parquet");
    char *csv = content_of(path_of(b->folder, "things.csv"));
    assert_string_equal(csv, "name,count,value,note\na,1,0.5,\n");
    free(csv);
    assert_ok(table_write(b->store, &TYPE, rows, N, b->folder, &error), &error);
}

/* ---- files of others ---- */
static void test_foreign_csv(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *csv;
        row expected;
    } cases[] = {
        {"value,more,name,count\n1e-3,x,a,7\n", {"a", 7, 0.001, NULL}},
        {"\xef\xbb\xbfname,count,value\r\n\"a\",7,2.5\r\n", {"a", 7, 2.5, NULL}},
        {"\"name\",\"count\",\"value\",\"note\"\na,7.0,\" 2.5 \",\"n\"", {"a", 7, 2.5, "n"}},
        {"name,count,value\n,,\n", {NULL, INT64_MIN, NAN, NULL}},
        {"name,count,value\n,\"\",\"\"\n", {NULL, INT64_MIN, NAN, NULL}},
        {"name,count,value,\"x\"\"y\",x,x\na,-7,+1,,,\n", {"a", -7, 1.0, NULL}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arena a = {0};
        void *rows = NULL;
        size_t count = 0;
        qks_error error;
        const char *path = put_file(b, "things.csv", cases[i].csv);
        assert_ok(table_read(b->store, &TYPE, path, &a, &rows, &count, &error), &error);
        assert_same_rows(rows, count, &cases[i].expected, 1);
        arena_free(&a);
    }
}

static void test_foreign_parquet(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *select;
        row expected;
    } cases[] = {
        {"SELECT 0.5::FLOAT AS value, 7::TINYINT AS count, 'a' AS name, [1] AS more",
         {"a", 7, 0.5, NULL}},
        {"SELECT 3 AS value, 7.0::DOUBLE AS count, '=a' AS name", {"=a", 7, 3.0, NULL}},
        {"SELECT '2.5' AS value, '7' AS count, 12 AS name, NULL AS note", {"12", 7, 2.5, NULL}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arena a = {0};
        void *rows = NULL;
        size_t count = 0;
        qks_error error;
        const char *path = put_parquet(b, "things.parquet", cases[i].select);
        assert_ok(table_read(b->store, &TYPE, path, &a, &rows, &count, &error), &error);
        assert_same_rows(rows, count, &cases[i].expected, 1);
        arena_free(&a);
    }
}

static void test_refused_files(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *csv, *part;
    } cases[] = {
        {"", "has no header line"},
        {"\nname\n", "has no header line"},
        {"\"name", "quotes do not match"},
        {"name,count\na,1\n", "has no column value, which table things needs"},
        {"name,count,value,count\na,1,2,3\n", "two columns named count"},
        {"name,count,value\na,1,2\na,1.5,2\n", "row 2: count is '1.5', not a whole number"},
        {"name,count,value\na,9223372036854775808,2\n", "row 1: count is '9223372036854775808'"},
        {"name,count,value\na,-9223372036854775808,2\n", "row 1: count is"},
        {"name,count,value\na,x,2\n", "row 1: count is 'x'"},
        {"name,count,value\na,0x10,2\n", "row 1: count is '0x10'"},
        {"name,count,value\na,.0,2\n", "row 1: count is '.0'"},
        {"name,count,value\na,1,\"0,5\"\n", "row 1: value is '0,5', not a number"},
        {"name,count,value\na,1,2\na,1,word\n", "row 2: value is 'word', not a number"},
        {"name,count,value\na,1,nan\n", "row 1: value is 'NaN'"},
        {"name,count,value\na,1,-inf\n", "row 1: value is 'infinite'"},
        {"name,count,value\na,1,1e999\n", "row 1: value is 'infinite'"},
        {"name,count,value\na,1\n", "Expected Number of Columns: 3 Found: 2"},
        {"name,count,value\na,1,2,3\n", "Expected Number of Columns: 3 Found: 4"},
        {"name,count,value\nb,1,2\n\"a,1,2\n", "ends within quotes"},
        {"name,count,value\nb,1,2\n\"a\"x,1,2\n", "CSV Error on Line: 3"},
        {"name,count,value\n\xff,1,2\n", "not utf-8"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arena a = {0};
        void *rows = &a;
        size_t count = 1;
        qks_error error;
        const char *path = put_file(b, "things.csv", cases[i].csv);
        assert_fails(table_read(b->store, &TYPE, path, &a, &rows, &count, &error), QKS_INVALID,
                     &error, cases[i].part);
        assert_null(strchr(error.message, '\n'));
        assert_null(rows);
        assert_int_equal(count, 0);
        arena_free(&a);
    }
}

/* A table of ours says its format; one of a later qkscope is refused, one of other origin is not.
 */
static void test_formats(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *format;
        qks_status status;
    } cases[] = {{"1", QKS_OK}, {"2", QKS_UNSUPPORTED}, {"x", QKS_UNSUPPORTED}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arena a = {0};
        void *rows = NULL;
        size_t count = 0;
        char sql[512];
        qks_error error;
        const char *path = path_of(b->folder, "things.parquet");
        (void)snprintf(sql, sizeof sql,
                       "COPY (SELECT 'a' AS name, 1 AS count, 2.0 AS value) TO '%s' "
                       "(FORMAT parquet, KV_METADATA {qkscope_format: '%s'})",
                       path, cases[i].format);
        assert_ok(store_sql(b->store, sql, SQL_CSV, stderr, &error), &error);
        qks_status status = table_read(b->store, &TYPE, path, &a, &rows, &count, &error);
        check_status_(status, cases[i].status, &error, cases[i].format, __FILE__, __LINE__);
        if (status != QKS_OK)
            check_message_(&error, "another format than 1", "table_read", __FILE__, __LINE__);
        arena_free(&a);
    }
    arena a = {0};
    void *rows = NULL;
    size_t count = 0;
    qks_error error;
    const row one = {"a", 1, 2.0, NULL};
    assert_ok(table_write(b->store, &TYPE, &one, 1, b->folder, &error), &error);
    FILE *out = fopen(path_of(b->folder, "metadata.csv"), "w+");
    char sql[512], answer[64] = "";
    assert_non_null(out);
    (void)snprintf(sql, sizeof sql,
                   "SELECT decode(value) FROM parquet_kv_metadata('%s') WHERE decode(key) = "
                   "'qkscope_format'",
                   path_of(b->folder, "things.parquet"));
    assert_ok(store_sql(b->store, sql, SQL_CSV, out, &error), &error);
    rewind(out);
    assert_true(fread(answer, 1, sizeof answer - 1, out) > 0);
    (void)fclose(out);
    assert_non_null(strstr(answer, "\n1\n"));
    assert_ok(table_read(b->store, &TYPE, path_of(b->folder, "things.parquet"), &a, &rows, &count,
                         &error),
              &error);
    arena_free(&a);
}

static void test_refused_paths(void **state)
{
    const bench *b = *state;
    arena a = {0};
    void *rows = NULL;
    size_t count = 0;
    qks_error error;
    assert_fails(
        table_read(b->store, &TYPE, path_of(b->folder, "none.csv"), &a, &rows, &count, &error),
        QKS_MISSING, &error, "there is no file");
    assert_fails(table_read(b->store, &TYPE, put_file(b, "x.txt", "a"), &a, &rows, &count, &error),
                 QKS_UNSUPPORTED, &error, "neither a .csv nor a .parquet");
    assert_fails(
        table_read(b->store, &TYPE, put_file(b, "x.parquet", "PAR1"), &a, &rows, &count, &error),
        QKS_INVALID, &error, "x.parquet");
    arena_free(&a);
}

/* A column's text that repeats, as a model's name does, is kept once. */
static void test_repeated_text(void **state)
{
    const bench *b = *state;
    arena a = {0};
    void *rows = NULL;
    size_t count = 0;
    qks_error error;
    const char *path = put_file(b, "things.csv",
                                "name,count,value\nab,1,1\nab,2,2\na,3,3\nab,4,4\n");
    assert_ok(table_read(b->store, &TYPE, path, &a, &rows, &count, &error), &error);
    const row *r = rows;
    assert_int_equal(count, 4);
    assert_ptr_equal(r[0].name, r[1].name);
    assert_string_equal(r[1].name, "ab");
    assert_string_equal(r[2].name, "a");
    assert_string_equal(r[3].name, "ab");
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        bench_test(test_texts),         bench_test(test_numbers),
        bench_test(test_any_double),    bench_test(test_no_rows),
        bench_test(test_csv_bytes),     bench_test(test_same_bytes_again),
        bench_test(test_decimal_comma), bench_test(test_refused_writes),
        bench_test(test_foreign_csv),   bench_test(test_foreign_parquet),
        bench_test(test_refused_files), bench_test(test_refused_paths),
        bench_test(test_formats),       bench_test(test_repeated_text),
        bench_test(test_disk_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
