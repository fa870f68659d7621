/* documents.h: the documents of a corpus, one after another, and the rules by which each becomes
 * tokens or is left out. */
#ifndef QKS_TEXT_DOCUMENTS_H
#define QKS_TEXT_DOCUMENTS_H

#include "qkscope/status.h"
#include "store/corpus.h"
#include "text/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `path`: a .txt file (one document), a table that corpus_scan() reads (.jsonl, .csv, .parquet
 * ...), or a folder: its .txt files, one document each, or if there are none its tables, in the
 * order of their names and numbered on from file to file. `options` NULL: the defaults. A text need
 * not be UTF-8: document_tokens() leaves such out. */
QKS_MUST_CHECK qks_status documents_scan(const char *path, const corpus_options *options,
                                         corpus_visit *visit, void *context, qks_error *error);

enum { DOCUMENT_TOKENS_MIN = 2 };

typedef struct document_rules {
    size_t max_length; /* tokens; longer documents are cut; 0: never */
    bool no_special;   /* leave out what the post-processor adds */
} document_rules;

/* What became of the documents; for the manifest. */
typedef struct document_counts {
    int64_t documents, tokens;          /* taken */
    int64_t truncated;                  /* of those taken */
    int64_t empty, not_utf8, too_short; /* left out */
} document_counts;

/* The tokens of a document: its text's, or its own. `*taken`: false if the rules leave it out. The
 * ids are the encoder's or the row's. `e` may be NULL if the rows are tokens. */
QKS_MUST_CHECK qks_status document_tokens(encoder *e, const corpus_row *row,
                                          const document_rules *rules, document_counts *counts,
                                          const int32_t **ids, size_t *count, bool *taken,
                                          qks_error *error);

#endif
