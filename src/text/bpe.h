/* bpe.h: byte-pair encoding: from a word to ids by merging neighbours, the lowest rank first.
 *
 * A model is filled once (tokens, then merges, then bpe_finish) and read by many threads; what one
 * thread needs to encode is a bpe_scratch. */
#ifndef QKS_TEXT_BPE_H
#define QKS_TEXT_BPE_H

#include "base/memory.h"
#include "qkscope/status.h"
#include "text/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef ARRAY_OF(int32_t) id_list;

typedef struct bpe {
    /* as the file says */
    bool byte_level;    /* words are bytes, tokens are in the byte-level alphabet */
    bool byte_fallback; /* a character without a token becomes <0xNN> for each of its bytes */
    bool fuse_unk, ignore_merges;
    const char *unk_token;       /* NULL: characters without a token vanish */
    const char *prefix, *suffix; /* of symbols inside a word, and of a word's last; "": none */
    /* made from it */
    word_table vocab;
    key_table ids;    /* id to 1: no id twice */
    key_table merges; /* (left id, right id) to (rank, merged id) */
    key_table joints; /* (last character, first character) of a merge's two sides */
    bool ascii_joints[128][128];
    int32_t byte_ids[256];     /* of the character that stands for a byte; byte_level */
    int32_t fallback_ids[256]; /* of <0xNN> */
    int32_t ascii_ids[128];    /* of the characters */
    int32_t unk_id;
    int64_t end;           /* one more than the largest id */
    ARRAY_OF(char) merged; /* the bytes of a merge's token, while it is added */
} bpe;

/* How many will come; saves time. */
QKS_MUST_CHECK qks_status bpe_reserve(bpe *b, size_t tokens, size_t merges, qks_error *error);

/* The bytes are not copied; they must be UTF-8. */
QKS_MUST_CHECK qks_status bpe_add_token(bpe *b, const char *bytes, size_t length, int64_t id,
                                        qks_error *error);

typedef struct bpe_side {
    const char *bytes;
    size_t length;
} bpe_side;
/* A merge given again takes its new rank. */
QKS_MUST_CHECK qks_status bpe_add_merge(bpe *b, bpe_side left, bpe_side right, uint32_t rank,
                                        qks_error *error);
void bpe_finish(bpe *b);
void bpe_free(bpe *b);

typedef struct bpe_scratch bpe_scratch;
QKS_MUST_CHECK qks_status bpe_scratch_open(bpe_scratch **out, qks_error *error);
void bpe_scratch_close(bpe_scratch *s); /* NULL is fine */

/* Append the ids of a word (not empty, UTF-8) to `out`. */
QKS_MUST_CHECK qks_status bpe_encode(const bpe *b, bpe_scratch *s, const char *word, size_t length,
                                     id_list *out, qks_error *error);

#endif
