/* contents.h: what the page is about: a run's tables, joined. Models stand in study order, heads by
 * model, layer and head; every head knows its row of each table. */
#ifndef QKS_REPORT_CONTENTS_H
#define QKS_REPORT_CONTENTS_H

#include "base/memory.h"
#include "qkscope/status.h"
#include "qkscope/tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* PCs per head on the page; the tables keep all. */
enum { PAGE_COMPONENTS = 20 };

typedef struct page_model {
    const char *name, *group;      /* group: phase or family, NULL: none */
    const qks_trajectory_row *row; /* NULL: not in that table */
    size_t first_head, n_heads;
} page_model;

typedef struct page_head {
    size_t model;
    int64_t layer, head, k_head;
    int64_t bin;             /* of depth; QKS_BLANK: not known */
    const qks_head_row *row; /* NULL: not in that table */
    const qks_qk_row *pcs[PAGE_COMPONENTS];
} page_head;

typedef struct contents {
    bool training; /* models are checkpoints of one run, and groups are phases */
    ARRAY_OF(page_model) models;
    ARRAY_OF(page_head) heads;
    size_t components; /* the most that a head has, at most PAGE_COMPONENTS */
    const qks_depth_row *depth;
    const qks_plasticity_row *plasticity;
    const qks_finding_row *findings;
    size_t n_depth, n_plasticity, n_findings;
    arena memory;
} contents;

/* Read the tables of a run's directory or of a folder of tables. On any status, end with
 * contents_free(). */
QKS_MUST_CHECK qks_status contents_read(contents *c, const char *folder, qks_error *error);
void contents_free(contents *c);

/* The number of a model or head; -1: there is none. */
ptrdiff_t contents_model(const contents *c, const char *name);
ptrdiff_t contents_head(const contents *c, const char *model, int64_t layer, int64_t head);

#endif
