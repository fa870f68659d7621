/* pairs.c: bottom-k sampling of key pairs. */
#include "capture/pairs.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A stream of numbers from a seed: value i is a hash of (seed, i). */
static uint64_t draw_bits(uint64_t seed, uint64_t i)
{
    return seed_mix(seed_combine(seed, seed_mix(i + 1)));
}

double pair_uniform(uint64_t seed, uint64_t i)
{
    return ((double)(draw_bits(seed, i) >> 11) + 0.5) * 0x1p-53;
}

/* Rounds of the network below: with fewer, pairs of pairs of small cells are not equally likely. */
enum { ROUNDS = 8 };

/* Number i of a seeded permutation of 0 .. size - 1: a Feistel network on the next even number of
 * bits, walked until it falls inside. */
static uint64_t permuted(uint64_t seed, uint64_t size, uint64_t i)
{
    unsigned half = 1;
    while (half < 31 && ((uint64_t)1 << 2 * half) < size)
        half++;
    uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = i >> half, right = i & mask;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            uint64_t next = left ^ (draw_bits(seed + round, right) & mask);
            left = right;
            right = next;
        }
        i = left << half | right;
    } while (i >= size);
    return i;
}

/* Pair number p of the pairs (0,1), (0,2), (1,2), (0,3), ... */
static pair_draw pair_number(uint64_t p)
{
    uint64_t second = (uint64_t)((1 + sqrt(1 + 8 * (double)p)) / 2);
    while (second * (second - 1) / 2 > p)
        second--;
    while ((second + 1) * second / 2 <= p)
        second++;
    return (pair_draw){.first = (uint32_t)(p - second * (second - 1) / 2),
                       .second = (uint32_t)second};
}

qks_status pairs_draw(uint64_t seed, uint32_t m, size_t limit, double threshold, pair_draws *draws,
                      qks_error *error)
{
    uint64_t pairs = m < 2 ? 0 : (uint64_t)m * (m - 1) / 2;
    uint64_t order_seed = seed_combine(seed, 1), pair_seeds = seed_combine(seed, 2);
    double log_rest = 0; /* log of 1 - priority: order statistics of `pairs` uniforms, rising */
    draws->length = 0;
    for (uint64_t i = 0; i < pairs && i < limit; i++) {
        log_rest += log(pair_uniform(order_seed, i)) / (double)(pairs - i);
        double priority = -expm1(log_rest);
        if (priority >= threshold)
            break;
        pair_draw draw = pair_number(permuted(pair_seeds, pairs, i));
        draw.priority = priority;
        qks_status status = array_push(draws, draw, error);
        if (status != QKS_OK)
            return status;
    }
    return QKS_OK;
}

qks_status pair_reservoir_open(pair_reservoir *r, int d, size_t capacity, qks_error *error)
{
    *r = (pair_reservoir){.d = d, .capacity = capacity, .threshold = 1};
    qks_status status = memory_zeroed(&r->priority, capacity + 1, sizeof(double), error);
    if (status == QKS_OK)
        status = memory_zeroed(&r->difference, capacity + 1, (size_t)d * sizeof(float), error);
    if (status != QKS_OK)
        pair_reservoir_close(r);
    return status;
}

void pair_reservoir_close(pair_reservoir *r)
{
    free(r->priority);
    free(r->difference);
    *r = (pair_reservoir){0};
}

/* Drop what is not below the threshold. */
static void cut(pair_reservoir *r, double threshold)
{
    if (threshold < r->threshold)
        r->threshold = threshold;
    while (r->count > 0 && r->priority[r->count - 1] >= r->threshold)
        r->count--;
}

void pair_reservoir_offer(pair_reservoir *r, double priority, const float *difference)
{
    if (priority >= r->threshold)
        return;
    size_t at = r->count, d = (size_t)r->d;
    while (at > 0 && r->priority[at - 1] > priority)
        at--;
    memmove(r->priority + at + 1, r->priority + at, (r->count - at) * sizeof *r->priority);
    memmove(r->difference + (at + 1) * d, r->difference + at * d,
            (r->count - at) * d * sizeof *r->difference);
    r->priority[at] = priority;
    memcpy(r->difference + at * d, difference, d * sizeof *difference);
    r->count++;
    if (r->count > r->capacity)
        cut(r, r->priority[r->capacity]);
}

/* How many of the present and of the drawn pairs (both rising) are among the `room` smallest. */
static size_t survivors(const pair_reservoir *r, const pair_draws *draws, size_t room,
                        size_t *present)
{
    size_t old = 0, fresh = 0;
    while (old + fresh < room && (old < r->count || fresh < draws->length))
        if (fresh == draws->length ||
            (old < r->count && r->priority[old] <= draws->data[fresh].priority))
            old++;
        else
            fresh++;
    *present = old;
    return fresh;
}

/* From the back, so that each row moves once at most and in place. */
void pair_reservoir_merge(pair_reservoir *r, const pair_draws *draws, pair_fill *fill,
                          const void *context)
{
    size_t d = (size_t)r->d, old = 0, fresh = survivors(r, draws, r->capacity + 1, &old);
    r->count = old + fresh;
    for (size_t at = r->count; fresh > 0;) {
        float *to = r->difference + --at * d;
        const pair_draw *draw = &draws->data[fresh - 1];
        if (old > 0 && r->priority[old - 1] > draw->priority) {
            r->priority[at] = r->priority[--old];
            memcpy(to, r->difference + old * d, d * sizeof *to);
            continue;
        }
        fill(context, draw, to);
        r->priority[at] = draw->priority;
        fresh--;
    }
    if (r->count > r->capacity)
        cut(r, r->priority[r->capacity]);
}

typedef struct cell_keys {
    const float *keys; /* [m, d] */
    size_t d;
} cell_keys;

static void fill_difference(const void *context, const pair_draw *draw, float *row)
{
    const cell_keys *c = context;
    const float *first = c->keys + draw->first * c->d, *second = c->keys + draw->second * c->d;
    for (size_t j = 0; j < c->d; j++)
        row[j] = first[j] - second[j];
}

qks_status pair_reservoir_add(pair_reservoir *r, uint64_t seed, uint32_t m, const float *keys,
                              qks_error *error)
{
    pair_draws draws = {0};
    /* One more than fits: the first that does not fit sets the threshold. */
    qks_status status = pairs_draw(seed, m, r->capacity + 1, r->threshold, &draws, error);
    if (status == QKS_OK && draws.data)
        pair_reservoir_merge(r, &draws, fill_difference,
                             &(cell_keys){.keys = keys, .d = (size_t)r->d});
    free(draws.data);
    return status;
}

void pair_reservoir_join(pair_reservoir *into, const pair_reservoir *from)
{
    cut(into, from->threshold);
    for (size_t i = 0; i < from->count; i++)
        pair_reservoir_offer(into, from->priority[i], from->difference + i * (size_t)from->d);
}

uint64_t pair_seed(uint64_t seed, int64_t document, int layer, int k_head, int64_t bucket)
{
    const uint64_t parts[] = {seed, (uint64_t)document, (uint64_t)layer, (uint64_t)k_head,
                              (uint64_t)bucket};
    uint64_t s = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        s = seed_combine(s, seed_mix(parts[i] + 1));
    return s;
}
