/* added_tokens.h: tokens that are found in the text before anything is split: first those that are
 * to be found in the text as it is, then, in what is left, those to be found after normalizing. At
 * each place the longest token counts. */
#ifndef QKS_TEXT_ADDED_TOKENS_H
#define QKS_TEXT_ADDED_TOKENS_H

#include "base/memory.h"
#include "qkscope/status.h"
#include "text/stretch.h"
#include "text/table.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct added_token {
    const char *content; /* the tokenizer's arena's, as are the bytes below */
    size_t length;
    int32_t id;
    bool single_word;    /* only where no letter, digit or the like is beside it */
    bool lstrip, rstrip; /* swallows the white space beside it */
    bool normalized;     /* found after normalizing */
    bool special;
} added_token;

typedef ARRAY_OF(added_token) added_list;

/* The tokens to be found in one pass, as a tree of their bytes. */
typedef struct token_tree {
    key_table edges;            /* (node, byte) to node */
    ARRAY_OF(ptrdiff_t) tokens; /* [node]: index in the list of the token that ends there, or -1 */
    bool begins[256];           /* may a token begin with this byte? */
} token_tree;

/* Put the token `index` in under `bytes`, its content or what normalizing makes of it. */
QKS_MUST_CHECK qks_status token_tree_add(token_tree *t, const char *bytes, size_t length,
                                         size_t index, qks_error *error);
void token_tree_free(token_tree *t);

/* A part of the text: `token` is NULL for what is between the tokens. */
typedef qks_status part_visit(void *context, const added_token *token, stretch part,
                              qks_error *error);
QKS_MUST_CHECK qks_status find_added_tokens(const token_tree *t, const added_list *list, stretch in,
                                            part_visit *visit, void *context, qks_error *error);

#endif
