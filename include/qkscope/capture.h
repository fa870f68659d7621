/* capture.h: run a checkpoint over text and keep what its attention heads' queries and keys say of
 * position: moments (every number qkscope reports comes from them), or the vectors, or both.
 *
 *     qks_capture_options options = {.text = "books.parquet", .max_length = 8192};
 *     qks_capture("HuggingFaceTB/SmolLM2-135M", "captured", &options, NULL, &error);
 *     qks_analyze((const char *[]){"captured"}, 1, "tables", NULL, NULL, &error);
 *
 * In option structs zero means the default. */
#ifndef QKSCOPE_CAPTURE_H
#define QKSCOPE_CAPTURE_H

#include "qkscope/sample.h"
#include "qkscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum qks_keep { QKS_KEEP_MOMENTS, QKS_KEEP_VECTORS, QKS_KEEP_BOTH } qks_keep;

typedef struct qks_capture_options {
    /* text */
    const char *text; /* .txt, folder, .jsonl, .csv, .parquet; rows with `input_ids` are taken
                         as tokens, as they are */
    const char *text_column; /* NULL: "text", or the only one */
    const char *id_column;   /* NULL: "id" if there is one, else the row number */
    int64_t limit;           /* rows read at most; 0: all */
    const char *tokenizer;   /* tokenizer.json, or a model that has one; NULL: the model's own */
    bool no_special;         /* leave out what the tokenizer's post-processor adds */
    int32_t max_length; /* tokens per document at most; 0: as the config says, at most 131072 */
    /* which heads */
    int32_t heads; /* drawn as the reference draws them; 0: all */
    int64_t seed;
    const char *layers;       /* "0,3,8-11"; NULL: all */
    bool full_attention_only; /* draw from layers without a sliding window */
    const qks_head *chosen;   /* [n_chosen] these query heads, in place of a draw */
    size_t n_chosen;          /* 0: as `heads`, `layers` and `full_attention_only` say */
    /* which positions */
    qks_sampler sampler; /* 0: every position */
    int32_t bucket;      /* positions per bucket; 0: max_length / 16 */
    double rate;         /* positions kept per bucket; 0: 1 */
    /* what is kept */
    qks_keep keep;
    int64_t groups;         /* of documents, for the jackknife; 0: 20; -1: every document */
    int64_t pairs;          /* key pairs per bucket; 0: 256; -1: none */
    bool pre_rope;          /* vectors before the rotary embedding */
    const char *model_name; /* in the tables; NULL: from the checkpoint's name */
    /* the checkpoint */
    double rope_theta;        /* 0: as the config says */
    const char *rope_scaling; /* JSON in place of the config's rope_scaling; "null": none */
    /* how */
    const char *backend; /* NULL: "cpu" */
    int threads;         /* 0: all cores */
    int chunk;           /* tokens at once; 0: 1536 */
    size_t memory;       /* bytes for documents in hand; 0: half of what is free */
    FILE *progress;      /* a terminal; NULL: none */
} qks_capture_options;

typedef struct qks_capture_report {
    int64_t documents, tokens;
    int64_t truncated, too_short, not_utf8, empty; /* documents; the last three were skipped */
    int64_t beyond_context; /* documents longer than the config's context, whatever the rope */
    int64_t max_length;     /* where the truncated ones were cut */
    int64_t context;        /* of the config; 0: it does not say */
    size_t query_heads, key_heads, units;
} qks_capture_report;

/* MODEL: a directory, a .gguf file, or org/name[@revision] in the local Hugging Face cache. Writes
 * OUT/units/<group>.unit (moments) and OUT/l{LL}h{HH}{q|k}/data.parquet (vectors). */
QKS_MUST_CHECK qks_status qks_capture(const char *model, const char *out,
                                      const qks_capture_options *options,
                                      qks_capture_report *report, qks_error *error);

#ifdef __cplusplus
}
#endif
#endif
