/* Means over heads: depth bins by their definition, means, spreads and standard errors by hand,
 * the depth and trajectory rows. */
#include "heads.h"

static const double NEAR = 1e-13;

/* spec: bin i holds depths in (i/10, (i+1)/10], depth 0 in the first; depth = layer/(layers - 1) */
static void test_depth_bins(void **state)
{
    (void)state;
    for (int layers = 2; layers <= 200; layers++)
        for (int layer = 0; layer < layers; layer++) {
            int bin = 0;
            while (10 * layer > (bin + 1) * (layers - 1))
                bin++;
            assert_int_equal(depth_bin(layer, layers), bin);
        }
    assert_int_equal(depth_bin(0, 1), 0);
    /* 36 layers: layer 7 is at 0.2 exactly, in the bin that ends there */
    assert_int_equal(depth_bin(7, 36), 1);
    assert_int_equal(depth_bin(8, 36), 2);
    assert_int_equal(depth_bin(35, 36), 9);
}

static bool second_layer(const model_result *m, const head_result *h)
{
    (void)m;
    return h->row.layer == 1;
}

static void test_mean_and_spread(void **state)
{
    (void)state;
    arena a = {0};
    qks_error error;
    estimate e;
    model_result m = make_model(&a, "m", 2, 4);
    static const double r_k[] = {-0.5, 0.1, 0.3, 0.5};
    for (int i = 0; i < 4; i++)
        m.heads[i] = plain_head(i / 2, i, 0.2 * i, r_k[i]);
    assert_ok(estimate_mean(&e, &m, measure_r_k, NULL, &a, &error), &error);
    assert_int_equal(e.n_heads, 4);
    assert_near(e.value, 0.1, NEAR);
    assert_near(e.sd, sqrt((0.36 + 0 + 0.04 + 0.16) / 3), NEAR);
    assert_true(isnan(e.se) && isnan(e.se_sd) && !e.replicates); /* no groups */
    assert_ok(estimate_mean(&e, &m, measure_abs_r_k, second_layer, &a, &error), &error);
    assert_int_equal(e.n_heads, 2);
    assert_near(e.value, 0.4, NEAR);
    m.n_heads = 1;
    assert_ok(estimate_mean(&e, &m, measure_r_q, NULL, &a, &error), &error);
    assert_true(e.value == 0 && isnan(e.sd)); /* one head has no spread */
    assert_ok(estimate_mean(&e, &m, measure_r_q, second_layer, &a, &error), &error);
    assert_true(e.n_heads == 0 && isnan(e.value) && isnan(e.se));
    arena_free(&a);
}

/* A number that a head does not have is left out of the mean. */
static void test_blank_numbers_are_left_out(void **state)
{
    (void)state;
    arena a = {0};
    qks_error error;
    estimate e;
    model_result m = make_model(&a, "m", 1, 3);
    for (int i = 0; i < 3; i++) {
        m.heads[i] = plain_head(0, i, 0, 0);
        m.heads[i].whole.bias_strength = i == 1 ? NAN : i;
    }
    give_replicates(&m, &a, 3);
    assert_ok(estimate_mean(&e, &m, measure_bias_strength, NULL, &a, &error), &error);
    assert_int_equal(e.n_heads, 2);
    assert_true(e.value == 1 && e.se == 0);
    arena_free(&a);
}

/* Two heads, three groups: the mean without each group, and the spread without each. */
static void test_standard_errors(void **state)
{
    (void)state;
    static const double x[2][3] = {{0.1, 0.2, 0.3}, {0.5, 0.2, 0.5}};
    arena a = {0};
    qks_error error;
    estimate e;
    model_result m = make_model(&a, "m", 1, 2);
    m.heads[0] = plain_head(0, 0, 0.2, 0);
    m.heads[1] = plain_head(0, 1, 0.4, 0);
    give_replicates(&m, &a, 3);
    double means[3], sds[3], mean = 0, mean_sd = 0, sum = 0, sum_sd = 0;
    for (int g = 0; g < 3; g++) {
        for (int i = 0; i < 2; i++)
            m.heads[i].replicates[g].r_q = x[i][g];
        means[g] = (x[0][g] + x[1][g]) / 2;
        sds[g] = fabs(x[0][g] - x[1][g]) / sqrt(2);
        mean += means[g] / 3;
        mean_sd += sds[g] / 3;
    }
    for (int g = 0; g < 3; g++) {
        sum += (means[g] - mean) * (means[g] - mean);
        sum_sd += (sds[g] - mean_sd) * (sds[g] - mean_sd);
    }
    assert_ok(estimate_mean(&e, &m, measure_r_q, NULL, &a, &error), &error);
    assert_near(e.value, 0.3, NEAR);
    assert_near(e.se, sqrt(2.0 / 3 * sum), NEAR);
    assert_near(e.se_sd, sqrt(2.0 / 3 * sum_sd), 1e-8); /* the root of a difference of squares */
    for (int g = 0; g < 3; g++)
        assert_near(e.replicates[g], means[g], NEAR);
    arena_free(&a);
}

/* A group counts where any of the heads has rows of it; a head without it stands as it is. */
static void test_groups_that_some_heads_lack(void **state)
{
    (void)state;
    arena a = {0};
    qks_error error;
    estimate e;
    model_result m = make_model(&a, "m", 1, 2);
    m.heads[0] = plain_head(0, 0, 0.2, 0);
    m.heads[1] = plain_head(0, 1, 0.4, 0);
    give_replicates(&m, &a, 4);
    for (int g = 0; g < 4; g++) {
        m.heads[0].replicates[g].present = g < 2;
        m.heads[0].replicates[g].r_q = g < 2 ? 0.1 + 0.2 * g : 0.2;
        m.heads[1].replicates[g].present = g == 2;
        m.heads[1].replicates[g].r_q = g == 2 ? 0.6 : 0.4;
    }
    /* means 0.25, 0.35, 0.4 of groups 0 to 2; group 3 is nowhere */
    assert_ok(estimate_mean(&e, &m, measure_r_q, NULL, &a, &error), &error);
    double mean = 1.0 / 3, sum = pow(0.25 - mean, 2) + pow(0.35 - mean, 2) + pow(0.4 - mean, 2);
    assert_near(e.se, sqrt(2.0 / 3 * sum), NEAR);
    assert_true(e.present[0] && e.present[2] && !e.present[3]);
    m.heads[0].replicates = NULL; /* fewer than 2 of its groups had rows */
    assert_ok(estimate_mean(&e, &m, measure_r_q, NULL, &a, &error), &error);
    assert_true(isnan(e.se)); /* one group left */
    arena_free(&a);
}

static void test_replicates_se(void **state)
{
    (void)state;
    static const double x[] = {1, 100, 2, 3};
    static const bool all[] = {true, true, true, true}, some[] = {true, false, true, true};
    static const bool one[] = {false, true, false, false};
    assert_near(replicates_se(x, some, 4), sqrt(2.0 / 3 * 2), NEAR);
    assert_true(isnan(replicates_se(x, one, 4)));
    assert_true(isnan(replicates_se(x, all, 0)));
    assert_true(isnan(replicates_se(x, all, 1)));
    assert_near(replicates_se(x, all, 2), 49.5, NEAR);
}

static void test_depth_rows(void **state)
{
    (void)state;
    arena a = {0};
    qks_error error;
    model_result m = make_model(&a, "name", 11, 4); /* layer i is at depth i / 10: bin i - 1 */
    static const int layers[] = {0, 1, 5, 10};
    for (int i = 0; i < 4; i++) {
        m.heads[i] = plain_head(layers[i], 0, 0.1 * i, -0.1 * i);
        m.heads[i].whole.bias_strength = i == 2 ? NAN : i;
    }
    qks_depth_row rows[DEPTH_BINS];
    assert_ok(depth_rows(&m, rows, &a, &error), &error);
    for (int bin = 0; bin < DEPTH_BINS; bin++) {
        static const int heads[DEPTH_BINS] = {2, 0, 0, 0, 1, 0, 0, 0, 0, 1};
        static const char *const labels[DEPTH_BINS] = {"0.0", "0.1", "0.2", "0.3", "0.4",
                                                       "0.5", "0.6", "0.7", "0.8", "0.9"};
        assert_string_equal(rows[bin].model, "name");
        assert_string_equal(rows[bin].label, labels[bin]);
        assert_true(rows[bin].bin == bin && rows[bin].n_heads == heads[bin]);
        assert_int_equal(isnan(rows[bin].r_q), heads[bin] == 0); /* empty is blank, not 0 */
        assert_int_equal(isnan(rows[bin].explained_variance), heads[bin] == 0);
        assert_int_equal(isnan(rows[bin].bias_strength), heads[bin] == 0 || bin == 4);
        assert_true(isnan(rows[bin].se_r_q));
    }
    assert_near(rows[0].r_q, 0.05, NEAR);
    assert_near(rows[0].r_k, -0.05, NEAR);
    assert_near(rows[0].bias_strength, 0.5, NEAR);
    assert_near(rows[9].r_k, -0.3, NEAR);
    arena_free(&a);
}

static void test_trajectory_row(void **state)
{
    (void)state;
    static const double r[][2] = {{0.9, 0.8}, {0.9, -0.8}, {0.9, 0.1}, {0.1, 0.9}, {0.5, 0.5}};
    arena a = {0};
    qks_error error;
    qks_trajectory_row row;
    model_result m = make_model(&a, "ckpt", 4, COUNT_OF(r));
    m.order = 3;
    m.phase = "stage 1";
    m.family = "toys";
    for (size_t i = 0; i < COUNT_OF(r); i++) {
        m.heads[i] = plain_head(0, (int64_t)i, r[i][0], r[i][1]);
        m.heads[i].row.pos_share_q = 0.1 * (double)i;
    }
    assert_ok(trajectory_row(&m, true, &row, &a, &error), &error);
    assert_string_equal(row.group, "stage 1");
    assert_true(row.order == 3 && row.n_heads == 5);
    assert_near(row.mean_r_q, 0.66, NEAR);
    assert_near(row.mean_r_k, 0.3, NEAR);
    assert_near(row.mean_abs_r_k, 0.62, NEAR);
    assert_near(row.mean_explained_variance, 0.5, NEAR);
    assert_near(row.sd_explained_variance, 0, NEAR);
    assert_near(row.pos_share_q, 0.2, NEAR);
    static const double shares[QKS_CLASSES] = {0.4, 0.2, 0.2, 0, 0.2};
    for (int c = 0; c < QKS_CLASSES; c++)
        assert_near(row.share[c], shares[c], NEAR);
    assert_true(isnan(row.se_r_q));
    assert_ok(trajectory_row(&m, false, &row, &a, &error), &error);
    assert_string_equal(row.group, "toys");
    m.n_heads = 0;
    assert_ok(trajectory_row(&m, true, &row, &a, &error), &error);
    assert_true(row.n_heads == 0 && isnan(row.mean_r_q) && isnan(row.share[0]));
    arena_free(&a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_depth_bins),
        cmocka_unit_test(test_mean_and_spread),
        cmocka_unit_test(test_blank_numbers_are_left_out),
        cmocka_unit_test(test_standard_errors),
        cmocka_unit_test(test_groups_that_some_heads_lack),
        cmocka_unit_test(test_replicates_se),
        cmocka_unit_test(test_depth_rows),
        cmocka_unit_test(test_trajectory_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
