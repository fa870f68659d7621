/* The dense operations against matrices whose answers are known. */
#include "analysis/linear.h"
#include "vectors.h"

static const double NEAR = 1e-13;

static void test_eigenvectors_of_a_known_matrix(void **state)
{
    (void)state;
    /* Q diag(9, 4, 1) Q^T with Q's columns (2, 2, 1)/3, (-2, 1, 2)/3, (1, -2, 2)/3 */
    static const double axes[3][3] = {{2, 2, 1}, {-2, 1, 2}, {1, -2, 2}};
    static const double values[3] = {9, 4, 1};
    enum { STRIDE = 5 };
    for (int count = 1; count <= 3; count++) {
        double a[3 * STRIDE];
        for (int i = 0; i < 3 * STRIDE; i++)
            a[i] = NAN; /* the upper triangle and the gap are not read */
        for (int j = 0; j < 3; j++)
            for (int i = j; i < 3; i++) {
                a[j * STRIDE + i] = 0;
                for (int e = 0; e < 3; e++)
                    a[j * STRIDE + i] += values[e] * axes[e][i] * axes[e][j] / 9;
            }
        double found[3], vectors[9];
        eigen_room *room = NULL;
        qks_error error;
        assert_ok(eigen_open(&room, 3, &error), &error);
        assert_ok(eigen_top(room, 3, a, STRIDE, count, found, vectors, &error), &error);
        for (int e = 0; e < count; e++) {
            assert_near(found[e], values[e], NEAR);
            assert_near(fabs(dot(3, vectors + (size_t)e * 3, axes[e])), 3, NEAR);
            assert_near(dot(3, vectors + (size_t)e * 3, vectors + (size_t)e * 3), 1, NEAR);
        }
        eigen_close(room);
    }
    eigen_close(NULL);
}

/* A v = lambda v, at right angles, falling, for a matrix of no special kind. */
static void test_eigenvectors_of_any_matrix(void **state)
{
    (void)state;
    enum { D = 40 };
    static double a[D * D], kept[D * D], values[D], vectors[D * D], product[D * D];
    uint64_t seed = 2;
    for (int i = 0; i < D * D; i++)
        a[i] = kept[i] = noise(&seed);
    static const int counts[] = {1, 10, D};
    for (size_t c = 0; c < COUNT_OF(counts); c++) {
        eigen_room *room = NULL;
        qks_error error;
        memcpy(a, kept, sizeof a);
        assert_ok(eigen_open(&room, D, &error), &error);
        assert_ok(eigen_top(room, D, a, D, counts[c], values, vectors, &error), &error);
        symmetric_times(D, kept, D, counts[c], vectors, product);
        for (int e = 0; e < counts[c]; e++) {
            const double *v = vectors + (size_t)e * D;
            assert_true(e == 0 || values[e] <= values[e - 1]);
            assert_near(quadratic_form(D, kept, D, v), values[e], 1e-12);
            for (int j = 0; j < D; j++)
                assert_near(product[e * D + j], values[e] * v[j], 1e-12);
            for (int f = 0; f <= e; f++)
                assert_near(dot(D, v, vectors + (size_t)f * D), e == f, NEAR);
        }
        eigen_close(room);
    }
}

static void test_products_by_hand(void **state)
{
    (void)state;
    static const double a[] = {1, 2, 99, 5}; /* lower triangle of [[1, 2], [2, 5]] */
    static const double vectors[] = {1, -1, 3, 0};
    double out[4];
    symmetric_times(2, a, 2, 2, vectors, out);
    static const double expected[] = {-1, -3, 3, 6};
    for (int i = 0; i < 4; i++)
        assert_near(out[i], expected[i], NEAR);
    assert_near(quadratic_form(2, a, 2, vectors), 2, NEAR);
    assert_near(quadratic_form(2, a, 2, vectors + 2), 9, NEAR);
    assert_near(dot(2, vectors, vectors + 2), 3, NEAR);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eigenvectors_of_a_known_matrix),
        cmocka_unit_test(test_eigenvectors_of_any_matrix),
        cmocka_unit_test(test_products_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
