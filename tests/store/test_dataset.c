/* test_dataset.c: captured datasets as the reference stores them are found, checked and streamed;
 * what the analysis could not trust is refused with the file and the row. */
#include "store_testing.h"

#include "base/parallel.h"
#include "store/dataset.h"

#define FIXTURE "data/analysis/dataset"

/* A head that is right, as a SELECT: two rows of dimension 2. */
#define GOOD_COLUMNS "0 AS bucket, 7 AS example_id, range::INT AS position"
#define GOOD_VECTOR "[range::FLOAT, 1::FLOAT] AS vector"
#define GOOD "SELECT " GOOD_COLUMNS ", " GOOD_VECTOR ", NULL::INT AS sliding_window FROM range(2)"

/* ---- opening ---- */
static const dataset_head *head_of(const dataset *d, int layer, char kind, int head)
{
    for (size_t i = 0; i < d->n_heads; i++)
        if (d->heads[i].layer == layer && d->heads[i].kind == kind && d->heads[i].head == head)
            return &d->heads[i];
    fail_msg("no head l%02dh%02d%c", layer, head, kind);
    return NULL;
}

static void test_open_fixture(void **state)
{
    const bench *b = *state;
    static const int64_t documents[] = {-1257339932, -900992545, 1088000895,
                                        1234733447,  1315490589, 1777254642};
    dataset d;
    qks_error error;
    assert_ok(dataset_open(&d, b->store, FIXTURE, &error), &error);
    assert_string_equal(d.root, FIXTURE);
    assert_string_equal(d.card.model, "toy-3x4");
    assert_string_equal(d.card.sampler, "uniform");
    assert_int_equal(d.card.bucket_size, 64);
    assert_int_equal(d.card.context, 0);
    assert_int_equal(d.card.layers, 3);
    assert_int_equal(d.card.q_heads, 4);
    assert_int_equal(d.card.kv_heads, 2);
    assert_int_equal(d.n_heads, 18);
    for (size_t i = 0; i < d.n_heads; i++) { /* by layer, keys first, then head */
        size_t of_layer = i % 6;
        assert_int_equal(d.heads[i].layer, i / 6);
        assert_int_equal(d.heads[i].kind, of_layer < 2 ? 'k' : 'q');
        assert_int_equal(d.heads[i].head, of_layer < 2 ? of_layer : of_layer - 2);
        assert_int_equal(d.heads[i].dimension, 16);
    }
    assert_int_equal(head_of(&d, 0, 'q', 0)->rows, 657);
    assert_int_equal(head_of(&d, 2, 'q', 0)->rows, 686);
    assert_int_equal(d.last_position, 1023);
    assert_int_equal(d.last_bucket, 15);
    assert_int_equal(d.n_documents, COUNT_OF(documents));
    assert_memory_equal(d.documents, documents, sizeof documents);
    dataset_close(&d);
    assert_null(d.heads);
}

/* The l..h.. folders may be up to three levels down; other folders do not matter. */
static void test_prefix_folder(void **state)
{
    const bench *b = *state;
    (void)put_parquet(b, "x/main/toy/l00h00q/data.parquet", GOOD);
    (void)put_parquet(b, "x/main/other/notes.parquet", "SELECT 1 AS a");
    dataset d;
    qks_error error;
    assert_ok(dataset_open(&d, b->store, b->folder, &error), &error);
    assert_string_equal(d.root, path_of(b->folder, "x/main/toy"));
    assert_int_equal(d.n_heads, 1);
    assert_null(d.card.model);
    dataset_close(&d);

    (void)put_parquet(b, "x/main/tiny/l00h00q/data.parquet", GOOD);
    assert_fails(dataset_open(&d, b->store, b->folder, &error), QKS_INVALID, &error,
                 "holds 2 datasets");
    assert_non_null(strstr(error.message, "x/main/tiny'"));
    assert_non_null(strstr(error.message, "x/main/toy'"));
    (void)put_parquet(b, "deep/1/2/3/l00h00q/data.parquet", GOOD);
    assert_ok(dataset_open(&d, b->store, path_of(b->folder, "deep"), &error), &error);
    dataset_close(&d);
    (void)put_parquet(b, "deeper/1/2/3/4/l00h00q/data.parquet", GOOD);
    assert_fails(dataset_open(&d, b->store, path_of(b->folder, "deeper"), &error), QKS_MISSING,
                 &error, "no captured heads");
}

static void test_names(void **state)
{
    const bench *b = *state;
    static const char *const not_heads[] = {"l0h00q",   "l00h0q",  "l00h00v", "l00h00q.old",
                                            "xl00h00q", "L00h00q", "l00h00",  "l1234567h00q",
                                            "l-1h00q",  "l 0h00q"};
    (void)put_parquet(b, "l00h00q/data.parquet", GOOD);
    (void)put_parquet(b, "l123h456k/data.parquet", GOOD);
    for (size_t i = 0; i < COUNT_OF(not_heads); i++) {
        qks_error error;
        assert_ok(folder_make(path_of(b->folder, not_heads[i]), &error), &error);
    }
    dataset d;
    qks_error error;
    assert_ok(dataset_open(&d, b->store, b->folder, &error), &error);
    assert_int_equal(d.n_heads, 2);
    assert_int_equal(d.heads[1].layer, 123);
    assert_int_equal(d.heads[1].head, 456);
    assert_int_equal(d.heads[1].kind, 'k');
    dataset_close(&d);

    (void)put_parquet(b, "l000h00q/data.parquet", GOOD);
    assert_fails(dataset_open(&d, b->store, b->folder, &error), QKS_INVALID, &error,
                 "two folders are the same head");
}

/* A folder whose name is SQL, a glob and a partition is a folder. */
static void test_hostile_paths(void **state)
{
    const bench *b = *state;
    static const char *const names[] = {"it's", "a*b",  "a?b", "[ab]", "year=2020", "quote\"d",
                                        "a\\b", "; --", "~",   "s3:",  "new\nline", "\xc3\xa9"};
    const char *plain = put_parquet(b, "plain/l00h00q/data.parquet", GOOD);
    char *bytes = NULL;
    size_t length = 0;
    qks_error error;
    assert_ok(file_get(plain, 1 << 20, &bytes, &length, &error), &error);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *root = path_of(b->folder, names[i]);
        const char *folder = path_of(root, "l00h00q");
        assert_ok(folder_make(folder, &error), &error);
        assert_ok(file_put(path_of(folder, "data.parquet"), bytes, length, &error), &error);
        dataset d;
        assert_ok(dataset_open(&d, b->store, root, &error), &error);
        assert_int_equal(d.n_heads, 1);
        assert_int_equal(d.heads[0].rows, 2);
        dataset_close(&d);
    }
    free(bytes);
}

static void test_card(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *line, *model;
        int64_t context;
        int layers;
    } cases[] = {
        {"- `model`: `a/b@c`\n- `max_length`: `4096`", "a/b@c", 4096, 0},
        {"* model: plain words \r\n* context: 128\r\n", "plain words", 128, 0},
        {"- `head_sampling_num_layers`: `None`\n- `models`: `x`", NULL, 0, 0},
        {"- `head_sampling_num_layers`: `99999999999`", NULL, 0, 0},
        {"- `head_sampling_num_layers`: `-3`\n- `model`: ``", NULL, 0, 0},
        {"- `head_sampling_num_layers`: `12`\n`model`", NULL, 0, 12},
    };
    (void)put_parquet(b, "l00h00q/data.parquet", GOOD);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        dataset d;
        qks_error error;
        (void)put_file(b, "README.md", cases[i].line);
        assert_ok(dataset_open(&d, b->store, b->folder, &error), &error);
        if (cases[i].model)
            assert_string_equal(d.card.model, cases[i].model);
        else
            assert_null(d.card.model);
        assert_int_equal(d.card.context, cases[i].context);
        assert_int_equal(d.card.layers, cases[i].layers);
        dataset_close(&d);
    }
}

/* What is wrong with one head's file, found before any vector is read. */
static void test_refused_schemas(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *select, *part;
    } cases[] = {
        {"SELECT 1 AS x", "no column bucket"},
        {"SELECT 0 AS bucket, 7 AS example_id, 'x' AS position, [1::FLOAT] AS vector",
         "column position must hold integers"},
        {"SELECT 0 AS bucket, 1.5::DOUBLE AS example_id, 1 AS position, [1::FLOAT] AS vector",
         "column example_id must hold integers"},
        {"SELECT " GOOD_COLUMNS ", [1, 2] AS vector FROM range(2)",
         "column vector must hold lists"},
        {"SELECT " GOOD_COLUMNS ", 1.5::FLOAT AS vector FROM range(2)",
         "column vector must hold lists"},
        {"SELECT " GOOD_COLUMNS ", [[1::FLOAT]] AS vector FROM range(2)",
         "column vector must hold lists"},
        {"SELECT " GOOD_COLUMNS ", " GOOD_VECTOR ", 'w' AS sliding_window FROM range(2)",
         "column sliding_window must hold integers or nulls"},
        {"SELECT " GOOD_COLUMNS " FROM range(2)", "no column vector"},
        {"SELECT " GOOD_COLUMNS ", list_transform(range(range + 1), x -> 1::FLOAT) AS vector "
         "FROM range(2)",
         "some are missing or of another length"},
        {"SELECT " GOOD_COLUMNS ", list_transform(range(65537), x -> 1::FLOAT) AS vector "
         "FROM range(1)",
         "vectors of 65537 numbers"},
        {"SELECT 0 AS bucket, CASE range WHEN 0 THEN 1 END AS example_id, 1 AS "
         "position, " GOOD_VECTOR " FROM range(2)",
         "example_id has nulls"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *path = put_parquet(b, "l00h00q/data.parquet", cases[i].select);
        dataset d;
        qks_error error;
        assert_fails(dataset_open(&d, b->store, b->folder, &error), QKS_INVALID, &error,
                     cases[i].part);
        assert_non_null(strstr(error.message, path));
        assert_null(d.heads);
    }
}

static void test_refused_files(void **state)
{
    const bench *b = *state;
    dataset d;
    qks_error error;
    assert_fails(dataset_open(&d, b->store, path_of(b->folder, "none"), &error), QKS_MISSING,
                 &error, "is not a folder");
    assert_fails(dataset_open(&d, b->store, b->folder, &error), QKS_MISSING, &error,
                 "no captured heads");
    const char *path = put_parquet(b, "l00h00q/data.parquet", GOOD);
    assert_ok(folder_make(path_of(b->folder, "l00h00k"), &error), &error);
    assert_fails(dataset_open(&d, b->store, b->folder, &error), QKS_MISSING, &error,
                 "'l00h00k' of the dataset has no file");

    char *bytes = NULL;
    size_t length = 0;
    assert_ok(file_get(path, 1 << 20, &bytes, &length, &error), &error);
    for (size_t cut = 0; cut < length; cut += 1 + length / 20) { /* a download that was cut off */
        assert_ok(file_put(path_of(b->folder, "l00h00k/data.parquet"), bytes, cut, &error), &error);
        qks_status status = dataset_open(&d, b->store, b->folder, &error);
        assert_true(status == QKS_INVALID || status == QKS_IO);
        assert_non_null(strstr(error.message, "l00h00k/data.parquet"));
    }
    free(bytes);
}

static void test_dimensions(void **state)
{
    const bench *b = *state;
    dataset d;
    qks_error error;
    (void)put_parquet(b, "l00h00q/data.parquet", GOOD);
    (void)put_parquet(b, "l00h00k/data.parquet", GOOD " LIMIT 0");
    assert_ok(dataset_open(&d, b->store, b->folder, &error), &error);
    assert_int_equal(head_of(&d, 0, 'k', 0)->rows, 0);
    assert_int_equal(head_of(&d, 0, 'k', 0)->dimension, 2); /* its sibling's */
    dataset_close(&d);

    (void)put_parquet(b, "l01h00q/data.parquet",
                      "SELECT " GOOD_COLUMNS ", [1::FLOAT] AS vector FROM range(2)");
    assert_fails(dataset_open(&d, b->store, b->folder, &error), QKS_INVALID, &error,
                 "differ in length");
    assert_non_null(strstr(error.message, "2 in '"));
    assert_non_null(strstr(error.message, "1 in '"));
    assert_non_null(strstr(error.message, "l00h00q"));
    assert_non_null(strstr(error.message, "l01h00q"));
}

/* ---- scanning ---- */
typedef struct sums {
    int64_t rows, positions, windows;
    double vectors, first, last;
    int last_bucket;
    bool wide;
} sums;

static qks_status add_up(void *context, const dataset_rows *rows, qks_error *error)
{
    sums *s = context;
    size_t d = (size_t)rows->dimension;
    s->wide = rows->f64 != NULL;
    if ((rows->f32 == NULL) == (rows->f64 == NULL))
        return qks_fail(error, QKS_INTERNAL, "one of f32 and f64 must be there");
    for (size_t i = 0; i < rows->n; i++) {
        for (size_t j = 0; j < d; j++) {
            s->last = rows->f64 ? rows->f64[i * d + j] : rows->f32[i * d + j];
            s->vectors += s->last;
            if (s->rows + (int64_t)i == 0 && j == 0)
                s->first = s->last;
        }
        s->positions += rows->position[i];
        s->windows += rows->window[i];
        s->last_bucket = rows->bucket[i];
    }
    s->rows += (int64_t)rows->n;
    return QKS_OK;
}

static const dataset_scan_options as_stored = {.order = DATASET_AS_STORED};
static const dataset_scan_options by_cell = {.order = DATASET_BY_CELL};

/* Sums from pyarrow and NumPy; the vectors' sum is of float32 numbers added up as float64. */
static void test_scan_fixture(void **state)
{
    const bench *b = *state;
    static const double SUM_TOLERANCE = 1e-9;
    static const struct {
        int layer;
        char kind;
        int head;
        sums sums;
    } cases[] = {
        {0,
         'q',
         0,
         {657, 295206, 0, -2225.423427400645, 0.9455550312995911, -1.2872189283370972, 11, false}},
        {0,
         'k',
         1,
         {685, 305518, 0, -1003.2035933521402, 1.0753693580627441, -0.7599571943283081, 12, false}},
        {2,
         'q',
         0,
         {686, 324664, 0, -2713.7806998186716, -1.5535593032836914, -1.1261402368545532, 11,
          false}},
        {2,
         'k',
         1,
         {664, 308673, 0, -1895.5601048104363, 0.928730845451355, -1.1088120937347412, 12, false}},
    };
    dataset d;
    qks_error error;
    assert_ok(dataset_open(&d, b->store, FIXTURE, &error), &error);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sums s = {0};
        const sums *expected = &cases[i].sums;
        assert_ok(dataset_scan(b->store, 1,
                               head_of(&d, cases[i].layer, cases[i].kind, cases[i].head),
                               &as_stored, add_up, &s, &error),
                  &error);
        assert_int_equal(s.rows, expected->rows);
        assert_int_equal(s.positions, expected->positions);
        assert_int_equal(s.windows, expected->windows);
        assert_int_equal(s.last_bucket, expected->last_bucket);
        assert_near(s.vectors, expected->vectors, SUM_TOLERANCE);
        assert_true(s.first == expected->first);
        assert_true(s.last == expected->last);
    }
    dataset_close(&d);
}

/* float16, float32 and float64; plain, fixed and large lists; integers of any width; any order of
 * columns (data/store/make.py). */
static void test_types(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *path;
        bool wide;
    } cases[] = {{"data/store/types/half", false},
                 {"data/store/types/single", false},
                 {"data/store/types/double", true}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        dataset d;
        sums s = {0};
        qks_error error;
        assert_ok(dataset_open(&d, b->store, cases[i].path, &error), &error);
        assert_int_equal(d.heads[0].dimension, 3);
        assert_int_equal(d.n_documents, 5);
        assert_int_equal(d.documents[4], 1004);
        assert_ok(dataset_scan(b->store, 0, &d.heads[0], &as_stored, add_up, &s, &error), &error);
        assert_int_equal(s.rows, 5);
        assert_int_equal(s.wide, cases[i].wide);
        assert_true(s.vectors == 3 * (0 + 1 + 2 + 3 + 4) + 5 * 0.75);
        assert_true(s.last == 4.5);
        assert_int_equal(s.positions, 100);
        assert_int_equal(s.windows, 8);
        assert_int_equal(s.last_bucket, 2);
        dataset_close(&d);
    }
}

typedef struct seen {
    int64_t rows, key; /* of the row before */
    int64_t bucket_size;
    bool rising;
} seen;

/* Rows carry their cell in the vector: bucket, example_id, position. */
static qks_status check_cells(void *context, const dataset_rows *rows, qks_error *error)
{
    (void)error;
    seen *s = context;
    for (size_t i = 0; i < rows->n; i++) {
        int64_t bucket = s->bucket_size ? rows->position[i] / s->bucket_size
                                        : (int64_t)rows->f32[3 * i];
        assert_int_equal(rows->bucket[i], bucket);
        assert_int_equal(rows->document[i], (int64_t)rows->f32[3 * i + 1]);
        assert_int_equal(rows->position[i], (int64_t)rows->f32[3 * i + 2]);
        int64_t key = (rows->bucket[i] * INT64_C(1000) + rows->document[i]) * 100000 +
                      rows->position[i];
        s->rising &= s->rows == 0 || key > s->key;
        s->key = key;
        s->rows++;
    }
    return QKS_OK;
}

/* Rows stay together when sorted, over many chunks, and buckets can be cut anew. */
static void test_orders(void **state)
{
    const bench *b = *state;
    (void)put_parquet(b, "l00h00q/data.parquet",
                      "SELECT b AS bucket, e AS example_id, p AS position, "
                      "[b::FLOAT, e::FLOAT, p::FLOAT] AS vector FROM (SELECT "
                      "range * 7919 % 20011 AS p, p // 1000 AS b, range * 31 % 7 AS e "
                      "FROM range(20000))");
    static const struct {
        dataset_scan_options options;
        bool rising;
    } cases[] = {{{DATASET_AS_STORED, 0}, false},
                 {{DATASET_BY_CELL, 0}, true},
                 {{DATASET_AS_STORED, 512}, false},
                 {{DATASET_BY_CELL, 512}, true}};
    dataset d;
    qks_error error;
    assert_ok(dataset_open(&d, b->store, b->folder, &error), &error);
    assert_int_equal(d.n_documents, 7);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        seen s = {.rising = true, .bucket_size = cases[i].options.bucket_size};
        assert_ok(
            dataset_scan(b->store, 0, &d.heads[0], &cases[i].options, check_cells, &s, &error),
            &error);
        assert_int_equal(s.rows, 20000);
        assert_int_equal(s.rising, cases[i].rising);
    }
    dataset_close(&d);
}

/* Faults that only the rows show. The head is opened while right and then replaced. */
static void test_refused_rows(void **state)
{
    const bench *b = *state;
    static const struct {
        const char *select, *part;
    } cases[] = {
        {"SELECT " GOOD_COLUMNS ", CASE WHEN range < 2500 THEN [1::FLOAT, 2] ELSE "
         "[1::FLOAT, 'nan'] END AS vector FROM range(3000)",
         "row 2501 (example_id 7, position 2500): NaN or infinity"},
        {"SELECT " GOOD_COLUMNS ", ['-inf'::FLOAT, 2] AS vector FROM range(1)",
         "row 1 (example_id 7, position 0): NaN or infinity"},
        {"SELECT " GOOD_COLUMNS ", [1, 'inf'::DOUBLE] AS vector FROM range(1)",
         "row 1 (example_id 7, position 0): NaN or infinity"},
        {"SELECT " GOOD_COLUMNS ", CASE range WHEN 1 THEN NULL ELSE [1::FLOAT, 2] END AS vector "
         "FROM range(2)",
         "row 2: the vector is missing"},
        {"SELECT " GOOD_COLUMNS ", CASE range WHEN 1 THEN [1::FLOAT] ELSE [1::FLOAT, 2] END "
         "AS vector FROM range(2)",
         "row 2: a vector of 1 numbers, not 2"},
        {"SELECT " GOOD_COLUMNS ", CASE range WHEN 1 THEN [1::FLOAT, NULL] ELSE [1::FLOAT, 2] END "
         "AS vector FROM range(2)",
         "row 2: a number in the vector is missing"},
        {"SELECT 0 AS bucket, 7 AS example_id, -1 AS position, " GOOD_VECTOR " FROM range(1)",
         "row 1: position is -1"},
        {"SELECT 0 AS bucket, 7 AS example_id, 2147483648 AS position, " GOOD_VECTOR
         " FROM range(1)",
         "row 1: position is 2147483648"},
        {"SELECT 0 AS bucket, 7 AS example_id, NULL::INT AS position, " GOOD_VECTOR
         " FROM range(1)",
         "row 1: position is missing"},
        {"SELECT NULL::INT AS bucket, 7 AS example_id, 1 AS position, " GOOD_VECTOR
         " FROM range(1)",
         "row 1: bucket is missing"},
        {"SELECT 0 AS bucket, NULL::INT AS example_id, 1 AS position, " GOOD_VECTOR
         " FROM range(1)",
         "row 1: example_id is missing"},
        {"SELECT " GOOD_COLUMNS ", " GOOD_VECTOR ", -4 AS sliding_window FROM range(1)",
         "row 1: sliding_window is -4"},
        {"SELECT " GOOD_COLUMNS ", [1, 2] AS vector, 1 AS sliding_window FROM range(1)",
         "does not hold lists of floats"},
    };
    (void)put_parquet(b, "l00h00q/data.parquet", GOOD);
    dataset d;
    qks_error error;
    assert_ok(dataset_open(&d, b->store, b->folder, &error), &error);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sums s = {0};
        dataset_head head = d.heads[0];
        head.windowed = strstr(cases[i].select, "sliding_window") != NULL;
        (void)put_parquet(b, "l00h00q/data.parquet", cases[i].select);
        assert_fails(dataset_scan(b->store, 0, &head, &as_stored, add_up, &s, &error), QKS_INVALID,
                     &error, cases[i].part);
        assert_fails(dataset_scan(b->store, 0, &head, &by_cell, add_up, &s, &error), QKS_INVALID,
                     &error, cases[i].part);
        assert_non_null(strstr(error.message, d.heads[0].path));
    }
    file_remove(d.heads[0].path);
    assert_fails(dataset_scan(b->store, 0, &d.heads[0], &as_stored, add_up, NULL, &error),
                 QKS_MISSING, &error, "data.parquet");
    dataset_close(&d);
}

static qks_status stop_at_once(void *context, const dataset_rows *rows, qks_error *error)
{
    ++*(int *)context;
    return qks_fail(error, QKS_INTERRUPTED, "%zu rows were enough", rows->n);
}

static qks_status scan_again(void *context, const dataset_rows *rows, qks_error *error)
{
    (void)rows;
    const bench *b = context;
    dataset_head head = {.path = "x", .dimension = 2};
    return dataset_scan(b->store, 0, &head, &as_stored, scan_again, context, error);
}

/* What `visit` says is what the scan says, and the thread can scan again. */
static void test_visit_stops(void **state)
{
    bench *b = *state;
    dataset d;
    int calls = 0;
    sums s = {0};
    qks_error error;
    assert_ok(dataset_open(&d, b->store, FIXTURE, &error), &error);
    assert_fails(dataset_scan(b->store, 0, &d.heads[0], &as_stored, stop_at_once, &calls, &error),
                 QKS_INTERRUPTED, &error, "rows were enough");
    assert_int_equal(calls, 1);
    assert_fails(dataset_scan(b->store, 0, &d.heads[0], &as_stored, scan_again, b, &error),
                 QKS_INTERNAL, &error, "reading another file");
    assert_ok(dataset_scan(b->store, 0, &d.heads[0], &as_stored, add_up, &s, &error), &error);
    assert_int_equal(s.rows, d.heads[0].rows);
    assert_int_equal(dataset_scan(b->store, 2, &d.heads[0], &as_stored, add_up, &s, NULL),
                     QKS_INTERNAL); /* there are threads 0 and 1 */
    dataset_close(&d);
}

typedef struct parallel_case {
    const bench *bench;
    const dataset *dataset;
    sums sums[18];
} parallel_case;

static qks_status scan_one(void *context, size_t index, int thread, qks_error *error)
{
    parallel_case *c = context;
    return dataset_scan(c->bench->store, thread, &c->dataset->heads[index], &by_cell, add_up,
                        &c->sums[index], error);
}

static void test_two_threads(void **state)
{
    dataset d;
    qks_error error;
    const bench *b = *state;
    assert_ok(dataset_open(&d, b->store, FIXTURE, &error), &error);
    parallel_case two = {.bench = b, .dataset = &d}, one = {.bench = b, .dataset = &d};
    assert_ok(parallel_for(d.n_heads, TEST_THREADS, scan_one, &two, &error), &error);
    assert_ok(parallel_for(d.n_heads, 1, scan_one, &one, &error), &error);
    for (size_t i = 0; i < d.n_heads; i++) {
        assert_int_equal(two.sums[i].rows, d.heads[i].rows);
        assert_true(two.sums[i].vectors == one.sums[i].vectors);
    }
    dataset_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        bench_test(test_open_fixture),  bench_test(test_prefix_folder),
        bench_test(test_names),         bench_test(test_hostile_paths),
        bench_test(test_card),          bench_test(test_refused_schemas),
        bench_test(test_refused_files), bench_test(test_dimensions),
        bench_test(test_scan_fixture),  bench_test(test_types),
        bench_test(test_orders),        bench_test(test_refused_rows),
        bench_test(test_visit_stops),   bench_test(test_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
