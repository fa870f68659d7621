/* One head: taxonomy, jackknife, and the rows of the tables for ordinary heads, worked out by hand,
 * and for heads that lack rows, variance or keys: 0 by rule, flagged, never NaN where a number must
 * stand. */
#include "analysis/head.h"
#include "vectors.h"

static const double NEAR = 1e-12;

/* ---- taxonomy ---- */

static void test_taxonomy(void **state)
{
    (void)state;
    static const struct {
        double r_q, r_k;
        qks_class class;
    } cases[] = {
        {0.9, 0.9, QKS_POSITION_DOMINATED},
        {0.9, -0.9, QKS_POSITION_DOMINATED},
        {0.9, 0.1, QKS_Q_POSITIONAL},
        {0.9, -0.1, QKS_Q_POSITIONAL},
        {0.1, 0.9, QKS_K_POSITIONAL},
        {0.1, -0.9, QKS_K_POSITIONAL},
        {-0.04, 0.9, QKS_K_POSITIONAL},
        {0.1, 0.1, QKS_CONTENT_FOCUSED},
        {0, 0, QKS_CONTENT_FOCUSED},
        {-0.04, -0.2, QKS_CONTENT_FOCUSED},
        {0.5, 0.5, QKS_MIXED},
        {0.9, 0.5, QKS_MIXED},
        {0.5, 0.9, QKS_MIXED},
        {0.1, 0.5, QKS_MIXED},
        /* a value on a threshold belongs to neither side */
        {0.7, 0.9, QKS_MIXED},
        {0.9, 0.7, QKS_MIXED},
        {0.9, -0.7, QKS_MIXED},
        {0.9, 0.3, QKS_MIXED},
        {0.9, -0.3, QKS_MIXED},
        {0.3, 0.9, QKS_MIXED},
        {0.3, 0.1, QKS_MIXED},
        {0.1, 0.3, QKS_MIXED},
        {0.1, 0.7, QKS_MIXED},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (taxonomy_of(cases[i].r_q, cases[i].r_k) != cases[i].class)
            fail_msg("r_q %g, r_k %g is no %s", cases[i].r_q, cases[i].r_k,
                     qks_class_name(cases[i].class));
    assert_string_equal(qks_class_name(QKS_POSITION_DOMINATED), "position-dominated");
    assert_string_equal(qks_class_name(QKS_MIXED), "mixed");
    assert_string_equal(qks_class_name(QKS_CLASSES), "");
}

/* ---- jackknife ---- */

static void test_jackknife_se(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 6};
    assert_true(isnan(jackknife_se(x, 0)));
    assert_true(isnan(jackknife_se(x, 1)));
    assert_near(jackknife_se(x, 2), 0.5, NEAR);                /* sqrt(1/2 * 1/2) */
    assert_near(jackknife_se(x, 3), sqrt(2.0 / 3 * 2), NEAR);  /* about 2: 1 + 0 + 1 */
    assert_near(jackknife_se(x, 4), sqrt(3.0 / 4 * 14), NEAR); /* about 3: 4 + 1 + 0 + 9 */
    double equal[20];
    for (size_t i = 0; i < COUNT_OF(equal); i++)
        equal[i] = 11.0 / 45; /* their mean is rounded; a z of 1e15 would come of that */
    assert_true(jackknife_se(equal, COUNT_OF(equal)) == 0);
}

/* ---- heads ---- */

enum { MOST_GROUPS = 8 };

typedef struct head_data { /* moments per group, and what comes of them */
    moments *q[MOST_GROUPS], *k[MOST_GROUPS];
    int groups;
    arena memory;
    head_result result;
} head_data;

static void run(head_data *h, int d, int components)
{
    static const qks_head_row id = {
        .model = "m", .layer = 3, .head = 5, .k_head = 2, .rope = QKS_BLANK};
    qks_error error;
    head_room *room = NULL;
    assert_ok(head_open(&room, d, components, h->groups, &error), &error);
    assert_ok(head_analyze(room, &id, h->q, h->k, &h->memory, &h->result, &error), &error);
    head_close(room);
}

static void end(head_data *h)
{
    for (int g = 0; g < h->groups; g++) {
        qks_moments_free(h->q[g]);
        qks_moments_free(h->k[g]);
    }
    arena_free(&h->memory);
}

/* Whatever the data: these columns always have a number, in range, and none is infinite. */
static void assert_table_numbers(const head_result *result)
{
    const qks_head_row *row = &result->row;
    const double always[] = {row->pos_share_q, row->pos_share_k, row->r_q_a,     row->r_k_a,
                             row->alpha_q,     row->alpha_k,     row->var_frac_a};
    const double maybe[] = {row->separation,
                            row->fisher_ratio,
                            row->bias_term,
                            row->interaction,
                            row->mu_q_a,
                            row->mu_k_a,
                            row->mu_q_b,
                            row->mu_k_b,
                            row->separation_strength,
                            row->var_frac_b,
                            row->plane_var_fraction,
                            row->bias_strength,
                            row->se_bias_strength};
    for (size_t i = 0; i < COUNT_OF(always); i++)
        assert_true(isfinite(always[i]));
    for (size_t i = 0; i < COUNT_OF(maybe); i++)
        assert_false(isinf(maybe[i]));
    assert_true(fabs(row->r_q_a) <= 1 && fabs(row->r_k_a) <= 1);
    assert_true(row->var_frac_a >= 0 && row->var_frac_a <= 1 + NEAR);
    assert_non_null(row->class_name);
    for (int i = 0; i < result->n_pcs; i++) {
        const qks_qk_row *pc = &result->pcs[i];
        assert_int_equal(pc->pc, i);
        assert_true(pc->layer == 3 && pc->head == 5 && pc->k_head == 2);
        assert_true(pc->explained_variance >= 0 && pc->explained_variance <= 1 + NEAR);
        assert_true(fabs(pc->r_q) <= 1 && fabs(pc->r_k) <= 1);
        assert_true(isfinite(pc->alpha_q) && isfinite(pc->alpha_k));
        const double errors[] = {pc->se_explained_variance, pc->se_r_q, pc->se_r_k};
        for (size_t e = 0; e < COUNT_OF(errors); e++)
            assert_true(result->replicates ? errors[e] >= 0 : isnan(errors[e]));
    }
}

/* Queries (2t, 1), keys (8 - t, 0), t = 0 .. 3: pooled variance 6.1875 along x0 and 0.25 along
 * x1, covariance -0.875. */
static void test_by_hand(void **state)
{
    (void)state;
    static const double x_q[] = {0, 1, 2, 1, 4, 1, 6, 1}, x_k[] = {8, 0, 7, 0, 6, 0, 5, 0};
    head_data h = {.groups = 1};
    h.q[0] = moments_of(2, 4, x_q, NULL);
    h.k[0] = moments_of(2, 4, x_k, NULL);
    run(&h, 2, 10);
    const qks_head_row *row = &h.result.row;
    assert_table_numbers(&h.result);
    assert_int_equal(h.result.n_pcs, 2);
    assert_int_equal(row->n_q, 4);
    assert_int_equal(row->n_k, 4);
    assert_null(row->flags);
    assert_string_equal(row->class_name, "position-dominated");
    /* the eigenvector of the larger eigenvalue of [[c, s], [s, v]], turned so that r_q > 0 */
    double c = 6.1875, v = 0.25, s = -0.875; /* x0: sum 38, of squares 230, over 8 */
    double top = (c + v) / 2 + sqrt((c - v) * (c - v) / 4 + s * s);
    double e0 = top - v, e1 = s, length = hypot(e0, e1);
    e0 /= length, e1 /= length;
    assert_near(h.result.pcs[0].explained_variance, top / (c + v), NEAR);
    assert_near(h.result.pcs[0].r_q, 1, NEAR);
    assert_near(h.result.pcs[0].r_k, -1, NEAR);
    assert_near(h.result.pcs[0].mu_q, 3 * e0 + e1, NEAR);
    assert_near(h.result.pcs[0].mu_k, 6.5 * e0, NEAR);
    assert_near(h.result.pcs[0].alpha_q, 2 * e0, NEAR);
    assert_near(h.result.pcs[0].alpha_k, -e0, NEAR);
    /* both sides lie on lines, so every PC correlates fully and the shares are 1 */
    assert_near(row->pos_share_q, 1, NEAR);
    assert_near(row->pos_share_k, 1, NEAR);
    double step = 3 * e0 + e1 - 6.5 * e0;
    assert_near(row->separation, fabs(step), NEAR);
    assert_near(row->fisher_ratio, step * step / (5 * e0 * e0 + 1.25 * e0 * e0), NEAR);
    assert_near(row->bias_term, (3 * e0 + e1) * -e0, NEAR);
    assert_near(row->interaction, -2 * e0 * e0, NEAR);
    /* the drift axis is x0: Cov(x0, t) = (10 - 5) / 8 */
    assert_near(row->r_q_a, 1, NEAR);
    assert_near(row->r_k_a, -1, NEAR);
    assert_near(row->alpha_q, 2, NEAR);
    assert_near(row->alpha_k, -1, NEAR);
    assert_near(row->mu_q_a, 3, NEAR);
    assert_near(row->mu_k_a, 6.5, NEAR);
    assert_near(row->bias_strength, -3, NEAR);
    assert_near(row->mu_q_b, 1, NEAR);
    assert_near(row->mu_k_b, 0, NEAR);
    assert_near(row->separation_strength, 1 / (1 + 12.25 + 6.25), NEAR);
    assert_near(row->var_frac_a, c / (c + v), NEAR);
    assert_near(row->plane_var_fraction, 1, NEAR);
    /* one group: no error bars */
    assert_null(h.result.replicates);
    assert_true(isnan(row->se_bias_strength));
    assert_int_equal(row->stable, QKS_BLANK);
    end(&h);
}

/* ---- heads that lack something ---- */

static const double SOME[] = {0, 1, 3, 2, -1, 4, 2, 2, 5, 1, 0, 3, 1, 1, 6, 6};
static const double SAME[] = {0.1, -7, 0.1, -7, 0.1, -7, 0.1, -7};
static const double ELSEWHERE[] = {1.1, -7, 1.1, -7, 1.1, -7, 1.1, -7};

static void test_lacking_heads(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        const double *q, *k;
        size_t n_q, n_k;
        int pcs;
        const char *flags, *class;
    } cases[] = {
        {"ordinary", SOME, SOME + 8, 4, 4, 2, NULL, NULL},
        {"no rows", NULL, NULL, 0, 0, 0, "few-q few-k few-rows no-variance", "content-focused"},
        {"no keys", SOME, NULL, 8, 0, 2, "few-k", NULL},
        {"no queries", NULL, SOME, 0, 8, 2, "few-q", NULL},
        {"one query", SOME, NULL, 1, 0, 1, "few-q few-k few-rows no-variance", "content-focused"},
        {"one of each", SOME, SOME + 4, 1, 1, 2, "few-q few-k", "content-focused"},
        {"three rows", SOME, SOME + 8, 2, 1, 2, "few-k", NULL},
        {"no variance", SAME, SAME, 4, 4, 2, "flat-q flat-k no-variance", "content-focused"},
        {"only apart", SAME, ELSEWHERE, 4, 4, 2, "flat-q flat-k", "content-focused"},
        {"flat keys", SOME, SAME, 4, 4, 2, "flat-k", NULL},
        {"flat queries", SAME, SOME, 4, 4, 2, "flat-q", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        head_data h = {.groups = 1};
        h.q[0] = moments_of(2, cases[i].n_q, cases[i].q, NULL);
        h.k[0] = moments_of(2, cases[i].n_k, cases[i].k, NULL);
        run(&h, 2, 10);
        const qks_head_row *row = &h.result.row;
        assert_table_numbers(&h.result);
        assert_int_equal(h.result.n_pcs, cases[i].pcs);
        assert_true(row->n_q == (int64_t)cases[i].n_q && row->n_k == (int64_t)cases[i].n_k);
        if ((row->flags || cases[i].flags) &&
            (!row->flags || !cases[i].flags || strcmp(row->flags, cases[i].flags) != 0))
            fail_msg("%s: flags are '%s'", cases[i].what, row->flags ? row->flags : "");
        if (cases[i].class)
            assert_string_equal(row->class_name, cases[i].class);
        if (cases[i].n_k < 2 || cases[i].k == SAME || cases[i].k == ELSEWHERE)
            assert_true(row->r_k_a == 0 && row->alpha_k == 0 && row->pos_share_k == 0);
        /* what takes both sides is blank without one, as is a mean of nothing */
        bool both = cases[i].n_q && cases[i].n_k;
        assert_int_equal(isnan(row->separation), !both);
        assert_int_equal(isnan(row->bias_strength), !both);
        assert_int_equal(isnan(row->separation_strength), !both);
        for (int pc = 0; pc < h.result.n_pcs; pc++) {
            assert_int_equal(isnan(h.result.pcs[pc].mu_q), !cases[i].n_q);
            assert_int_equal(isnan(h.result.pcs[pc].mu_k), !cases[i].n_k);
        }
        end(&h);
    }
}

static void test_only_apart(void **state)
{
    (void)state;
    head_data h = {.groups = 1};
    h.q[0] = moments_of(2, 4, ELSEWHERE, NULL);
    h.k[0] = moments_of(2, 4, SAME, NULL);
    run(&h, 2, 2);
    assert_near(h.result.pcs[0].explained_variance, 1, NEAR);
    assert_near(h.result.row.separation, 1, NEAR);
    assert_true(isnan(h.result.row.fisher_ratio)); /* no spread to divide by */
    assert_true(isnan(h.result.row.mu_q_a));       /* no drift, no axis */
    assert_true(h.result.row.bias_strength == 0);
    assert_near(h.result.row.separation_strength, 1, NEAR);
    end(&h);
}

static void test_few_rows_is_about_the_components_wanted(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 2, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
    head_data h = {.groups = 1};
    h.q[0] = moments_of(5, 2, x, NULL);
    h.k[0] = moments_of(5, 1, x + 10, NULL);
    run(&h, 5, 4);
    assert_int_equal(h.result.n_pcs, 3);
    assert_string_equal(h.result.row.flags, "few-k few-rows");
    assert_table_numbers(&h.result);
    arena_free(&h.memory);
    run(&h, 5, 3);
    assert_int_equal(h.result.n_pcs, 3);
    assert_string_equal(h.result.row.flags, "few-k");
    end(&h);
}

/* ---- document groups ---- */

enum { D = 3, ROWS = 30 };

/* Documents with drifts of their own along x0 (and, for keys, against it). */
static head_data grouped(int groups, uint64_t seed)
{
    head_data h = {.groups = groups};
    for (int g = 0; g < groups; g++)
        for (int side = 0; side < 2; side++) {
            double x[ROWS * D], slope = (side ? -0.2 : 0.3) + 0.1 * noise(&seed);
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < D; j++)
                    x[i * D + j] = noise(&seed) + (j == 0 ? slope * i : 0) + (side ? 0 : j);
            *(side ? &h.k[g] : &h.q[g]) = moments_of(D, ROWS, x, NULL);
        }
    return h;
}

static moments *without(moments *const *groups, int count, int left_out)
{
    moments *m = moments_of(D, 0, NULL, NULL);
    for (int g = 0; g < count; g++)
        if (g != left_out)
            moments_merge(m, groups[g]);
    return m;
}

/* Each standard error against leaving out every document by hand. */
static void test_leaving_out_each_group(void **state)
{
    (void)state;
    for (int groups = 2; groups <= MOST_GROUPS; groups++) {
        head_data h = grouped(groups, (uint64_t)groups);
        run(&h, D, D);
        assert_table_numbers(&h.result);
        pca whole, part;
        qks_error error;
        assert_ok(pca_open(&whole, D, D, &error), &error);
        assert_ok(pca_open(&part, D, D, &error), &error);
        moments *all_q = without(h.q, groups, -1), *all_k = without(h.k, groups, -1);
        assert_ok(pca_of(&whole, all_q, all_k, NULL, &error), &error);
        double x[3][D][MOST_GROUPS], bias[MOST_GROUPS], axes[2 * D];
        for (int g = 0; g < groups; g++) {
            moments *q = without(h.q, groups, g), *k = without(h.k, groups, g);
            drift_plane plane = {.a = axes, .b = axes + D};
            assert_ok(pca_of(&part, q, k, &whole, &error), &error);
            assert_ok(drift_plane_of(&plane, &part, q, k, true, &error), &error);
            for (int i = 0; i < D; i++) {
                x[0][i][g] = part.components[i].explained_variance;
                x[1][i][g] = part.components[i].q.r;
                x[2][i][g] = part.components[i].k.r;
            }
            bias[g] = plane.q_a.mean * plane.k_a.slope;
            assert_true(h.result.replicates[g].present);
            assert_near(h.result.replicates[g].r_k, x[2][0][g], NEAR);
            assert_near(h.result.replicates[g].bias_strength, bias[g], NEAR);
            qks_moments_free(q);
            qks_moments_free(k);
        }
        for (int i = 0; i < D; i++) {
            const qks_qk_row *pc = &h.result.pcs[i];
            assert_near(pc->se_explained_variance, jackknife_se(x[0][i], (size_t)groups), 1e-11);
            assert_near(pc->se_r_q, jackknife_se(x[1][i], (size_t)groups), 1e-11);
            assert_near(pc->se_r_k, jackknife_se(x[2][i], (size_t)groups), 1e-11);
        }
        assert_near(h.result.row.se_bias_strength, jackknife_se(bias, (size_t)groups), 1e-11);
        assert_int_equal(h.result.row.stable, 1);
        qks_moments_free(all_q);
        qks_moments_free(all_k);
        pca_close(&whole);
        pca_close(&part);
        end(&h);
    }
}

/* Groups without rows in this head are no replicates: as if they were not there. */
static void test_absent_groups(void **state)
{
    (void)state;
    head_data some = grouped(3, 9), spread = {.groups = 6};
    for (int g = 0; g < 6; g++) {
        spread.q[g] = moments_of(D, 0, NULL, NULL);
        spread.k[g] = moments_of(D, 0, NULL, NULL);
        if (g % 2)
            continue;
        moments_copy(spread.q[g], some.q[g / 2]);
        moments_copy(spread.k[g], some.k[g / 2]);
    }
    run(&some, D, D);
    run(&spread, D, D);
    for (int i = 0; i < D; i++) {
        assert_near(spread.result.pcs[i].se_r_q, some.result.pcs[i].se_r_q, NEAR);
        assert_near(spread.result.pcs[i].se_r_k, some.result.pcs[i].se_r_k, NEAR);
    }
    assert_near(spread.result.row.se_bias_strength, some.result.row.se_bias_strength, NEAR);
    for (int g = 0; g < 6; g++) {
        assert_int_equal(spread.result.replicates[g].present, g % 2 == 0);
        if (g % 2)
            assert_true(spread.result.replicates[g].r_k == spread.result.whole.r_k);
    }
    end(&some);
    end(&spread);
}

static void test_one_group_with_rows_has_no_errors(void **state)
{
    (void)state;
    head_data h = grouped(1, 4);
    h.groups = 2;
    h.q[1] = moments_of(D, 0, NULL, NULL);
    h.k[1] = moments_of(D, 0, NULL, NULL);
    run(&h, D, D);
    assert_null(h.result.replicates);
    assert_table_numbers(&h.result);
    assert_int_equal(h.result.row.stable, QKS_BLANK);
    end(&h);
}

/* Without its only key group a head has no keys: the replicate is 0 by rule, not NaN. */
static void test_keys_in_one_group_only(void **state)
{
    (void)state;
    head_data h = grouped(3, 5);
    for (int g = 1; g < 3; g++)
        moments_clear(h.k[g]);
    run(&h, D, D);
    assert_table_numbers(&h.result);
    assert_true(h.result.replicates[0].r_k == 0 && h.result.replicates[0].bias_strength == 0);
    end(&h);
}

/* Documents that disagree about the main direction make PC0 unstable. */
static void test_unstable(void **state)
{
    (void)state;
    static const double along[][8] = {{0, 0, 9, 0, -9, 0, 0, 0}, {0, 0, 0, 9.1, 0, -9.1, 0, 0}};
    head_data h = {.groups = 2};
    for (int g = 0; g < 2; g++) {
        h.q[g] = moments_of(2, 4, along[g], NULL);
        h.k[g] = moments_of(2, 4, along[g], NULL);
    }
    run(&h, 2, 2);
    assert_int_equal(h.result.row.stable, 0);
    end(&h);
}

/* Two documents along lines at an angle to either side of x0: PC0 is x0, and without one of them it
 * is the other's line. spec: unstable beyond cos 0.9, which is 25.8 degrees. */
static void test_stable_up_to_an_angle(void **state)
{
    (void)state;
    static const struct {
        double degrees;
        int64_t stable;
    } cases[] = {{0, 1}, {20, 1}, {25.5, 1}, {26.2, 0}, {40, 0}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        head_data h = {.groups = 2};
        double angle = cases[i].degrees * acos(-1) / 180;
        for (int g = 0; g < 2; g++) {
            double x[20];
            for (size_t t = 0; t < 10; t++) {
                double along = (double)t - 4.5;
                x[2 * t] = along * cos(angle);
                x[2 * t + 1] = along * sin(g ? -angle : angle);
            }
            h.q[g] = moments_of(2, 10, x, NULL);
            h.k[g] = moments_of(2, 10, x, NULL);
        }
        run(&h, 2, 2);
        assert_int_equal(h.result.row.stable, cases[i].stable);
        end(&h);
    }
}

static void test_top_pcs(void **state)
{
    (void)state;
    /* x0 has the variance, x1 the queries' drift, x2 the keys' */
    double x_q[ROWS * D], x_k[ROWS * D];
    uint64_t seed = 8;
    for (size_t i = 0; i < ROWS; i++) {
        x_q[i * D] = i % 2 ? 100 : -100, x_k[i * D] = i % 2 ? -100 : 100;
        x_q[i * D + 1] = (double)i, x_k[i * D + 1] = 3 * noise(&seed);
        x_q[i * D + 2] = noise(&seed), x_k[i * D + 2] = 0.1 * (double)i;
    }
    head_data h = {.groups = 1};
    h.q[0] = moments_of(D, ROWS, x_q, NULL);
    h.k[0] = moments_of(D, ROWS, x_k, NULL);
    run(&h, D, D);
    assert_int_equal(h.result.whole.top_q, 1);
    assert_int_equal(h.result.whole.top_k, 2);
    assert_true(h.result.whole.r_q == h.result.pcs[0].r_q);
    end(&h);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taxonomy),
        cmocka_unit_test(test_jackknife_se),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_lacking_heads),
        cmocka_unit_test(test_only_apart),
        cmocka_unit_test(test_few_rows_is_about_the_components_wanted),
        cmocka_unit_test(test_leaving_out_each_group),
        cmocka_unit_test(test_absent_groups),
        cmocka_unit_test(test_one_group_with_rows_has_no_errors),
        cmocka_unit_test(test_keys_in_one_group_only),
        cmocka_unit_test(test_unstable),
        cmocka_unit_test(test_stable_up_to_an_angle),
        cmocka_unit_test(test_top_pcs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
