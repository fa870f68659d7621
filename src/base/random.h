/* random.h: MT19937 as CPython's `random` and PyTorch's CPU generator use it, so that a sample
 * drawn here is the sample drawn there (spec/protocol.md, "Drawing the same sample as the
 * reference"). A generator is a plain struct: copy it to fork the stream. */
#ifndef QKS_BASE_RANDOM_H
#define QKS_BASE_RANDOM_H

#include "qkscope/status.h"

#include <stddef.h>
#include <stdint.h>

enum { MT19937_WORDS = 624 };

typedef struct mt19937 {
    uint32_t state[MT19937_WORDS];
    size_t used; /* words of the state already given out */
} mt19937;

/* torch.manual_seed(seed): PyTorch keeps the low 32 bits of a longer seed. */
void mt19937_seed(mt19937 *g, uint32_t seed);
/* random.Random(seed): CPython takes the absolute value. */
void mt19937_seed_python(mt19937 *g, int64_t seed);
/* The same for an integer of any size: its absolute value in 32-bit words, the lowest first,
 * without leading zero words (0 itself is one word). */
void mt19937_seed_words(mt19937 *g, const uint32_t *words, size_t count);

uint32_t mt19937_next(mt19937 *g);
/* `count` outputs at once; several times faster than as many calls of mt19937_next. */
void mt19937_fill(mt19937 *g, uint32_t *out, size_t count);

/* torch.rand(count), float32: each draw is 24 bits of one output, in [0, 1). */
void random_uniforms(mt19937 *g, float *out, size_t count);
enum { UNIFORM_BITS = 24 };

/* getrandbits(bits), bits from 0 to 64. */
uint64_t random_bits(mt19937 *g, unsigned bits);
/* randrange(limit): 0 .. limit - 1; 0 if limit is 0. */
uint64_t random_below(mt19937 *g, uint64_t limit);
/* sample(range(n), k) of CPython 3.8 and later: k different numbers below n, in drawing order;
 * `out` has room for k. */
QKS_MUST_CHECK qks_status random_sample(mt19937 *g, size_t n, size_t k, size_t *out,
                                        qks_error *error);

/* The reference's way from ids to a seed: seed = seed_combine(seed, seed_mix(id)) for each. */
static inline uint64_t seed_mix(uint64_t value)
{
    value ^= value >> 30;
    value *= 0xBF58476D1CE4E5B9U;
    value ^= value >> 27;
    value *= 0x94D049BB133111EBU;
    return value ^ value >> 31;
}

static inline uint64_t seed_combine(uint64_t seed, uint64_t value)
{
    seed ^= value;
    seed *= 0x9E3779B97F4A7C15U;
    return seed ^ seed >> 32;
}

#endif
