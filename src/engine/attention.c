/* attention.c: blockwise causal attention.
 *
 * Queries go in panels of PANEL, one per lane: scores of a panel are [keys, PANEL], so that maxima,
 * exponentials and sums of a softmax run down the lanes without any reduction across them. Keys and
 * values are read where they are stored; only queries are laid out anew. Both products are loops
 * over tiles that stay in registers: with heads of 64 or 128 dimensions, packing and clearing cost
 * a matrix library a third of its time (docs/performance.md). Compiled with -ffp-contract=fast. */
#include "engine/attention.h"

#include "engine/lanes.h"

#include <math.h>
#include <stdbool.h>

enum { VECTORS = 3, PANEL = VECTORS * LANES };
#ifdef __AVX512F__
enum { KEY_TILE = 8, ROW_TILE = 12 }; /* accumulators: 24 of 32 registers */
#else
enum { KEY_TILE = 4, ROW_TILE = 6 }; /* 12 of 16 */
#endif
enum { KEY_BLOCK = 64, PANELS = ATTENTION_QUERIES / PANEL };
_Static_assert(PANEL % ROW_TILE == 0 && ATTENTION_QUERIES % PANEL == 0, "tiles fill panels");

typedef struct panel {
    const attention_facts *facts;
    int64_t first;  /* position of its first query */
    int64_t rows;   /* queries in it, at most PANEL */
    float *queries; /* [head_dim, PANEL], scaled */
    float *sums;    /* [PANEL, head_dim] of values, weighted */
    floats *best;   /* [VECTORS] largest score so far */
    floats *weight; /* [VECTORS] sum of exponentials relative to it */
    floats *scores; /* [KEY_BLOCK, VECTORS], then their weights */
} panel;

/* ---- the two products ---- */

/* Scores of `n` keys (at most KEY_TILE, a constant wherever this is inlined). */
static inline __attribute__((always_inline)) void score_tile(const panel *p, const float *keys,
                                                             int n, floats *scores)
{
    int64_t d = p->facts->head_dim;
    floats sum[KEY_TILE][VECTORS] = {0};
    const float *q = p->queries;
    for (int64_t j = 0; j < d; j++, q += PANEL) {
        floats query[VECTORS];
        for (int v = 0; v < VECTORS; v++)
            query[v] = held(load(q + (ptrdiff_t)v * LANES));
        for (int i = 0; i < n; i++)
            for (int v = 0; v < VECTORS; v++)
                sum[i][v] += query[v] * keys[i * d + j];
    }
    memcpy(scores, sum, (size_t)n * VECTORS * sizeof(floats));
}

static void score(const panel *p, const float *keys, int64_t n)
{
    int64_t d = p->facts->head_dim, i = 0;
    for (; i + KEY_TILE <= n; i += KEY_TILE)
        score_tile(p, keys + i * d, KEY_TILE, p->scores + i * VECTORS);
    for (; i < n; i++)
        score_tile(p, keys + i * d, 1, p->scores + i * VECTORS);
}

/* ROW_TILE rows of sums += weights^T values, in one or two vectors of columns (a constant wherever
 * this is inlined). */
static inline __attribute__((always_inline)) void
add_tile(const float *weights, const float *values, int64_t n, int64_t d, float *sums, int vectors)
{
    floats sum[ROW_TILE][2] = {0};
    for (int64_t key = 0; key < n; key++, weights += PANEL, values += d) {
        floats value[2] = {0};
        for (int v = 0; v < vectors; v++)
            value[v] = load(values + (ptrdiff_t)v * LANES);
        for (int i = 0; i < ROW_TILE; i++)
            for (int v = 0; v < vectors; v++)
                sum[i][v] += value[v] * weights[i];
    }
    for (int i = 0; i < ROW_TILE; i++, sums += d)
        for (int v = 0; v < vectors; v++) {
            float *to = sums + (ptrdiff_t)v * LANES;
            store(to, load(to) + sum[i][v]);
        }
}

/* Columns beyond the last whole vector. */
static void add_rest(const panel *p, const float *values, int64_t n, int64_t column)
{
    int64_t d = p->facts->head_dim;
    const float *weights = (const float *)p->scores;
    for (int64_t row = 0; row < PANEL; row++)
        for (int64_t j = column; j < d; j++) {
            float sum = 0;
            for (int64_t key = 0; key < n; key++)
                sum += weights[key * PANEL + row] * values[key * d + j];
            p->sums[row * d + j] += sum;
        }
}

static void add_values(const panel *p, const float *values, int64_t n)
{
    enum { TWICE = 2 * LANES };
    int64_t d = p->facts->head_dim, column = 0;
    const float *weights = (const float *)p->scores;
    for (; column + TWICE <= d; column += TWICE)
        for (int64_t row = 0; row < PANEL; row += ROW_TILE)
            add_tile(weights + row, values + column, n, d, p->sums + row * d + column, 2);
    for (; column + LANES <= d; column += LANES)
        for (int64_t row = 0; row < PANEL; row += ROW_TILE)
            add_tile(weights + row, values + column, n, d, p->sums + row * d + column, 1);
    if (column < d)
        add_rest(p, values, n, column);
}

/* ---- softmax ---- */

/* Scores of what a query does not see become -infinity. */
static void hide(const panel *p, int64_t key, int64_t n)
{
    int64_t window = p->facts->window;
    for (int64_t i = 0; i < n; i++)
        for (int v = 0; v < VECTORS; v++) {
            /* how far back the key is from each query */
            whole_numbers back = (whole_numbers)LANE_NUMBERS +
                                 (int32_t)(p->first + (int64_t)v * LANES - key - i);
            whole_numbers hidden = back < 0;
            if (window)
                hidden |= back >= (int32_t)window;
            floats *s = &p->scores[i * VECTORS + v];
            *s = choose(hidden, (floats){0} - INFINITY, *s);
        }
}

/* From scores to weights, continued from the blocks before: older sums are scaled to the new
 * maximum. */
static void soften(const panel *p, int64_t n)
{
    int64_t d = p->facts->head_dim;
    bool moved = false;
    float shrink[PANEL];
    for (int v = 0; v < VECTORS; v++) {
        floats best = p->best[v], sum = {0};
        for (int64_t i = 0; i < n; i++)
            best = larger(best, p->scores[i * VECTORS + v]);
        /* Of nothing seen so far, any reference will do. */
        floats about = choose(best == (floats){0} - INFINITY, (floats){0}, best);
        for (int64_t i = 0; i < n; i++) {
            floats *s = &p->scores[i * VECTORS + v];
            *s = exp_negative(*s - about);
            sum += *s;
        }
        floats older = exp_negative(p->best[v] - about);
        whole_numbers up = best > p->best[v];
        for (int l = 0; l < LANES; l++)
            moved = moved || up[l];
        store(shrink + (size_t)v * LANES, older);
        p->weight[v] = p->weight[v] * older + sum;
        p->best[v] = best;
    }
    for (int64_t row = 0; moved && row < PANEL; row++)
        for (int64_t j = 0; j < d; j++)
            p->sums[row * d + j] *= shrink[row];
}

/* ---- a task ---- */

/* Those of a block's keys that some query of the panel sees: *skip .. *skip + how many - 1. */
static int64_t seen(const panel *p, int64_t key, int64_t n, int64_t *skip)
{
    int64_t window = p->facts->window, end = p->first + PANEL - key;
    *skip = window && p->first - window + 1 > key ? p->first - window + 1 - key : 0;
    end = end < n ? end : n;
    return end > *skip ? end - *skip : 0;
}

/* The keys key .. key + n - 1 become weights of their values. */
static void weigh(const panel *p, const float *keys, int64_t key, int64_t n)
{
    int64_t skip = 0, window = p->facts->window, count = seen(p, key, n, &skip);
    if (count == 0)
        return;
    score(p, keys + skip * p->facts->head_dim, count);
    if (key + skip + count - 1 > p->first ||
        (window && key + skip <= p->first + PANEL - 1 - window))
        hide(p, key + skip, count);
    soften(p, count);
}

static void gather(const panel *p, const float *values, int64_t key, int64_t n)
{
    int64_t skip = 0, count = seen(p, key, n, &skip);
    add_values(p, values + skip * p->facts->head_dim, count);
}

static void panel_begin(const panel *p, const float *queries, int64_t stride)
{
    int64_t d = p->facts->head_dim;
    for (int64_t j = 0; j < d; j++)
        for (int64_t row = 0; row < PANEL; row++)
            p->queries[j * PANEL + row] = row < p->rows
                                              ? queries[row * stride + j] * p->facts->scale
                                              : 0;
    memset(p->sums, 0, (size_t)(PANEL * d) * sizeof *p->sums);
    for (int v = 0; v < VECTORS; v++) {
        p->best[v] = (floats){0} - INFINITY;
        p->weight[v] = (floats){0};
    }
}

static void panel_end(const panel *p, float *to, int64_t stride)
{
    int64_t d = p->facts->head_dim;
    const float *weight = (const float *)p->weight;
    for (int64_t row = 0; row < p->rows; row++)
        for (int64_t j = 0; j < d; j++)
            to[row * stride + j] = p->sums[row * d + j] / weight[row];
}

size_t attention_scratch(int head_dim)
{
    return (size_t)PANELS * PANEL * (KEY_BLOCK + 2 * (size_t)head_dim + 2) + LANES;
}

/* A thread's memory as panels of one head's queries of a block; how many. */
static int panels_begin(panel *panels, const struct ggml_tensor *q, const attention_facts *f,
                        const attention_block *block, floats *room, int head)
{
    int64_t d = f->head_dim, stride = d * f->q_heads;
    const float *queries = (const float *)q->data + block->row * stride + head * d;
    int count = 0;
    for (int64_t row = 0; row < block->n; row += PANEL) {
        panel *p = &panels[count++];
        *p = (panel){.facts = f,
                     .first = block->position + row,
                     .rows = block->n - row < PANEL ? block->n - row : PANEL,
                     .best = room,
                     .weight = room + VECTORS,
                     .queries = (float *)(room + (ptrdiff_t)2 * VECTORS),
                     .sums = (float *)(room + VECTORS * (2 + d)),
                     .scores = room + VECTORS * (2 + 2 * d)};
        panel_begin(p, queries + row * stride, stride);
        room += VECTORS * (2 + 2 * d + KEY_BLOCK);
    }
    return count;
}

/* The document's first key or value, of one head. */
static const float *stored(const struct ggml_tensor *t, size_t head, const attention_block *block)
{
    return (const float *)((const char *)t->data + head * t->nb[2] + (size_t)block->key * t->nb[1]);
}

static void attention_task(struct ggml_tensor *out, const attention_facts *f,
                           const attention_block *block, float *scratch, int head)
{
    int64_t d = f->head_dim, stride = d * f->q_heads;
    size_t kv_head = (size_t)(head / (f->q_heads / f->kv_heads));
    const float *keys = stored(out->src[1], kv_head, block);
    const float *values = stored(out->src[2], kv_head, block);
    size_t off = (uintptr_t)scratch / sizeof(float) % LANES;
    floats *room = (floats *)(scratch + (LANES - off) % LANES);
    panel panels[PANELS];
    int count = panels_begin(panels, out->src[0], f, block, room, head);
    int64_t begin = f->window && block->position - f->window + 1 > 0
                        ? block->position - f->window + 1
                        : 0;
    for (int64_t key = begin, end = block->position + block->n; key < end; key += KEY_BLOCK) {
        int64_t n = end - key < KEY_BLOCK ? end - key : KEY_BLOCK;
        /* All of one kind first: a block of keys, or of values, fits the nearest cache. */
        for (int i = 0; i < count; i++)
            weigh(&panels[i], keys + key * d, key, n);
        for (int i = 0; i < count; i++)
            gather(&panels[i], values + key * d, key, n);
    }
    float *to = (float *)out->data + block->row * stride + head * d;
    for (int i = 0; i < count; i++, to += PANEL * stride)
        panel_end(&panels[i], to, stride);
}

/* Tasks are (block, head), the last blocks first: of a long document they see the most keys. */
static void attention(struct ggml_tensor *out, int thread, int threads, void *context)
{
    (void)threads;
    attention_facts *f = context;
    float *scratch = f->scratch + (size_t)thread * attention_scratch(f->head_dim);
    for (long long task; (task = atomic_fetch_add(&f->next, 1)) < f->n_blocks * f->q_heads;)
        attention_task(out, f, &f->blocks[f->n_blocks - 1 - task / f->q_heads], scratch,
                       (int)(task % f->q_heads));
}

struct ggml_tensor *attention_on_host(struct ggml_context *g, attention_facts *facts,
                                      struct ggml_tensor *q, struct ggml_tensor *keys,
                                      struct ggml_tensor *values)
{
    struct ggml_tensor *arguments[] = {q, keys, values};
    return ggml_custom_4d(g, GGML_TYPE_F32, q->ne[0], q->ne[1], 1, 1, arguments, 3, attention,
                          GGML_N_TASKS_MAX, facts);
}
