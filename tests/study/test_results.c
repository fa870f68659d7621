/* Results from a bare qk table: rows in any order become heads and models, what only moments can
 * tell stays blank, a study says the order, and tables that make no sense are refused. */
#include "study/results.h"
#include "testing.h"

static const double NEAR = 1e-13;

/* Two models, the second first, rows shuffled: "b" has one head of 2 PCs, "a" two of 1 and 3. */
static const qks_qk_row ROWS[] = {
    {.model = "b",
     .layer = 3,
     .head = 1,
     .pc = 1,
     .explained_variance = 0.2,
     .r_q = 0.1,
     .r_k = -0.5},
    {.model = "a",
     .layer = 2,
     .head = 0,
     .pc = 2,
     .explained_variance = 0.1,
     .r_q = 0.8,
     .r_k = 0.1},
    {.model = "a",
     .layer = 0,
     .head = 5,
     .pc = 0,
     .explained_variance = 0.7,
     .r_q = 0.9,
     .r_k = 0.9},
    {.model = "a",
     .layer = 2,
     .head = 0,
     .pc = 0,
     .explained_variance = 0.5,
     .r_q = 0.4,
     .r_k = 0.2},
    {.model = "b",
     .layer = 3,
     .head = 1,
     .pc = 0,
     .explained_variance = 0.4,
     .r_q = 0.8,
     .r_k = 0.2},
    {.model = "a",
     .layer = 2,
     .head = 0,
     .pc = 1,
     .explained_variance = 0.2,
     .r_q = 0.1,
     .r_k = -0.3},
};

static void test_rows_become_models(void **state)
{
    (void)state;
    qks_error error;
    results r;
    assert_ok(analyze_table(&r, ROWS, COUNT_OF(ROWS), NULL, 0, 4, &error), &error);
    assert_int_equal(r.count, 2);
    assert_false(r.training);
    const model_result *b = &r.models[0], *a = &r.models[1];
    assert_string_equal(b->model, "b");
    assert_string_equal(a->model, "a");
    assert_true(b->n_heads == 1 && a->n_heads == 2 && a->layers == 4 && a->n_groups == 0);
    const head_result *h = &a->heads[1];
    assert_true(a->heads[0].row.layer == 0 && h->row.layer == 2 && h->n_pcs == 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(h->pcs[i].pc, i);
    assert_true(h->whole.r_q == 0.4 && h->whole.r_k == 0.2 && h->whole.explained_variance == 0.5);
    assert_true(h->whole.top_q == 2 && h->whole.top_k == 1);
    assert_near(h->row.pos_share_q, 0.5 * 0.16 + 0.2 * 0.01 + 0.1 * 0.64, NEAR);
    assert_near(h->row.pos_share_k, 0.5 * 0.04 + 0.2 * 0.09 + 0.1 * 0.01, NEAR);
    assert_string_equal(h->row.class_name, "mixed");
    assert_string_equal(a->heads[0].row.class_name, "position-dominated");
    assert_string_equal(b->heads[0].row.class_name, "Q-positional");
    assert_true(h->row.n_q == QKS_BLANK && h->row.stable == QKS_BLANK && !h->row.flags);
    assert_true(isnan(h->row.separation) && isnan(h->row.bias_strength) && !h->replicates);
    results_free(&r);
}

static void test_tables_of_a_table(void **state)
{
    (void)state;
    qks_error error;
    results r;
    table_rows t;
    assert_ok(analyze_table(&r, ROWS, COUNT_OF(ROWS), NULL, 0, 4, &error), &error);
    assert_ok(results_rows(&r, &t, &error), &error);
    assert_int_equal(t.qk.length, COUNT_OF(ROWS));
    assert_int_equal(t.heads.length, 3);
    assert_int_equal(t.depth.length, 2 * DEPTH_BINS);
    assert_int_equal(t.trajectory.length, 2);
    assert_int_equal(t.plasticity.length, 0);
    assert_true(t.findings.length > 0);
    assert_near(t.trajectory.data[1].mean_r_q, 0.65, NEAR);
    table_rows_free(&t);
    results_free(&r);
}

/* ---- the study ---- */

static void test_study_says_order_and_layers(void **state)
{
    (void)state;
    static const study_row study[] = {
        {.model = "b", .order = 7, .layers = 10, .phase = "late"},
        {.model = "unused", .order = 1, .layers = 1},
        {.model = "a", .order = -2, .layers = 3, .family = "toys"},
    };
    qks_error error;
    results r;
    assert_ok(analyze_table(&r, ROWS, COUNT_OF(ROWS), study, 3, 0, &error), &error);
    assert_ok(results_order(&r, study, 3, &error), &error);
    assert_string_equal(r.models[0].model, "a");
    assert_string_equal(r.models[1].model, "b");
    assert_true(r.models[0].layers == 3 && r.models[1].layers == 10);
    assert_true(r.models[0].order == -2 && r.models[1].order == 7);
    assert_string_equal(r.models[0].family, "toys");
    assert_null(r.models[0].phase);
    assert_true(r.training); /* some model has a phase */
    results_free(&r);
}

static void test_study_without_order(void **state)
{
    (void)state;
    static const study_row study[] = {{.model = "a", .order = QKS_BLANK, .layers = 4},
                                      {.model = "b", .order = QKS_BLANK, .layers = 4}};
    qks_error error;
    results r;
    assert_ok(analyze_table(&r, ROWS, COUNT_OF(ROWS), study, 2, 0, &error), &error);
    assert_ok(results_order(&r, study, 2, &error), &error);
    assert_string_equal(r.models[0].model, "a"); /* as the study's rows stand */
    assert_false(r.training);
    results_free(&r);
    assert_ok(analyze_table(&r, ROWS, COUNT_OF(ROWS), study, 2, 0, &error), &error);
    assert_fails(results_order(&r, study, 1, &error), QKS_INVALID, &error,
                 "does not name model 'b'");
    results_free(&r);
}

/* ---- refused ---- */

static void test_refused_tables(void **state)
{
    (void)state;
    static const struct {
        const char *part;
        int layers;
        qks_qk_row row; /* in place of the last of ROWS */
    } cases[] = {
        {"lacks its model", 4, {.model = NULL}},
        {"lacks its model, layer", 4, {.model = "a", .layer = QKS_BLANK}},
        {"lacks its model", 4, {.model = "a", .head = -1}},
        {"row 6 lacks its model", 4, {.model = "a", .pc = QKS_BLANK}},
        {"blank or out of range", 4, {.model = "a", .layer = 2, .pc = 1, .r_q = NAN}},
        {"blank or out of range", 4, {.model = "a", .layer = 2, .pc = 1, .r_k = 1.5}},
        {"blank or out of range",
         4,
         {.model = "a", .layer = 2, .pc = 1, .explained_variance = NAN}},
        {"layer 2, head 0 are not PC 0, 1, 2", 4, {.model = "a", .layer = 2, .pc = 2}},
        {"layer 2, head 0 are not PC 0, 1, 2", 4, {.model = "a", .layer = 2, .pc = 3}},
        {"layer 1, head 0 are not PC 0, 1, 2", 4, {.model = "a", .layer = 1, .pc = 1}},
        {"does not say how many layers model 'b' has", 0, {.model = "a", .layer = 2, .pc = 1}},
        {"heads up to layer 3, which do not fit 3 layers", 3, {.model = "a", .layer = 2, .pc = 1}},
        {"heads up to layer 99", 4, {.model = "c", .layer = 99, .pc = 0}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        qks_error error;
        results r;
        qks_qk_row rows[COUNT_OF(ROWS)];
        memcpy(rows, ROWS, sizeof rows);
        rows[COUNT_OF(ROWS) - 1] = cases[i].row;
        if (cases[i].row.model && cases[i].row.model[0] == 'c')
            rows[1].pc = 1; /* so that the other models are whole */
        assert_fails(analyze_table(&r, rows, COUNT_OF(rows), NULL, 0, cases[i].layers, &error),
                     QKS_INVALID, &error, cases[i].part);
    }
    qks_error error;
    results r;
    assert_fails(analyze_table(&r, ROWS, 0, NULL, 0, 4, &error), QKS_INVALID, &error, "no rows");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_become_models),
        cmocka_unit_test(test_tables_of_a_table),
        cmocka_unit_test(test_study_says_order_and_layers),
        cmocka_unit_test(test_study_without_order),
        cmocka_unit_test(test_refused_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
