/* What was captured, head by head, through the public headers alone: the numbers are those that the
 * tables have, moments come out as they went in, and what was not captured is said. */
#include "qkscope/captured.h"
#include "testing.h"

static const char DATASET[] = "data/analysis/dataset";
static const qks_analyze_options SHAPE = {.shape = "3/4/2"};
static const qks_head FIRST = {.layer = 0, .head = 0};

static qks_captured *opened(void)
{
    qks_error error;
    qks_captured *c = NULL;
    assert_ok(qks_captured_open(&c, DATASET, &SHAPE, &error), &error);
    return c;
}

static void facts_are_the_models(void **state)
{
    (void)state;
    qks_captured *c = opened();
    const qks_captured_facts *f = qks_captured_facts_of(c);
    assert_int_equal(f->layers, 3);
    assert_int_equal(f->q_heads, 4);
    assert_int_equal(f->kv_heads, 2);
    assert_true(f->n_queries > 0 && f->n_keys > 0 && f->dimension > 0 && f->groups > 1);
    for (size_t i = 1; i < f->n_queries; i++)
        assert_true(f->queries[i].layer > f->queries[i - 1].layer ||
                    f->queries[i].head > f->queries[i - 1].head);
    qks_captured_close(c);
}

/* The whole head's moments, analysed as one group, give the same correlations; only groups give
 * standard errors. */
static void a_head_from_groups_and_from_its_moments(void **state)
{
    (void)state;
    qks_error error;
    qks_captured *c = opened();
    qks_head_numbers *grouped = NULL, *whole = NULL;
    qks_moments *q = NULL, *k = NULL;
    int d = qks_captured_facts_of(c)->dimension;
    assert_ok(qks_captured_head(c, FIRST, 3, &grouped, &error), &error);
    assert_ok(qks_moments_new(&q, d, &error), &error);
    assert_ok(qks_moments_new(&k, d, &error), &error);
    assert_ok(qks_captured_moments(c, 'q', FIRST, q, &error), &error);
    assert_ok(qks_captured_moments(c, 'k', FIRST, k, &error), &error);
    assert_int_equal(qks_moments_count(q), grouped->head.n_q);
    assert_ok(qks_head_analyze(&q, &k, 1, 3, &whole, &error), &error);
    assert_int_equal(grouped->n_pcs, 3);
    assert_int_equal(whole->n_pcs, 3);
    for (size_t i = 0; i < whole->n_pcs; i++) {
        assert_near(whole->pcs[i].r_q, grouped->pcs[i].r_q, 1e-12);
        assert_near(whole->pcs[i].r_k, grouped->pcs[i].r_k, 1e-12);
        assert_true(grouped->pcs[i].se_r_q > 0);
        assert_true(isnan(whole->pcs[i].se_r_q));
    }
    assert_int_equal(grouped->head.layer, 0);
    assert_true(whole->head.layer == QKS_BLANK && !whole->head.model);
    assert_string_equal(grouped->head.class_name, whole->head.class_name);
    qks_captured_close(c); /* the numbers outlive it */
    assert_string_equal(grouped->head.model, grouped->pcs[0].model);
    qks_head_numbers_free(grouped);
    qks_head_numbers_free(whole);
    qks_moments_free(q);
    qks_moments_free(k);
}

static void what_was_not_captured_is_said(void **state)
{
    (void)state;
    qks_error error;
    qks_captured *c = NULL;
    qks_head_numbers *numbers = NULL;
    assert_fails(qks_captured_open(&c, "data/none", NULL, &error), QKS_MISSING, &error,
                 "data/none");
    assert_null(c);
    c = opened();
    assert_fails(qks_captured_head(c, (qks_head){.layer = 2, .head = 99}, 0, &numbers, &error),
                 QKS_MISSING, &error, "the queries of layer 2, head 99");
    assert_null(numbers);
    qks_captured_close(c);
    qks_captured_close(NULL);
    qks_head_numbers_free(NULL);
}

static void moments_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    qks_error error;
    qks_head_numbers *numbers = NULL;
    qks_moments *two = NULL, *three = NULL;
    assert_ok(qks_moments_new(&two, 2, &error), &error);
    assert_ok(qks_moments_new(&three, 3, &error), &error);
    assert_fails(qks_head_analyze(&two, &three, 1, 0, &numbers, &error), QKS_USAGE, &error,
                 "queries of dimension 2 and keys of dimension 3");
    assert_fails(qks_head_analyze(&two, &two, 0, 0, &numbers, &error), QKS_USAGE, &error,
                 "0 groups");
    assert_fails(qks_head_analyze(&two, &two, 1, -1, &numbers, &error), QKS_USAGE, &error,
                 "-1 components");
    assert_null(numbers);
    qks_moments_free(two);
    qks_moments_free(three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_the_models),
        cmocka_unit_test(a_head_from_groups_and_from_its_moments),
        cmocka_unit_test(what_was_not_captured_is_said),
        cmocka_unit_test(moments_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
