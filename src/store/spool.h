/* spool.h: captured rows waiting to become Parquet: appended part by part to one file without a
 * name, which vanishes with the process, and read back into DuckDB's chunks. */
#ifndef QKS_STORE_SPOOL_H
#define QKS_STORE_SPOOL_H

#include "base/text.h"
#include "qkscope/status.h"
#include "store/dataset.h"
#include "store/duck.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct spool {
    const char *beside; /* the file is made next to this path, which the caller keeps */
    FILE *file;
    uint64_t length;
    int dimension;
    text token; /* scratch */
} spool;

/* Where some rows of one head are: int32 columns bucket, example_id, position and window, the
 * vectors, then with tokens their ends (uint32, counted from the first's start) and their bytes. */
typedef struct spool_part {
    uint64_t offset;
    size_t rows;
    bool tokens;
} spool_part;

QKS_MUST_CHECK qks_status spool_open(spool *s, const char *beside, int dimension, qks_error *error);
void spool_close(spool *s); /* nothing stays */

QKS_MUST_CHECK qks_status spool_add(spool *s, const dataset_rows *rows, const char *const *tokens,
                                    spool_part *part, qks_error *error);
/* Call between the last spool_add and the first spool_read. */
QKS_MUST_CHECK qks_status spool_flush(spool *s, qks_error *error);

/* Rows [first, first + count) of the part to places `at` and after of a chunk with columns bucket,
 * example_id, position, vector, sliding_window and, with tokens, token_str. */
QKS_MUST_CHECK qks_status spool_read(spool *s, const spool_part *part, size_t first, size_t count,
                                     duckdb_data_chunk chunk, size_t at, qks_error *error);

#endif
