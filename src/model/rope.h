/* rope.h: from the settings of a rotary embedding, as config.json or GGUF keys give them, to the
 * frequency of each pair. Source of the formulas: transformers' modeling_rope_utils, the YaRN paper
 * (arXiv:2309.00071). */
#ifndef QKS_MODEL_ROPE_H
#define QKS_MODEL_ROPE_H

#include "base/memory.h"
#include "model/architecture.h"
#include "qkscope/status.h"

#include <stdbool.h>

typedef enum rope_kind { ROPE_DEFAULT, ROPE_LINEAR, ROPE_LLAMA3, ROPE_YARN } rope_kind;

typedef struct rope_settings {
    rope_kind kind;
    int dimensions; /* of each head that are turned; even, at least 2 */
    bool interleaved;
    double theta;                         /* above 1 */
    double factor;                        /* linear, llama3, yarn */
    double original;                      /* llama3, yarn: tokens before scaling */
    double low_frequency, high_frequency; /* llama3: low < high */
    double beta_fast, beta_slow;          /* yarn; 0: 32 and 1 */
    double mscale, mscale_all;            /* yarn; count if both are set */
    double attention_factor;              /* yarn; 0: by its rule */
    bool exact_range;                     /* yarn: the ramp's ends are not rounded to whole pairs */
    const float *divisors; /* [dimensions / 2] of the frequencies (GGUF); NULL: none */
} rope_settings;

/* NULL when out of memory. The settings are checked before. */
const rope *rope_make(const rope_settings *s, arena *a);

/* By name, "default", "linear", "llama3", "yarn"; false: none of these. */
bool rope_kind_of(const char *name, rope_kind *kind);

#endif
