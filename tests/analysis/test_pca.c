/* Combined PCA and drift plane of data small enough to work out by hand; the sign rule; the lemma
 * that directions at right angles to the drift axis do not drift; corners. */
#include "analysis/pca.h"
#include "vectors.h"

static const double NEAR = 1e-12;

static void run(pca *p, int components, const moments *q, const moments *k, const pca *turn_like)
{
    qks_error error;
    assert_ok(pca_open(p, q->d, components, &error), &error);
    assert_ok(pca_of(p, q, k, turn_like, &error), &error);
}

/* Queries run along x0 while keys run back; x1 has nothing to do with position.
 * Pooled: x0 has mean 3 and variance 5, x1 mean 0 and variance 1, and they do not go together. */
static const double CROSSING_Q[] = {0, 1, 2, -1, 4, -1, 6, 1};
static const double CROSSING_K[] = {6, -1, 4, 1, 2, 1, 0, -1};

static void test_by_hand(void **state)
{
    (void)state;
    moments *q = moments_of(2, 4, CROSSING_Q, NULL), *k = moments_of(2, 4, CROSSING_K, NULL);
    pca p;
    run(&p, 10, q, k, NULL);
    assert_int_equal(p.count, 2);
    assert_near(p.total_variance, 6, NEAR);
    const component *c = p.components;
    assert_near(c[0].eigenvalue, 5, NEAR);
    assert_near(c[0].explained_variance, 5.0 / 6, NEAR);
    assert_near(c[0].q.r, 1, NEAR);
    assert_near(c[0].k.r, -1, NEAR);
    assert_near(c[0].q.mean, 3, NEAR);
    assert_near(c[0].k.mean, 3, NEAR);
    assert_near(c[0].q.slope, 2, NEAR);
    assert_near(c[0].k.slope, -2, NEAR);
    assert_near(c[0].q.variance, 5, NEAR);
    assert_near(p.vectors[0], 1, NEAR);
    assert_near(c[1].explained_variance, 1.0 / 6, NEAR);
    assert_near(c[1].q.r, 0, NEAR);
    assert_near(c[1].k.r, 0, NEAR);
    assert_near(fabs(p.vectors[3]), 1, NEAR);
    qks_moments_free(q);
    qks_moments_free(k);
    pca_close(&p);
}

/* Turning and moving both sides together changes no correlation, variance or slope. */
static void test_rotation_changes_nothing(void **state)
{
    (void)state;
    moments *q = moments_of(2, 4, CROSSING_Q, NULL), *k = moments_of(2, 4, CROSSING_K, NULL);
    pca straight;
    run(&straight, 2, q, k, NULL);
    for (int step = 1; step < 12; step++) {
        double x[2][8], angle = step * 0.5;
        const double *from[] = {CROSSING_Q, CROSSING_K};
        for (int s = 0; s < 2; s++)
            for (int i = 0; i < 8; i += 2) {
                x[s][i] = cos(angle) * from[s][i] - sin(angle) * from[s][i + 1] + 7;
                x[s][i + 1] = sin(angle) * from[s][i] + cos(angle) * from[s][i + 1] - 2;
            }
        moments *tq = moments_of(2, 4, x[0], NULL), *tk = moments_of(2, 4, x[1], NULL);
        pca p;
        run(&p, 2, tq, tk, NULL);
        for (int i = 0; i < 2; i++) {
            const component *a = &p.components[i], *b = &straight.components[i];
            assert_near(a->explained_variance, b->explained_variance, NEAR);
            assert_near(a->q.r, b->q.r, NEAR);
            assert_near(a->k.r, b->k.r, NEAR);
            assert_near(a->q.slope, b->q.slope, NEAR);
            assert_near(a->q.mean - a->k.mean, b->q.mean - b->k.mean, NEAR);
        }
        qks_moments_free(tq);
        qks_moments_free(tk);
        pca_close(&p);
    }
    qks_moments_free(q);
    qks_moments_free(k);
    pca_close(&straight);
}

/* ---- the sign rule ---- */

static void test_sign_rule(void **state)
{
    (void)state;
    static const struct {
        double r_q, r_k, vector[3];
        bool turns;
    } cases[] = {
        {0.5, -0.9, {-1, 0, 0}, false},     /* queries decide */
        {-0.5, 0.9, {1, 0, 0}, true},       /* */
        {0.05, -0.9, {1, 0, 0}, false},     /* still, at 0.05 */
        {-0.05, 0.9, {1, 0, 0}, true},      /* */
        {0.0499, -0.01, {1, 0, 0}, true},   /* below, keys decide */
        {-0.0499, 0.01, {-1, 0, 0}, false}, /* */
        {0, -1e-300, {1, 0, 0}, true},      /* */
        {0.0499, 0, {-1, 0, 0}, false},     /* keys cannot: queries again */
        {-0.0499, 0, {1, 0, 0}, true},      /* */
        {-1e-300, -0.0, {1, 0, 0}, true},   /* */
        {0, 0, {0.5, -0.6, 0.1}, true},     /* neither can: the largest component */
        {0, 0, {-0.5, 0.6, -0.1}, false},   /* */
        {0, 0, {-0.5, 0.5, 0.5}, true},     /* of equal ones, the first */
        {0, 0, {0, 0, 0}, false},           /* */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        component c = {.q = {.r = cases[i].r_q}, .k = {.r = cases[i].r_k}};
        if (sign_rule_turns(&c, 3, cases[i].vector) != cases[i].turns)
            fail_msg("case %zu: r_q %g, r_k %g", i, cases[i].r_q, cases[i].r_k);
    }
}

/* Over many heads the rule holds for what pca_of returns, and nothing is ever -0. */
static void test_signs_of_results(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int trial = 0; trial < 100; trial++) {
        double x[2][40 * 3], drift = trial % 3 ? noise(&seed) : 0;
        for (int i = 0; i < 40 * 3; i++) {
            x[0][i] = noise(&seed) + (i % 3 == 0 ? drift * i / 10 : 0);
            x[1][i] = trial % 5 ? noise(&seed) : 1;
        }
        moments *q = moments_of(3, 40, x[0], NULL), *k = moments_of(3, 40, x[1], NULL);
        pca p;
        run(&p, 3, q, k, NULL);
        for (int i = 0; i < p.count; i++) {
            const component *c = &p.components[i];
            assert_false(sign_rule_turns(c, 3, p.vectors + (size_t)i * 3));
            assert_true(fabs(c->q.r) < 0.05 ? c->k.r >= 0 : c->q.r > 0);
            assert_false(c->k.r == 0 && signbit(c->k.r));
            assert_false(c->k.slope == 0 && signbit(c->k.slope));
        }
        qks_moments_free(q);
        qks_moments_free(k);
        pca_close(&p);
    }
}

/* A replicate points the way the whole sample does, whatever its own correlations say. */
static void test_turned_like_the_whole(void **state)
{
    (void)state;
    static const int32_t backwards[] = {3, 2, 1, 0};
    moments *q = moments_of(2, 4, CROSSING_Q, NULL), *k = moments_of(2, 4, CROSSING_K, NULL);
    moments *late = moments_of(2, 4, CROSSING_Q, backwards);
    pca whole, part, alone;
    run(&whole, 2, q, k, NULL);
    run(&part, 2, late, k, &whole);
    run(&alone, 2, late, k, NULL);
    assert_near(part.components[0].q.r, -1, NEAR);
    assert_near(part.components[0].k.r, -1, NEAR);
    assert_near(part.vectors[0], 1, NEAR);
    assert_near(alone.components[0].q.r, 1, NEAR);
    assert_near(alone.components[0].k.r, 1, NEAR);
    qks_moments_free(q);
    qks_moments_free(k);
    qks_moments_free(late);
    pca_close(&whole);
    pca_close(&part);
    pca_close(&alone);
}

/* ---- corners ---- */

static void assert_all_zero(const component *c)
{
    assert_true(c->explained_variance == 0 && c->q.r == 0 && c->k.r == 0 && c->q.slope == 0 &&
                c->k.slope == 0);
}

static void test_fewer_rows_than_components(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 4, 5, 2, 2, 2, 2, 2, 0, 1, 0, 1, 0};
    for (size_t n = 0; n <= 3; n++) {
        moments *q = moments_of(5, n, x, NULL), *k = moments_of(5, 0, NULL, NULL);
        pca p;
        run(&p, 10, q, k, NULL);
        assert_int_equal(p.count, n);
        for (int i = 0; i < p.count; i++) {
            const component *c = &p.components[i];
            assert_true(c->explained_variance >= 0 && c->explained_variance <= 1 + NEAR);
            assert_true(fabs(c->q.r) <= 1);
            assert_true(c->k.r == 0 && c->k.mean == 0);
        }
        if (n == 1)
            assert_all_zero(p.components);
        qks_moments_free(q);
        qks_moments_free(k);
        pca_close(&p);
    }
}

static void test_components_are_at_most_the_dimension(void **state)
{
    (void)state;
    moments *q = moments_of(2, 4, CROSSING_Q, NULL), *k = moments_of(2, 4, CROSSING_K, NULL);
    static const int wanted[] = {1, 2, 3, 4096};
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        pca p;
        run(&p, wanted[i], q, k, NULL);
        assert_int_equal(p.count, wanted[i] < 2 ? wanted[i] : 2);
        assert_near(p.components[0].explained_variance, 5.0 / 6, NEAR);
        pca_close(&p);
    }
    qks_moments_free(q);
    qks_moments_free(k);
}

static void test_no_variance(void **state)
{
    (void)state;
    static const double x[] = {0.1, 0.2, 0.1, 0.2, 0.1, 0.2};
    moments *q = moments_of(2, 3, x, NULL), *k = moments_of(2, 2, x, NULL);
    pca p;
    run(&p, 2, q, k, NULL);
    assert_int_equal(p.count, 2);
    assert_true(p.total_variance == 0);
    assert_all_zero(&p.components[0]);
    assert_all_zero(&p.components[1]);
    double a[2], b[2];
    drift_plane plane = {.a = a, .b = b};
    qks_error error;
    assert_ok(drift_plane_of(&plane, &p, q, k, false, &error), &error);
    assert_false(plane.has_a);
    assert_true(plane.q_a.r == 0 && plane.k_a.slope == 0 && plane.separation_strength == 0 &&
                plane.var_frac_a == 0 && plane.var_frac_b == 0);
    qks_moments_free(q);
    qks_moments_free(k);
    pca_close(&p);
}

/* All rows at one position: variance, but nothing to correlate with. */
static void test_one_position(void **state)
{
    (void)state;
    static const int32_t t[] = {5, 5, 5, 5};
    moments *q = moments_of(2, 4, CROSSING_Q, t), *k = moments_of(2, 4, CROSSING_K, t);
    pca p;
    run(&p, 2, q, k, NULL);
    assert_near(p.components[0].explained_variance, 5.0 / 6, NEAR);
    assert_true(p.components[0].q.r == 0 && p.components[0].k.r == 0);
    qks_moments_free(q);
    qks_moments_free(k);
    pca_close(&p);
}

/* spec: a side's variance of at most 1e-12 of the pooled total counts as zero. Keys step by `step`
 * along x0 with position; the pooled variance is all but the queries', (0 .. 3) * 2, plus means. */
static void test_negligible_variance(void **state)
{
    (void)state;
    static const struct {
        double step, r_k;
    } cases[] = {{0, 0}, {1e-9, 0}, {1e-6, 0}, {1e-5, 1}, {-1e-5, -1}};
    static const double x_q[] = {0, 2, 4, 6};
    moments *q = moments_of(1, 4, x_q, NULL);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double x_k[4];
        for (int t = 0; t < 4; t++)
            x_k[t] = 3 + cases[i].step * t;
        moments *k = moments_of(1, 4, x_k, NULL);
        pca p;
        run(&p, 1, q, k, NULL);
        assert_near(p.components[0].k.r, cases[i].r_k, 1e-9);
        assert_near(p.components[0].k.slope, cases[i].r_k == 0 ? 0 : cases[i].step, 1e-14);
        qks_moments_free(k);
        pca_close(&p);
    }
    qks_moments_free(q);
}

/* Means of 1e8 with a spread of 1e-3 lose nothing. */
static void test_large_mean(void **state)
{
    (void)state;
    enum { N = 600, D = 4 };
    static double near_zero[2][N * D], far[2][N * D];
    uint64_t seed = 3;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < N * D; i++) {
            int t = i / D;
            double x = 1e-3 * (noise(&seed) + (i % D == s ? t * 2.0 / N : 0));
            far[s][i] = 1e8 * (i % D == 2 ? -1 : 1) + x;
            near_zero[s][i] = far[s][i] - 1e8 * (i % D == 2 ? -1 : 1); /* exact */
        }
    moments *q[] = {moments_of(D, N, near_zero[0], NULL), moments_of(D, N, far[0], NULL)};
    moments *k[] = {moments_of(D, N, near_zero[1], NULL), moments_of(D, N, far[1], NULL)};
    pca p[2];
    for (int i = 0; i < 2; i++)
        run(&p[i], D, q[i], k[i], NULL);
    for (int i = 0; i < D; i++) {
        const component *a = &p[0].components[i], *b = &p[1].components[i];
        assert_near(b->explained_variance, a->explained_variance, 1e-9);
        assert_near(b->q.r, a->q.r, 1e-9);
        assert_near(b->k.r, a->k.r, 1e-9);
        assert_near_relative(b->q.slope, a->q.slope, 1e-8);
    }
    assert_near_relative(step_along(k[1], q[1], p[1].vectors), step_along(k[0], q[0], p[0].vectors),
                         1e-8);
    for (int i = 0; i < 2; i++) {
        qks_moments_free(q[i]);
        qks_moments_free(k[i]);
        pca_close(&p[i]);
    }
}

/* ---- the drift plane ---- */

enum { AXIS = 8 }; /* room for an axis */

static void find_plane(drift_plane *plane, pca *p, const moments *q, const moments *k)
{
    qks_error error;
    assert_ok(drift_plane_of(plane, p, q, k, false, &error), &error);
}

/* Queries (2t, 0), keys at (0, 5): a = (1, 0); delta = (2t, -5), so b = (0, -1). Pooled variance
 * 4.75 along x0, 6.25 along x1. */
static void test_plane_by_hand(void **state)
{
    (void)state;
    static const double x_q[] = {0, 0, 2, 0, 4, 0, 6, 0}, x_k[] = {0, 5, 0, 5, 0, 5, 0, 5};
    moments *q = moments_of(2, 4, x_q, NULL), *k = moments_of(2, 4, x_k, NULL);
    pca p;
    run(&p, 2, q, k, NULL);
    double a[AXIS], b[AXIS];
    drift_plane plane = {.a = a, .b = b};
    find_plane(&plane, &p, q, k);
    assert_true(plane.has_a && plane.has_b);
    assert_near(plane.a[0], 1, NEAR);
    assert_near(plane.a[1], 0, NEAR);
    assert_near(plane.b[0], 0, NEAR);
    assert_near(plane.b[1], -1, NEAR);
    assert_near(plane.q_a.r, 1, NEAR);
    assert_near(plane.k_a.r, 0, NEAR);
    assert_near(plane.q_a.slope, 2, NEAR);
    assert_near(plane.q_a.mean, 3, NEAR);
    assert_near(plane.k_a.mean, 0, NEAR);
    assert_near(plane.mu_q_b, 0, NEAR);
    assert_near(plane.mu_k_b, -5, NEAR);
    assert_near(plane.separation_strength, 25.0 / 39, NEAR);
    assert_near(plane.var_frac_a, 4.75 / 11, NEAR);
    assert_near(plane.var_frac_b, 6.25 / 11, NEAR);
    qks_moments_free(q);
    qks_moments_free(k);
    pca_close(&p);
}

/* spec: every direction at right angles to a has zero covariance with position, in the raw data. */
static void test_drift_lemma(void **state)
{
    (void)state;
    enum { D = AXIS, N_Q = 500, N_K = 300, N = N_Q + N_K };
    static double x[N * D];
    static int32_t t[N];
    uint64_t seed = 11;
    for (int i = 0; i < N; i++) {
        t[i] = (i < N_Q ? 7 : 11) * i % 1009;
        for (int j = 0; j < D; j++)
            x[i * D + j] = 5 * noise(&seed) + sin(j + (i < N_Q)) * t[i] / 200 + 30 * cos(j);
    }
    moments *q = moments_of(D, N_Q, x, t), *k = moments_of(D, N_K, x + (size_t)N_Q * D, t + N_Q);
    pca p;
    run(&p, D, q, k, NULL);
    double a[AXIS], b[AXIS];
    drift_plane plane = {.a = a, .b = b};
    find_plane(&plane, &p, q, k);
    long double mean_t = 0, along[D + 1] = {0};
    for (int i = 0; i < N; i++)
        mean_t += (long double)t[i] / N;
    for (int axis = 0; axis <= D; axis++) { /* e_axis without its part along a; then a itself */
        double v[D];
        for (int j = 0; j < D; j++)
            v[j] = axis == D ? plane.a[j] : (j == axis) - plane.a[axis] * plane.a[j];
        for (int i = 0; i < N; i++)
            for (int j = 0; j < D; j++)
                along[axis] += v[j] * (long double)x[i * D + j] * (t[i] - mean_t) / N;
    }
    for (int axis = 0; axis < D; axis++)
        assert_near((double)(along[axis] / along[D]), 0, 1e-10);
    assert_true(along[D] > 0);
    assert_near(dot(D, plane.a, plane.a), 1, NEAR);
    assert_near(dot(D, plane.b, plane.b), 1, NEAR);
    assert_near(dot(D, plane.a, plane.b), 0, NEAR);
    assert_true(plane.mu_q_b >= plane.mu_k_b);
    /* no direction at right angles to a separates better than b */
    for (int trial = 0; trial < 200; trial++) {
        double v[D], strength = 0;
        for (int j = 0; j < D; j++)
            v[j] = trial % 2 ? plane.b[j] + 0.1 * noise(&seed) : noise(&seed);
        double off = dot(D, v, plane.a);
        for (int j = 0; j < D; j++)
            v[j] -= off * plane.a[j];
        double length = dot(D, v, v), step = step_along(k, q, v), all = 0;
        strength = side_on(q, v, 0).variance + side_on(k, v, 0).variance + step * step;
        for (int j = 0; j < D; j++) {
            double e[D] = {0};
            e[j] = 1;
            step = step_along(k, q, e);
            all += side_on(q, e, 0).variance + side_on(k, e, 0).variance + step * step;
        }
        assert_true(strength / length / all <= plane.separation_strength + NEAR);
    }
    qks_moments_free(q);
    qks_moments_free(k);
    pca_close(&p);
}

/* Everything lies on a: b is still at right angles to it, with nothing on it. */
static void test_nothing_beside_the_drift(void **state)
{
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        double x_q[12] = {0}, x_k[12] = {0};
        for (int t = 0; t < 4; t++) {
            x_q[3 * t + axis] = t;
            x_k[3 * t + axis] = 2 * t;
        }
        moments *q = moments_of(3, 4, x_q, NULL), *k = moments_of(3, 4, x_k, NULL);
        pca p;
        run(&p, 3, q, k, NULL);
        double a[AXIS], b[AXIS];
        drift_plane plane = {.a = a, .b = b};
        find_plane(&plane, &p, q, k);
        assert_near(plane.a[axis], 1, NEAR);
        assert_near(plane.b[axis], 0, NEAR);
        assert_near(dot(3, plane.b, plane.b), 1, NEAR);
        assert_near(plane.var_frac_a, 1, NEAR);
        assert_near(plane.var_frac_b, 0, NEAR);
        assert_near(plane.separation_strength, 0, NEAR);
        qks_moments_free(q);
        qks_moments_free(k);
        pca_close(&p);
    }
}

static void test_no_plane(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 2, 3};
    moments *q = moments_of(1, 4, x, NULL), *none = moments_of(1, 0, NULL, NULL);
    moments *two = moments_of(2, 2, x, NULL), *no_keys = moments_of(2, 0, NULL, NULL);
    pca p;
    double a[AXIS], b[AXIS];
    drift_plane plane = {.a = a, .b = b};
    run(&p, 1, q, q, NULL);
    find_plane(&plane, &p, q, q); /* one dimension has no second axis */
    assert_true(plane.has_a && !plane.has_b);
    assert_near(plane.var_frac_a, 1, NEAR);
    pca_close(&p);
    run(&p, 1, none, none, NULL);
    find_plane(&plane, &p, none, none);
    assert_true(!plane.has_a && !plane.has_b && plane.var_frac_a == 0);
    pca_close(&p);
    run(&p, 2, two, no_keys, NULL);
    find_plane(&plane, &p, two, no_keys);
    assert_true(plane.has_a && !plane.has_b && plane.k_a.r == 0);
    assert_near(plane.q_a.r, 1, NEAR);
    pca_close(&p);
    qks_moments_free(q);
    qks_moments_free(none);
    qks_moments_free(two);
    qks_moments_free(no_keys);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_rotation_changes_nothing),
        cmocka_unit_test(test_sign_rule),
        cmocka_unit_test(test_signs_of_results),
        cmocka_unit_test(test_turned_like_the_whole),
        cmocka_unit_test(test_fewer_rows_than_components),
        cmocka_unit_test(test_components_are_at_most_the_dimension),
        cmocka_unit_test(test_no_variance),
        cmocka_unit_test(test_one_position),
        cmocka_unit_test(test_negligible_variance),
        cmocka_unit_test(test_large_mean),
        cmocka_unit_test(test_plane_by_hand),
        cmocka_unit_test(test_drift_lemma),
        cmocka_unit_test(test_nothing_beside_the_drift),
        cmocka_unit_test(test_no_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
