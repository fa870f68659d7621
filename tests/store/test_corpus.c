/* test_corpus.c: rows of text and of token ids from Parquet, CSV and JSON files, in file order,
 * with the reference's example ids. */
#include "store_testing.h"

#include "store/corpus.h"
#include "store/example_id.h"

/* Rows as lines "id|example_id|text" or "id|example_id|[1 2]". */
static qks_status note(void *context, const corpus_row *row, qks_error *error)
{
    text *lines = context;
    (void)error;
    text_addf(lines, "%s|%lld|", row->id, (long long)row->example_id);
    assert_true((row->text != NULL) != (row->ids != NULL));
    if (row->text)
        text_append(lines, row->text, row->text_length);
    for (size_t i = 0; row->ids && i < row->n_ids; i++)
        text_addf(lines, "%s%d", i ? " " : "[", row->ids[i]);
    text_add(lines, row->text ? "\n" : row->n_ids ? "]\n" : "[]\n");
    return QKS_OK;
}

static void assert_rows(const char *path, const corpus_options *options, const char *expected,
                        size_t length)
{
    text lines = text_new(1 << 20);
    qks_error error;
    assert_ok(corpus_scan(path, options, note, &lines, &error), &error);
    assert_int_equal(lines.length, length);
    assert_memory_equal(text_string(&lines), expected, length);
    text_free(&lines);
}

static void assert_refused(const char *path, const corpus_options *options, qks_status status,
                           const char *part)
{
    text lines = text_new(1 << 20);
    qks_error error;
    assert_fails(corpus_scan(path, options, note, &lines, &error), status, &error, part);
    assert_null(strchr(error.message, '\n'));
    text_free(&lines);
}

#define HASH_42 "8820412187630416983"
#define HASH_NONE "25992921519320915"

/* ---- JSON lines ---- */
static void test_jsonl(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *file, *content, *expected;
    } cases[] = {
        {"a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"\"}\n{\"text\": null}\n",
         "0|0|one\n1|1|\n2|2|\n"},
        {"a.jsonl", "{\"id\": 42, \"text\": \"t\\u00e9\\n\"}\n{\"text\": \"x\", \"id\": \"42\"}",
         "42|42|t\xc3\xa9\n\n42|" HASH_42 "|x\n"},
        {"a.ndjson",
         "{\"id\": 3.0, \"text\": \"\"}\n\n{\"id\": null, \"text\": \"\"}\n"
         "{\"text\": \"\"}\n{\"id\": -9223372036854775808, \"text\": \"\"}\n",
         "3.0|3|\nNone|" HASH_NONE "|\nNone|" HASH_NONE "|\n"
         "-9223372036854775808|-9223372036854775808|\n"},
        {"a.jsonl", "{\"input_ids\": [1, 2, 2147483647], \"text\": \"x\"}\n{\"input_ids\": []}\n",
         "0|0|[1 2 2147483647]\n1|1|[]\n"},
        {"a.jsonl", "{\"id\": 1, \"body\": \"only text\", \"n\": 5, \"l\": [\"x\"]}",
         "1|1|only text\n"},
        {"a.json", "[{\"text\": \"one\"},\n {\"text\": \"two\"}]", "0|0|one\n1|1|two\n"},
        {"a.json", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n", "0|0|one\n1|1|two\n"},
        {"a.jsonl", "", ""},
        {"a.JSONL", "{\"text\": \"any case\"}", "0|0|any case\n"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_rows(put_file(b, cases[i].file, cases[i].content), NULL, cases[i].expected,
                    strlen(cases[i].expected));
}

/* Numbers that are no 64-bit integers go by their text; NUL is a character as any other. */
static void test_jsonl_corners(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *id, *shown;
    } ids[] = {{"0.5", "0.5"},
               {"1e22", "1e+22"},
               {"9223372036854775808", "9223372036854775808"},
               {"-123456789012345678901234567890", "-123456789012345678901234567890"},
               {"\"na\\u00efve \\\"x\\\"\"", "na\xc3\xafve \"x\""}};
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        char line[200], expected[200];
        (void)snprintf(line, sizeof line, "{\"id\": %s, \"text\": \"a\\u0000b\"}\n", ids[i].id);
        int length = snprintf(expected, sizeof expected, "%s|%lld|a%cb\n", ids[i].shown,
                              (long long)example_id_of_text(ids[i].shown, strlen(ids[i].shown)),
                              '\0');
        assert_rows(put_file(b, "a.jsonl", line), NULL, expected, (size_t)length);
    }
}

static void test_refused_json(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *content;
        qks_status status;
        const char *part;
    } cases[] = {
        {"{\"text\": \"a\"}\n{\"text\": \"b\n", QKS_INVALID, "Malformed JSON"},
        {"{\"text\": \"a\"}\n[1]\n", QKS_INVALID, "Expected OBJECT"},
        {"[{\"text\": \"a\"}]\n", QKS_INVALID, "read from a .json file"},
        {"5\n\"x\"\n", QKS_INVALID, "does not hold JSON objects"},
        {"{\"id\": true, \"text\": \"a\"}\n", QKS_INVALID, "row 1: the id is neither"},
        {"{\"id\": 1, \"text\": \"a\"}\n{\"id\": {\"x\": 1}, \"text\": \"a\"}\n", QKS_INVALID,
         "row 2: the id is neither"},
        {"{\"a\": \"x\", \"b\": \"y\"}\n", QKS_MISSING, "its columns are: a, b"},
        {"{\"a\": 1}\n", QKS_MISSING, "has no text column"},
        {"{\"input_ids\": [1]}\n{\"input_ids\": [1, 2.5]}\n", QKS_INVALID, "row 2: input_ids"},
        {"{\"input_ids\": [-1]}\n", QKS_INVALID, "row 1: input_ids are out of range"},
        {"{\"input_ids\": [2147483648]}\n", QKS_INVALID, "row 1: input_ids are out of range"},
        {"{\"input_ids\": [1]}\n{\"input_ids\": [null]}\n", QKS_INVALID, "row 2: input_ids"},
        {"{\"input_ids\": [1]}\n{\"text\": \"a\"}\n", QKS_INVALID, "row 2: input_ids are missing"},
        {"{\"input_ids\": [1]}\n{\"input_ids\": [\"x\"]}\n", QKS_INVALID, "row 2: input_ids"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_refused(put_file(b, "a.jsonl", cases[i].content), NULL, cases[i].status,
                       cases[i].part);
}

/* ---- texts that are not UTF-8 come as bytes that are not; their neighbours come whole ---- */
static void test_not_utf8(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *file, *content, *expected;
    } cases[] = {
        {"a.jsonl", "{\"text\": \"\u00e9\"}\n{\"text\": \"b\xff\"}\n{\"text\": \"c\"}\n",
         "0|0|\u00e9\n1|1|\xff\n2|2|c\n"},
        {"a.jsonl", "{\"text\": \"a\", \"other\": \"\xed\xa0\x80\"}\n", "0|0|a\n"},
        {"a.json", "[{\"text\": \"\xe2\x82\"}, {\"text\": \"b\"}]", "0|0|\xff\n1|1|b\n"},
        /* half of a surrogate pair; a whole one; a backslash before the letter u */
        {"a.jsonl", "{\"text\": \"a\\ud83d\"}\n{\"text\": \"\\ude00b\"}\n{\"text\": \"c\"}\n",
         "0|0|\xff\n1|1|\xff\n2|2|c\n"},
        {"a.jsonl", "{\"text\": \"\\ud83d\\ud83d\\ude00\"}\n{\"text\": \"\\uD83D\\uDE00\"}\n",
         "0|0|\xff\n1|1|\U0001F600\n"},
        {"a.jsonl", "{\"text\": \"\\\\ud83d\", \"o\": \"\\ud83d\"}\n", "0|0|\\ud83d\n"},
        {"a.csv", "id,text\n1,a\n2,\"b\xff,\"\n3,c\n", "1|1|a\n2|2|\xff\n3|3|c\n"},
        {"a.csv", "text\na\n\xf0\x9f\x98", "0|0|a\n1|1|\xff\n"}, /* cut off */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_rows(put_file(b, cases[i].file, cases[i].content), NULL, cases[i].expected,
                    strlen(cases[i].expected));
}

/* Characters that lie across the blocks in which the file is read. */
static void test_not_utf8_at_block_ends(void **state)
{
    enum { LINES = 200000 };
    const bench *b = *state;
    text csv = text_new(64 << 20), expected = text_new(64 << 20);
    text_add(&csv, "text\n");
    for (int i = 0; i < LINES; i++) {
        const char *line = i == LINES / 2 ? "\xe2\x82" : "\u20ac\u20ac";
        text_addf(&csv, "%s\n", line);
        text_addf(&expected, "%d|%d|%s\n", i, i, i == LINES / 2 ? "\xff" : line);
    }
    const char *path = put_file(b, "a.csv", text_string(&csv));
    text lines = text_new(64 << 20);
    qks_error error;
    assert_ok(corpus_scan(path, NULL, note, &lines, &error), &error);
    assert_string_equal(text_string(&lines), text_string(&expected));
    text_free(&csv);
    text_free(&expected);
    text_free(&lines);
}

/* Pairs of escapes across the blocks, and one half at the file's very end. */
static void test_escapes_at_block_ends(void **state)
{
    enum { LINES = 100000, PAIRS = 3 };
    const bench *b = *state;
    text json = text_new(64 << 20), expected = text_new(64 << 20);
    for (int i = 0; i < LINES; i++) {
        text_addf(&json, "{\"text\": \"%.*s", i % 5, "xxxxx");
        text_addf(&expected, "%d|%d|%.*s", i, i, i % 5, "xxxxx");
        for (int pair = 0; pair < PAIRS; pair++) {
            text_add(&json, "\\ud83d\\ude00");
            text_add(&expected, "\U0001F600");
        }
        text_add(&json, "\"}\n");
        text_add(&expected, "\n");
    }
    text_add(&json, "{\"text\": \"\\ud83d\"}");
    text_addf(&expected, "%d|%d|\xff\n", LINES, LINES);
    const char *path = put_file(b, "a.jsonl", text_string(&json));
    text lines = text_new(64 << 20);
    qks_error error;
    assert_ok(corpus_scan(path, NULL, note, &lines, &error), &error);
    assert_string_equal(text_string(&lines), text_string(&expected));
    text_free(&json);
    text_free(&expected);
    text_free(&lines);
}

/* A line longer than DuckDB's usual bound on an object (16 MB). */
static void test_long_line(void **state)
{
    enum { LENGTH = 20 << 20 };
    const bench *b = *state;
    text json = text_new(2 * (size_t)LENGTH);
    text_add(&json, "{\"text\": \"");
    for (int i = 0; i < LENGTH / 8; i++)
        text_append(&json, "xxxxxxxx", 8);
    text_add(&json, "\"}\n{\"text\": \"y\"}\n");
    const char *path = put_file(b, "a.jsonl", text_string(&json));
    text_free(&json);
    text lines = text_new(2 * (size_t)LENGTH);
    qks_error error;
    assert_ok(corpus_scan(path, NULL, note, &lines, &error), &error);
    assert_int_equal(lines.length, strlen("0|0|\n") + LENGTH + strlen("1|1|y\n"));
    text_free(&lines);
}

/* ---- CSV ---- */
static void test_csv(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *content, *expected;
    } cases[] = {
        {"text\none\n\"two, \"\"quoted\"\"\nlines\"\n", "0|0|one\n1|1|two, \"quoted\"\nlines\n"},
        {"id,text\n7,a\n-8,\n", "7|7|a\n-8|-8|\n"},
        {"id,text\n007,a\n+8,b\n-0,c\n", "7|7|a\n8|8|b\n0|0|c\n"},
        {"text,id\na,3.0\nb,7\n", "3.0|3|a\n7|7|b\n"},
        {"id,text\n42,a\nx,b\n", "42|" HASH_42 "|a\nx|5717441744405258058|b\n"},
        {"id,text\n,a\n5,b\n", "None|" HASH_NONE "|a\n5|5|b\n"},
        {"id,words\n1,only text\n", "1|1|only text\n"},
        {"input_ids\n\"[1, 2]\"\n[]\n", "0|0|[1 2]\n1|1|[]\n"},
        {"id,text\n", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_rows(put_file(b, "a.csv", cases[i].content), NULL, cases[i].expected,
                    strlen(cases[i].expected));
}

static void test_refused_csv(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *content;
        qks_status status;
        const char *part;
    } cases[] = {
        {"", QKS_INVALID, "no header"},
        {"a,b\nx,y\n", QKS_MISSING,
         "several texts: name one (--column, or column in a study); its"},
        {"text,text\nx,y\n", QKS_INVALID, "two columns named 'text'"},
        {"id,text\n1,a\n2\n", QKS_INVALID, "Line: 3"},
        {"id,text\n1,a\n2,\"b\n", QKS_INVALID, "ends within quotes"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_refused(put_file(b, "a.csv", cases[i].content), NULL, cases[i].status,
                       cases[i].part);
}

/* Long records around any buffer's ends: every one comes, whole and in order. */
static qks_status check_long(void *context, const corpus_row *row, qks_error *error)
{
    (void)error;
    int64_t *rows = context;
    assert_int_equal(row->example_id, *rows);
    assert_int_equal(row->text_length, 1 + *rows * 7919 % 60000);
    for (size_t i = 0; i < row->text_length; i++)
        assert_int_equal(row->text[i], i % 50 == 49 ? '\n' : 'a' + *rows % 26);
    ++*rows;
    return QKS_OK;
}

static void test_many_long_records(void **state)
{
    enum { ROWS = 600 };
    const bench *b = *state;
    text csv = text_new(1 << 26);
    text_add(&csv, "id,text\n");
    for (int i = 0; i < ROWS; i++) {
        text_addf(&csv, "%d,\"", i);
        for (int k = 0; k < 1 + i * 7919 % 60000; k++) {
            char c = (char)(k % 50 == 49 ? '\n' : 'a' + i % 26);
            text_append(&csv, &c, 1);
        }
        text_add(&csv, "\"\n");
    }
    const char *path = put_file(b, "a.csv", text_string(&csv));
    text_free(&csv);
    int64_t rows = 0;
    qks_error error;
    assert_ok(corpus_scan(path, NULL, check_long, &rows, &error), &error);
    assert_int_equal(rows, ROWS);
}

/* ---- Parquet ---- */
static void test_parquet(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *select, *expected;
    } cases[] = {
        {"SELECT 'a' || chr(0) AS text", NULL},
        {"SELECT 7::TINYINT AS id, 'a' AS text", "7|7|a\n"},
        {"SELECT 18446744073709551615::UBIGINT AS id, 'a' AS text",
         "18446744073709551615|-5683783729508659220|a\n"},
        {"SELECT 3::DOUBLE AS id, 'a' AS text", "3.0|3|a\n"},
        {"SELECT 0.5::FLOAT AS id, 'a' AS text", "0.5|237726477914003235|a\n"},
        {"SELECT '42' AS id, 'a' AS text", "42|" HASH_42 "|a\n"},
        {"SELECT NULL::INT AS id, NULL::VARCHAR AS text", "None|" HASH_NONE "|\n"},
        {"SELECT 5 AS id, [1, 2]::INT[] AS input_ids, 'a' AS text", "5|5|[1 2]\n"},
        {"SELECT 5 AS n, 'a' AS only_text", "0|0|a\n"},
        {"SELECT 'a' AS text WHERE false", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *expected = cases[i].expected ? cases[i].expected : "0|0|a\0\n";
        assert_rows(put_parquet(b, "a.parquet", cases[i].select), NULL, expected,
                    cases[i].expected ? strlen(expected) : 7);
    }
    assert_refused(put_parquet(b, "a.parquet", "SELECT DATE '2020-01-01' AS id, 'a' AS text"), NULL,
                   QKS_INVALID, "ids in column id must be numbers or texts");
    assert_refused(put_parquet(b, "a.parquet", "SELECT 1 AS text, 'a' AS b"),
                   &(corpus_options){.text_column = "text"}, QKS_INVALID,
                   "column text does not hold text");
}

/* ---- options ---- */
static void test_options(void **state)
{
    const bench *b = *state;
    const char *path = put_file(b, "a.jsonl",
                                "{\"id\": 1, \"key\": \"k\", \"text\": \"t\", "
                                "\"it's \\\"x\\\"\": \"u\", \"input_ids\": [1]}\n"
                                "{\"id\": 2, \"key\": \"42\", \"text\": \"v\"}\n");
    static const struct {
        corpus_options options;
        const char *expected;
    } cases[] = {
        {{.text_column = "text", .limit = 1}, "1|1|t\n"},
        {{.text_column = "it's \"x\"", .limit = 1}, "1|1|u\n"},
        {{.limit = 1}, "1|1|[1]\n"},
        {{.text_column = "input_ids", .limit = 1}, "1|1|[1]\n"},
        {{.text_column = "text", .id_column = "key"},
         "k|7193521810918036140|t\n42|" HASH_42 "|v\n"},
        {{.text_column = "text", .limit = 100}, "1|1|t\n2|2|v\n"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_rows(path, &cases[i].options, cases[i].expected, strlen(cases[i].expected));
    assert_refused(path, &(corpus_options){.text_column = "nope"}, QKS_MISSING,
                   "has no text column 'nope'; its columns are:");
    assert_refused(path, &(corpus_options){.id_column = "nope"}, QKS_MISSING,
                   "has no id column 'nope'");
}

static void test_files(void **state)
{
    const bench *b = *state;
    assert_refused(path_of(b->folder, "none.jsonl"), NULL, QKS_MISSING, "there is no file");
    assert_refused(put_file(b, "a.txt", "x"), NULL, QKS_UNSUPPORTED, "not a kind of text");
    assert_refused(put_file(b, "a.parquet", "PAR1"), NULL, QKS_INVALID, "a.parquet");
    assert_rows(put_file(b, "it's [a] *.jsonl", "{\"text\": \"x\"}"), NULL, "0|0|x\n", 6);
}

static qks_status stop_at_third(void *context, const corpus_row *row, qks_error *error)
{
    ++*(int *)context;
    return row->row == 2 ? qks_fail(error, QKS_INTERRUPTED, "enough") : QKS_OK;
}

static void test_visit_stops(void **state)
{
    const bench *b = *state;
    int calls = 0;
    qks_error error;
    const char *path = put_parquet(b, "a.parquet", "SELECT 'x' AS text FROM range(10)");
    assert_fails(corpus_scan(path, NULL, stop_at_third, &calls, &error), QKS_INTERRUPTED, &error,
                 "enough");
    assert_int_equal(calls, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        bench_test(test_jsonl),
        bench_test(test_jsonl_corners),
        bench_test(test_refused_json),
        bench_test(test_not_utf8),
        bench_test(test_not_utf8_at_block_ends),
        bench_test(test_escapes_at_block_ends),
        bench_test(test_long_line),
        bench_test(test_csv),
        bench_test(test_refused_csv),
        bench_test(test_many_long_records),
        bench_test(test_parquet),
        bench_test(test_options),
        bench_test(test_files),
        bench_test(test_visit_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
