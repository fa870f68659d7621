/* operators.c: products, rotations and gates on the cpu backend. */
#include "engine/operators.h"

#include "engine/lanes.h"
#include "engine/widen.h"
#include "qkscope/moments.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* ---- products ---- */

/* Rows first .. end - 1 of W x; of a matrix that must be widened, a tile of columns after the
 * other. */
static void multiply_rows(const layer_weight *w, const struct ggml_tensor *x, int64_t first,
                          int64_t end, int thread, struct ggml_tensor *out)
{
    int64_t step = w->host ? w->columns : WIDEN_COLUMNS;
    for (int64_t column = 0; column < w->columns; column += step) {
        int64_t width = w->columns - column < step ? w->columns - column : step;
        const float *matrix = w->host ? w->host + first * w->columns
                                      : layer_tile(w, first, end, column, width, thread);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)x->ne[1], (int)(end - first),
                    (int)width, 1.0F, (const float *)x->data + column, (int)w->columns, matrix,
                    (int)width, column ? 1.0F : 0.0F, (float *)out->data + first, (int)w->rows);
    }
}

/* Slices of rows, so that each thread reads its part of the weights only. There may be fewer
 * threads than tiles were made for: then a slice takes several. */
static void multiply(struct ggml_tensor *out, int thread, int threads, void *context)
{
    const layer_weight *w = context;
    int64_t slice = layer_slice(w->rows, threads);
    int64_t first = slice * thread, end = first + slice < w->rows ? first + slice : w->rows;
    int64_t step = w->host || slice < w->tile_rows ? slice : w->tile_rows;
    for (; first < end; first += step)
        multiply_rows(w, out->src[0], first, first + step < end ? first + step : end, thread, out);
}

struct ggml_tensor *multiply_on_host(struct ggml_context *g, const layer_weight *w,
                                     struct ggml_tensor *x)
{
    struct ggml_tensor *arguments[] = {x};
    return ggml_custom_4d(g, GGML_TYPE_F32, w->rows, x->ne[1], 1, 1, arguments, 1, multiply,
                          GGML_N_TASKS_MAX, (void *)(uintptr_t)w);
}

/* ---- the rotary embedding ---- */

/* cos and sin of each pair's angle, times the factor */
static void angles_at(const rope *r, int32_t position, float *cosine, float *sine)
{
    for (int p = 0; p < r->dimensions / 2; p++) {
        float angle = (float)position * r->frequency[p];
        cosine[p] = cosf(angle) * r->factor;
        sine[p] = sinf(angle) * r->factor;
    }
}

static void turn_head(const rope *r, const float *cosine, const float *sine, const float *from,
                      float *to)
{
    ptrdiff_t pairs = r->dimensions / 2;
    ptrdiff_t step = r->interleaved ? 2 : 1, apart = r->interleaved ? 1 : pairs;
    for (ptrdiff_t p = 0; p < pairs; p++) {
        float x = from[p * step], y = from[p * step + apart];
        to[p * step] = x * cosine[p] - y * sine[p];
        to[p * step + apart] = y * cosine[p] + x * sine[p];
    }
}

static void turn(struct ggml_tensor *out, int thread, int threads, void *context)
{
    const rope *r = context;
    const int32_t *positions = out->src[1]->data;
    int64_t d = out->ne[0], heads = out->ne[1], n = out->ne[2];
    float cosine[QKS_DIMENSION_MAX / 2], sine[QKS_DIMENSION_MAX / 2];
    for (int64_t i = n * thread / threads; i < n * (thread + 1) / threads; i++) {
        angles_at(r, positions[i], cosine, sine);
        const float *from = (const float *)out->src[0]->data + i * heads * d;
        float *to = (float *)out->data + i * heads * d;
        if (to != from && r->dimensions < d)
            memcpy(to, from, (size_t)(heads * d) * sizeof *to);
        for (int64_t h = 0; h < heads; h++)
            turn_head(r, cosine, sine, from + h * d, to + h * d);
    }
}

struct ggml_tensor *turned_on_host(struct ggml_context *g, const rope *r, struct ggml_tensor *x,
                                   struct ggml_tensor *positions, bool in_place)
{
    struct ggml_tensor *arguments[] = {x, positions};
    void *context = (void *)(uintptr_t)r;
    return in_place ? ggml_custom_inplace(g, x, arguments + 1, 1, turn, GGML_N_TASKS_MAX, context)
                    : ggml_custom_4d(g, GGML_TYPE_F32, x->ne[0], x->ne[1], x->ne[2], 1, arguments,
                                     2, turn, GGML_N_TASKS_MAX, context);
}

/* ---- gates ---- */

/* x / (1 + e^-z), by e^-|z|, which cannot overflow */
static inline floats times_logistic(floats x, floats z)
{
    floats e = exp_negative((floats)((whole_numbers)z | INT32_MIN));
    return x * choose(z < 0, e, (floats){0} + 1.0F) / (e + 1.0F);
}

static inline floats silu(floats x)
{
    return times_logistic(x, x);
}

/* x (1 + tanh u) / 2 with u = sqrt(2/pi) (x + 0.044715 x^3), which is x / (1 + e^-2u). */
static inline floats gelu_tanh(floats x)
{
    return times_logistic(x, x * (x * x * 0.044715F + 1.0F) * 1.59576912F);
}

/* Row by row in place; `function` is a constant wherever this is inlined. */
static inline __attribute__((always_inline)) void gate_rows(struct ggml_tensor *out, int thread,
                                                            int threads, floats (*function)(floats))
{
    int64_t width = out->ne[0], rows = out->ne[1];
    int64_t first = rows * thread / threads, end = rows * (thread + 1) / threads, i = 0;
    float *gate = (float *)out->data + first * width;
    const float *up = (const float *)out->src[1]->data + first * width;
    for (; i + LANES <= (end - first) * width; i += LANES)
        store(gate + i, function(load(gate + i)) * load(up + i));
    for (; i < (end - first) * width; i++)
        gate[i] = function((floats){gate[i]})[0] * up[i];
}

static void gated_silu(struct ggml_tensor *out, int thread, int threads, void *context)
{
    (void)context;
    gate_rows(out, thread, threads, silu);
}

static void gated_gelu(struct ggml_tensor *out, int thread, int threads, void *context)
{
    (void)context;
    gate_rows(out, thread, threads, gelu_tanh);
}

struct ggml_tensor *gated_on_host(struct ggml_context *g, activation kind, struct ggml_tensor *gate,
                                  struct ggml_tensor *up)
{
    struct ggml_tensor *arguments[] = {up};
    return ggml_custom_inplace(g, gate, arguments, 1,
                               kind == ACTIVATION_SILU ? gated_silu : gated_gelu, GGML_N_TASKS_MAX,
                               NULL);
}
