/* Table collage: sampled vectors on the first two components. Of a head with fewer vectors than a
 * sample holds all are in the table, so that its correlations must be those of table qk. */
#include "qkscope/analyze.h"
#include "store/dataset.h"
#include "store/record.h"
#include "study/results.h"
#include "testing.h"

static const char *const DATASET[] = {"data/analysis/dataset"};
static const double FLOAT32 = 1e-6; /* vectors are sampled as float32 */

typedef struct tables {
    arena memory;
    qks_collage_row *collage;
    qks_qk_row *qk;
    size_t n_collage, n_qk;
} tables;

static tables read_tables(const char *folder)
{
    tables t = {0};
    store *s = NULL;
    void *rows = NULL;
    qks_error error;
    assert_ok(store_open(&s, 1, &error), &error);
    assert_ok(table_read(s, &COLLAGE_TABLE, path_of(folder, "collage.parquet"), &t.memory, &rows,
                         &t.n_collage, &error),
              &error);
    t.collage = rows;
    assert_ok(
        table_read(s, &QK_TABLE, path_of(folder, "qk.parquet"), &t.memory, &rows, &t.n_qk, &error),
        &error);
    t.qk = rows;
    store_close(s);
    return t;
}

typedef struct sums {
    double n, t, x, tt, xx, tx;
} sums;

static double correlation(const sums *s)
{
    double covariance = s->tx - s->t * s->x / s->n, x = s->xx - s->x * s->x / s->n;
    return covariance / sqrt((s->tt - s->t * s->t / s->n) * x);
}

/* Of one head, side and component. */
static sums sum_up(const tables *t, const qks_qk_row *of, char side)
{
    sums s = {0};
    for (size_t i = 0; i < t->n_collage; i++) {
        const qks_collage_row *row = &t->collage[i];
        if (row->layer != of->layer || row->head != of->head || row->side[0] != side)
            continue;
        double x = of->pc ? row->pc1 : row->pc0, position = (double)row->position;
        s.n++;
        s.t += position;
        s.x += x;
        s.tt += position * position;
        s.xx += x * x;
        s.tx += position * x;
    }
    return s;
}

/* A dataset of LAYERS x HEADS query heads with a key head per layer; ROWS vectors each, which move
 * with position along a direction of their own. */
static void write_dataset(const char *root)
{
    enum { D = 6, ROWS = 200, LAYERS = 3, HEADS = 2 };
    float vectors[ROWS * D];
    int32_t position[ROWS], bucket[ROWS] = {0}, window[ROWS] = {0};
    int64_t document[ROWS];
    dataset_card card = {.model = "toy", .layers = LAYERS, .q_heads = HEADS, .kv_heads = 1};
    dataset_writer *w = NULL;
    qks_error error;
    assert_ok(dataset_create(&w, root, D, &error), &error);
    for (int layer = 0; layer < LAYERS; layer++)
        for (int head = 0; head <= HEADS; head++) { /* the last is the key head */
            for (size_t i = 0; i < ROWS; i++) {
                position[i] = (int32_t)(i * 7 % 100);
                document[i] = i < ROWS / 2;
                for (size_t j = 0; j < D; j++)
                    vectors[i * D + j] = (float)(sin((double)(i * 13 + j * 5) + layer * 3 + head) +
                                                 0.02 * position[i] *
                                                     cos((double)j + layer + head));
            }
            dataset_rows rows = {.n = ROWS,
                                 .dimension = D,
                                 .f32 = vectors,
                                 .position = position,
                                 .bucket = bucket,
                                 .document = document,
                                 .window = window};
            bool key = head == HEADS;
            assert_ok(
                dataset_append(w, layer, key ? 0 : head, key ? 'k' : 'q', &rows, NULL, &error),
                &error);
        }
    assert_ok(dataset_finish(w, &card, &error), &error);
}

static void test_projections_have_the_tables_correlations(void **state)
{
    const char *toy[] = {path_of(*state, "toy")}, *out = path_of(*state, "tables");
    qks_error error;
    write_dataset(toy[0]);
    assert_ok(qks_analyze(toy, 1, out, NULL, NULL, &error), &error);
    tables t = read_tables(out);
    int compared = 0;
    for (size_t i = 0; i < t.n_qk; i++) {
        const qks_qk_row *row = &t.qk[i];
        sums q = sum_up(&t, row, 'q'), k = sum_up(&t, row, 'k');
        if (row->pc > 1 || q.n == 0)
            continue;
        assert_near(correlation(&q), row->r_q, FLOAT32);
        assert_near(correlation(&k), row->r_k, FLOAT32);
        assert_near((q.x + k.x) / (q.n + k.n), 0, 1e-5); /* about the pooled mean */
        compared++;
    }
    assert_int_equal(compared, 2 * COLLAGE_HEADS);
    arena_free(&t.memory);
}

/* Of a head with more vectors a sample is shown, of queries as of keys. */
static void test_large_heads_are_sampled(void **state)
{
    qks_error error;
    assert_ok(qks_analyze(DATASET, 1, *state, NULL, NULL, &error), &error);
    tables t = read_tables(*state);
    size_t heads = 0;
    for (size_t i = 0; i < t.n_qk; i++) {
        sums q = sum_up(&t, &t.qk[i], 'q'), k = sum_up(&t, &t.qk[i], 'k');
        if (t.qk[i].pc != 0 || q.n == 0)
            continue;
        assert_true(q.n <= SAMPLES_WHOLE && k.n <= SAMPLES_WHOLE && k.n > 100);
        heads++;
    }
    assert_int_equal(heads, COLLAGE_HEADS);
    arena_free(&t.memory);
}

/* Which heads is the seed's business alone; the same from vectors and from a unit file. */
static void test_heads_are_drawn_by_seed(void **state)
{
    const char *unit = path_of(*state, "all.unit"), *inputs[] = {unit};
    const char *folders[] = {path_of(*state, "a"), path_of(*state, "b"), path_of(*state, "c")};
    qks_analyze_options seeds[] = {{.seed = 1}, {.seed = 1}, {.seed = 2}};
    qks_error error;
    assert_ok(qks_merge(DATASET, 1, unit, &seeds[0], &error), &error);
    tables t[3];
    for (int i = 0; i < 3; i++) {
        assert_ok(qks_analyze(i == 1 ? inputs : DATASET, 1, folders[i], &seeds[i], NULL, &error),
                  &error);
        t[i] = read_tables(folders[i]);
    }
    assert_int_equal(t[0].n_collage, t[1].n_collage);
    for (size_t i = 0; i < t[0].n_collage; i++) {
        const qks_collage_row *a = &t[0].collage[i], *b = &t[1].collage[i];
        assert_true(a->layer == b->layer && a->head == b->head && a->position == b->position &&
                    a->pc0 == b->pc0 && a->pc1 == b->pc1);
    }
    bool other = t[0].n_collage != t[2].n_collage;
    for (size_t i = 0; !other && i < t[0].n_collage; i++)
        other = t[0].collage[i].layer != t[2].collage[i].layer ||
                t[0].collage[i].head != t[2].collage[i].head;
    assert_true(other);
    for (int i = 0; i < 3; i++)
        arena_free(&t[i].memory);
}

/* A qk table has no vectors: the table is there, and empty. */
static void test_no_vectors_no_rows(void **state)
{
    const char *qk[] = {"data/analysis/figures/models_synthetic/qk.csv"};
    qks_analyze_options how = {.study = "data/analysis/figures/models_synthetic/study.csv"};
    qks_error error;
    assert_ok(qks_analyze(qk, 1, *state, &how, NULL, &error), &error);
    tables t = read_tables(*state);
    assert_int_equal(t.n_collage, 0);
    arena_free(&t.memory);
}

#define scratch_test(function)                                                                     \
    cmocka_unit_test_setup_teardown(function, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(test_projections_have_the_tables_correlations),
        scratch_test(test_large_heads_are_sampled),
        scratch_test(test_heads_are_drawn_by_seed),
        scratch_test(test_no_vectors_no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
