/* dataset.h: captured vectors on disk, in the reference's layout (spec/protocol.md, "The captured
 * dataset"): <root>/l{LL}h{HH}{q|k}/data.parquet, one row per kept vector. Read as a stream: memory
 * does not grow with rows. */
#ifndef QKS_STORE_DATASET_H
#define QKS_STORE_DATASET_H

#include "base/memory.h"
#include "qkscope/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DATASET_DIMENSION_MAX = 65536 };

typedef struct dataset_head {
    int layer, head;
    char kind;     /* 'q' or 'k' */
    int dimension; /* of the vectors */
    int64_t rows;
    const char *path;                   /* of data.parquet */
    bool windowed;                      /* the file has a sliding_window column */
    int64_t last_position, last_bucket; /* the largest; 0 without rows */
} dataset_head;

/* What the dataset card says, where it says it; 0 or NULL = not said. */
typedef struct dataset_card {
    const char *model;
    const char *sampler;
    int64_t bucket_size, context;
    int layers, q_heads, kv_heads;
} dataset_card;

typedef struct dataset {
    const char *root; /* where the l..h.. folders are: the path given, or a folder below it */
    dataset_card card;
    dataset_head *heads; /* by layer, then kind ('k' before 'q'), then head */
    size_t n_heads;
    int64_t *documents; /* distinct example ids of all heads, rising */
    size_t n_documents;
    int64_t last_position, last_bucket; /* of all heads */
    arena memory;
} dataset;

/* Find and check all heads (schema, dimension, row counts) without reading vectors. */
QKS_MUST_CHECK qks_status dataset_open(dataset *d, store *s, const char *path, qks_error *error);
void dataset_close(dataset *d);

/* A stretch of rows. Exactly one of f32 and f64 is set; both are row-major [n, dimension]. */
typedef struct dataset_rows {
    size_t n;
    int dimension;
    const float *f32;
    const double *f64;
    const int32_t *position;
    const int32_t *bucket;
    const int64_t *document; /* example_id as stored */
    const int32_t *window;   /* 0 = full attention */
} dataset_rows;

typedef qks_status dataset_visit(void *context, const dataset_rows *rows, qks_error *error);

typedef enum dataset_order {
    DATASET_AS_STORED,
    DATASET_BY_CELL, /* sorted by (bucket, example_id, position); spills to disk when large */
} dataset_order;

typedef struct dataset_scan_options {
    dataset_order order;
    int64_t bucket_size; /* bucket = position / bucket_size; 0: as stored */
} dataset_scan_options;

/* Stream one head's rows through `visit`, on the calling thread, with thread `thread`'s
 * connection. A NaN or infinity in a vector is refused with its row. The rows are DuckDB's own
 * memory: they are gone when `visit` returns, and `visit` must not use the store with this thread's
 * number. */
QKS_MUST_CHECK qks_status dataset_scan(store *s, int thread, const dataset_head *head,
                                       const dataset_scan_options *options, dataset_visit *visit,
                                       void *context, qks_error *error);

/* ---- writing ---- */
typedef struct dataset_writer dataset_writer;

/* Vectors are spooled to a temporary file in `root` and become Parquet files (zstd) on finish,
 * so that memory stays bounded whatever their number. A root with a card is refused. */
QKS_MUST_CHECK qks_status dataset_create(dataset_writer **out, const char *root, int dimension,
                                         qks_error *error);
/* rows->f32 is used; window 0 is written as null; document is wrapped to 32 bits; `tokens` may be
 * NULL (no token_str column) but then always; what is not UTF-8 in them becomes U+FFFD. */
QKS_MUST_CHECK qks_status dataset_append(dataset_writer *w, int layer, int head, char kind,
                                         const dataset_rows *rows, const char *const *tokens,
                                         qks_error *error);
/* Writes every head's file under a temporary name, gives them their names, then writes the card
 * README.md: a folder with a card is whole. Heads that an unfinished writing left there are
 * replaced if they are this dataset's too, else refused. Frees w, also when it fails. */
QKS_MUST_CHECK qks_status dataset_finish(dataset_writer *w, const dataset_card *card,
                                         qks_error *error);
void dataset_discard(dataset_writer *w);

#endif
