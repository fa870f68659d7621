/* test_operators.c: the cpu backend's own operators beside their formulas. */
#include "engine/operators.h"
#include "engine/widen.h"
#include "testing.h"

#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <math.h>

enum { NODES = 8, THREADS = 2 };

/* Computes `y` with two threads. */
static void compute(struct ggml_context *g, struct ggml_tensor *y)
{
    struct ggml_cgraph *nodes = ggml_new_graph_custom(g, NODES, false);
    ggml_build_forward_expand(nodes, y);
    ggml_backend_t cpu = ggml_backend_cpu_init();
    ggml_backend_cpu_set_n_threads(cpu, THREADS);
    assert_int_equal(ggml_backend_graph_compute(cpu, nodes), GGML_STATUS_SUCCESS);
    ggml_backend_free(cpu);
}

/* ---- the rotary embedding ---- */

enum { D = 8, TURNED = 6, HEADS = 2, N = 5, ALL = D * HEADS * N };
static const int32_t POSITIONS[N] = {0, 1, 4097, 32767, 131071};
static float frequencies[TURNED / 2] = {1.0F, 0.7071067F, 0.01234567F};

static float value_at(int i)
{
    return sinf(0.7F * (float)i) + 0.1F * (float)i;
}

/* The rotation of value_at(0 ...) into `out`. */
static void run_turn(const rope *r, bool in_place, float *out)
{
    struct ggml_init_params how = {.mem_size = 1 << 20};
    struct ggml_context *g = ggml_init(how);
    assert_non_null(g);
    struct ggml_tensor *x = ggml_new_tensor_3d(g, GGML_TYPE_F32, D, HEADS, N);
    struct ggml_tensor *positions = ggml_new_tensor_1d(g, GGML_TYPE_I32, N);
    for (int i = 0; i < ALL; i++)
        ((float *)x->data)[i] = value_at(i);
    memcpy(positions->data, POSITIONS, sizeof POSITIONS);
    struct ggml_tensor *y = turned_on_host(g, r, x, positions, in_place);
    compute(g, y);
    memcpy(out, y->data, ALL * sizeof *out);
    assert_true((x->data == y->data) == in_place);
    for (int i = 0; !in_place && i < ALL; i++)
        assert_true(((float *)x->data)[i] == value_at(i));
    ggml_free(g);
}

/* The angle is the float32 product of position and frequency: at 131,071 tokens another rounding
 * would turn by up to 0.008 rad more. */
static void check_turned(const rope *r, const float *y)
{
    for (int row = 0; row < HEADS * N; row++)
        for (int j = 0; j < D; j++) {
            int32_t position = POSITIONS[row / HEADS];
            int pair = r->interleaved ? j / 2 : j % (TURNED / 2);
            bool second = r->interleaved ? j % 2 : j >= TURNED / 2;
            int apart = r->interleaved ? 1 : TURNED / 2, at = row * D + j;
            double expected = (double)value_at(at);
            if (j < TURNED) {
                float angle = (float)position * frequencies[pair];
                double other = (double)value_at(second ? at - apart : at + apart);
                expected = (double)r->factor * (expected * cos((double)angle) +
                                                (second ? 1 : -1) * other * sin((double)angle));
            }
            if (fabs((double)y[at] - expected) > 2e-6 * (1 + fabs(expected)))
                fail_msg("row %d, dimension %d: %.9g, expected %.9g", row, j, (double)y[at],
                         expected);
        }
}

static void test_turn(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        const rope r = {.dimensions = TURNED,
                        .interleaved = kind % 2,
                        .frequency = frequencies,
                        .factor = kind < 2 ? 1.0F : 1.25F};
        float y[ALL];
        run_turn(&r, kind % 2, y);
        check_turned(&r, y);
        run_turn(&r, !(kind % 2), y);
        check_turned(&r, y);
    }
}

/* ---- products ---- */

/* More columns than two tiles, the last one cut; rows that two threads share unevenly, in
 * more than one tile each. */
enum { ROWS = 40, COLUMNS = 2 * WIDEN_COLUMNS + 96, TOKENS = 3, HEAD = 8, TILE_ROWS = 9 };

static float weight_at(int row, int column)
{
    return sinf(0.3F * (float)row + 0.011F * (float)column);
}

/* The matrix as a file would have it, in the type and order of rows that `t` names. */
static void fill(const architecture *a, weight *t, void *bytes)
{
    static float numbers[ROWS * COLUMNS];
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            numbers[weight_stored(a, t, row) * COLUMNS + column] = weight_at(row, column);
    t->row_bytes = ggml_row_size((enum ggml_type)t->type, COLUMNS);
    if (t->type == GGML_TYPE_F32)
        memcpy(bytes, numbers, sizeof numbers);
    else
        assert_int_equal(
            ggml_quantize_chunk((enum ggml_type)t->type, numbers, bytes, 0, ROWS, COLUMNS, NULL),
            ROWS * t->row_bytes);
    t->data = bytes;
}

static void check_product(int type, bool interleaved, bool in_place, double tolerance)
{
    static float bytes[ROWS * COLUMNS], tiles[THREADS][TILE_ROWS * WIDEN_COLUMNS];
    const architecture a = {.head_dim = HEAD};
    weight t = {.name = "w",
                .type = type,
                .rows = ROWS,
                .columns = COLUMNS,
                .interleaved_rows = interleaved};
    fill(&a, &t, bytes);
    layer_weight w = {.rows = ROWS,
                      .columns = COLUMNS,
                      .stored = &t,
                      .host = in_place ? t.data : NULL,
                      .a = &a,
                      .tiles = tiles[0],
                      .tile_rows = TILE_ROWS};
    struct ggml_init_params how = {.mem_size = 1 << 20};
    struct ggml_context *g = ggml_init(how);
    assert_non_null(g);
    struct ggml_tensor *x = ggml_new_tensor_2d(g, GGML_TYPE_F32, COLUMNS, TOKENS);
    for (int i = 0; i < TOKENS * COLUMNS; i++)
        ((float *)x->data)[i] = cosf(0.05F * (float)i);
    struct ggml_tensor *y = multiply_on_host(g, &w, x);
    compute(g, y);
    for (int token = 0; token < TOKENS; token++)
        for (int row = 0; row < ROWS; row++) {
            double expected = 0;
            for (int column = 0; column < COLUMNS; column++)
                expected += (double)weight_at(row, column) *
                            (double)((float *)x->data)[token * COLUMNS + column];
            assert_near(((float *)y->data)[token * ROWS + row], expected, tolerance);
        }
    ggml_free(g);
}

static void test_multiply(void **state)
{
    (void)state;
    check_product(GGML_TYPE_F32, false, true, 1e-3);
    check_product(GGML_TYPE_F32, false, false, 1e-3); /* as if it were not aligned */
    check_product(GGML_TYPE_F32, true, false, 1e-3);
    check_product(GGML_TYPE_F16, false, false, 0.02);
    check_product(GGML_TYPE_F16, true, false, 0.02);
    check_product(GGML_TYPE_BF16, false, false, 0.2);
    check_product(GGML_TYPE_Q8_0, true, false, 0.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_turn),
                                       cmocka_unit_test(test_multiply)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
