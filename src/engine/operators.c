/* operators.c: products and a gate on the cpu backend. */
#include "engine/operators.h"

#include "engine/lanes.h"

#include <cblas.h>

/* ---- products ---- */

static void multiply(struct ggml_tensor *out, int thread, int threads, void *context)
{
    const layer_weight *w = context;
    const struct ggml_tensor *x = out->src[0];
    int64_t n = x->ne[1], columns = w->columns;
    /* Slices of output rows, so that each thread reads its part of the weights only. */
    int64_t slice = ((w->rows + threads - 1) / threads + 15) / 16 * 16;
    int64_t first = slice * thread, end = first + slice < w->rows ? first + slice : w->rows;
    if (first >= end)
        return;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)(end - first), (int)columns,
                1.0F, x->data, (int)columns, w->host + first * columns, (int)columns, 0.0F,
                (float *)out->data + first, (int)w->rows);
}

struct ggml_tensor *multiply_on_host(struct ggml_context *g, const layer_weight *w,
                                     struct ggml_tensor *x)
{
    struct ggml_tensor *arguments[] = {x};
    return ggml_custom_4d(g, GGML_TYPE_F32, w->rows, x->ne[1], 1, 1, arguments, 1, multiply,
                          GGML_N_TASKS_MAX, (void *)(uintptr_t)w);
}

/* ---- gated gelu ---- */

/* x (1 + tanh u) / 2 with u = sqrt(2/pi) (x + 0.044715 x^3), which is x / (1 + e^-2u). */
static inline floats gelu_tanh(floats x)
{
    floats z = x * (x * x * 0.044715F + 1.0F) * 1.59576912F;
    whole_numbers negative = z < 0;
    floats e = exp_negative((floats)((whole_numbers)z | INT32_MIN)); /* of -|z| */
    floats top = (floats)((negative & (whole_numbers)e) |
                          (~negative & (whole_numbers)((floats){0} + 1.0F)));
    return x * top / (e + 1.0F);
}

static void gate_rows(const float *gate, const float *up, float *to, int64_t n)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        floats y = gelu_tanh(load(gate + i)) * load(up + i);
        store(to + i, y);
    }
    for (; i < n; i++)
        to[i] = gelu_tanh((floats){gate[i]})[0] * up[i];
}

static void gated_gelu(struct ggml_tensor *out, int thread, int threads, void *context)
{
    (void)context;
    int64_t width = out->ne[0], rows = out->ne[1];
    int64_t first = rows * thread / threads, end = rows * (thread + 1) / threads;
    gate_rows((const float *)out->src[0]->data + first * width,
              (const float *)out->src[1]->data + first * width, (float *)out->data + first * width,
              (end - first) * width);
}

struct ggml_tensor *gated_gelu_on_host(struct ggml_context *g, struct ggml_tensor *gate,
                                       struct ggml_tensor *up)
{
    struct ggml_tensor *arguments[] = {gate, up};
    return ggml_custom_4d(g, GGML_TYPE_F32, gate->ne[0], gate->ne[1], 1, 1, arguments, 2,
                          gated_gelu, GGML_N_TASKS_MAX, NULL);
}
