/* comparison.h: what compare.c finds out and compare_print.c shows. */
#ifndef QKS_STUDY_COMPARISON_H
#define QKS_STUDY_COMPARISON_H

#include "base/memory.h"
#include "qkscope/compare.h"

struct qks_comparison {
    qks_compare_facts facts;
    ARRAY_OF(qks_compare_row) rows;
    const char *run, *table;
    arena memory;
};

/* Differences up to this are close where no standard error is known. */
#define CLOSE 0.02

#endif
