/* side.c: memory and counting for one head's queries or keys. */
#include "capture/side.h"

#include "base/memory.h"

#include <stdlib.h>

int side_order(const side_id *a, const side_id *b)
{
    int difference = a->layer != b->layer ? a->layer - b->layer : a->kind - b->kind;
    return difference ? difference : a->head - b->head;
}

qks_status side_open(side *s, int d, int n_groups, int n_buckets, size_t pairs, qks_error *error)
{
    *s = (side){.d = d, .n_groups = n_groups, .n_buckets = n_buckets};
    qks_status status = moments_array(&s->groups, (size_t)n_groups, d, error);
    if (status == QKS_OK)
        status = memory_zeroed(&s->buckets, (size_t)n_buckets, sizeof *s->buckets, error);
    if (status == QKS_OK && pairs > 0) {
        status = memory_zeroed(&s->pairs, (size_t)n_buckets, sizeof *s->pairs, error);
        for (int b = 0; status == QKS_OK && b < n_buckets; b++)
            status = pair_reservoir_open(&s->pairs[b], d, pairs, error);
    }
    if (status == QKS_OK)
        side_clear(s);
    else
        side_close(s);
    return status;
}

qks_status side_sample_open(side *s, size_t capacity, qks_error *error)
{
    return capacity ? pair_reservoir_open(&s->sample, s->d + 1, capacity, error) : QKS_OK;
}

void side_close(side *s)
{
    pair_reservoir_close(&s->sample);
    moments_array_free(s->groups, (size_t)s->n_groups);
    free(s->buckets);
    for (int b = 0; s->pairs && b < s->n_buckets; b++)
        pair_reservoir_close(&s->pairs[b]);
    free(s->pairs);
    *s = (side){0};
}

void side_clear(side *s)
{
    s->window = 0;
    s->sample.count = 0;
    s->sample.threshold = 1;
    for (int g = 0; g < s->n_groups; g++)
        moments_clear(s->groups[g]);
    for (int b = 0; b < s->n_buckets; b++) {
        s->buckets[b] = (bucket_stat){.last_position = -1};
        if (s->pairs) {
            s->pairs[b].count = 0;
            s->pairs[b].threshold = 1;
        }
    }
}

void side_count(side *s, int bucket, int32_t position, double x0)
{
    bucket_stat *b = &s->buckets[bucket];
    b->n++;
    b->sum_position += position;
    b->sum_x0 += x0;
    if (position > b->last_position)
        b->last_position = position;
}

uint64_t side_sample_seed(uint64_t seed, int64_t document, side_id id)
{
    enum { NO_BUCKET = -1 };
    return pair_seed(seed, (int32_t)document, id.layer, id.kind, NO_BUCKET);
}

qks_status side_sample_note(const side *s, uint64_t seed, int32_t position, uint32_t row,
                            pair_draws *noted, qks_error *error)
{
    double priority = pair_uniform(seed, (uint64_t)position);
    if (!s->sample.capacity || priority >= s->sample.threshold)
        return QKS_OK;
    return array_push(noted, ((pair_draw){.priority = priority, .first = row}), error);
}

typedef struct sampled_rows {
    const moments_rows *rows;
    size_t d;
} sampled_rows;

static void fill_sample(const void *context, const pair_draw *draw, float *row)
{
    const sampled_rows *from = context;
    const moments_rows *rows = from->rows;
    size_t first = draw->first * (rows->stride ? rows->stride : from->d);
    for (size_t j = 0; j < from->d; j++)
        row[j] = rows->f32 ? rows->f32[first + j] : (float)rows->f64[first + j];
    row[from->d] = (float)rows->position[draw->first];
}

static int by_priority(const void *a, const void *b)
{
    double x = ((const pair_draw *)a)->priority, y = ((const pair_draw *)b)->priority;
    return (x > y) - (x < y);
}

void side_sample_take(side *s, pair_draws *noted, const moments_rows *rows)
{
    if (!noted->length)
        return;
    qsort(noted->data, noted->length, sizeof *noted->data, by_priority);
    if (noted->length > s->sample.capacity + 1)
        noted->length = s->sample.capacity + 1;
    pair_reservoir_merge(&s->sample, noted, fill_sample,
                         &(sampled_rows){.rows = rows, .d = (size_t)s->d});
    noted->length = 0;
}
