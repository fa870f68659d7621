/* random.c: MT19937 (Matsumoto and Nishimura, 1998), its two usual seedings, and the draws of
 * CPython and PyTorch that are made from it. */
#include "base/random.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = MT19937_WORDS, SHIFT = 397 };

void mt19937_seed(mt19937 *g, uint32_t seed)
{
    g->state[0] = seed;
    for (uint32_t i = 1; i < WORDS; i++) {
        uint32_t last = g->state[i - 1];
        g->state[i] = 1812433253U * (last ^ last >> 30) + i;
    }
    g->used = WORDS;
}

void mt19937_seed_words(mt19937 *g, const uint32_t *words, size_t count)
{
    mt19937_seed(g, 19650218U);
    uint32_t *s = g->state;
    size_t i = 1, j = 0;
    for (size_t turn = count > WORDS ? count : WORDS; turn > 0; turn--) {
        s[i] = (s[i] ^ (s[i - 1] ^ s[i - 1] >> 30) * 1664525U) + words[j] + (uint32_t)j;
        j = j + 1 < count ? j + 1 : 0;
        if (++i == WORDS) {
            s[0] = s[WORDS - 1];
            i = 1;
        }
    }
    for (size_t turn = WORDS - 1; turn > 0; turn--) {
        s[i] = (s[i] ^ (s[i - 1] ^ s[i - 1] >> 30) * 1566083941U) - (uint32_t)i;
        if (++i == WORDS) {
            s[0] = s[WORDS - 1];
            i = 1;
        }
    }
    s[0] = 0x80000000U;
}

void mt19937_seed_python(mt19937 *g, int64_t seed)
{
    uint64_t size = seed < 0 ? 0 - (uint64_t)seed : (uint64_t)seed;
    const uint32_t words[2] = {(uint32_t)size, (uint32_t)(size >> 32)};
    mt19937_seed_words(g, words, words[1] ? 2 : 1);
}

static inline uint32_t twisted(uint32_t high, uint32_t low, uint32_t far)
{
    uint32_t joined = (high & 0x80000000U) | (low & 0x7fffffffU);
    return far ^ joined >> 1 ^ ((0U - (low & 1U)) & 0x9908b0dfU);
}

/* The next 624 words. Three loops without a remainder, so that the compiler can vectorise the
 * first two: word i depends on i, i + 1 and i + 397 (mod 624). */
static void twist(mt19937 *g)
{
    uint32_t *s = g->state;
    for (size_t i = 0; i < WORDS - SHIFT; i++)
        s[i] = twisted(s[i], s[i + 1], s[i + SHIFT]);
    for (size_t i = WORDS - SHIFT; i < WORDS - 1; i++)
        s[i] = twisted(s[i], s[i + 1], s[i + SHIFT - WORDS]);
    s[WORDS - 1] = twisted(s[WORDS - 1], s[0], s[SHIFT - 1]);
    g->used = 0;
}

static inline uint32_t tempered(uint32_t word)
{
    word ^= word >> 11;
    word ^= word << 7 & 0x9d2c5680U;
    word ^= word << 15 & 0xefc60000U;
    return word ^ word >> 18;
}

uint32_t mt19937_next(mt19937 *g)
{
    if (g->used == WORDS)
        twist(g);
    return tempered(g->state[g->used++]);
}

void mt19937_fill(mt19937 *g, uint32_t *out, size_t count)
{
    while (count > 0) {
        if (g->used == WORDS)
            twist(g);
        size_t batch = WORDS - g->used < count ? WORDS - g->used : count;
        for (size_t i = 0; i < batch; i++)
            out[i] = tempered(g->state[g->used + i]);
        g->used += batch;
        out += batch;
        count -= batch;
    }
}

void random_uniforms(mt19937 *g, float *out, size_t count)
{
    const uint32_t one = 1U << UNIFORM_BITS;
    for (size_t i = 0; i < count; i++)
        out[i] = (float)(mt19937_next(g) & (one - 1)) / (float)one;
}

uint64_t random_bits(mt19937 *g, unsigned bits)
{
    if (bits == 0)
        return 0;
    if (bits <= 32)
        return mt19937_next(g) >> (32 - bits);
    uint64_t low = mt19937_next(g);
    return low | random_bits(g, bits - 32) << 32;
}

uint64_t random_below(mt19937 *g, uint64_t limit)
{
    if (limit == 0)
        return 0;
    unsigned bits = 64 - (unsigned)__builtin_clzll(limit);
    uint64_t number = random_bits(g, bits);
    while (number >= limit)
        number = random_bits(g, bits);
    return number;
}

/* CPython weighs a list of n against a set of k, which costs it 21 slots and, for k > 5, another
 * 4 ** ceil(log(3 k, 4)): the smallest power of four not below 3 k. */
static bool sample_uses_pool(size_t n, size_t k)
{
    size_t set = 21;
    if (k > 5) {
        size_t power = 1;
        while (power < 3 * k)
            power *= 4;
        set += power;
    }
    return n <= set;
}

static void sample_from_pool(mt19937 *g, size_t n, size_t k, size_t *pool, size_t *out)
{
    for (size_t i = 0; i < n; i++)
        pool[i] = i;
    for (size_t i = 0; i < k; i++) {
        size_t at = random_below(g, n - i);
        out[i] = pool[at];
        pool[at] = pool[n - i - 1];
    }
}

static void sample_with_set(mt19937 *g, size_t n, size_t k, unsigned char *taken, size_t *out)
{
    for (size_t i = 0; i < k; i++) {
        size_t number = random_below(g, n);
        while (taken[number])
            number = random_below(g, n);
        taken[number] = 1;
        out[i] = number;
    }
}

qks_status random_sample(mt19937 *g, size_t n, size_t k, size_t *out, qks_error *error)
{
    if (k > n)
        return qks_fail(error, QKS_INVALID, "cannot draw %zu different numbers out of %zu", k, n);
    bool uses_pool = sample_uses_pool(n, k);
    void *space = NULL;
    qks_status status = memory_zeroed(&space, n, uses_pool ? sizeof(size_t) : 1, error);
    if (status != QKS_OK)
        return status;
    if (uses_pool)
        sample_from_pool(g, n, k, space, out);
    else
        sample_with_set(g, n, k, space, out);
    free(space);
    return QKS_OK;
}
