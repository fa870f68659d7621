/* sample.c: draws of heads and positions (spec/protocol.md, "Drawing the same sample as the
 * reference"). Takes sizes, ids and seeds; gives lists and masks. */
#include "qkscope/sample.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE_LENGTH = 131072, REFERENCE_BUCKETS = 16 };

#define MASK_SEED 0x243F6A8885A308D3U

/* ---- heads ---- */
static qks_status heads_check(const qks_head_options *o, qks_error *error)
{
    if (o->layers < 1 || o->heads < 1)
        return qks_fail(error, QKS_INVALID, "a model of %d layers of %d heads has none to draw",
                        o->layers, o->heads);
    if (o->count < 0)
        return qks_fail(error, QKS_INVALID, "cannot draw %d heads", o->count);
    return QKS_OK;
}

/* The numbers of the eligible layers, rising. */
static qks_status eligible_layers(const qks_head_options *o, int32_t **layers, size_t *count,
                                  qks_error *error)
{
    qks_status status = memory_zeroed(layers, (size_t)o->layers, sizeof **layers, error);
    if (status != QKS_OK)
        return status;
    *count = 0;
    for (int32_t layer = 0; layer < o->layers; layer++)
        if (!o->eligible || o->eligible[layer])
            (*layers)[(*count)++] = layer;
    if (*count > 0)
        return QKS_OK;
    free(*layers);
    *layers = NULL;
    return qks_fail(error, QKS_INVALID, "no heads to draw from: none of %d layers is eligible",
                    o->layers);
}

/* `count` of `n` numbers: all in order, or CPython's sample. */
static qks_status draw_numbers(int64_t seed, size_t n, size_t count, size_t *numbers,
                               qks_error *error)
{
    if (count < n) {
        mt19937 g;
        mt19937_seed_python(&g, seed);
        return random_sample(&g, n, count, numbers, error);
    }
    for (size_t i = 0; i < n; i++)
        numbers[i] = i;
    return QKS_OK;
}

qks_status qks_draw_heads(const qks_head_options *options, qks_head **heads, size_t *count,
                          qks_error *error)
{
    int32_t *layers = NULL;
    size_t *numbers = NULL, n_layers = 0;
    qks_head *drawn = NULL;
    qks_status status = heads_check(options, error);
    if (status == QKS_OK)
        status = eligible_layers(options, &layers, &n_layers, error);
    if (status != QKS_OK)
        return status;

    size_t per_layer = (size_t)options->heads, candidates = n_layers * per_layer;
    size_t wanted = options->count ? (size_t)options->count : QKS_HEADS_DEFAULT;
    if (wanted > candidates)
        wanted = candidates;
    status = memory_zeroed(&numbers, wanted, sizeof *numbers, error);
    if (status == QKS_OK)
        status = memory_zeroed(&drawn, wanted, sizeof *drawn, error);
    if (status == QKS_OK)
        status = draw_numbers(options->seed, candidates, wanted, numbers, error);
    if (status == QKS_OK) {
        for (size_t i = 0; i < wanted; i++) {
            drawn[i].layer = layers[numbers[i] / per_layer];
            drawn[i].head = (int32_t)(numbers[i] % per_layer);
        }
        *heads = drawn;
        *count = wanted;
        drawn = NULL;
    }
    free(drawn);
    free(numbers);
    free(layers);
    return status;
}

static int by_layer_and_head(const void *a, const void *b)
{
    const qks_head *one = a, *other = b;
    if (one->layer != other->layer)
        return one->layer < other->layer ? -1 : 1;
    return (one->head > other->head) - (one->head < other->head);
}

void qks_sort_heads(qks_head *heads, size_t count)
{
    if (count > 0)
        qsort(heads, count, sizeof *heads, by_layer_and_head);
}

size_t qks_key_heads(const qks_head *heads, size_t count, int32_t group, qks_head *keys)
{
    for (size_t i = 0; i < count; i++)
        keys[i] = (qks_head){heads[i].layer, heads[i].head / group};
    qks_sort_heads(keys, count);
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        if (distinct == 0 || by_layer_and_head(&keys[distinct - 1], &keys[i]) != 0)
            keys[distinct++] = keys[i];
    return distinct;
}

/* ---- positions ---- */
static const char *const sampler_names[] = {
    [QKS_SAMPLE_ALL] = "all",
    [QKS_SAMPLE_UNIFORM] = "uniform",
    [QKS_SAMPLE_LOG_UNIFORM] = "log_uniform",
};
enum { SAMPLERS = sizeof sampler_names / sizeof *sampler_names };

const char *qks_sampler_name(qks_sampler sampler)
{
    return (size_t)sampler < SAMPLERS ? sampler_names[sampler] : "unknown sampler";
}

qks_status qks_sampler_of_name(const char *name, qks_sampler *sampler, qks_error *error)
{
    for (size_t i = 0; i < SAMPLERS; i++) {
        if (strcmp(name, sampler_names[i]) == 0) {
            *sampler = (qks_sampler)i;
            return QKS_OK;
        }
    }
    return qks_fail(error, QKS_INVALID, "unknown sampler '%.80s': all, uniform or log_uniform",
                    name);
}

qks_status qks_position_options_resolve(qks_position_options *o, qks_error *error)
{
    if ((size_t)o->sampler >= SAMPLERS)
        return qks_fail(error, QKS_INVALID, "unknown sampler number %d", (int)o->sampler);
    if (o->max_length < 0)
        return qks_fail(error, QKS_INVALID, "maximum length %d is negative", o->max_length);
    if (o->bucket_size < 0)
        return qks_fail(error, QKS_INVALID, "bucket size %d is negative", o->bucket_size);
    if (!isfinite(o->base_rate) || o->base_rate < 0)
        return qks_fail(error, QKS_INVALID, "base rate %g is not a positive number", o->base_rate);
    if (o->max_length == 0)
        o->max_length = REFERENCE_LENGTH;
    if (o->bucket_size == 0)
        o->bucket_size = o->max_length < REFERENCE_BUCKETS ? 1 : o->max_length / REFERENCE_BUCKETS;
    if (o->base_rate == 0)
        o->base_rate = 1;
    return QKS_OK;
}

static int32_t floor_log2(uint32_t number)
{
    return 31 - __builtin_clz(number);
}

static int32_t ceil_log2(uint32_t number)
{
    return number > 1 ? floor_log2(number - 1) + 1 : 0;
}

int32_t qks_bucket_of(const qks_position_options *o, int32_t position)
{
    if (o->sampler != QKS_SAMPLE_LOG_UNIFORM)
        return position / o->bucket_size;
    int32_t bucket = floor_log2((uint32_t)position + 1);
    int32_t smallest = ceil_log2((uint32_t)o->bucket_size);
    return bucket > smallest ? bucket : smallest;
}

float qks_keep_probability(const qks_position_options *o, int32_t position)
{
    if (o->sampler == QKS_SAMPLE_ALL)
        return 1;
    double size = o->sampler == QKS_SAMPLE_LOG_UNIFORM ? ldexp(1, qks_bucket_of(o, position))
                                                       : (double)o->bucket_size;
    return (float)fmin(1, o->base_rate / size);
}

/* The first position after `position` whose keep probability may be another one. */
static size_t end_of_run(const qks_position_options *o, size_t position, size_t length)
{
    if (o->sampler != QKS_SAMPLE_LOG_UNIFORM)
        return length;
    size_t end = ((size_t)2 << qks_bucket_of(o, (int32_t)position)) - 1;
    return end < length ? end : length;
}

uint64_t qks_mask_seed(qks_mask_of of)
{
    uint64_t seed = seed_combine(MASK_SEED, seed_mix((uint64_t)of.example_id));
    seed = seed_combine(seed, seed_mix((uint64_t)of.layer));
    return seed_combine(seed, seed_mix((unsigned char)of.kind));
}

/* Decide for positions of one probability. A draw is u = bits / 2^24, so u < p says the same as
 * bits < ceil(p * 2^24), and that product is exact in float32. */
static void keep_run(mt19937 *g, float probability, size_t length, unsigned char *mask)
{
    const uint32_t low_bits = (1U << UNIFORM_BITS) - 1;
    const uint32_t limit = (uint32_t)ceilf(ldexpf(probability, UNIFORM_BITS));
    uint32_t words[MT19937_WORDS];
    for (size_t done = 0; done < length;) {
        size_t batch = length - done < MT19937_WORDS ? length - done : MT19937_WORDS;
        mt19937_fill(g, words, batch);
        for (size_t i = 0; i < batch; i++)
            mask[done + i] = (words[i] & low_bits) < limit;
        done += batch;
    }
}

qks_status qks_draw_mask(const qks_position_options *options, qks_mask_of of, size_t length,
                         unsigned char *mask, qks_error *error)
{
    qks_position_options o = *options;
    qks_status status = qks_position_options_resolve(&o, error);
    if (status != QKS_OK)
        return status;
    if (of.kind != 'q' && of.kind != 'k')
        return qks_fail(error, QKS_INVALID, "a mask is of kind 'q' or 'k', not '%c'", of.kind);
    if (length > INT32_MAX)
        return qks_fail(error, QKS_INVALID, "cannot draw a mask of %zu positions", length);
    if (o.sampler == QKS_SAMPLE_ALL) {
        memset(mask, 1, length);
        return QKS_OK;
    }
    mt19937 g;
    mt19937_seed(&g, (uint32_t)qks_mask_seed(of));
    for (size_t first = 0, end; first < length; first = end) {
        end = end_of_run(&o, first, length);
        keep_run(&g, qks_keep_probability(&o, (int32_t)first), end - first, mask + first);
    }
    return QKS_OK;
}

qks_status qks_draw_positions(const qks_position_options *options, qks_mask_of of, size_t length,
                              int32_t *positions, size_t *count, qks_error *error)
{
    unsigned char *mask = NULL;
    qks_status status = memory_zeroed(&mask, length, 1, error);
    if (status == QKS_OK)
        status = qks_draw_mask(options, of, length, mask, error);
    if (status == QKS_OK) {
        size_t kept = 0;
        for (size_t t = 0; t < length; t++) {
            positions[kept] = (int32_t)t; /* kept <= t: overwritten unless t is kept */
            kept += mask[t];
        }
        *count = kept;
    }
    free(mask);
    return status;
}

int64_t qks_example_id_of_string(const char *bytes, size_t length)
{
    return (int64_t)hash64(bytes, length);
}
