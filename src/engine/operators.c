/* operators.c: products, attention and a gate on the cpu backend. */
#include "engine/operators.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

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

/* ---- attention ---- */

/* Explicit vectors: the compiler may not reorder float sums by itself, and -ffast-math stays out.
 */
enum { LANES = 8 };
#pragma GCC diagnostic ignored                                                                     \
    "-Wpsabi" /* no vector leaves this file: how it is passed is no matter */
typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t whole_numbers __attribute__((vector_size(LANES * sizeof(int32_t))));

static inline floats load(const float *x)
{
    floats v;
    memcpy(&v, x, sizeof v);
    return v;
}

static inline floats larger(floats a, floats b)
{
    whole_numbers take = a > b;
    return (floats)((take & (whole_numbers)a) | (~take & (whole_numbers)b));
}

/* e^x for x <= 0, within 2 units of the last place. Below -87 the result would be denormal: it
 * counts as e^-87. */
static inline floats exp_negative(floats x)
{
    x = larger(x, (floats){0} - 87.0F);
    floats n = (x * 1.44269504F + 12582912.0F) - 12582912.0F; /* 1.5 * 2^23: to a whole number */
    floats r = x - n * 0.693359375F + n * 2.12194440e-4F;
    floats p = r * (1.0F / 720) + 1.0F / 120;
    p = p * r + 1.0F / 24;
    p = p * r + 1.0F / 6;
    p = p * r + 0.5F;
    p = p * r + 1.0F;
    p = p * r + 1.0F;
    whole_numbers power = (__builtin_convertvector(n, whole_numbers) + 127) << 23;
    return p * (floats)power;
}

static float largest(const float *x, int64_t n)
{
    floats lanes = (floats){0} - INFINITY;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        lanes = larger(lanes, load(x + i));
    float best = -INFINITY;
    for (; i < n; i++)
        best = best > x[i] ? best : x[i];
    for (int l = 0; l < LANES; l++)
        best = best > lanes[l] ? best : lanes[l];
    return best;
}

/* x = e^(x - about); returns the sum. */
static float exponentiate(float *x, int64_t n, float about)
{
    floats lanes = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        floats e = exp_negative(load(x + i) - about);
        memcpy(x + i, &e, sizeof e);
        lanes += e;
    }
    if (i < n) { /* the rest, in a vector of its own whose tail counts as nothing */
        float tail[LANES];
        size_t left = (size_t)(n - i);
        for (size_t l = 0; l < LANES; l++)
            tail[l] = l < left ? x[i + (int64_t)l] - about : -INFINITY;
        floats e = exp_negative(load(tail));
        memcpy(x + i, &e, left * sizeof *x);
        for (size_t l = 0; l < left; l++)
            lanes[l] += e[l];
    }
    float sum = 0;
    for (int l = 0; l < LANES; l++)
        sum += lanes[l];
    return sum;
}

typedef struct block { /* QUERY_BLOCK queries of one head against all keys they see */
    const attention_facts *facts;
    int64_t first; /* position of its first query */
    int64_t rows;
    float *queries;       /* [rows, head_dim], scaled */
    float *scores;        /* [rows, KEY_BLOCK] */
    float *sums;          /* [rows, head_dim] */
    float *best, *weight; /* [rows] running maximum and sum of exponentials */
} block;

size_t attention_scratch(int head_dim)
{
    return (size_t)QUERY_BLOCK * (KEY_BLOCK + 2 * (size_t)head_dim + 2);
}

/* Softmax of one row of scores for keys key .. key + n - 1, continued from the blocks before:
 * what is masked becomes 0, older sums are scaled to the new maximum. */
static void soften(const block *b, int64_t row, int64_t key, int64_t n)
{
    int64_t position = b->first + row, window = b->facts->window, d = b->facts->head_dim;
    int64_t low = window && position - window + 1 > key ? position - window + 1 - key : 0;
    int64_t high = position + 1 - key < n ? position + 1 - key : n;
    float *scores = b->scores + row * KEY_BLOCK;
    if (low >= high) {
        memset(scores, 0, (size_t)n * sizeof *scores);
        return;
    }
    memset(scores, 0, (size_t)low * sizeof *scores);
    memset(scores + high, 0, (size_t)(n - high) * sizeof *scores);
    float best = largest(scores + low, high - low);
    if (best > b->best[row]) {
        float shrink = b->weight[row] > 0 ? expf(b->best[row] - best) : 0;
        for (int64_t j = 0; j < d; j++)
            b->sums[row * d + j] *= shrink;
        b->weight[row] *= shrink;
        b->best[row] = best;
    }
    b->weight[row] += exponentiate(scores + low, high - low, b->best[row]);
}

static void attend(const block *b, const float *keys, const float *values, int64_t stride)
{
    const attention_facts *f = b->facts;
    int64_t d = f->head_dim, end = b->first + b->rows;
    int64_t begin = f->window && b->first - f->window + 1 > 0 ? b->first - f->window + 1 : 0;
    for (int64_t row = 0; row < b->rows; row++) {
        b->best[row] = -INFINITY;
        b->weight[row] = 0;
    }
    memset(b->sums, 0, (size_t)(b->rows * d) * sizeof *b->sums);
    for (int64_t key = begin; key < end; key += KEY_BLOCK) {
        int64_t n = end - key < KEY_BLOCK ? end - key : KEY_BLOCK;
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)b->rows, (int)n, (int)d, 1.0F,
                    b->queries, (int)d, keys + key * stride, (int)stride, 0.0F, b->scores,
                    KEY_BLOCK);
        for (int64_t row = 0; row < b->rows; row++)
            soften(b, row, key, n);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)b->rows, (int)d, (int)n, 1.0F,
                    b->scores, KEY_BLOCK, values + key * stride, (int)stride, 1.0F, b->sums,
                    (int)d);
    }
}

static void attention_task(struct ggml_tensor *out, attention_facts *f, float *scratch, int head,
                           int64_t first)
{
    const struct ggml_tensor *q = out->src[0];
    int64_t d = f->head_dim, width = d * f->q_heads, n = q->ne[1];
    block b = {.facts = f, .first = f->first + first, .rows = n - first};
    if (b.rows > QUERY_BLOCK)
        b.rows = QUERY_BLOCK;
    b.scores = scratch;
    b.queries = b.scores + (size_t)QUERY_BLOCK * KEY_BLOCK;
    b.sums = b.queries + QUERY_BLOCK * d;
    b.best = b.sums + QUERY_BLOCK * d;
    b.weight = b.best + QUERY_BLOCK;
    const float *queries = (const float *)q->data + first * width + head * d;
    for (int64_t row = 0; row < b.rows; row++)
        for (int64_t j = 0; j < d; j++)
            b.queries[row * d + j] = queries[row * width + j] * f->scale;
    int64_t stride = d * f->kv_heads, offset = head / (f->q_heads / f->kv_heads) * d;
    attend(&b, (const float *)out->src[1]->data + offset, (const float *)out->src[2]->data + offset,
           stride);
    float *to = (float *)out->data + first * width + head * d;
    for (int64_t row = 0; row < b.rows; row++)
        for (int64_t j = 0; j < d; j++)
            to[row * width + j] = b.sums[row * d + j] / b.weight[row];
}

/* Tasks are (query block, head), the last blocks first: they see the most keys. */
static void attention(struct ggml_tensor *out, int thread, int threads, void *context)
{
    (void)threads;
    attention_facts *f = context;
    int64_t blocks = (out->src[0]->ne[1] + QUERY_BLOCK - 1) / QUERY_BLOCK;
    float *scratch = f->scratch + (size_t)thread * attention_scratch(f->head_dim);
    for (long long task; (task = atomic_fetch_add(&f->next, 1)) < blocks * f->q_heads;)
        attention_task(out, f, scratch, (int)(task % f->q_heads),
                       (blocks - 1 - task / f->q_heads) * QUERY_BLOCK);
}

struct ggml_tensor *attention_on_host(struct ggml_context *g, attention_facts *facts,
                                      struct ggml_tensor *q, struct ggml_tensor *keys,
                                      struct ggml_tensor *values)
{
    struct ggml_tensor *arguments[] = {q, keys, values};
    return ggml_custom_4d(g, GGML_TYPE_F32, q->ne[0], q->ne[1], 1, 1, arguments, 3, attention,
                          GGML_N_TASKS_MAX, facts);
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
        memcpy(to + i, &y, sizeof y);
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
