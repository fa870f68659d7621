/* chunk.h: which tokens go through a layer at once: a stretch of one document, or several whole
 * documents that are short. */
#ifndef QKS_ENGINE_CHUNK_H
#define QKS_ENGINE_CHUNK_H

#include "engine/attention.h"
#include "engine/engine.h"

typedef struct chunk {
    size_t document, end; /* documents document .. end - 1 */
    int32_t first, n;     /* position of its first token; tokens */
} chunk;

/* How many of the documents, from the first on, fit a chunk of `most` tokens together; at least
 * one. */
size_t chunk_together(const engine_document *documents, size_t count, int most);

/* The chunk that begins at position `first` of a document. */
chunk chunk_at(const engine_task *task, size_t document, int32_t first, int most);

/* The part of it that belongs to one of its documents: *first position, how many tokens. */
int32_t chunk_part(const chunk *c, const engine_task *task, size_t document, int32_t *first);

/* Its rows as blocks of one document each, where keys of a document that is alone begin at place 0
 * and those of several stand one after the other. At most c->n; how many. */
int64_t chunk_blocks(const chunk *c, const engine_task *task, attention_block *blocks);

#endif
