/* Attention plasticity against the definition, written out with full matrices and by hand: the
 * three variants, windows, what is left out, profiles and deciles. */
#include "analysis/plasticity.h"
#include "vectors.h"

static const double NEAR = 1e-12;

/* ---- a head: queries with their positions, buckets of `size` positions ---- */
typedef struct head {
    moments *q;
    side queries, keys;
} head;

enum { BUCKETS = 10 };

static head make_head(int d, int size, size_t n, const double *x, const int32_t *t)
{
    qks_error error;
    head h = {.q = moments_of(d, n, x, t)};
    assert_ok(side_open(&h.queries, d, 1, BUCKETS, 0, &error), &error);
    assert_ok(side_open(&h.keys, d, 1, BUCKETS, 0, &error), &error);
    for (size_t i = 0; i < n; i++)
        side_count(&h.queries, t[i] / size, t[i], x[i * (size_t)d]);
    return h;
}

static void end_head(head *h)
{
    qks_moments_free(h->q);
    side_close(&h->queries);
    side_close(&h->keys);
}

static plasticity *start(const head *h, int64_t window)
{
    qks_error error;
    plasticity *p = NULL;
    assert_ok(plasticity_open(&p, h->q, &h->queries, &h->keys, window, &error), &error);
    return p;
}

static void add(plasticity *p, int bucket, size_t n, const double *differences)
{
    qks_error error;
    assert_ok(plasticity_add(p, bucket, n, differences, &error), &error);
}

static double normal(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

static double pair(double m, double v)
{
    double p = normal(m / sqrt(v));
    return 4 * p * (1 - p);
}

/* ---- one dimension, by hand ---- */

/* q = 2 + t / 10 +- 1 at t = 10, 20: residual variance 4 / 3 (ddof 1); bucket 1 has t_b = 15 */
static const double LINE[] = {4, 2, 5, 3};
static const int32_t LINE_AT[] = {10, 10, 20, 20};

static void test_one_dimension(void **state)
{
    (void)state;
    head h = make_head(1, 10, 4, LINE, LINE_AT);
    /* queries at 10 are in bucket 1, at 20 in bucket 2 */
    plasticity *p = start(&h, 0);
    static const double w[] = {1, -2, 0, 0.5};
    add(p, 0, 4, w);
    for (int v = 0; v < PLASTICITY_VARIANTS; v++) {
        double at_10 = (pair(3, 4.0 / 3) + pair(-6, 16.0 / 3) + pair(1.5, 1.0 / 3)) / 3;
        double at_20 = (pair(4, 4.0 / 3) + pair(-8, 16.0 / 3) + pair(2, 1.0 / 3)) / 3;
        assert_near(plasticity_cell(p, (plasticity_variant)v, 1, 0), at_10, NEAR);
        assert_near(plasticity_cell(p, (plasticity_variant)v, 2, 0), at_20, NEAR);
        assert_true(isnan(plasticity_cell(p, (plasticity_variant)v, 2, 1))); /* no keys */
        assert_true(isnan(plasticity_cell(p, (plasticity_variant)v, 3, 0))); /* no queries */
        assert_true(isnan(plasticity_cell(p, (plasticity_variant)v, 0, 0))); /* not earlier */
    }
    plasticity_close(p);
    plasticity_close(NULL);
    end_head(&h);
}

/* The size of a difference does not matter, nor its sign, and 0 <= plasticity <= 1. */
static void test_scale_and_range(void **state)
{
    (void)state;
    head h = make_head(1, 10, 4, LINE, LINE_AT);
    static const double sizes[] = {1, -1, 1e-30, 1e30, -7};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        plasticity *p = start(&h, 0);
        add(p, 0, 1, &sizes[i]);
        assert_near(plasticity_cell(p, PLASTICITY_FULL, 1, 0), pair(3, 4.0 / 3), NEAR);
        plasticity_close(p);
    }
    end_head(&h);
}

/* ---- several dimensions, by the definition ---- */

enum { D = 4, N = 60, PAIRS = 7 };

typedef struct model { /* q(t) = alpha + beta t, residual covariance */
    double alpha[D], beta[D], sigma[D][D];
} model;

static model regress(const double *x, const int32_t *t)
{
    model r = {.alpha = {0}};
    double mean_t = 0, tt = 0, mean[D] = {0};
    for (int i = 0; i < N; i++) {
        mean_t += (double)t[i] / N;
        for (int j = 0; j < D; j++)
            mean[j] += x[i * D + j] / N;
    }
    for (int i = 0; i < N; i++) {
        tt += (t[i] - mean_t) * (t[i] - mean_t);
        for (int j = 0; j < D; j++)
            r.beta[j] += (x[i * D + j] - mean[j]) * (t[i] - mean_t);
    }
    for (int j = 0; j < D; j++) {
        r.beta[j] /= tt;
        r.alpha[j] = mean[j] - r.beta[j] * mean_t;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++)
            for (int k = 0; k < D; k++)
                r.sigma[j][k] += (x[i * D + j] - r.alpha[j] - r.beta[j] * t[i]) *
                                 (x[i * D + k] - r.alpha[k] - r.beta[k] * t[i]) / (N - 1);
    return r;
}

/* v = sum_d (H Sigma H)_dd (H w)_d^2, H = I - 2 u u^T, u along beta/|beta| - e1 */
static double diagonal_variance(const model *r, const double *w, double e1)
{
    double u[D], length = 0, norm = 0, h[D][D], v = 0;
    for (int j = 0; j < D; j++)
        length += r->beta[j] * r->beta[j];
    for (int j = 0; j < D; j++) {
        u[j] = r->beta[j] / sqrt(length) - (j == 0) * e1;
        norm += u[j] * u[j];
    }
    for (int j = 0; j < D; j++)
        for (int k = 0; k < D; k++)
            h[j][k] = (j == k) - 2 * u[j] * u[k] / norm;
    for (int d = 0; d < D; d++) {
        double variance = 0, reflected = 0;
        for (int j = 0; j < D; j++) {
            reflected += h[d][j] * w[j];
            for (int k = 0; k < D; k++)
                variance += h[d][j] * r->sigma[j][k] * h[k][d];
        }
        v += variance * reflected * reflected;
    }
    return v;
}

static double full_variance(const model *r, const double *w)
{
    double v = 0;
    for (int j = 0; j < D; j++)
        for (int k = 0; k < D; k++)
            v += w[j] * r->sigma[j][k] * w[k];
    return v;
}

static void make_queries(double *x, int32_t *t, uint64_t seed)
{
    for (int i = 0; i < N; i++) {
        double common = noise(&seed);
        t[i] = 7 * i % 100;
        for (int j = 0; j < D; j++)
            x[i * D + j] = common * (j - 1) + noise(&seed) + 0.01 * (j - 2) * t[i] + 0.5;
    }
}

static void test_variants_by_definition(void **state)
{
    (void)state;
    for (int back = 0; back < 2; back++) {
        double x[N * D], w[PAIRS * D];
        int32_t t[N];
        uint64_t seed = 5;
        make_queries(x, t, 1);
        for (int i = 0; i < PAIRS * D; i++)
            w[i] = noise(&seed);
        head h = make_head(D, 10, N, x, t);
        /* first coordinates of the keys: bucket means 1 and -3, so that their mean is negative,
         * though most keys are positive; or the other way round */
        for (int i = 0; i < 5; i++)
            side_count(&h.keys, 0, i, back ? 1 : -1);
        side_count(&h.keys, 1, 10, back ? -3 : 3);
        plasticity *p = start(&h, 0);
        add(p, 0, PAIRS, w);
        model r = regress(x, t);
        for (int b = 1; b < BUCKETS; b++) {
            double t_b = 0, n = 0, mean[PLASTICITY_VARIANTS] = {0};
            for (int i = 0; i < N; i++)
                if (t[i] / 10 == b) {
                    t_b += t[i];
                    n++;
                }
            for (int i = 0; i < PAIRS; i++) {
                double m = 0;
                for (int j = 0; j < D; j++)
                    m += w[i * D + j] * (r.alpha[j] + r.beta[j] * t_b / n);
                const double *each = w + (size_t)i * D;
                mean[PLASTICITY_DIAGONAL] += pair(m, diagonal_variance(&r, each, 1)) / PAIRS;
                mean[PLASTICITY_ORIENTED] += pair(m, diagonal_variance(&r, each, back ? -1 : 1)) /
                                             PAIRS;
                mean[PLASTICITY_FULL] += pair(m, full_variance(&r, each)) / PAIRS;
            }
            for (int v = 0; v < PLASTICITY_VARIANTS; v++)
                assert_near(plasticity_cell(p, (plasticity_variant)v, b, 0), mean[v], NEAR);
        }
        double plain = plasticity_cell(p, PLASTICITY_DIAGONAL, 5, 0);
        double oriented = plasticity_cell(p, PLASTICITY_ORIENTED, 5, 0);
        assert_int_equal(back, fabs(plain - oriented) > 1e-6);
        assert_true(fabs(plain - plasticity_cell(p, PLASTICITY_FULL, 5, 0)) > 1e-3);
        plasticity_close(p);
        end_head(&h);
    }
}

/* Many pairs at once are the same as one by one. */
static void test_blocks(void **state)
{
    (void)state;
    enum { MANY = 700 };
    static double w[MANY * D];
    double x[N * D];
    int32_t t[N];
    uint64_t seed = 6;
    make_queries(x, t, 2);
    for (int i = 0; i < MANY * D; i++)
        w[i] = i / D % 50 == 7 ? 0 : noise(&seed);
    head h = make_head(D, 10, N, x, t);
    plasticity *all = start(&h, 0), *each = start(&h, 0);
    add(all, 3, MANY, w);
    for (size_t i = 0; i < MANY; i++)
        add(each, 3, 1, w + i * D);
    for (int b = 4; b < BUCKETS; b++)
        for (int v = 0; v < PLASTICITY_VARIANTS; v++)
            assert_near(plasticity_cell(all, (plasticity_variant)v, b, 3),
                        plasticity_cell(each, (plasticity_variant)v, b, 3), NEAR);
    plasticity_close(all);
    plasticity_close(each);
    end_head(&h);
}

/* ---- rows ---- */

static qks_plasticity_row row_of(const plasticity *p, int64_t context)
{
    qks_plasticity_row row = {.model = "m"};
    plasticity_row(p, PLASTICITY_ORIENTED, context, &row);
    assert_string_equal(row.variant, "diagonal_oriented");
    return row;
}

static void assert_blank(const qks_plasticity_row *row)
{
    assert_int_equal(row->n_bucket_pairs, 0);
    assert_true(isnan(row->ap_overall) && isnan(row->ap_first_20) && isnan(row->ap_last_20) &&
                isnan(row->ap_drop));
}

/* Ten buckets of ten positions, a query in the middle of each. */
static head even_head(void)
{
    double x[BUCKETS];
    int32_t t[BUCKETS];
    uint64_t seed = 3;
    for (int b = 0; b < BUCKETS; b++) {
        t[b] = 10 * b + 5;
        x[b] = 0.3 + 0.002 * t[b] + 0.2 * noise(&seed);
    }
    head h = make_head(1, 10, BUCKETS, x, t);
    for (int b = 0; b < BUCKETS; b++)
        side_count(&h.keys, b, 10 * b + 9, 1);
    return h;
}

static void test_profile_and_deciles(void **state)
{
    (void)state;
    head h = even_head();
    plasticity *p = start(&h, 0);
    double w = 1, profile[BUCKETS] = {0}, all = 0;
    for (int c = 0; c < BUCKETS; c++)
        add(p, c, 1, &w);
    for (int b = 1; b < BUCKETS; b++)
        for (int c = 0; c < b; c++) {
            double x = plasticity_cell(p, PLASTICITY_ORIENTED, b, c);
            assert_true(x > 0 && x < 1);
            profile[b] += x / b;
            all += x;
        }
    static const struct {
        int64_t context;
        int first[2], last[2]; /* buckets from, to; none where from > to */
    } cases[] = {
        {100, {1, 1}, {8, 9}}, /* t_b = 15 in decile 1; 85, 95 in 8 and 9 */
        {200, {1, 3}, {1, 0}}, /* up to 40: 15, 25, 35; nothing from 160 on */
        {50, {1, 0}, {4, 4}},  /* up to 10: nothing; 45 in decile 9, later ones beyond */
        {75, {1, 0}, {6, 6}},  /* 15 is in decile 2; 65 in decile 8 */
        {1000000, {1, 9}, {1, 0}}, {1, {1, 0}, {1, 0}}, {0, {1, 0}, {1, 0}}, /* not known */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        qks_plasticity_row row = row_of(p, cases[i].context);
        double ends[2] = {0};
        for (int e = 0; e < 2; e++) {
            const int *range = e ? cases[i].last : cases[i].first;
            for (int b = range[0]; b <= range[1]; b++)
                ends[e] += profile[b];
            ends[e] /= range[1] - range[0] + 1; /* NaN for none */
        }
        assert_int_equal(row.n_bucket_pairs, 45);
        assert_near(row.ap_overall, all / 45, NEAR);
        assert_true(isnan(ends[0]) ? isnan(row.ap_first_20)
                                   : fabs(row.ap_first_20 - ends[0]) < NEAR);
        assert_true(isnan(ends[1]) ? isnan(row.ap_last_20) : fabs(row.ap_last_20 - ends[1]) < NEAR);
        if (isnan(ends[0]) || isnan(ends[1]))
            assert_true(isnan(row.ap_drop));
        else
            assert_near(row.ap_drop, ends[0] - ends[1], NEAR);
    }
    plasticity_close(p);
    end_head(&h);
}

/* A window of 25 lets the query at t see key buckets whose last position is after t - 25: for the
 * query at 95, those ending at 79 and 89; one that ends exactly at t - W is not seen. */
static void test_sliding_window(void **state)
{
    (void)state;
    static const struct {
        int64_t window;
        int seen; /* earlier buckets that a late query sees */
    } cases[] = {{1, 0}, {6, 0}, {7, 1}, {16, 1}, {17, 2}, {25, 2}, {27, 3}, {1000, 9}, {0, 9}};
    head h = even_head();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        plasticity *p = start(&h, cases[i].window);
        double w = 1;
        int pairs = 0;
        for (int c = 0; c < BUCKETS; c++)
            add(p, c, 1, &w);
        for (int b = 1; b < BUCKETS; b++)
            for (int c = 0; c < b; c++) {
                bool seen = c >= b - cases[i].seen;
                pairs += seen;
                assert_int_equal(isnan(plasticity_cell(p, PLASTICITY_FULL, b, c)), !seen);
            }
        qks_plasticity_row row = row_of(p, 100);
        assert_int_equal(row.n_bucket_pairs, pairs);
        if (cases[i].seen == 0)
            assert_blank(&row);
        plasticity_close(p);
    }
    end_head(&h);
}

static void test_nothing_to_say(void **state)
{
    (void)state;
    static const double zero[] = {0, 0, 0};
    head h = even_head();
    plasticity *p = start(&h, 0);
    qks_plasticity_row row = row_of(p, 100);
    assert_blank(&row); /* no pairs at all */
    add(p, 0, 3, zero);
    row = row_of(p, 100);
    assert_blank(&row); /* pairs of equal keys only */
    double w = 1;
    add(p, BUCKETS - 1, 1, &w);
    row = row_of(p, 100);
    assert_blank(&row); /* no query comes after the last bucket */
    qks_error error;
    assert_fails(plasticity_add(p, BUCKETS, 1, &w, &error), QKS_INVALID, &error, "bucket 10");
    assert_fails(plasticity_add(p, -1, 1, &w, &error), QKS_INVALID, &error, "bucket -1");
    plasticity_close(p);
    end_head(&h);
}

/* One query has no residual variance, none has no queries: blank, not 0. */
static void test_too_few_queries(void **state)
{
    (void)state;
    static const double x[] = {1};
    static const int32_t t[] = {25};
    for (size_t n = 0; n < 2; n++) {
        head h = make_head(1, 10, n, x, t);
        plasticity *p = start(&h, 0);
        double w = 1;
        add(p, 0, 1, &w);
        qks_plasticity_row row = row_of(p, 100);
        assert_blank(&row);
        plasticity_close(p);
        end_head(&h);
    }
}

/* Queries that lie on their line decide nothing, except where they weigh both keys alike. */
static void test_no_noise(void **state)
{
    (void)state;
    static const double x[] = {1, 0, 1, 0, 1, 0};
    static const int32_t t[] = {15, 25, 35};
    head h = make_head(2, 10, 3, x, t);
    plasticity *p = start(&h, 0);
    static const double decided[] = {1, 5}, undecided[] = {0, 5};
    add(p, 0, 1, decided);
    for (int v = 0; v < PLASTICITY_VARIANTS; v++)
        assert_true(plasticity_cell(p, (plasticity_variant)v, 1, 0) == 0);
    add(p, 0, 1, undecided);
    for (int v = 0; v < PLASTICITY_VARIANTS; v++)
        assert_true(plasticity_cell(p, (plasticity_variant)v, 1, 0) == 0.5);
    plasticity_close(p);
    end_head(&h);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_dimension),
        cmocka_unit_test(test_scale_and_range),
        cmocka_unit_test(test_variants_by_definition),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_profile_and_deciles),
        cmocka_unit_test(test_sliding_window),
        cmocka_unit_test(test_nothing_to_say),
        cmocka_unit_test(test_too_few_queries),
        cmocka_unit_test(test_no_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
