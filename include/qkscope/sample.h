/* sample.h: which heads and which positions are captured, drawn as the reference draws them, so
 * that a run can be compared head for head and token for token with a published one.
 *
 * In option structs zero means the default. Nothing here keeps state: the same arguments give the
 * same draw, on any machine, in any order, from any thread. */
#ifndef QKSCOPE_SAMPLE_H
#define QKSCOPE_SAMPLE_H

#include "qkscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- heads ---- */
typedef struct qks_head {
    int32_t layer, head;
} qks_head;

enum {
    QKS_HEADS_DEFAULT = 300,    /* query heads per model in the reference */
    QKS_HEADS_ALL = 0x7fffffff, /* as a count: every candidate */
};

typedef struct qks_head_options {
    int32_t layers, heads; /* of the model: its layers, and query heads per layer */
    int32_t count;         /* how many to draw; 0 = QKS_HEADS_DEFAULT */
    int64_t seed;
    const bool *eligible; /* [layers]: layers to draw from; NULL = all */
} qks_head_options;

/* Draw query heads without repetition. Candidates are all heads of the eligible layers; if there
 * are no more of them than `count`, all are taken, in order. `*heads` is malloc'd, in drawing
 * order; the caller frees it with free(). */
QKS_MUST_CHECK qks_status qks_draw_heads(const qks_head_options *options, qks_head **heads,
                                         size_t *count, qks_error *error);

/* By layer, then head. */
void qks_sort_heads(qks_head *heads, size_t count);

/* The key heads that the query heads attend to, sorted, each once, when `group` query heads share
 * a key head. `keys` has room for `count` and may be `heads` itself; returns how many they are. */
size_t qks_key_heads(const qks_head *heads, size_t count, int32_t group, qks_head *keys);

/* ---- positions ---- */
typedef enum qks_sampler {
    QKS_SAMPLE_ALL = 0,     /* every position; buckets as for uniform */
    QKS_SAMPLE_UNIFORM,     /* bucket floor(t / size), kept with probability rate / size */
    QKS_SAMPLE_LOG_UNIFORM, /* bucket max(floor(log2(t + 1)), ceil(log2 size)), rate / 2^bucket */
} qks_sampler;

typedef struct qks_position_options {
    qks_sampler sampler;
    int32_t max_length;  /* tokens of a document that are used at most; 0 = 131072 */
    int32_t bucket_size; /* 0 = max_length / 16, at least 1 */
    double base_rate;    /* positions to expect per bucket; 0 = 1 */
} qks_position_options;

/* "all", "uniform", "log_uniform"; never NULL. And back: QKS_INVALID for any other name. */
const char *qks_sampler_name(qks_sampler sampler);
QKS_MUST_CHECK qks_status qks_sampler_of_name(const char *name, qks_sampler *sampler,
                                              qks_error *error);

/* The defaults filled in, or what is wrong with the options. */
QKS_MUST_CHECK qks_status qks_position_options_resolve(qks_position_options *options,
                                                       qks_error *error);

/* For resolved options, 0 <= position. */
int32_t qks_bucket_of(const qks_position_options *options, int32_t position);
float qks_keep_probability(const qks_position_options *options, int32_t position);

/* What a mask belongs to. All heads of a layer share the mask of their kind. */
typedef struct qks_mask_of {
    int64_t example_id; /* of the document, all 64 bits */
    int32_t layer;
    char kind; /* 'q' or 'k' */
} qks_mask_of;

/* Decide for positions 0 .. length - 1: mask[t] = 1 if position t is kept, else 0. */
QKS_MUST_CHECK qks_status qks_draw_mask(const qks_position_options *options, qks_mask_of of,
                                        size_t length, unsigned char *mask, qks_error *error);

/* The same as a rising list: the kept positions. `positions` has room for `length`. */
QKS_MUST_CHECK qks_status qks_draw_positions(const qks_position_options *options, qks_mask_of of,
                                             size_t length, int32_t *positions, size_t *count,
                                             qks_error *error);

/* The seed of a mask. */
uint64_t qks_mask_seed(qks_mask_of of);

/* The example_id of a document whose id is not a 64-bit integer, from the id's text ("None" for
 * null). */
int64_t qks_example_id_of_string(const char *bytes, size_t length);

#ifdef __cplusplus
}
#endif
#endif
