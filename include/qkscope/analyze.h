/* analyze.h: from what was captured to tables.
 *
 *     const char *inputs[] = {"captured/"};
 *     qks_analyze_options options = {.shape = "36/16/4"};
 *     if (qks_analyze(inputs, 1, "tables", &options, NULL, &error) != QKS_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *
 * In option structs zero means the default. */
#ifndef QKSCOPE_ANALYZE_H
#define QKSCOPE_ANALYZE_H

#include "qkscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    QKS_PER_DOCUMENT = -1, /* as a number of groups: every document is one */
    QKS_NO_PAIRS = -1,     /* as a number of key pairs: no plasticity */
    QKS_ALL_PAIRS = -2,    /* every pair; needs captured vectors */
};

/* The largest values that options take. */
enum {
    QKS_COMPONENTS_MAX = 4096,
    QKS_GROUPS_MAX = 1 << 20,
    QKS_PAIRS_MAX = 1 << 20,
    QKS_THREADS_MAX = 1024,
};

typedef struct qks_analyze_options {
    const char *model;  /* name in the tables; NULL: as the input says, else its folder's */
    const char *shape;  /* "LAYERS/QHEADS/KVHEADS"; NULL: as the input says */
    const char *config; /* a config.json to take the shape from; NULL: none */
    const char *study;  /* a table (CSV or Parquet) of model, order, phase or family, layers */
    int components;     /* PCs per head; 0: 10 */
    int64_t context;    /* tokens; 0: as the input says, else up to the last position */
    int64_t bucket;     /* positions per bucket; 0: as captured */
    int64_t groups;     /* of documents, for the jackknife; 0: 20 */
    int64_t pairs;      /* key pairs per bucket for plasticity; 0: 256 */
    uint64_t seed;      /* of the key pairs */
    int threads;        /* 0: all cores */
    FILE *progress;     /* a terminal to show progress on; NULL: none */
} qks_analyze_options;

/* What was analysed, for a message. */
typedef struct qks_analyze_report {
    size_t models, heads;
    size_t heads_without_keys; /* their key head was not captured: r_k is 0 */
    size_t heads_flagged;      /* column `flags` of table `heads` says why */
} qks_analyze_report;

/* Inputs: captured datasets (folders), unit files, or one qk table. Writes the tables qk, heads,
 * depth, trajectory, plasticity and findings to the folder `out`, as CSV and Parquet. */
QKS_MUST_CHECK qks_status qks_analyze(const char *const *inputs, size_t count, const char *out,
                                      const qks_analyze_options *options,
                                      qks_analyze_report *report, qks_error *error);

/* Join unit files that hold parts of one model, or turn one captured dataset into a unit file. Of
 * the options, those that have to do with tables are not used. */
QKS_MUST_CHECK qks_status qks_merge(const char *const *inputs, size_t count, const char *out,
                                    const qks_analyze_options *options, qks_error *error);

/* Say what a file or folder is: captured dataset or moments, unit file, table or folder of them,
 * run, checkpoint, tokenizer. */
QKS_MUST_CHECK qks_status qks_inspect(const char *path, bool json, FILE *out, qks_error *error);

typedef enum qks_sql_format { QKS_SQL_ALIGNED, QKS_SQL_CSV, QKS_SQL_JSON } qks_sql_format;

/* Run SQL over the tables of a folder (or of its `tables` folder), each a view of its name. */
QKS_MUST_CHECK qks_status qks_sql(const char *folder, const char *sql, qks_sql_format format,
                                  FILE *out, qks_error *error);

#ifdef __cplusplus
}
#endif
#endif
