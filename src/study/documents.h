/* documents.h: a corpus as token ids, in memory (4 bytes a token), in the order of document groups.
 */
#ifndef QKS_STUDY_DOCUMENTS_H
#define QKS_STUDY_DOCUMENTS_H

#include "base/memory.h"
#include "qkscope/capture.h"
#include "qkscope/status.h"
#include "text/documents.h"

#include <stdint.h>

typedef struct document {
    const char *name; /* its id, as text */
    int64_t example_id;
    int64_t row;
    const int32_t *ids; /* [n] */
    int32_t n;
    int group;
} document;

typedef struct documents {
    document *list; /* by group, then by stored example id */
    size_t count;
    int n_groups;
    document_counts counts;
    arena memory;
} documents;

/* `model` is where the tokenizer is looked for if the options name none. */
QKS_MUST_CHECK qks_status documents_load(documents *d, const char *model,
                                         const qks_capture_options *options, int32_t max_length,
                                         qks_error *error);
void documents_free(documents *d);

#endif
