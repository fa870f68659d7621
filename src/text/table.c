/* table.c: hash tables with linear probing, at most half full. */
#include "text/table.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 64 };

static const uint64_t ODD = 0x9E3779B97F4A7C15U; /* 2^64 / golden ratio: spreads low bits upwards */

static uint64_t mixed(uint64_t h)
{
    h ^= h >> 32;
    h *= ODD;
    return h ^ h >> 29;
}

uint64_t quick_hash(const char *bytes, size_t length)
{
    uint64_t h = length * ODD, word = 0;
    for (; length >= sizeof word; bytes += sizeof word, length -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        h = mixed(h ^ word) * ODD;
    }
    word = 0;
    memcpy(&word, bytes, length);
    return mixed((h ^ word) * ODD);
}

/* The size that a table of `count` entries needs; 0: it has it. */
static size_t grown_size(size_t count, size_t size)
{
    size_t grown = size ? size : FIRST_SIZE;
    while (grown / 2 < count && grown <= SIZE_MAX / 4)
        grown *= 2;
    return grown == size ? 0 : grown;
}

/* ---- words to ids ---- */
static word_slot *word_place(const word_table *t, const char *bytes, size_t length)
{
    size_t mask = t->size - 1, at = quick_hash(bytes, length) & mask;
    while (t->slots[at].bytes &&
           (t->slots[at].length != length || memcmp(t->slots[at].bytes, bytes, length) != 0))
        at = (at + 1) & mask;
    return &t->slots[at];
}

static qks_status word_grow(word_table *t, size_t size, qks_error *error)
{
    word_table grown = {.count = t->count, .size = size};
    qks_status status = memory_zeroed(&grown.slots, size, sizeof *grown.slots, error);
    if (status != QKS_OK)
        return status;
    for (size_t i = 0; i < t->size; i++)
        if (t->slots[i].bytes)
            *word_place(&grown, t->slots[i].bytes, t->slots[i].length) = t->slots[i];
    free(t->slots);
    *t = grown;
    return QKS_OK;
}

qks_status word_reserve(word_table *t, size_t count, qks_error *error)
{
    size_t size = grown_size(count, t->size);
    return size ? word_grow(t, size, error) : QKS_OK;
}

int32_t word_find(const word_table *t, const char *bytes, size_t length)
{
    if (t->size == 0)
        return NO_ID;
    const word_slot *slot = word_place(t, bytes, length);
    return slot->bytes ? slot->id : NO_ID;
}

qks_status word_add(word_table *t, const char *bytes, size_t length, int32_t *id, qks_error *error)
{
    if (length > UINT32_MAX)
        return qks_fail(error, QKS_INVALID, "a token of %zu bytes is too long", length);
    qks_status status = word_reserve(t, t->count + 1, error);
    if (status != QKS_OK)
        return status;
    word_slot *slot = word_place(t, bytes, length);
    if (!slot->bytes) {
        *slot = (word_slot){bytes, (uint32_t)length, *id};
        t->count++;
    }
    *id = slot->id;
    return QKS_OK;
}

void word_table_free(word_table *t)
{
    free(t->slots);
    *t = (word_table){0};
}

/* ---- keys to values ---- */
static key_slot *key_place(const key_table *t, uint64_t key)
{
    size_t mask = t->size - 1, at = mixed(key * ODD) & mask;
    while (t->slots[at].value != NO_VALUE && t->slots[at].key != key)
        at = (at + 1) & mask;
    return &t->slots[at];
}

static qks_status key_grow(key_table *t, size_t size, qks_error *error)
{
    key_table grown = {.count = t->count, .size = size};
    qks_status status = memory_zeroed(&grown.slots, size, sizeof *grown.slots, error);
    if (status != QKS_OK)
        return status;
    for (size_t i = 0; i < size; i++)
        grown.slots[i].value = NO_VALUE;
    for (size_t i = 0; i < t->size; i++)
        if (t->slots[i].value != NO_VALUE)
            *key_place(&grown, t->slots[i].key) = t->slots[i];
    free(t->slots);
    *t = grown;
    return QKS_OK;
}

qks_status key_reserve(key_table *t, size_t count, qks_error *error)
{
    size_t size = grown_size(count, t->size);
    return size ? key_grow(t, size, error) : QKS_OK;
}

uint64_t key_find(const key_table *t, uint64_t key)
{
    return t->size ? key_place(t, key)->value : NO_VALUE;
}

qks_status key_put(key_table *t, uint64_t key, uint64_t value, qks_error *error)
{
    qks_status status = key_reserve(t, t->count + 1, error);
    if (status != QKS_OK)
        return status;
    key_slot *slot = key_place(t, key);
    t->count += slot->value == NO_VALUE;
    *slot = (key_slot){key, value};
    return QKS_OK;
}

void key_table_free(key_table *t)
{
    free(t->slots);
    *t = (key_table){0};
}
