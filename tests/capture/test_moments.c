/* Streaming moments against two passes in long double, on data made by a small generator: every
 * entry of mean and scatter, for large means, any split, both precisions, and refused input. */
#include "capture/moments.h"
#include "testing.h"

enum { D = 5, N = 1000 }; /* several blocks of the update, and a part of one */

static const double EXACT = 1e-13; /* relative to the spread: rounding alone */
static const double RIGHT = 1e-9;  /* spec/faults: large mean with tiny variance */

/* ---- data: uniform in (-1, 1), the same on every machine ---- */
typedef struct data {
    double f64[N * D];
    float f32[N * D];
    int32_t position[N];
} data;

static double noise(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* Coordinate j drifts with position by j / N and is moved to `offset`; its spread is `spread`. */
static data make_data(double offset, double spread)
{
    data x;
    uint64_t state = 7;
    for (int i = 0; i < N; i++) {
        x.position[i] = 17 * i % 4099;
        for (int j = 0; j < D; j++) {
            double drift = j * (double)x.position[i] / 4099;
            x.f64[i * D + j] = offset * (j % 2 ? -1 : 1) + spread * (noise(&state) + drift);
            x.f32[i * D + j] = (float)x.f64[i * D + j];
        }
    }
    return x;
}

/* ---- the reference: two passes in long double ---- */
typedef struct reference {
    long double mean[D + 1], scatter[D + 1][D + 1];
} reference;

static long double value(const data *x, bool narrow, size_t i, int j)
{
    if (j == D)
        return x->position[i];
    return narrow ? (long double)x->f32[i * D + (size_t)j] : (long double)x->f64[i * D + (size_t)j];
}

static reference two_passes(const data *x, bool narrow, const uint32_t *pick, size_t n)
{
    reference r = {.mean = {0}};
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j <= D; j++)
            r.mean[j] += value(x, narrow, pick ? pick[i] : i, j) / (long double)n;
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j <= D; j++)
            for (int k = 0; k <= D; k++)
                r.scatter[j][k] += (value(x, narrow, pick ? pick[i] : i, j) - r.mean[j]) *
                                   (value(x, narrow, pick ? pick[i] : i, k) - r.mean[k]);
    return r;
}

/* Every entry, in units of its coordinates' spread. */
static void check_against(const moments *m, const reference *r, size_t n, double tolerance)
{
    assert_int_equal(m->n, n);
    for (int j = 0; j <= D; j++) {
        double spread = sqrt((double)r->scatter[j][j] / (double)n);
        assert_near(m->mean[j], (double)r->mean[j], 1e-15 * (fabs(m->mean[j]) + spread));
        for (int k = 0; k <= D; k++) {
            double scale = sqrt((double)(r->scatter[j][j] * r->scatter[k][k]));
            assert_near(moments_scatter(m, j, k), (double)r->scatter[j][k], tolerance * scale);
        }
    }
}

static moments *new_moments(int d)
{
    qks_error error;
    moments *m = NULL;
    assert_ok(qks_moments_new(&m, d, &error), &error);
    return m;
}

static void add(moments *m, const moments_rows *rows)
{
    qks_error error;
    assert_ok(moments_add(m, rows, &error), &error);
}

static moments_rows rows_of(const data *x, size_t first, size_t n)
{
    return (moments_rows){.n = n, .f64 = x->f64 + first * D, .position = x->position + first};
}

/* ---- tests ---- */

static void test_known_by_hand(void **state)
{
    (void)state;
    /* x = (1, 0), (3, 2), (5, -2) at t = 0, 1, 2: means 3, 0, 1; deviations -2, 0, 2; 0, 2, -2 */
    static const float x[] = {1, 0, 3, 2, 5, -2};
    static const int32_t t[] = {0, 1, 2};
    qks_error error;
    moments *m = new_moments(2);
    assert_ok(qks_moments_add_f32(m, 3, x, t, &error), &error);
    assert_int_equal(qks_moments_dimension(m), 2);
    assert_int_equal(qks_moments_count(m), 3);
    assert_true(qks_moments_mean(m, 0) == 3 && qks_moments_mean(m, 1) == 0);
    assert_near(qks_moments_covariance(m, 0, 0), 8.0 / 3, EXACT);
    assert_near(qks_moments_covariance(m, 0, 1), -4.0 / 3, EXACT);
    assert_near(qks_moments_covariance(m, 1, 0), -4.0 / 3, EXACT);
    assert_near(qks_moments_covariance(m, 1, 1), 8.0 / 3, EXACT);
    assert_true(qks_moments_position_mean(m) == 1);
    assert_near(qks_moments_position_variance(m), 2.0 / 3, EXACT);
    assert_near(qks_moments_position_covariance(m, 0), 4.0 / 3, EXACT);
    assert_near(qks_moments_position_covariance(m, 1), -2.0 / 3, EXACT);
    qks_moments_free(m);
}

static void test_nothing_added(void **state)
{
    (void)state;
    qks_error error;
    moments *m = new_moments(3);
    assert_ok(qks_moments_add_f32(m, 0, NULL, NULL, &error), &error);
    assert_int_equal(qks_moments_count(m), 0);
    assert_true(qks_moments_mean(m, 2) == 0 && qks_moments_covariance(m, 0, 1) == 0 &&
                qks_moments_position_variance(m) == 0);
    qks_moments_free(m);
    qks_moments_free(NULL);
}

/* The offsets against a spread of 1 and of a thousandth: at 1e8 the latter is 1e-11 of the mean. */
static void test_large_means(void **state)
{
    (void)state;
    static const struct {
        double offset, spread, tolerance;
    } cases[] = {{0, 1, EXACT},      {1e4, 1, EXACT},    {1e8, 1, EXACT},
                 {1e4, 1e-3, EXACT}, {1e8, 1e-3, RIGHT}, {1e8, 1e-4, RIGHT}};
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        data x = make_data(cases[c].offset, cases[c].spread);
        reference r = two_passes(&x, false, NULL, N);
        moments *m = new_moments(D), *parts = new_moments(D);
        moments_rows rows = rows_of(&x, 0, N);
        add(m, &rows);
        check_against(m, &r, N, cases[c].tolerance);
        for (size_t first = 0; first < N; first += 100) { /* the same by merging */
            moments *part = new_moments(D);
            moments_rows some = rows_of(&x, first, 100);
            add(part, &some);
            moments_merge(parts, part);
            qks_moments_free(part);
        }
        check_against(parts, &r, N, cases[c].tolerance);
        qks_moments_free(m);
        qks_moments_free(parts);
    }
}

/* A constant that binary cannot hold has no variance at all, not one of 1e-34. */
static void test_constant_has_no_variance(void **state)
{
    (void)state;
    double x[2 * 700];
    int32_t t[700];
    for (size_t i = 0; i < 700; i++) {
        x[2 * i] = 0.1;
        x[2 * i + 1] = 1e8 / 3;
        t[i] = (int32_t)i;
    }
    qks_error error;
    moments *m = new_moments(2), *other = new_moments(2);
    assert_ok(qks_moments_add_f64(m, 700, x, t, &error), &error);
    assert_ok(qks_moments_add_f64(other, 13, x, t, &error), &error);
    moments_merge(m, other);
    for (int j = 0; j < 2; j++) {
        assert_true(qks_moments_mean(m, j) == x[j]);
        assert_true(qks_moments_position_covariance(m, j) == 0);
        for (int k = 0; k < 2; k++)
            assert_true(qks_moments_covariance(m, j, k) == 0);
    }
    qks_moments_free(m);
    qks_moments_free(other);
}

static void test_any_split_is_one_pass(void **state)
{
    (void)state;
    static const size_t cuts[][4] = {{1, 1, 1, N - 3},
                                     {256, 256, 256, N - 768},
                                     {0, N, 0, 0},
                                     {499, 2, 0, 499},
                                     {N - 1, 1, 0, 0}};
    data x = make_data(3, 1);
    reference r = two_passes(&x, false, NULL, N);
    for (size_t c = 0; c < COUNT_OF(cuts); c++) {
        moments *streamed = new_moments(D), *forward = new_moments(D), *backward = new_moments(D);
        moments *part[4];
        for (size_t i = 0, first = 0; i < 4; first += cuts[c][i++]) {
            moments_rows some = rows_of(&x, first, cuts[c][i]);
            add(streamed, &some);
            part[i] = new_moments(D);
            add(part[i], &some);
        }
        for (size_t i = 0; i < 4; i++) {
            moments_merge(forward, part[i]);
            moments_merge(backward, part[3 - i]);
        }
        check_against(streamed, &r, N, EXACT);
        check_against(forward, &r, N, EXACT);
        check_against(backward, &r, N, EXACT);
        for (size_t i = 0; i < 4; i++)
            qks_moments_free(part[i]);
        qks_moments_free(streamed);
        qks_moments_free(forward);
        qks_moments_free(backward);
    }
}

static void test_float32_is_widened(void **state)
{
    (void)state;
    data x = make_data(1e4, 1);
    reference r = two_passes(&x, true, NULL, N);
    moments *m = new_moments(D), *wide = new_moments(D);
    add(m, &(moments_rows){.n = N, .f32 = x.f32, .position = x.position});
    check_against(m, &r, N, EXACT);
    for (int i = 0; i < N * D; i++)
        x.f64[i] = x.f32[i];
    moments_rows rows = rows_of(&x, 0, N);
    add(wide, &rows);
    assert_memory_equal(m->scatter, wide->scatter,
                        (size_t)m->stride * (D + 1) * sizeof *m->scatter);
    qks_moments_free(m);
    qks_moments_free(wide);
}

static void test_pick_chooses_rows(void **state)
{
    (void)state;
    data x = make_data(1, 1);
    uint32_t pick[N];
    size_t n = 0;
    for (uint32_t i = N; i-- > 0;)
        if (i % 3 == 1)
            pick[n++] = i;
    reference r = two_passes(&x, false, pick, n);
    moments *m = new_moments(D), *narrow = new_moments(D);
    add(m, &(moments_rows){.n = n, .f64 = x.f64, .position = x.position, .pick = pick});
    check_against(m, &r, n, EXACT);
    r = two_passes(&x, true, pick, n);
    add(narrow, &(moments_rows){.n = n, .f32 = x.f32, .position = x.position, .pick = pick});
    check_against(narrow, &r, n, EXACT);
    qks_moments_free(m);
    qks_moments_free(narrow);
}

/* ---- refused ---- */

static void test_refused_rows_change_nothing(void **state)
{
    (void)state;
    static const struct {
        double value;
        size_t row;
    } cases[] = {{NAN, 0},       {NAN, N - 1}, {INFINITY, 300},   {-INFINITY, 255},
                 {1e200, N - 1}, {NAN, 256},   {-1e61, N / 2 + 1}};
    data good = make_data(2, 1);
    double before[64], after[64];
    assert_true(moments_flat_size(D) <= COUNT_OF(before));
    moments *m = new_moments(D);
    moments_rows some = rows_of(&good, 0, 10);
    add(m, &some);
    moments_to_flat(m, before);
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        qks_error error;
        char name[32];
        data x = good;
        (void)snprintf(name, sizeof name, "vector %zu ", cases[c].row);
        x.f64[cases[c].row * D + 3] = cases[c].value;
        assert_fails(qks_moments_add_f64(m, N, x.f64, x.position, &error), QKS_INVALID, &error,
                     name);
        moments_to_flat(m, after);
        assert_memory_equal(before, after, moments_flat_size(D) * sizeof *after);
        if (isfinite(cases[c].value))
            continue;
        x.f32[cases[c].row * D + 3] = (float)cases[c].value;
        assert_fails(qks_moments_add_f32(m, N, x.f32, x.position, &error), QKS_INVALID, &error,
                     "NaN, infinity");
        moments_to_flat(m, after);
        assert_memory_equal(before, after, moments_flat_size(D) * sizeof *after);
    }
    qks_moments_free(m);
}

static void test_refused_arguments(void **state)
{
    (void)state;
    qks_error error;
    moments *m = NULL, *small = new_moments(2), *large = new_moments(3);
    static const int dimensions[] = {0, -1, QKS_DIMENSION_MAX + 1};
    for (size_t i = 0; i < COUNT_OF(dimensions); i++)
        assert_fails(qks_moments_new(&m, dimensions[i], &error), QKS_INVALID, &error, "dimension");
    assert_fails(qks_moments_merge(small, large, &error), QKS_INVALID, &error,
                 "dimension 3 into dimension 2");
    assert_ok(qks_moments_merge(small, small, &error), &error);
    const int32_t positions[] = {0, 1};
    const double vectors[] = {1, 2, 3, 4};
    assert_ok(qks_moments_add_f32(small, 0, NULL, NULL, &error), &error);
    assert_fails(qks_moments_add_f32(small, 2, NULL, positions, &error), QKS_INVALID, &error,
                 "NULL");
    assert_fails(qks_moments_add_f64(small, 2, vectors, NULL, &error), QKS_INVALID, &error, "NULL");
    qks_moments_free(small);
    qks_moments_free(large);
}

/* ---- the flat form ---- */

static void test_flat_round_trip(void **state)
{
    (void)state;
    qks_error error;
    data x = make_data(1e8, 1e-3);
    moments *m = new_moments(D), *copy = new_moments(D);
    moments_rows half = rows_of(&x, 0, N / 2), other = rows_of(&x, N / 2, N / 2);
    add(m, &half);
    double flat[64], again[64];
    moments_to_flat(m, flat);
    assert_ok(moments_from_flat(copy, flat, &error), &error);
    add(m, &other); /* nothing that matters later was lost */
    add(copy, &other);
    moments_to_flat(m, flat);
    moments_to_flat(copy, again);
    assert_memory_equal(flat, again, moments_flat_size(D) * sizeof *flat);
    qks_moments_free(m);
    qks_moments_free(copy);
}

static void test_flat_of_nothing_clears(void **state)
{
    (void)state;
    qks_error error;
    data x = make_data(0, 1);
    moments *empty = new_moments(D), *m = new_moments(D);
    moments_rows rows = rows_of(&x, 0, N);
    add(m, &rows);
    double flat[64];
    moments_to_flat(empty, flat);
    flat[2] = 5; /* a mean of no vectors */
    assert_ok(moments_from_flat(m, flat, &error), &error);
    add(m, &rows);
    reference r = two_passes(&x, false, NULL, N);
    check_against(m, &r, N, EXACT);
    qks_moments_free(empty);
    qks_moments_free(m);
}

static void test_flat_refuses(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        double value;
        const char *part;
    } cases[] = {
        {0, -1, "count"},      {0, 0.5, "count"},           {0, 1e300, "count"},
        {0, NAN, "count"},     {1, NAN, "infinity"},        {8, INFINITY, "infinity"},
        {12, NAN, "infinity"}, {14, -INFINITY, "infinity"},
    };
    qks_error error;
    data x = make_data(0, 1);
    moments *m = new_moments(D);
    moments_rows rows = rows_of(&x, 0, N);
    add(m, &rows);
    double flat[64], before[64], after[64];
    moments_to_flat(m, before);
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        memcpy(flat, before, sizeof flat);
        flat[cases[c].at] = cases[c].value;
        assert_fails(moments_from_flat(m, flat, &error), QKS_INVALID, &error, cases[c].part);
        moments_to_flat(m, after);
        assert_memory_equal(before, after, moments_flat_size(D) * sizeof *after);
    }
    qks_moments_free(m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_by_hand),
        cmocka_unit_test(test_nothing_added),
        cmocka_unit_test(test_large_means),
        cmocka_unit_test(test_constant_has_no_variance),
        cmocka_unit_test(test_any_split_is_one_pass),
        cmocka_unit_test(test_float32_is_widened),
        cmocka_unit_test(test_pick_chooses_rows),
        cmocka_unit_test(test_refused_rows_change_nothing),
        cmocka_unit_test(test_refused_arguments),
        cmocka_unit_test(test_flat_round_trip),
        cmocka_unit_test(test_flat_of_nothing_clears),
        cmocka_unit_test(test_flat_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
