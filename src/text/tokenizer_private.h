/* tokenizer_private.h: a tokenizer's parts, and how a file becomes one: the readers of
 * tokenizer.json and of GGUF fill the same lists, then tokenizer_finish() makes them ready. */
#ifndef QKS_TEXT_TOKENIZER_PRIVATE_H
#define QKS_TEXT_TOKENIZER_PRIVATE_H

#include "base/memory.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer.h"

/* The post-processor: ids to put in, and THE_TEXT where the text goes. */
enum { THE_TEXT = -1 };

struct tokenizer {
    const char *path; /* for messages */
    arena memory;     /* the bytes of tokens, and all other strings */
    added_list added;
    word_table added_index; /* content to its place in the list */
    token_tree as_is, normalized;
    normalizer normalizer;
    pre_tokenizer pre;
    bpe model;
    id_list template; /* empty: the text alone */
    int64_t size;
    size_t unlisted; /* added tokens that the model does not have */
};

/* A token as the file has it; its content must last. A token that the model has gets its id there,
 * others get the next ones, whatever id the file gives them; a token given again replaces the
 * first. After the model is filled. */
QKS_MUST_CHECK qks_status tokenizer_add_token(tokenizer *t, const added_token *token,
                                              qks_error *error);

/* When all parts are there. */
QKS_MUST_CHECK qks_status tokenizer_finish(tokenizer *t, qks_error *error);

/* The readers. They put the file's name before their messages. */
QKS_MUST_CHECK qks_status tokenizer_read_json(tokenizer *t, const char *path, qks_error *error);
QKS_MUST_CHECK qks_status tokenizer_read_gguf(tokenizer *t, const char *path, qks_error *error);

/* Steps that both readers make. */
QKS_MUST_CHECK qks_status add_split(pre_tokenizer *p, const char *expression,
                                    split_behavior behavior, qks_error *error);

#endif
