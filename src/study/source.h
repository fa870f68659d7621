/* source.h: where a model's moments come from: a captured dataset, or unit files that hold parts of
 * one model. Both look the same to the analysis: a list of sides, loaded one at a time from any
 * thread. */
#ifndef QKS_STUDY_SOURCE_H
#define QKS_STUDY_SOURCE_H

#include "base/memory.h"
#include "capture/side.h"
#include "capture/unit.h"
#include "model/shape.h"
#include "qkscope/status.h"
#include "store/store.h"

#include <stdint.h>

enum { GROUPS_DEFAULT = 20, PAIRS_DEFAULT = 256 };
/* Vectors of a side that a whole run shows; of a unit, of which there are many, fewer. */
enum { SAMPLES_WHOLE = 512, SAMPLES_UNIT_LEAST = 24 };

enum { GROUPS_PER_DOCUMENT = -1 };        /* as a number of groups */
enum { PAIRS_NONE = -1, PAIRS_ALL = -2 }; /* as a number of pairs */

typedef struct source_options {
    const char *model;        /* NULL: as the input says */
    const model_shape *shape; /* NULL: as the input says */
    int64_t context, bucket;  /* 0: as the input says */
    int64_t groups;           /* 0: GROUPS_DEFAULT */
    int64_t pairs;            /* 0: PAIRS_DEFAULT */
    uint64_t seed;
} source_options;

typedef struct source source;

/* One source per captured dataset, and one per model that the unit files name, in the order of the
 * paths. `*sources` is malloc'd; close each and free the array. `s` must outlive them. */
QKS_MUST_CHECK qks_status sources_open(source ***sources, size_t *count, store *s,
                                       const char *const *paths, size_t n_paths,
                                       const source_options *options, qks_error *error);
void sources_close(source **sources, size_t count);

/* What the source holds: names, shape, sides, groups. Sides are by layer, keys first, then head. */
const unit_info *source_info(const source *s);
/* Rows (vectors) of a side, as a measure of work. */
int64_t source_rows(const source *s, size_t side_number);

/* A side with room for this source's moments, counts and (for keys) pairs. A sample of vectors is
 * loaded into a side that was given room for one (side_sample_open, info's `samples`). */
QKS_MUST_CHECK qks_status source_side(const source *s, char kind, side *out, qks_error *error);

/* Fill `into`, which source_side opened, with one side; what was in it is cleared. */
QKS_MUST_CHECK qks_status source_load(const source *s, int thread, size_t side_number, side *into,
                                      qks_error *error);

/* Stream every key pair of a key side: n differences [n, d] of one bucket at a time. Only captured
 * datasets have them all. */
typedef qks_status pair_visit(void *context, int bucket, size_t n, const double *differences,
                              qks_error *error);
QKS_MUST_CHECK qks_status source_pairs(const source *s, int thread, size_t side_number,
                                       pair_visit *visit, void *context, qks_error *error);

#endif
