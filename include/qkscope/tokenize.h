/* tokenize.h: text to the token ids that a model reads, equal to the last id to those of Hugging
 * Face's tokenizers library.
 *
 *     qks_tokenizer *tokenizer;
 *     if (qks_tokenizer_open(&tokenizer, "SmolLM3-3B", &error) != QKS_OK) ...
 *     const int32_t *ids;
 *     size_t count;
 *     qks_tokenizer_encode(tokenizer, "Hello", 5, true, &ids, &count, &error);
 *     qks_tokenizer_close(tokenizer); */
#ifndef QKSCOPE_TOKENIZE_H
#define QKSCOPE_TOKENIZE_H

#include "qkscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For one thread at a time. */
typedef struct qks_tokenizer qks_tokenizer;

/* `path`: a tokenizer.json, a model's folder with one in it, a .gguf file, or org/name[@revision]
 * in the local Hugging Face cache. A tokenizer with a part that qkscope does not have (Unigram,
 * WordPiece, a normalizer it does not know ...) is refused with QKS_UNSUPPORTED, the part named. */
QKS_MUST_CHECK qks_status qks_tokenizer_open(qks_tokenizer **out, const char *path,
                                             qks_error *error);
void qks_tokenizer_close(qks_tokenizer *tokenizer); /* NULL is fine */

/* One more than the largest id that it can give. */
int64_t qks_tokenizer_size(const qks_tokenizer *tokenizer);

/* The ids of `length` bytes of UTF-8, which may hold NUL. `special`: with what the tokenizer's
 * post-processor adds around a text (BOS and the like); special tokens written out in the text
 * count either way. `*ids` belongs to the tokenizer and is good until the next call. */
QKS_MUST_CHECK qks_status qks_tokenizer_encode(qks_tokenizer *tokenizer, const char *text,
                                               size_t length, bool special, const int32_t **ids,
                                               size_t *count, qks_error *error);

/* In option structs zero means the default. */
typedef struct qks_tokenize_options {
    const char *column; /* with the texts; NULL: "text", or the only text column */
    const char *id;     /* column of the ids; NULL: "id" if there is one, else the row number */
    int64_t limit;      /* rows at most; 0: all */
    bool no_special;    /* leave out what the post-processor adds */
} qks_tokenize_options;

typedef struct qks_tokenize_report {
    int64_t rows, tokens; /* written */
    int64_t not_utf8;     /* rows left out */
} qks_tokenize_report;

/* Write a line {"id": ..., "ids": [...]} for each row of a corpus: a .txt file, .jsonl, .csv,
 * .parquet, or a folder of those (rows with `input_ids` are written as they are). `report` may be
 * NULL. QKS_PARTIAL if rows were left out. */
QKS_MUST_CHECK qks_status qks_tokenize(const char *tokenizer, const char *corpus,
                                       const qks_tokenize_options *options, FILE *out,
                                       qks_tokenize_report *report, qks_error *error);

#ifdef __cplusplus
}
#endif
#endif
