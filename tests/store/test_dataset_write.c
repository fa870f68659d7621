/* test_dataset_write.c: what is written reads back the same; a folder has a card only when it is
 * whole, and a failure leaves nothing under the final names. */
#include "store_testing.h"

#include "store/dataset.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { D = 3, PART = 700 };

/* Row `row` of head `head` carries known values: everything is a function of the two. */
typedef struct block {
    size_t n;
    float vectors[PART * D];
    int32_t position[PART], bucket[PART], window[PART];
    int64_t document[PART];
    const char *tokens[PART];
} block;

static float value_of(int head, int64_t row, int j)
{
    return (float)head + (float)row / 8 + (float)j / 4;
}

static const char *token_of(int64_t row)
{
    static const char *const tokens[] = {"a", "", "\xc3\xa9", "two words", "\"',\n"};
    return tokens[row % 5];
}

static void fill(block *b, int head, int64_t first, size_t n)
{
    b->n = n;
    for (size_t i = 0; i < n; i++) {
        int64_t row = first + (int64_t)i;
        for (int j = 0; j < D; j++)
            b->vectors[i * D + (size_t)j] = value_of(head, row, j);
        b->position[i] = (int32_t)(row * 3);
        b->bucket[i] = (int32_t)(row / 64);
        b->window[i] = row % 4 == 1 ? 4096 : 0;
        b->document[i] = row % 2 ? 5000000000 : -7; /* 5e9 does not fit 32 bits */
        b->tokens[i] = token_of(row);
    }
}

static dataset_rows rows_of(const block *b)
{
    return (dataset_rows){.n = b->n,
                          .dimension = D,
                          .f32 = b->vectors,
                          .position = b->position,
                          .bucket = b->bucket,
                          .document = b->document,
                          .window = b->window};
}

static void append(dataset_writer *w, int head, int64_t first, size_t n, bool tokens)
{
    block b;
    qks_error error;
    fill(&b, head, first, n);
    dataset_rows rows = rows_of(&b);
    assert_ok(dataset_append(w, head / 2, head % 2, 'k', &rows, tokens ? b.tokens : NULL, &error),
              &error);
}

typedef struct check {
    int head;
    int64_t rows;
} check;

static qks_status check_rows(void *context, const dataset_rows *rows, qks_error *error)
{
    (void)error;
    check *c = context;
    assert_non_null(rows->f32);
    for (size_t i = 0; i < rows->n; i++, c->rows++) {
        for (int j = 0; j < D; j++)
            assert_true(rows->f32[i * D + (size_t)j] == value_of(c->head, c->rows, j));
        assert_int_equal(rows->position[i], c->rows * 3);
        assert_int_equal(rows->bucket[i], c->rows / 64);
        assert_int_equal(rows->window[i], c->rows % 4 == 1 ? 4096 : 0);
        assert_int_equal(rows->document[i], c->rows % 2 ? (int32_t)5000000000 : -7);
    }
    return QKS_OK;
}

static const dataset_card CARD = {.model = "toy `x`\nz",
                                  .sampler = "all",
                                  .bucket_size = 64,
                                  .context = 4096,
                                  .layers = 2,
                                  .q_heads = 4,
                                  .kv_heads = 2};

/* Three heads that come in parts of several sizes, mixed; one head without rows. */
static void write_three_heads(const char *root, bool tokens)
{
    static const size_t parts[] = {PART, 1, 0, 350, PART, PART, PART, 13};
    int64_t done[3] = {0};
    dataset_writer *w = NULL;
    qks_error error;
    assert_ok(dataset_create(&w, root, D, &error), &error);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        for (int head = 0; head < 3; head++) {
            append(w, head, done[head], parts[i], tokens);
            done[head] += (int64_t)parts[i];
        }
    append(w, 3, 0, 0, tokens);
    assert_ok(dataset_finish(w, &CARD, &error), &error);
}

static void test_round_trip(void **state)
{
    static const dataset_scan_options as_stored = {0};
    const bench *b = *state;
    for (int tokens = 0; tokens < 2; tokens++) {
        const char *root = path_of(b->folder, tokens ? "with/" : "deep/without");
        dataset d;
        qks_error error;
        write_three_heads(root, tokens);
        assert_ok(dataset_open(&d, b->store, root, &error), &error);
        assert_string_equal(d.card.model, "toy  x  z"); /* what would end the value is a space */
        assert_string_equal(d.card.sampler, "all");
        assert_int_equal(d.card.bucket_size, 64);
        assert_int_equal(d.card.context, 4096);
        assert_int_equal(d.card.layers, 2);
        assert_int_equal(d.card.q_heads, 4);
        assert_int_equal(d.card.kv_heads, 2);
        assert_int_equal(d.n_heads, 4);
        assert_int_equal(d.n_documents, 2);
        for (int head = 0; head < 4; head++) {
            check c = {.head = head};
            assert_int_equal(d.heads[head].rows, head < 3 ? 4 * PART + 364 : 0);
            assert_ok(dataset_scan(b->store, 0, &d.heads[head], &as_stored, check_rows, &c, &error),
                      &error);
            assert_int_equal(c.rows, d.heads[head].rows);
        }
        dataset_close(&d);
        assert_names(root, "README.md l00h00k l00h01k l01h00k l01h01k");
        assert_names(path_of(root, "l00h00k"), "data.parquet");
    }
}

/* The columns, their order and types; the tokens, where what is not UTF-8 is replaced. */
static void test_columns(void **state)
{
    const bench *b = *state;
    const char *root = path_of(b->folder, "out");
    dataset_writer *w = NULL;
    block one;
    qks_error error;
    fill(&one, 0, 0, 3);
    one.tokens[0] = "a\xff\xc3\xa9\xe2\x82";
    one.tokens[1] = NULL;
    dataset_rows rows = rows_of(&one);
    assert_ok(dataset_create(&w, root, D, &error), &error);
    assert_ok(dataset_append(w, 100, 12, 'q', &rows, one.tokens, &error), &error);
    assert_ok(dataset_finish(w, &CARD, &error), &error);
    char sql[1000], *printed = NULL;
    size_t length = 0;
    (void)snprintf(sql, sizeof sql,
                   "CREATE VIEW v AS FROM '%s/l100h12q/data.parquet'; SELECT column_name || ' ' || "
                   "column_type FROM (DESCRIBE v) UNION ALL SELECT token_str FROM v",
                   root);
    FILE *out = open_memstream(&printed, &length);
    assert_ok(store_sql(b->store, sql, SQL_CSV, out, &error), &error);
    assert_int_equal(fclose(out), 0);
    const char *first = strchr(printed, '\n') + 1;
    assert_string_equal(first, "bucket INTEGER\nexample_id INTEGER\nposition INTEGER\n"
                               "vector FLOAT[]\nsliding_window INTEGER\ntoken_str VARCHAR\n"
                               "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\n\n\xc3\xa9\n");
    free(printed);
}

static void test_discard(void **state)
{
    const bench *b = *state;
    const char *root = path_of(b->folder, "out");
    dataset_writer *w = NULL;
    qks_error error;
    assert_ok(dataset_create(&w, root, D, &error), &error);
    append(w, 0, 0, PART, false);
    assert_names(b->folder, "out"); /* the spool has no name */
    dataset_discard(w);
    dataset_discard(NULL);
    assert_names(root, "");
}

static void test_refused(void **state)
{
    const bench *b = *state;
    const char *root = path_of(b->folder, "out");
    dataset_writer *w = NULL;
    block one;
    qks_error error;
    assert_fails(dataset_create(&w, root, 0, &error), QKS_USAGE, &error, "vectors of 0 numbers");
    assert_fails(dataset_create(&w, root, 65537, &error), QKS_USAGE, &error, "65537");
    assert_fails(dataset_create(&w, put_file(b, "file", ""), D, &error), QKS_IO, &error, "file");
    assert_null(w);
    assert_ok(dataset_create(&w, root, D, &error), &error);
    fill(&one, 0, 0, 3);
    dataset_rows rows = rows_of(&one);
    assert_ok(dataset_append(w, 0, 0, 'q', &rows, NULL, &error), &error);
    assert_fails(dataset_append(w, 0, 0, 'q', &rows, one.tokens, &error), QKS_INTERNAL, &error,
                 "for all rows or for none");
    rows.dimension = D + 1;
    assert_fails(dataset_append(w, 0, 0, 'q', &rows, NULL, &error), QKS_INTERNAL, &error,
                 "vectors of 3 float32 wanted, not of 4");
    assert_ok(dataset_finish(w, &CARD, &error), &error);
    assert_fails(dataset_create(&w, root, D, &error), QKS_INVALID, &error,
                 "holds a dataset already");
}

/* A writing that was killed before its card is replaced by the same one, and not mixed with
 * another. */
static void test_unfinished(void **state)
{
    const bench *b = *state;
    const char *root = path_of(b->folder, "out");
    dataset_writer *w = NULL;
    dataset d;
    qks_error error;
    assert_ok(folder_make(path_of(root, "l00h00k"), &error), &error);
    (void)put_file(b, "out/l00h00k/data.parquet", "old");
    assert_ok(dataset_create(&w, root, D, &error), &error);
    append(w, 2, 0, 5, false);
    assert_fails(dataset_finish(w, &CARD, &error), QKS_INVALID, &error,
                 "holds head l00h00k of another, unfinished dataset");
    assert_names(root, "l00h00k");
    assert_ok(dataset_create(&w, root, D, &error), &error);
    append(w, 0, 0, 5, false);
    assert_ok(dataset_finish(w, &CARD, &error), &error);
    assert_ok(dataset_open(&d, b->store, root, &error), &error);
    assert_int_equal(d.heads[0].rows, 5);
    dataset_close(&d);
}

static struct rlimit limit_files(rlim_t bytes)
{
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = {bytes, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    return old;
}

/* A disk that fills up while the spool is written. */
static void test_disk_full_spool(void **state)
{
    enum { LIMIT = 8192 };
    const bench *b = *state;
    const char *root = path_of(b->folder, "out");
    dataset_writer *w = NULL;
    block one;
    qks_error error;
    fill(&one, 0, 0, PART);
    dataset_rows rows = rows_of(&one);
    assert_ok(dataset_create(&w, root, D, &error), &error);
    struct rlimit old = limit_files(LIMIT);
    qks_status status = QKS_OK;
    for (int i = 0; status == QKS_OK && i < 100; i++)
        status = dataset_append(w, 0, 0, 'k', &rows, NULL, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, QKS_IO);
    assert_non_null(strstr(error.message, "the temporary file beside '"));
    dataset_discard(w);
    assert_names(root, "");
}

static qks_status write_two_heads(const char *root, qks_error *error)
{
    dataset_writer *w = NULL;
    assert_ok(dataset_create(&w, root, D, error), error);
    append(w, 0, 0, 1, true);
    append(w, 1, 0, 20, true);
    return dataset_finish(w, &CARD, error);
}

static rlim_t size_of(const char *path)
{
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    return (rlim_t)facts.st_size;
}

/* The same while the second head's file is written: the first is not there either. */
static void test_disk_full_files(void **state)
{
    const bench *b = *state;
    const char *good = path_of(b->folder, "good"), *root = path_of(b->folder, "out");
    qks_error error;
    assert_ok(write_two_heads(good, &error), &error);
    rlim_t small = size_of(path_of(good, "l00h00k/data.parquet"));
    rlim_t large = size_of(path_of(good, "l00h01k/data.parquet"));
    assert_true(small < large);
    struct rlimit old = limit_files((small + large) / 2);
    qks_status status = write_two_heads(root, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, QKS_IO);
    assert_non_null(strstr(error.message, "l00h01k/data.parquet'"));
    assert_names(root, "");
    assert_ok(write_two_heads(root, &error), &error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        bench_test(test_round_trip),      bench_test(test_columns),
        bench_test(test_discard),         bench_test(test_refused),
        bench_test(test_unfinished),      bench_test(test_disk_full_spool),
        bench_test(test_disk_full_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
