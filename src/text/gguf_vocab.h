/* gguf_vocab.h: the vocabulary in a GGUF file's header: only the keys tokenizer.ggml.*, read in one
 * pass from the front. No length in the file is believed before it is held against the file's
 * size; weights are not touched. */
#ifndef QKS_TEXT_GGUF_VOCAB_H
#define QKS_TEXT_GGUF_VOCAB_H

#include "base/memory.h"
#include "qkscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gguf_string {
    const char *bytes; /* with a NUL behind; may hold others */
    size_t length;
} gguf_string;

typedef ARRAY_OF(gguf_string) gguf_strings;

/* tokenizer.ggml.token_type */
typedef enum gguf_token_type {
    GGUF_TOKEN_NORMAL = 1,
    GGUF_TOKEN_UNKNOWN = 2,
    GGUF_TOKEN_CONTROL = 3,
    GGUF_TOKEN_USER_DEFINED = 4,
    GGUF_TOKEN_UNUSED = 5,
    GGUF_TOKEN_BYTE = 6,
} gguf_token_type;

enum { GGUF_NOT_SAID = -1 };

typedef struct gguf_vocab {
    const char *model, *pre;                    /* "gpt2", "llama"; NULL: not said */
    gguf_strings tokens;                        /* [id] */
    gguf_strings merges;                        /* "left right" */
    ARRAY_OF(double) scores;                    /* [id], or empty */
    ARRAY_OF(int64_t) types;                    /* [id], or empty */
    int64_t bos, eos, unk;                      /* ids, or GGUF_NOT_SAID */
    int64_t add_bos, add_eos, add_space_prefix; /* 0, 1, or GGUF_NOT_SAID */
    bool has_charsmap;                          /* a normalizer of SentencePiece */
    arena *memory;                              /* the strings' */
} gguf_vocab;

/* Strings live in the arena. Close it also after a failure. */
QKS_MUST_CHECK qks_status gguf_vocab_read(gguf_vocab *v, const char *path, arena *memory,
                                          qks_error *error);
void gguf_vocab_close(gguf_vocab *v);

#endif
