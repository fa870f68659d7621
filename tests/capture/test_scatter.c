/* test_scatter.c: sums of products in tiles, beside the plain loop. */
#include "testing.h"

#include "capture/scatter.h"

#include <stdlib.h>

enum { SIZE_MAX_TRIED = 140, ROWS_MAX = 70 };

static double number(size_t i)
{
    return (double)((i * 2654435761U) % 1999) / 64 - 15; /* products and sums of these are exact */
}

/* Every size from one column to beyond two tiles of the widest kind, whatever the processor. */
static void test_sums(void **state)
{
    (void)state;
    static const size_t rows[] = {0, 1, 2, 7, ROWS_MAX};
    for (size_t size = 1; size <= SIZE_MAX_TRIED; size++) {
        size_t stride = (size + SCATTER_ALIGN - 1) / SCATTER_ALIGN * SCATTER_ALIGN;
        double *z = calloc(ROWS_MAX * stride, sizeof *z);
        double *scatter = calloc(size * stride, sizeof *scatter);
        assert_non_null(z);
        assert_non_null(scatter);
        for (size_t k = 0; k < ROWS_MAX; k++)
            for (size_t j = 0; j < size; j++)
                z[k * stride + j] = number(k * size + j);
        size_t n = rows[size % COUNT_OF(rows)];
        for (size_t i = 0; i < size * stride; i++)
            scatter[i] = number(i + 5);
        scatter_add(z, n, size, stride, scatter);
        for (size_t j = 0; j < size; j++)
            for (size_t i = j; i < size; i++) {
                double sum = number(j * stride + i + 5);
                for (size_t k = 0; k < n; k++)
                    sum += z[k * stride + i] * z[k * stride + j];
                assert_true(scatter[j * stride + i] == sum);
            }
        free(z);
        free(scatter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
