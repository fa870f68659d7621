/* source_private.h: what the two kinds of source have in common; only source*.c include it. */
#ifndef QKS_STUDY_SOURCE_PRIVATE_H
#define QKS_STUDY_SOURCE_PRIVATE_H

#include "store/dataset.h"
#include "study/source.h"

typedef struct source_kind {
    qks_status (*load)(const source *s, int thread, size_t side_number, side *into,
                       qks_error *error);
    qks_status (*pairs)(const source *s, int thread, size_t side_number, pair_visit *visit,
                        void *context, qks_error *error);
    int64_t (*rows)(const source *s, size_t side_number);
    void (*close)(source *s); /* NULL: nothing of its own */
} source_kind;

struct source {
    const source_kind *kind;
    unit_info info;
    store *store;
    uint64_t seed;
    arena memory;
    /* unit files */
    unit *units; /* [n_units] */
    size_t n_units;
    const int **places; /* [n_units][groups of the unit]: which of info.groups */
    /* captured dataset */
    dataset data;
    int64_t bucket; /* size that overrides the stored buckets; 0: as stored */
};

QKS_MUST_CHECK qks_status source_open_dataset(source *s, const char *path,
                                              const source_options *options, qks_error *error);

#endif
