/* The key-pair sample: which pairs are drawn, that they are drawn evenly, and that reservoirs hold
 * the same sample however the keys were spread over them. */
#include "capture/pairs.h"
#include "testing.h"

enum { D = 2, M = 20, PAIRS = M * (M - 1) / 2 };

static pair_draws draw(uint64_t seed, uint32_t m, size_t limit, double threshold)
{
    qks_error error;
    pair_draws draws = {0};
    assert_ok(pairs_draw(seed, m, limit, threshold, &draws, &error), &error);
    return draws;
}

static size_t pair_number(const pair_draw *p)
{
    return (size_t)p->second * (p->second - 1) / 2 + p->first;
}

/* sum (seen - expected)^2 / expected */
static double chi_square(const int *seen, size_t cells, double expected)
{
    double sum = 0;
    for (size_t i = 0; i < cells; i++)
        sum += (seen[i] - expected) * (seen[i] - expected) / expected;
    return sum;
}

/* Seeds are fixed, so these bounds (4 standard deviations of chi-square) hold always or never. */
static double chi_square_bound(double freedom)
{
    return freedom + 4 * sqrt(2 * freedom);
}

/* ---- which pairs ---- */

static void test_every_pair_once(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {2, 3, 4, 5, 16, 17, 100};
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        size_t pairs = (size_t)sizes[s] * (sizes[s] - 1) / 2;
        pair_draws draws = draw(s, sizes[s], SIZE_MAX, 1);
        char *seen = calloc(pairs, 1);
        assert_non_null(seen);
        assert_int_equal(draws.length, pairs);
        for (size_t i = 0; i < pairs; i++) {
            const pair_draw *p = &draws.data[i];
            assert_true(p->first < p->second && p->second < sizes[s]);
            assert_false(seen[pair_number(p)]++);
            assert_true(p->priority > (i ? p[-1].priority : 0) && p->priority < 1);
        }
        free(seen);
        free(draws.data);
    }
}

static void test_too_few_keys(void **state)
{
    (void)state;
    for (uint32_t m = 0; m < 2; m++) {
        pair_draws draws = draw(1, m, 100, 1);
        assert_int_equal(draws.length, 0);
        free(draws.data);
    }
}

/* A limit gives the beginning of the whole draw, a threshold what lies below it. */
static void test_limit_and_threshold_cut(void **state)
{
    (void)state;
    pair_draws all = draw(5, M, SIZE_MAX, 1);
    static const size_t limits[] = {0, 1, 7, PAIRS, 1000};
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        size_t kept = limits[i] < PAIRS ? limits[i] : PAIRS;
        pair_draws some = draw(5, M, limits[i], 1);
        assert_int_equal(some.length, kept);
        for (size_t j = 0; j < kept; j++)
            assert_memory_equal(&some.data[j], &all.data[j], sizeof *some.data);
        pair_draws below = draw(5, M, SIZE_MAX, kept < PAIRS ? all.data[kept].priority : 1);
        assert_int_equal(below.length, kept);
        free(some.data);
        free(below.data);
    }
    free(all.data);
}

/* ---- evenly ---- */

/* The first two pairs of 6 keys' 15: each of the 15 * 14 ordered choices equally often. */
static void test_first_pairs_are_even(void **state)
{
    (void)state;
    enum { KEYS = 6, CELLS = 15, SEEDS = 21000 };
    static int seen[CELLS * CELLS], first[CELLS], both[CELLS * (CELLS - 1)];
    double sum = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        pair_draws draws = draw(seed, KEYS, 2, 1);
        size_t a = pair_number(&draws.data[0]), b = pair_number(&draws.data[1]);
        seen[a * CELLS + b]++;
        first[a]++;
        sum += draws.data[0].priority;
        free(draws.data);
    }
    size_t n = 0;
    for (size_t a = 0; a < CELLS; a++)
        for (size_t b = 0; b < CELLS; b++)
            if (a != b)
                both[n++] = seen[a * CELLS + b];
    assert_true(chi_square(first, CELLS, SEEDS / 15.0) < chi_square_bound(CELLS - 1));
    assert_true(chi_square(both, n, SEEDS / 210.0) < chi_square_bound(209));
    /* the smallest of 15 uniforms has mean 1/16 and standard deviation 0.0571 */
    assert_near(sum / SEEDS, 1.0 / 16, 4 * 0.0571 / sqrt(SEEDS));
}

/* 256 of the 4,498,500 pairs of 3,000 keys, over many seeds: every sixteenth equally often. */
static void test_large_cells_are_even(void **state)
{
    (void)state;
    enum { KEYS = 3000, LIMIT = 256, SEEDS = 100, CELLS = 16 };
    static int seen[CELLS], priorities[CELLS];
    const double pairs = KEYS * (KEYS - 1.0) / 2, width = 2 * LIMIT / pairs;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        pair_draws draws = draw(seed, KEYS, 1000, width);
        for (size_t i = 0; i < draws.length; i++) {
            seen[(size_t)((double)pair_number(&draws.data[i]) / pairs * CELLS)]++;
            priorities[(size_t)(draws.data[i].priority / width * CELLS)]++;
        }
        free(draws.data);
    }
    double expected = 2.0 * LIMIT * SEEDS / CELLS;
    assert_true(chi_square(seen, CELLS, expected) < chi_square_bound(CELLS));
    assert_true(chi_square(priorities, CELLS, expected) < chi_square_bound(CELLS));
}

static void test_seeds_differ(void **state)
{
    (void)state;
    const uint64_t seeds[] = {
        pair_seed(0, 0, 0, 0, 0), pair_seed(1, 0, 0, 0, 0),  pair_seed(0, 1, 0, 0, 0),
        pair_seed(0, 0, 1, 0, 0), pair_seed(0, 0, 0, 1, 0),  pair_seed(0, 0, 0, 0, 1),
        pair_seed(0, 1, 0, 1, 0), pair_seed(0, -1, 0, 0, 0), pair_seed(0, 0, 1, 1, 0),
    };
    for (size_t i = 0; i < COUNT_OF(seeds); i++)
        for (size_t j = 0; j < i; j++)
            assert_true(seeds[i] != seeds[j]);
    assert_true(pair_seed(3, -5, 2, 1, 9) == pair_seed(3, -5, 2, 1, 9));
}

/* ---- reservoirs ---- */

/* Key i of a document is (2^i, document), so that a difference names its pair and has a second
 * coordinate of 0; documents differ by a factor of 2^-20 each. */
typedef struct document {
    uint64_t seed;
    uint32_t m;
    float keys[M * D];
} document;

static document make_document(int number, uint32_t m)
{
    document x = {.seed = pair_seed(0, number, 0, 0, 0), .m = m};
    for (size_t i = 0; i < m; i++) {
        x.keys[i * D] = (float)ldexp(1, (int)i - 20 * number);
        x.keys[i * D + 1] = (float)number;
    }
    return x;
}

static pair_reservoir open_reservoir(size_t capacity)
{
    qks_error error;
    pair_reservoir r;
    assert_ok(pair_reservoir_open(&r, D, capacity, &error), &error);
    return r;
}

static void add(pair_reservoir *r, const document *x)
{
    qks_error error;
    assert_ok(pair_reservoir_add(r, x->seed, x->m, x->keys, &error), &error);
}

static void assert_same(const pair_reservoir *a, const pair_reservoir *b)
{
    assert_int_equal(a->count, b->count);
    assert_true(a->threshold == b->threshold);
    assert_memory_equal(a->priority, b->priority, a->count * sizeof *a->priority);
    assert_memory_equal(a->difference, b->difference, a->count * D * sizeof *a->difference);
}

/* Exactly the pairs below the threshold are there, in order, with their differences. */
static void assert_complete(const pair_reservoir *r, const document *documents, size_t count)
{
    size_t below = 0;
    for (size_t i = 0; i < count; i++) {
        const document *x = &documents[i];
        pair_draws all = draw(x->seed, x->m, SIZE_MAX, 1);
        for (size_t p = 0; p < all.length && all.data[p].priority < r->threshold; p++, below++) {
            float expected = x->keys[(size_t)all.data[p].first * D] -
                             x->keys[(size_t)all.data[p].second * D];
            size_t at = 0;
            while (at < r->count && r->priority[at] != all.data[p].priority)
                at++;
            assert_true(at < r->count);
            assert_true(r->difference[at * D] == expected && r->difference[at * D + 1] == 0);
        }
        free(all.data);
    }
    assert_int_equal(r->count, below);
    for (size_t i = 0; i < r->count; i++)
        assert_true(r->priority[i] < r->threshold && (!i || r->priority[i] > r->priority[i - 1]));
}

static void test_all_kept_when_they_fit(void **state)
{
    (void)state;
    document x = make_document(0, M);
    pair_reservoir r = open_reservoir(PAIRS);
    add(&r, &x);
    assert_int_equal(r.count, PAIRS);
    assert_true(r.threshold == 1);
    assert_complete(&r, &x, 1);
    pair_reservoir_close(&r);
}

static void test_the_smallest_kept_when_not(void **state)
{
    (void)state;
    document x = make_document(0, M);
    pair_draws all = draw(x.seed, M, SIZE_MAX, 1);
    static const size_t capacities[] = {1, 2, 50, PAIRS - 1};
    for (size_t c = 0; c < COUNT_OF(capacities); c++) {
        pair_reservoir r = open_reservoir(capacities[c]);
        add(&r, &x);
        assert_int_equal(r.count, capacities[c]);
        assert_true(r.threshold == all.data[capacities[c]].priority);
        assert_complete(&r, &x, 1);
        pair_reservoir_close(&r);
    }
    free(all.data);
}

static void test_documents_without_pairs_add_nothing(void **state)
{
    (void)state;
    document some = make_document(0, M), one = make_document(1, 1), none = make_document(2, 0);
    pair_reservoir r = open_reservoir(30), same = open_reservoir(30);
    add(&r, &some);
    add(&same, &one);
    add(&same, &some);
    add(&same, &none);
    assert_same(&r, &same);
    pair_reservoir_close(&r);
    pair_reservoir_close(&same);
}

/* Four documents over two reservoirs in any way, joined either way round: always one sample. */
static void test_any_split_any_order(void **state)
{
    (void)state;
    enum { DOCUMENTS = 4 };
    document x[DOCUMENTS];
    for (int i = 0; i < DOCUMENTS; i++)
        x[i] = make_document(i, (uint32_t)(M - 5 * i));
    static const size_t capacities[] = {1, 10, 40, 150, 1000};
    for (size_t c = 0; c < COUNT_OF(capacities); c++) {
        pair_reservoir one = open_reservoir(capacities[c]);
        for (int i = 0; i < DOCUMENTS; i++)
            add(&one, &x[i]);
        assert_complete(&one, x, DOCUMENTS);
        for (unsigned split = 0; split < 1U << DOCUMENTS; split++) {
            pair_reservoir half[2] = {open_reservoir(capacities[c]), open_reservoir(capacities[c])};
            pair_reservoir back = open_reservoir(capacities[c]);
            for (int i = DOCUMENTS; i-- > 0;)
                add(&half[split >> i & 1], &x[i]);
            pair_reservoir_join(&back, &half[1]);
            pair_reservoir_join(&back, &half[0]);
            pair_reservoir_join(&half[0], &half[1]);
            assert_same(&half[0], &one);
            assert_same(&back, &one);
            pair_reservoir_close(&half[0]);
            pair_reservoir_close(&half[1]);
            pair_reservoir_close(&back);
        }
        pair_reservoir_close(&one);
    }
}

/* Also of other capacity: the smaller threshold rules, and nothing below it is missing. */
static void test_joining_other_capacities(void **state)
{
    (void)state;
    document x[2] = {make_document(0, M), make_document(1, 12)};
    static const size_t capacities[][2] = {{20, 5}, {5, 20}, {1000, 3}, {3, 1000}};
    for (size_t c = 0; c < COUNT_OF(capacities); c++) {
        pair_reservoir a = open_reservoir(capacities[c][0]), b = open_reservoir(capacities[c][1]);
        add(&a, &x[0]);
        add(&b, &x[1]);
        double least = a.threshold < b.threshold ? a.threshold : b.threshold;
        pair_reservoir_join(&a, &b);
        assert_true(a.threshold <= least && a.count <= a.capacity);
        assert_complete(&a, x, 2);
        pair_reservoir_close(&a);
        pair_reservoir_close(&b);
    }
}

/* Of cells with 45 and 190 pairs, 30 are kept: 30 * 45 / 235 of the first on average. */
static void test_cells_count_by_their_pairs(void **state)
{
    (void)state;
    enum { SEEDS = 2000, KEPT = 30 };
    document small = make_document(0, 10), large = make_document(1, M);
    double from_small = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        pair_reservoir r = open_reservoir(KEPT);
        small.seed = pair_seed((uint64_t)seed, 0, 0, 0, 0);
        large.seed = pair_seed((uint64_t)seed, 1, 0, 0, 0);
        add(&r, &small);
        add(&r, &large);
        assert_int_equal(r.count, KEPT);
        for (size_t i = 0; i < KEPT; i++)
            from_small += fabsf(r.difference[i * D]) >= 1;
        pair_reservoir_close(&r);
    }
    /* hypergeometric: standard deviation 2.02 of one sample */
    assert_near(from_small / SEEDS, KEPT * 45.0 / 235, 4 * 2.02 / sqrt(SEEDS));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair_once),
        cmocka_unit_test(test_too_few_keys),
        cmocka_unit_test(test_limit_and_threshold_cut),
        cmocka_unit_test(test_first_pairs_are_even),
        cmocka_unit_test(test_large_cells_are_even),
        cmocka_unit_test(test_seeds_differ),
        cmocka_unit_test(test_all_kept_when_they_fit),
        cmocka_unit_test(test_the_smallest_kept_when_not),
        cmocka_unit_test(test_documents_without_pairs_add_nothing),
        cmocka_unit_test(test_any_split_any_order),
        cmocka_unit_test(test_joining_other_capacities),
        cmocka_unit_test(test_cells_count_by_their_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
