/* table.h: the two hash tables of the tokenizers: words to ids, and 64-bit keys to 64-bit values
 * (pairs of tokens to merges, edges of a trie). Open addressing; nothing is ever taken out. */
#ifndef QKS_TEXT_TABLE_H
#define QKS_TEXT_TABLE_H

#include "qkscope/status.h"

#include <stddef.h>
#include <stdint.h>

/* For tables in memory only: the same on one machine, quick on short words. */
uint64_t quick_hash(const char *bytes, size_t length);

/* ---- words to ids ---- */
typedef struct word_slot {
    const char *bytes; /* NULL: free */
    uint32_t length;
    int32_t id;
} word_slot;

typedef struct word_table {
    word_slot *slots;
    size_t count, size; /* size: a power of two, or 0 */
} word_table;

enum { NO_ID = -1 };

/* Room for `count` words in all, so that adding them need not move any. */
QKS_MUST_CHECK qks_status word_reserve(word_table *t, size_t count, qks_error *error);
int32_t word_find(const word_table *t, const char *bytes, size_t length); /* NO_ID: not there */
/* The bytes are not copied. `*id` is what the word has now: its old id if it was there already. */
QKS_MUST_CHECK qks_status word_add(word_table *t, const char *bytes, size_t length, int32_t *id,
                                   qks_error *error);
void word_table_free(word_table *t);

/* ---- keys to values ---- */
typedef struct key_slot {
    uint64_t key, value;
} key_slot;

typedef struct key_table {
    key_slot *slots;
    size_t count, size;
} key_table;

#define NO_VALUE UINT64_MAX /* never put in; marks a free slot */

static inline uint64_t key_of(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

QKS_MUST_CHECK qks_status key_reserve(key_table *t, size_t count, qks_error *error);
uint64_t key_find(const key_table *t, uint64_t key); /* NO_VALUE: not there */
/* In place of the old value, if there is one. */
QKS_MUST_CHECK qks_status key_put(key_table *t, uint64_t key, uint64_t value, qks_error *error);
void key_table_free(key_table *t);

#endif
