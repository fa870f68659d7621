/* Steps and phases in the names of checkpoints, and their order. */
#include "study/step.h"
#include "testing.h"

static void steps_in_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *phase;
        double step; /* -1: none */
    } cases[] = {
        {"S1-60", "S1", 60},
        {"S1-1.2K", "S1", 1200},
        {"stage1-step-40000", "stage1", 40000},
        {"lc-4k-to-32k-step-20000", "lc-4k-to-32k", 20000},
        {"stage1-step1000-tokens4B", "stage1", 1000},
        {"checkpoint-500", "", 500},
        {"run/checkpoint-500", "run", 500},
        {"global_step1000", "", 1000},
        {"iter_0001000", "", 1000},
        {"pythia-step143000", "pythia", 143000},
        {"main-tokens-300B", "main", 3e11},
        {"olmo-3M", "olmo", 3e6},
        /* no steps */
        {"nano-llama", "nano-llama", -1},
        {"Llama-3.2-1B", "Llama-3.2-1B", -1},
        {"SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct", -1},
        {"Qwen3", "Qwen3", -1},
        {"stepwise", "stepwise", -1},
        {"model-0xff", "model-0xff", -1},
        {"", "", -1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        step_name found = step_of(cases[i].name);
        if (found.known != (cases[i].step >= 0) || (found.known && found.step != cases[i].step) ||
            found.phase_length != strlen(cases[i].phase))
            fail_msg("'%s': step %g, phase of %zu bytes", cases[i].name,
                     found.known ? found.step : -1.0, found.phase_length);
    }
}

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

static void order_of_names_and_phases(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        int names, phases;
    } cases[] = {
        {"a2", "a10", -1, -1}, {"a", "a1", -1, -1},           {"b1", "b1", 0, 0},
        {"S3", "LC1", 1, -1},  {"stage2", "stage10", -1, -1}, {"stage3", "lc-4k", 1, -1},
        {"sft", "LC2", 1, 1},  {"dpo", "sft", -1, 1},         {"pretrain", "decay", 1, -1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *a = cases[i].a, *b = cases[i].b;
        size_t m = strlen(a), n = strlen(b);
        assert_int_equal(sign(natural_order(a, m, b, n)), cases[i].names);
        assert_int_equal(sign(natural_order(b, n, a, m)), -cases[i].names);
        assert_int_equal(sign(phase_order(a, m, b, n)), cases[i].phases);
        assert_int_equal(sign(phase_order(b, n, a, m)), -cases[i].phases);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_in_names),
        cmocka_unit_test(order_of_names_and_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
