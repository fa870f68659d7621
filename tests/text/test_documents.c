/* test_documents.c: text files as documents, and the rules that turn documents to tokens. */
#include "testing.h"

#include "base/text.h"
#include "text/documents.h"
#include "text/tokens.h"

/* Each document as "row:id:example_id=text;". */
static qks_status describe(void *context, const corpus_row *row, qks_error *error)
{
    (void)error;
    text *out = context;
    text_addf(out, "%lld:%s:%lld=", (long long)row->row, row->id, (long long)row->example_id);
    if (row->text)
        text_append(out, row->text, row->text_length);
    for (size_t i = 0; i < row->n_ids; i++)
        text_addf(out, i ? ",%d" : "%d", row->ids[i]);
    text_add(out, ";");
    return QKS_OK;
}

static void check_scan(const char *path, const corpus_options *options, const char *expected)
{
    text out = text_new(1000);
    qks_error error;
    assert_ok(documents_scan(path, options, describe, &out, &error), &error);
    assert_string_equal(text_string(&out), expected);
    text_free(&out);
}

static const char *put(const char *folder, const char *name, const char *content)
{
    const char *path = path_of(folder, name);
    qks_error error;
    assert_ok(file_put(path, content, strlen(content), &error), &error);
    return path;
}

static void test_text_file(void **state)
{
    check_scan(put(*state, "one.txt", "first\nsecond"), NULL, "0:0:0=first\nsecond;");
    check_scan(put(*state, "none.txt", ""), NULL, "0:0:0=;");
}

static void test_folder(void **state)
{
    qks_error error;
    put(*state, "b.txt", "B");
    put(*state, "a.txt", "A");
    put(*state, "c.TXT", "C");
    put(*state, "notes.md", "not a text by its name");
    put(*state, "table.jsonl", "{\"text\": \"nor are tables read beside texts\"}");
    assert_ok(folder_make(path_of(*state, "d.txt"), &error), &error);
    put(*state, "z.txt", "Z");
    check_scan(*state, NULL, "0:0:0=A;1:1:1=B;2:2:2=C;3:3:3=Z;");
    check_scan(*state, &(corpus_options){.limit = 2}, "0:0:0=A;1:1:1=B;");
}

static void test_tables(void **state)
{
    check_scan(
        put(*state, "a.jsonl", "{\"id\": 7, \"text\": \"x\"}\n{\"id\": 9, \"text\": \"y\"}\n"),
        NULL, "0:7:7=x;1:9:9=y;");
    check_scan(put(*state, "b.jsonl", "{\"input_ids\": [4, 5]}\n"), NULL, "0:0:0=4,5;");
}

/* A corpus in parts: rows are numbered on, ids stay. */
static void test_folder_of_tables(void **state)
{
    put(*state, "part-1.jsonl", "{\"text\": \"b\"}\n");
    put(*state, "part-0.jsonl", "{\"text\": \"a\"}\n{\"text\": \"A\"}\n");
    put(*state, "part-2.csv", "id,text\n7,c\n8,d\n");
    put(*state, "README.md", "the parts");
    check_scan(*state, NULL, "0:0:0=a;1:1:1=A;2:2:2=b;3:7:7=c;4:8:8=d;");
    check_scan(*state, &(corpus_options){.limit = 3}, "0:0:0=a;1:1:1=A;2:2:2=b;");
    check_scan(*state, &(corpus_options){.limit = 4}, "0:0:0=a;1:1:1=A;2:2:2=b;3:7:7=c;");
}

static void test_refused(void **state)
{
    qks_error error;
    text out = text_new(1000);
    const char *file = put(*state, "one.txt", "x"), *empty = path_of(*state, "empty");
    assert_fails(
        documents_scan(file, &(corpus_options){.text_column = "body"}, describe, &out, &error),
        QKS_USAGE, &error, "without columns");
    assert_fails(documents_scan(path_of(*state, "no.txt"), NULL, describe, &out, &error),
                 QKS_MISSING, &error, "no.txt");
    assert_fails(
        documents_scan(*state, &(corpus_options){.id_column = "id"}, describe, &out, &error),
        QKS_USAGE, &error, "one.txt");
    assert_ok(folder_make(empty, &error), &error);
    assert_fails(documents_scan(empty, NULL, describe, &out, &error), QKS_MISSING, &error,
                 "has no .txt files, nor .jsonl");
    text_free(&out);
}

static void test_rules(void **state)
{
    static const struct {
        const char *text;
        size_t length;
        const char *ids; /* NULL: left out */
    } cases[] = {
        {"abc", 3, "9 0 1 2"},      {"", 0, NULL},  {"a\xFF", 2, NULL},
        {"abcabc", 6, "9 0 1 2 0"}, {"x", 1, NULL}, /* BOS alone is too short */
        {"a\0b", 3, "9 0 1"}, /* a NUL is no fault; this vocabulary has no token for it */
    };
    const recipe r = {
        .vocab = "{\"a\": 0, \"b\": 1, \"c\": 2}",
        .post_processor = "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": "
                          "{\"id\": \"s\", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"A\", "
                          "\"type_id\": 0}}], \"pair\": [], \"special_tokens\": {\"s\": {\"id\": "
                          "\"s\", \"ids\": [9], \"tokens\": [\"s\"]}}}"};
    tokenizer *t = NULL;
    encoder *e = NULL;
    qks_error error;
    document_rules rules = {.max_length = 5};
    document_counts counts = {0};
    assert_ok(tokenizer_open(&t, write_recipe(*state, &r), &error), &error);
    assert_ok(encoder_open(&e, t, &error), &error);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        corpus_row row = {.id = "7", .text = cases[i].text, .text_length = cases[i].length};
        const int32_t *ids = NULL;
        size_t count = 0;
        bool taken = false;
        assert_ok(document_tokens(e, &row, &rules, &counts, &ids, &count, &taken, &error), &error);
        assert_int_equal(taken, cases[i].ids != NULL);
        char *actual = taken ? ids_text(ids, count) : NULL;
        if (taken)
            assert_string_equal(actual, cases[i].ids);
        free(actual);
    }
    assert_int_equal(counts.documents, 3);
    assert_int_equal(counts.tokens, 4 + 5 + 3);
    assert_int_equal(counts.truncated, 1);
    assert_int_equal(counts.empty, 1);
    assert_int_equal(counts.not_utf8, 1);
    assert_int_equal(counts.too_short, 1);
    encoder_close(e);
    tokenizer_close(t);
}

/* Rows of tokens need no tokenizer and get nothing added. */
static void test_ready_tokens(void **state)
{
    (void)state;
    static const int32_t ready[] = {5, 6, 7};
    document_rules rules = {.max_length = 2};
    document_counts counts = {0};
    corpus_row row = {.id = "0", .ids = ready, .n_ids = 3};
    const int32_t *ids = NULL;
    size_t count = 0;
    bool taken = false;
    qks_error error;
    assert_ok(document_tokens(NULL, &row, &rules, &counts, &ids, &count, &taken, &error), &error);
    assert_true(taken && ids == ready && count == 2);
    row.n_ids = 1;
    assert_ok(document_tokens(NULL, &row, &rules, &counts, &ids, &count, &taken, &error), &error);
    assert_false(taken);
    row.n_ids = 0;
    assert_ok(document_tokens(NULL, &row, &rules, &counts, &ids, &count, &taken, &error), &error);
    assert_false(taken);
    assert_int_equal(counts.documents, 1);
    assert_int_equal(counts.truncated, 1);
    assert_int_equal(counts.too_short, 1);
    assert_int_equal(counts.empty, 1);
}

int main(void)
{
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        SCRATCH(test_text_file),        SCRATCH(test_folder),  SCRATCH(test_tables),
        SCRATCH(test_folder_of_tables), SCRATCH(test_refused), SCRATCH(test_rules),
        SCRATCH(test_ready_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
