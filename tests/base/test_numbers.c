/* Finite numbers: NaN and infinity are found wherever they stand, nothing else is. */
#include "testing.h"

#include "base/numbers.h"

#include <float.h>
#include <math.h>

enum { N = 37 }; /* no multiple of any vector's length */

static void finite_numbers_are(void **state)
{
    (void)state;
    const float kinds[] = {0, -0.0F, 1, -1, FLT_MAX, -FLT_MAX, FLT_MIN, FLT_TRUE_MIN};
    float x[N];
    for (size_t i = 0; i < N; i++)
        x[i] = kinds[i % (sizeof kinds / sizeof *kinds)];
    assert_true(all_finite(x, N));
    assert_true(all_finite(x, 0));
}

static void one_bad_number_is_found(void **state)
{
    (void)state;
    const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (size_t kind = 0; kind < sizeof bad / sizeof *bad; kind++)
        for (size_t at = 0; at < N; at++) {
            float x[N] = {0};
            x[at] = bad[kind];
            assert_false(all_finite(x, N));
            assert_true(all_finite(x, at));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finite_numbers_are),
        cmocka_unit_test(one_bad_number_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
