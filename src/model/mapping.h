/* mapping.h: a file's bytes in the address space, read-only, fetched from disk when touched. */
#ifndef QKS_MODEL_MAPPING_H
#define QKS_MODEL_MAPPING_H

#include "qkscope/status.h"

#include <stddef.h>

typedef struct mapping {
    const unsigned char *bytes;
    size_t size;
} mapping;

QKS_MUST_CHECK qks_status mapping_open(mapping *m, const char *path, qks_error *error);
void mapping_close(mapping *m);

/* Hints about a stretch of any mapping: it is wanted soon; it is not wanted for a while. */
void mapping_prefetch(const void *bytes, size_t length);
void mapping_forget(const void *bytes, size_t length);

#endif
