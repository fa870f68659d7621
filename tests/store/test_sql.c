/* test_sql.c: SQL over a folder of tables, printed for terminals, spreadsheets and programs. */
#include "store_testing.h"

/* What store_sql() prints; the caller frees. */
static char *answer(const bench *b, const char *sql, sql_format format)
{
    char *printed = NULL;
    size_t length = 0;
    qks_error error;
    FILE *out = open_memstream(&printed, &length);
    assert_non_null(out);
    assert_ok(store_sql(b->store, sql, format, out, &error), &error);
    assert_int_equal(fclose(out), 0);
    return printed;
}

static void assert_answer(const bench *b, const char *sql, sql_format format, const char *expected)
{
    char *printed = answer(b, sql, format);
    assert_string_equal(printed, expected);
    free(printed);
}

static const char ROWS[] = "SELECT * FROM (VALUES (1, 'one', 0.5::DOUBLE, true), "
                           "(-20, NULL, NULL, NULL), (300, 'a,\"b', 'nan'::DOUBLE, false)) "
                           "AS t(n, \"the text\", x, flag)";

static void test_formats(void **state)
{
    assert_answer(*state, ROWS, SQL_ALIGNED,
                  "  n  the text    x  flag\n"
                  "---  --------  ---  -----\n"
                  "  1  one       0.5  true\n"
                  "-20                 \n"
                  "300  a,\"b      nan  false\n"
                  "(3 rows)\n");
    assert_answer(*state, ROWS, SQL_CSV,
                  "n,the text,x,flag\n"
                  "1,one,0.5,true\n"
                  "-20,,,\n"
                  "300,\"a,\"\"b\",nan,false\n");
    assert_answer(*state, ROWS, SQL_JSON,
                  "[\n"
                  " {\"n\": 1, \"the text\": \"one\", \"x\": 0.5, \"flag\": true},\n"
                  " {\"n\": -20, \"the text\": null, \"x\": null, \"flag\": null},\n"
                  " {\"n\": 300, \"the text\": \"a,\\\"b\", \"x\": \"nan\", \"flag\": false}\n"
                  "]\n");
}

static void test_cells(void **state)
{
    static const struct {
        const char *sql;
        sql_format format;
        const char *expected;
    } cases[] = {
        {"SELECT '=1+1' AS a, '-x' AS b, -1 AS c, '''=' AS d", SQL_CSV,
         "a,b,c,d\n'=1+1,'-x,-1,''=\n"},
        {"SELECT 1 AS \"=a\", e'two\nlines' AS \"b\"\"c\"", SQL_CSV,
         "'=a,\"b\"\"c\"\n1,\"two\nlines\"\n"},
        {"SELECT e'two\nlines' AS a", SQL_ALIGNED, "a\n---------\ntwo?lines\n(1 row)\n"},
        {"SELECT e'\x01\\\\\"' AS a", SQL_JSON, "[\n {\"a\": \"\\u0001\\\\\\\"\"}\n]\n"},
        {"SELECT chr(233) AS a, 1 AS b", SQL_ALIGNED, "a  b\n-  -\n\xc3\xa9  1\n(1 row)\n"},
        {"SELECT [1, NULL] AS a, {'x': 1.50} AS b, MAP {'k': 2} AS c", SQL_CSV,
         "a,b,c\n\"[1, NULL]\",{'x': 1.50},{k=2}\n"},
        {"SELECT DATE '2020-02-29' AS a, 170141183460469231731687303715884105727 AS b", SQL_JSON,
         "[\n {\"a\": \"2020-02-29\", \"b\": 170141183460469231731687303715884105727}\n]\n"},
        {"SELECT 1 AS a WHERE false", SQL_ALIGNED, "a\n-\n(0 rows)\n"},
        {"SELECT 1 AS a WHERE false", SQL_CSV, "a\n"},
        {"SELECT 1 AS a WHERE false", SQL_JSON, "[\n]\n"},
        {"SELECT 1 AS a, 2 AS a", SQL_CSV, "a,a\n1,2\n"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_answer(*state, cases[i].sql, cases[i].format, cases[i].expected);
}

static void test_long_cell_is_cut(void **state)
{
    char *printed = answer(*state, "SELECT repeat('x', 81) AS a", SQL_ALIGNED);
    char expected[300];
    (void)snprintf(expected, sizeof expected, "a\n%.83s\n%.80s...\n(1 row)\n",
                   "-----------------------------------------------------------------------------"
                   "----------",
                   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                   "xxxxxxxxxx");
    assert_string_equal(printed, expected);
    free(printed);
}

/* Statements run in order; only the last one's rows are printed, and only if it has any. */
static void test_statements(void **state)
{
    const bench *b = *state;
    assert_answer(b,
                  "CREATE TABLE t AS SELECT range AS n FROM range(5); SELECT 'not this; one';"
                  "INSERT INTO t VALUES (7); SELECT sum(n) AS s FROM t; -- end;",
                  SQL_CSV, "s\n17\n");
    assert_answer(b, "SELECT 1; DROP TABLE t", SQL_JSON, "");
    char *many = answer(b, "SELECT range AS n FROM range(5000) ORDER BY n", SQL_CSV);
    size_t lines = 0;
    for (const char *c = many; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 5001);
    assert_non_null(strstr(many, "\n4998\n4999\n"));
    free(many);
}

static void test_faults(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *sql;
        qks_status status;
        const char *part;
    } cases[] = {
        {"", QKS_USAGE, "no statement"},
        {" -- only words", QKS_USAGE, "no statement"},
        {"SELEC 1", QKS_INVALID, "SQL: Parser Error: syntax error at or near \"SELEC\""},
        {"SELECT * FROM qk", QKS_INVALID, "SQL: Catalog Error: Table with name qk does not exist!"},
        {"SELECT 1; SELECT nothing", QKS_INVALID, "SQL: Binder Error"},
        {"SELECT error('boom' || range) FROM range(3)", QKS_INVALID, "boom0"},
        {"SET threads = 4", QKS_INVALID, "the configuration has been locked"},
        {"SET autoinstall_known_extensions = true", QKS_INVALID, "has been locked"},
        {"INSTALL httpfs", QKS_UNSUPPORTED, "INSTALL and LOAD are switched off"},
        {"LOAD httpfs", QKS_UNSUPPORTED, "INSTALL and LOAD are switched off"},
        {"SELECT * FROM 'https://127.0.0.1/x.parquet'", QKS_INVALID, "SQL: "},
        {"SELECT qkscope_rows(0, 1)", QKS_INVALID, "not for SQL"},
        {"SELECT qkscope_rows(NULL::INT, 1)", QKS_INVALID, "not for SQL"},
        {"SELECT qkscope_rows(99, 1)", QKS_INVALID, "not for SQL"},
        {"SELECT qkscope_rows('x')", QKS_INVALID, "not for SQL"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        qks_error error;
        assert_fails(store_sql(b->store, cases[i].sql, SQL_CSV, stdout, &error), cases[i].status,
                     &error, cases[i].part);
        assert_null(strchr(error.message, '\n'));
    }
    assert_answer(b, "SELECT 1 AS a", SQL_CSV, "a\n1\n"); /* the store is still good */
}

static void test_full_disk(void **state)
{
    const bench *b = *state;
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    qks_error error;
    assert_fails(store_sql(b->store, ROWS, SQL_CSV, full, &error), QKS_IO, &error,
                 "cannot write the answer: No space left");
    (void)fclose(full);
}

/* ---- a folder of tables ---- */
static void test_attach(void **state)
{
    const bench *b = *state;
    qks_error error;
    (void)put_parquet(b, "qk.parquet", "SELECT 1 AS n");
    (void)put_file(b, "qk.csv", "n\n2\n");
    (void)put_file(b, "heads.csv", "model,n\n\"a,b\",3\n");
    assert_int_equal(rename(put_parquet(b, "odd.parquet", "SELECT 4 AS n"),
                            path_of(b->folder, "it's \"odd\"; --.parquet")),
                     0);
    (void)put_file(b, ".hidden.csv", "not, a\ntable");
    (void)put_file(b, "notes.txt", "nothing");
    assert_ok(store_attach_folder(b->store, b->folder, &error), &error);
    assert_answer(b, "SELECT * FROM qk", SQL_CSV, "n\n1\n");
    assert_answer(b, "SELECT * FROM heads", SQL_CSV, "model,n\n\"a,b\",3\n");
    assert_answer(b, "SELECT * FROM \"it's \"\"odd\"\"; --\"", SQL_CSV, "n\n4\n");
    assert_answer(b, "SELECT count(*) AS n FROM duckdb_views() WHERE NOT internal", SQL_CSV,
                  "n\n3\n");
    assert_ok(store_attach_folder(b->store, b->folder, &error), &error); /* again is fine */
    assert_fails(store_attach_folder(b->store, path_of(b->folder, "none"), &error), QKS_MISSING,
                 &error, "none");
    (void)put_file(b, "broken.parquet", "PAR1");
    assert_fails(store_attach_folder(b->store, b->folder, &error), QKS_INVALID, &error,
                 "broken.parquet");
}

static void test_describe(void **state)
{
    const bench *b = *state;
    const char *paths[] = {
        put_parquet(b, "a.parquet", "SELECT 1 AS x, 'y' AS \"y z\" FROM range(3)"),
        put_file(b, "a.csv", "x,y z\n1,a\n2,b\n3,c\n"),
        put_file(b, "a.jsonl", "{\"x\":1,\"y z\":2}\n{\"x\":1}\n{\"x\":3}\n")};
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        arena a = {0};
        name_list columns = {0};
        int64_t rows = 0;
        qks_error error;
        assert_ok(table_describe(b->store, paths[i], &a, &columns, &rows, &error), &error);
        assert_int_equal(rows, 3);
        assert_int_equal(columns.length, 2);
        assert_string_equal(columns.data[0], "x");
        assert_string_equal(columns.data[1], "y z");
        free(columns.data);
        arena_free(&a);
    }
}

/* ---- the store ---- */
static void test_open(void **state)
{
    (void)state;
    store *s = NULL;
    qks_error error;
    assert_string_equal(store_version(), "v1.4.4");
    assert_fails(store_open(&s, 0, &error), QKS_USAGE, &error, "at least 1 thread");
    assert_null(s);
    store_close(NULL);
    for (int i = 0; i < 3; i++) {
        assert_ok(store_open(&s, 8, &error), &error);
        store_close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        bench_test(test_formats),    bench_test(test_cells),    bench_test(test_long_cell_is_cut),
        bench_test(test_statements), bench_test(test_faults),   bench_test(test_full_disk),
        bench_test(test_attach),     bench_test(test_describe), cmocka_unit_test(test_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
