/* tokenizer.h: text to token ids, as Hugging Face's tokenizers library gives them.
 *
 *     added tokens -> normalizer -> added tokens -> pre-tokenizer -> BPE -> template
 *
 * A tokenizer is read once and used by many threads, each with an encoder of its own. */
#ifndef QKS_TEXT_TOKENIZER_H
#define QKS_TEXT_TOKENIZER_H

#include "qkscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tokenizer tokenizer;

/* `path`: a tokenizer.json, a model's folder that has one, or a .gguf file. What qkscope cannot do
 * exactly is refused by name. */
QKS_MUST_CHECK qks_status tokenizer_open(tokenizer **out, const char *path, qks_error *error);
void tokenizer_close(tokenizer *t); /* NULL is fine */

/* One more than the largest id it can give. */
int64_t tokenizer_size(const tokenizer *t);

typedef struct encoder encoder;

/* The tokenizer must outlive the encoder. */
QKS_MUST_CHECK qks_status encoder_open(encoder **out, const tokenizer *t, qks_error *error);
void encoder_close(encoder *e); /* NULL is fine */

/* The ids of a text, which may hold NUL but must be UTF-8 of less than 2 GB; `special`: with what
 * the post-processor adds (BOS and the like). `*ids` is the encoder's until the next call. */
QKS_MUST_CHECK qks_status encoder_run(encoder *e, const char *bytes, size_t length, bool special,
                                      const int32_t **ids, size_t *count, qks_error *error);

#endif
