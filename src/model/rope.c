/* rope.c: frequencies of default, linear, llama3 and YaRN rotary embeddings.
 *
 * Every step is rounded to float where PyTorch rounds it. At position 100,000 the last bit of a
 * frequency turns a vector by some thousandths of a radian, so the reference's numbers are only met
 * by its own rounding. */
#include "model/rope.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static const char *const kind_names[] = {[ROPE_DEFAULT] = "default",
                                         [ROPE_LINEAR] = "linear",
                                         [ROPE_LLAMA3] = "llama3",
                                         [ROPE_YARN] = "yarn"};

bool rope_kind_of(const char *name, rope_kind *kind)
{
    for (size_t i = 0; i < sizeof kind_names / sizeof *kind_names; i++)
        if (strcmp(name, kind_names[i]) == 0) {
            *kind = (rope_kind)i;
            return true;
        }
    return false;
}

/* theta^(2p / dimensions): radians^-1 per token of pair p without any scaling */
static float wavelength(const rope_settings *s, int p)
{
    float exponent = (float)(2 * p) / (float)s->dimensions;
    return (float)pow((double)(float)s->theta, (double)exponent);
}

/* Long waves are stretched by the factor, short ones kept, those between blended. */
static float llama3_frequency(const rope_settings *s, float frequency)
{
    float factor = (float)s->factor;
    float wave = (float)(2 * pi) / frequency;
    if (wave > (float)(s->original / s->low_frequency))
        return frequency / factor;
    if (wave < (float)(s->original / s->high_frequency))
        return frequency;
    float smooth = ((float)s->original / wave - (float)s->low_frequency) /
                   (float)(s->high_frequency - s->low_frequency);
    return (1 - smooth) * frequency / factor + smooth * frequency;
}

typedef struct ramp {
    double low, high;
} ramp;

/* The pair whose wave turns `rotations` times within the original length. */
static double pair_turning(const rope_settings *s, double rotations)
{
    return s->dimensions * log(s->original / (rotations * 2 * pi)) / (2 * log(s->theta));
}

static ramp yarn_ramp(const rope_settings *s)
{
    ramp r = {pair_turning(s, s->beta_fast != 0 ? s->beta_fast : 32),
              pair_turning(s, s->beta_slow != 0 ? s->beta_slow : 1)};
    if (!s->exact_range)
        r = (ramp){floor(r.low), ceil(r.high)};
    r.low = fmax(r.low, 0);
    r.high = fmin(r.high, s->dimensions - 1);
    if (r.low == r.high)
        r.high += 0.001;
    return r;
}

static float yarn_frequency(const rope_settings *s, int p)
{
    ramp r = yarn_ramp(s);
    float wave = wavelength(s, p);
    float kept = 1 / wave, stretched = 1 / ((float)s->factor * wave);
    float along = ((float)p - (float)r.low) / (float)(r.high - r.low);
    along = along < 0 ? 0 : along > 1 ? 1 : along;
    float share = 1 - along;
    return stretched * (1 - share) + kept * share;
}

static double mscale_of(double factor, double mscale)
{
    return factor <= 1 ? 1 : 0.1 * mscale * log(factor) + 1;
}

/* spec: Reading a checkpoint, YaRN */
static double yarn_attention_factor(const rope_settings *s)
{
    if (s->attention_factor != 0)
        return s->attention_factor;
    if (s->mscale != 0 && s->mscale_all != 0)
        return mscale_of(s->factor, s->mscale) / mscale_of(s->factor, s->mscale_all);
    return mscale_of(s->factor, 1);
}

static float frequency_of(const rope_settings *s, int p)
{
    switch (s->kind) {
    case ROPE_LINEAR:
        return 1 / wavelength(s, p) / (float)s->factor;
    case ROPE_LLAMA3:
        return llama3_frequency(s, 1 / wavelength(s, p));
    case ROPE_YARN:
        return yarn_frequency(s, p);
    case ROPE_DEFAULT:
        break;
    }
    return 1 / wavelength(s, p);
}

static const char *describe(const rope_settings *s, arena *a)
{
    const char *kind = s->divisors ? "a table of factors" : kind_names[s->kind];
    if (s->kind == ROPE_DEFAULT)
        return arena_format(a, "%s, theta %.10g", kind, s->theta);
    if (s->kind == ROPE_LINEAR)
        return arena_format(a, "%s x%.10g, theta %.10g", kind, s->factor, s->theta);
    return arena_format(a, "%s x%.10g from %.10g, theta %.10g", kind, s->factor, s->original,
                        s->theta);
}

const rope *rope_make(const rope_settings *s, arena *a)
{
    int pairs = s->dimensions / 2;
    rope *made = arena_alloc(a, 1, sizeof *made);
    float *frequency = arena_alloc(a, (size_t)pairs, sizeof *frequency);
    const char *text = describe(s, a);
    if (!made || !frequency || !text)
        return NULL;
    for (int p = 0; p < pairs; p++) {
        frequency[p] = frequency_of(s, p);
        if (s->divisors)
            frequency[p] /= s->divisors[p];
    }
    *made = (rope){.dimensions = s->dimensions,
                   .interleaved = s->interleaved,
                   .frequency = frequency,
                   .factor = s->kind == ROPE_YARN ? (float)yarn_attention_factor(s) : 1,
                   .text = text};
    return made;
}
