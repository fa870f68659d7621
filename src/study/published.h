/* published.h: a published table and our numbers for it, both as rows of cells under the same
 * columns. */
#ifndef QKS_STUDY_PUBLISHED_H
#define QKS_STUDY_PUBLISHED_H

#include "store/store.h"

enum { CELLS_MAX = 32 };

/* What a column holds on our side. */
typedef enum cell_source { FROM_DEPTH, FROM_TRAJECTORY, FROM_QK } cell_source;

typedef struct quantity {
    const char *name;
    double half_unit; /* of the last printed decimal */
    cell_source source;
    size_t offset;    /* of the value in the row of that table */
    size_t se_offset; /* 0: there is none */
    int64_t place;    /* depth bin or principal component */
} quantity;

typedef struct cell_row {
    const char *names[3]; /* model, checkpoint or revision, label; NULL where it has none */
    double cells[CELLS_MAX], ses[CELLS_MAX];
} cell_row;

typedef struct cell_table {
    const quantity *columns;
    size_t n_columns;
    bool whole; /* one row for all models together */
    cell_row *rows;
    size_t n_rows;
} cell_table;

/* `wanted`: r_q, r_k or NULL. Strings and rows are in the arena. */
QKS_MUST_CHECK qks_status published_read(cell_table *t, store *s, const char *path,
                                         const char *wanted, arena *a, qks_error *error);

/* The same columns from the tables of a run's directory, or of a folder of tables. */
QKS_MUST_CHECK qks_status ours_read(cell_table *t, const cell_table *published, store *s,
                                    const char *run, arena *a, qks_error *error);

#endif
