/* test_cost.c: operations of a forward pass, counted by hand for a small model. */
#include "engine/cost.h"
#include "testing.h"

/* hidden 8, two query heads and one key head of 4, intermediate 16, 3 tokens:
 * Q and K 3 * 8 * (8 + 4) = 288 products, the rest 3 * 8 * (4 + 8 + 3 * 16) = 1440, and attention
 * 2 * 8 for each pair of query and key. */
enum { Q_K = 2 * 288, OTHERS = 2 * 1440, PER_PAIR = 2 * 2 * 8 };

static layer_facts layers[] = {{.kind = LAYER_FULL},
                               {.kind = LAYER_SLIDING, .window = 2},
                               {.kind = LAYER_SKIPPED},
                               {.kind = LAYER_FULL}};
static const architecture model = {.n_layers = 4,
                                   .hidden = 8,
                                   .q_heads = 2,
                                   .kv_heads = 1,
                                   .head_dim = 4,
                                   .intermediate = 16,
                                   .layers = layers};

static void test_all_layers(void **state)
{
    (void)state;
    /* the last layer's Q and K end it; 1 + 2 + 3 pairs, then 1 + 2 + 2 in the window */
    double expected = 3 * Q_K + 2 * OTHERS + (6 + 5) * PER_PAIR;
    assert_true(engine_cost(&model, NULL, 3) == expected);
}

static void test_first_layers(void **state)
{
    (void)state;
    static const bool first[] = {true, false, false, false}, third[] = {false, true, false, false};
    assert_true(engine_cost(&model, first, 3) == Q_K);
    assert_true(engine_cost(&model, third, 3) == 2 * Q_K + OTHERS + 6 * PER_PAIR);
}

static void test_a_window_longer_than_the_text(void **state)
{
    (void)state;
    static const bool last[] = {false, false, false, true};
    double expected = 3 * (Q_K / 3.0) + 2 * (OTHERS / 3.0) + (1 + 1) * PER_PAIR;
    assert_true(engine_cost(&model, last, 1) == expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_layers),
        cmocka_unit_test(test_first_layers),
        cmocka_unit_test(test_a_window_longer_than_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
