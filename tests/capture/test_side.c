/* One side of a head: its counts per bucket, and that clearing leaves nothing behind. */
#include "capture/side.h"
#include "testing.h"

enum { D = 2, GROUPS = 3, BUCKETS = 4, PAIRS = 5 };

static side open_side(size_t pairs)
{
    qks_error error;
    side s;
    assert_ok(side_open(&s, D, GROUPS, BUCKETS, pairs, &error), &error);
    return s;
}

static void assert_empty(const side *s)
{
    assert_int_equal(s->window, 0);
    for (int g = 0; g < GROUPS; g++)
        assert_int_equal(s->groups[g]->n, 0);
    for (int b = 0; b < BUCKETS; b++) {
        assert_true(s->buckets[b].n == 0 && s->buckets[b].sum_position == 0 &&
                    s->buckets[b].sum_x0 == 0 && s->buckets[b].last_position == -1);
        if (s->pairs)
            assert_true(s->pairs[b].count == 0 && s->pairs[b].threshold == 1);
    }
}

static void test_counts(void **state)
{
    (void)state;
    side s = open_side(0);
    assert_null(s.pairs);
    assert_empty(&s);
    side_count(&s, 1, 10, 0.5);
    side_count(&s, 1, 12, -2);
    side_count(&s, 1, 11, 1);
    side_count(&s, 3, 0, 7);
    assert_true(s.buckets[1].n == 3 && s.buckets[1].sum_position == 33 &&
                s.buckets[1].last_position == 12 && s.buckets[1].sum_x0 == -0.5);
    assert_true(s.buckets[3].n == 1 && s.buckets[3].last_position == 0);
    assert_true(s.buckets[0].n == 0 && s.buckets[2].last_position == -1);
    side_close(&s);
}

static void test_clear(void **state)
{
    (void)state;
    static const float keys[] = {0, 0, 1, 2, 3, 1, 5, 5};
    static const int32_t positions[] = {0, 1, 2, 3};
    qks_error error;
    side s = open_side(PAIRS);
    s.window = 128;
    assert_ok(qks_moments_add_f32(s.groups[2], 4, keys, positions, &error), &error);
    side_count(&s, 0, 1, 1);
    assert_ok(pair_reservoir_add(&s.pairs[1], 1, 4, keys, &error), &error);
    assert_int_equal(s.pairs[1].count, PAIRS);
    side_clear(&s);
    assert_empty(&s);
    assert_ok(pair_reservoir_add(&s.pairs[1], 1, 2, keys, &error), &error);
    assert_int_equal(s.pairs[1].count, 1);
    side_close(&s);
    side_close(&s); /* closed is closed */
}

/* Samples of two halves, taken in any order, join to the sample of all; it is a fair one: the rows
 * of smallest priority, whichever they are. */
static void test_samples_join(void **state)
{
    (void)state;
    enum { ROWS = 100, CAPACITY = 10 };
    static const side_id id = {.layer = 3, .head = 1, .kind = 'q'};
    qks_error error;
    side whole = open_side(0), halves[2] = {open_side(0), open_side(0)};
    pair_draws noted = {0};
    assert_ok(side_sample_open(&whole, CAPACITY, &error), &error);
    for (int half = 0; half < 2; half++)
        assert_ok(side_sample_open(&halves[half], CAPACITY, &error), &error);
    for (int i = 0; i < ROWS; i++) {
        int32_t position = (int32_t)(i * 37 % ROWS);
        uint64_t seed = side_sample_seed(5, position % 2, id);
        side *sides[] = {&whole, &halves[position % 2]};
        for (int s = 0; s < 2; s++) {
            const moments_rows one = {.f32 = (float[D]){(float)position, 0.5F},
                                      .position = &position};
            assert_ok(side_sample_note(sides[s], seed, position, 0, &noted, &error), &error);
            side_sample_take(sides[s], &noted, &one);
        }
    }
    free(noted.data);
    pair_reservoir_join(&halves[1].sample, &halves[0].sample);
    const pair_reservoir *a = &whole.sample, *b = &halves[1].sample;
    assert_int_equal(a->count, CAPACITY);
    assert_true(b->count <= CAPACITY && b->count >= CAPACITY / 2 && b->threshold <= a->threshold);
    assert_memory_equal(a->difference, b->difference, b->count * (D + 1) * sizeof *a->difference);
    for (size_t i = 0; i < a->count; i++) { /* a vector's position stands behind it */
        const float *row = a->difference + i * (D + 1);
        assert_true(row[0] == row[D] && row[1] == 0.5F);
    }
    side_clear(&whole);
    assert_true(whole.sample.count == 0 && whole.sample.threshold == 1);
    side_close(&whole);
    side_close(&halves[0]);
    side_close(&halves[1]);
}

/* Documents count by the 32 bits that a dataset keeps of them; kinds and layers differ. */
static void test_sample_seeds(void **state)
{
    (void)state;
    const side_id q = {.layer = 3, .head = 1, .kind = 'q'}, other = {.layer = 3, .kind = 'q'},
                  k = {.layer = 3, .head = 1, .kind = 'k'}, next = {.layer = 4, .kind = 'q'};
    uint64_t seed = side_sample_seed(0, 7, q);
    assert_true(side_sample_seed(0, 7 + ((int64_t)1 << 40), q) == seed);
    assert_true(side_sample_seed(0, 7, other) == seed);
    assert_true(side_sample_seed(0, 7, k) != seed && side_sample_seed(0, 7, next) != seed &&
                side_sample_seed(0, 8, q) != seed && side_sample_seed(1, 7, q) != seed);
}

static void test_too_much_memory(void **state)
{
    (void)state;
    qks_error error;
    side s;
    assert_fails(side_open(&s, D, GROUPS, BUCKETS, SIZE_MAX / 4, &error), QKS_MEMORY, &error,
                 "memory");
    assert_null(s.groups);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),          cmocka_unit_test(test_clear),
        cmocka_unit_test(test_samples_join),    cmocka_unit_test(test_sample_seeds),
        cmocka_unit_test(test_too_much_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
