/* lanes.h: short vectors of floats for the cpu backend's own operators. Explicit, because the
 * compiler may not reorder float sums by itself, and -ffast-math stays out. Files that include it
 * are compiled with -ffp-contract=fast: a * b + c may be one rounding. */
#ifndef QKS_ENGINE_LANES_H
#define QKS_ENGINE_LANES_H

#include <stdint.h>
#include <string.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

/* All functions with vectors are inlined: how they would be passed is no matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

#ifdef __AVX512F__
enum { LANES = 16 };
#define LANE_NUMBERS                                                                               \
    {                                                                                              \
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15                                       \
    }
#else
enum { LANES = 8 };
#define LANE_NUMBERS                                                                               \
    {                                                                                              \
        0, 1, 2, 3, 4, 5, 6, 7                                                                     \
    }
#endif
typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t whole_numbers __attribute__((vector_size(LANES * sizeof(int32_t))));

static inline floats load(const float *x)
{
    floats v;
    memcpy(&v, x, sizeof v);
    return v;
}

static inline void store(float *x, floats v)
{
    memcpy(x, &v, sizeof v);
}

static inline floats choose(whole_numbers mask, floats yes, floats no)
{
    return (floats)((mask & (whole_numbers)yes) | (~mask & (whole_numbers)no));
}

/* The larger of two; b where either is NaN. */
static inline floats larger(floats a, floats b)
{
#if defined __AVX512F__ /* GCC does not find these by itself */
    return (floats)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined __AVX__
    return (floats)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return choose(a > b, a, b);
#endif
}

/* Keep a vector in a register: GCC would load it again for each use. */
static inline floats held(floats v)
{
#ifdef __AVX__
    __asm__("" : "+v"(v));
#endif
    return v;
}

/* e^x for x <= 0, within 2 units of the last place; 0 below -87, where it would be denormal. */
static inline floats exp_negative(floats x)
{
    whole_numbers nothing = x < -87.0F;
    floats n = (x * 1.44269504F + 12582912.0F) - 12582912.0F; /* 1.5 * 2^23: to a whole number */
    floats r = x - n * 0.693359375F + n * 2.12194440e-4F;
    floats p = r * (1.0F / 720) + 1.0F / 120;
    p = p * r + 1.0F / 24;
    p = p * r + 1.0F / 6;
    p = p * r + 0.5F;
    p = p * r + 1.0F;
    p = p * r + 1.0F;
    whole_numbers power = (__builtin_convertvector(n, whole_numbers) + 127) << 23;
    return (floats)(~nothing & (whole_numbers)(p * (floats)power));
}

#endif
