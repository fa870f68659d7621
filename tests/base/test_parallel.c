/* test_parallel.c: every item once, thread numbers in range, the right error. */
#include "testing.h"

#include "base/parallel.h"

#include <omp.h>
#include <stdatomic.h>
#include <time.h>

enum { ITEMS = 5000, MOST_THREADS = 8 };

typedef struct tally {
    atomic_int times[ITEMS];
    atomic_int worst_thread;
    atomic_size_t begun;
    size_t fails_from, fails_at; /* items that fail: these two and none between */
    bool silent;                 /* fail without a message */
} tally;

static tally *tally_new(void)
{
    tally *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->fails_from = t->fails_at = SIZE_MAX;
    return t;
}

static void wait_a_little(void)
{
    const struct timespec t = {0, 20000000};
    (void)nanosleep(&t, NULL);
}

static qks_status count(void *context, size_t index, int thread, qks_error *error)
{
    tally *t = context;
    atomic_fetch_add(&t->times[index], 1);
    atomic_fetch_add(&t->begun, 1);
    if (thread > atomic_load(&t->worst_thread))
        atomic_store(&t->worst_thread, thread);
    if (index == t->fails_from)
        wait_a_little(); /* so that the higher index fails first */
    if (index != t->fails_from && index != t->fails_at)
        return QKS_OK;
    return t->silent ? QKS_INTERRUPTED : qks_fail(error, QKS_INVALID, "item %zu", index);
}

static void test_every_item_once(void **state)
{
    (void)state;
    static const struct {
        size_t items;
        int threads;
    } cases[] = {{ITEMS, 1}, {ITEMS, 2}, {ITEMS, MOST_THREADS}, {3, MOST_THREADS}, {1, 2}, {0, 4},
                 {100, 0},   {100, -3}};
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        tally *t = tally_new();
        qks_error error;
        assert_ok(parallel_for(cases[c].items, cases[c].threads, count, t, &error), &error);
        for (size_t i = 0; i < ITEMS; i++)
            assert_int_equal(t->times[i], i < cases[c].items);
        int threads = cases[c].threads > 1 ? cases[c].threads : 1;
        assert_in_range(t->worst_thread, 0, threads - 1);
        free(t);
    }
}

static void test_lowest_error_wins(void **state)
{
    (void)state;
    tally *t = tally_new();
    t->fails_from = 10;
    t->fails_at = 11;
    qks_error error;
    assert_fails(parallel_for(ITEMS, 4, count, t, &error), QKS_INVALID, &error, "item 10");
    assert_string_equal(error.message, "item 10");
    assert_in_range(t->begun, 11, ITEMS - 1);
    free(t);
}

static void test_error_stops(void **state)
{
    (void)state;
    tally *t = tally_new();
    t->fails_at = 10;
    qks_error error;
    assert_fails(parallel_for(ITEMS, 1, count, t, &error), QKS_INVALID, &error, "item 10");
    assert_int_equal(t->begun, 11);
    free(t);
}

static void test_error_without_message(void **state)
{
    (void)state;
    tally *t = tally_new();
    t->fails_at = 3;
    t->silent = true;
    qks_error error = {QKS_OK, "old"};
    assert_int_equal(parallel_for(ITEMS, 2, count, t, &error), QKS_INTERRUPTED);
    assert_int_equal(error.status, QKS_INTERRUPTED);
    assert_string_equal(error.message, "");
    assert_int_equal(parallel_for(ITEMS, 2, count, t, NULL), QKS_INTERRUPTED);
    free(t);
}

static void test_success_leaves_the_error_alone(void **state)
{
    (void)state;
    tally *t = tally_new();
    qks_error error = {QKS_IO, "old"};
    assert_ok(parallel_for(10, 2, count, t, &error), &error);
    assert_string_equal(error.message, "old");
    free(t);
}

static void test_number_of_threads(void **state)
{
    (void)state;
    assert_int_equal(parallel_threads(3), 3);
    omp_set_num_threads(5); /* as OMP_NUM_THREADS=5 does */
    assert_int_equal(parallel_threads(0), 5);
    assert_int_equal(parallel_threads(-1), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_item_once),
        cmocka_unit_test(test_lowest_error_wins),
        cmocka_unit_test(test_error_stops),
        cmocka_unit_test(test_error_without_message),
        cmocka_unit_test(test_success_leaves_the_error_alone),
        cmocka_unit_test(test_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
