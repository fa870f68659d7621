/* bpe.c: filling a model; see bpe_encode.c for its use. */
#include "text/bpe.h"

#include "base/text.h"
#include "text/normalizer.h"
#include "text/unicode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

qks_status bpe_reserve(bpe *b, size_t tokens, size_t merges, qks_error *error)
{
    qks_status status = word_reserve(&b->vocab, tokens, error);
    if (status == QKS_OK)
        status = key_reserve(&b->ids, tokens, error);
    return status == QKS_OK ? key_reserve(&b->merges, merges, error) : status;
}

qks_status bpe_add_token(bpe *b, const char *bytes, size_t length, int64_t id, qks_error *error)
{
    char name[SHOWN_SIZE];
    if (id < 0 || id >= INT32_MAX)
        return qks_fail(error, QKS_INVALID, "token '%s' has the id %lld; ids go from 0 to %d",
                        shown(bytes, length, name), (long long)id, INT32_MAX - 1);
    if (key_find(&b->ids, (uint64_t)id) != NO_VALUE)
        return qks_fail(error, QKS_INVALID, "token '%s' has the id %lld, as has another token",
                        shown(bytes, length, name), (long long)id);
    int32_t there = (int32_t)id;
    qks_status status = word_add(&b->vocab, bytes, length, &there, error);
    if (status == QKS_OK && there != id)
        status = qks_fail(error, QKS_INVALID, "token '%s' is there twice, with ids %d and %lld",
                          shown(bytes, length, name), (int)there, (long long)id);
    if (status == QKS_OK)
        status = key_put(&b->ids, (uint64_t)id, 1, error);
    if (status == QKS_OK && id >= b->end)
        b->end = id + 1;
    return status;
}

static qks_status no_such_token(bpe_side left, bpe_side right, const char *bytes, size_t length,
                                qks_error *error)
{
    char a[SHOWN_SIZE], b[SHOWN_SIZE], missing[SHOWN_SIZE];
    return qks_fail(error, QKS_INVALID, "the merge '%s %s' names '%s', which is no token",
                    shown(left.bytes, left.length, a), shown(right.bytes, right.length, b),
                    shown(bytes, length, missing));
}

/* Where the two sides meet: no merge ever joins two characters that no joint has. */
static qks_status add_joint(bpe *b, bpe_side left, bpe_side right, qks_error *error)
{
    if (left.length == 0 || right.length == 0)
        return QKS_OK;
    size_t size = 0;
    uint32_t last = utf8_decode_before(left.bytes, left.length, &size);
    uint32_t first = utf8_decode(right.bytes, &size);
    if (last < 128 && first < 128) {
        b->ascii_joints[last][first] = true;
        return QKS_OK;
    }
    return key_put(&b->joints, key_of(last, first), 1, error);
}

qks_status bpe_add_merge(bpe *b, bpe_side left, bpe_side right, uint32_t rank, qks_error *error)
{
    size_t dropped = b->prefix ? strlen(b->prefix) : 0;
    int32_t left_id = word_find(&b->vocab, left.bytes, left.length);
    int32_t right_id = word_find(&b->vocab, right.bytes, right.length);
    if (left_id == NO_ID)
        return no_such_token(left, right, left.bytes, left.length, error);
    if (right_id == NO_ID || right.length < dropped)
        return no_such_token(left, right, right.bytes, right.length, error);
    b->merged.length = 0;
    qks_status status = array_reserve(&b->merged, left.length + right.length + 1, error);
    if (status != QKS_OK)
        return status;
    size_t length = left.length + right.length - dropped;
    memcpy(b->merged.data, left.bytes, left.length);
    memcpy(b->merged.data + left.length, right.bytes + dropped, right.length - dropped);
    int32_t id = word_find(&b->vocab, b->merged.data, length);
    if (id == NO_ID)
        return no_such_token(left, right, b->merged.data, length, error);
    status = key_put(&b->merges, key_of((uint32_t)left_id, (uint32_t)right_id),
                     key_of(rank, (uint32_t)id), error);
    return status == QKS_OK ? add_joint(b, left, right, error) : status;
}

void bpe_finish(bpe *b)
{
    for (unsigned i = 0; i < 256; i++) {
        char name[sizeof "<0x00>"], character[UTF8_MAX];
        int length = snprintf(name, sizeof name, "<0x%02X>", i);
        b->fallback_ids[i] = word_find(&b->vocab, name, (size_t)length);
        size_t size = utf8_encode(byte_character((unsigned char)i), character);
        b->byte_ids[i] = word_find(&b->vocab, character, size);
        character[0] = (char)i;
        if (i < 128)
            b->ascii_ids[i] = word_find(&b->vocab, character, 1);
    }
    b->unk_id = b->unk_token ? word_find(&b->vocab, b->unk_token, strlen(b->unk_token)) : NO_ID;
    key_table_free(&b->ids);
    free(b->merged.data);
    memset(&b->merged, 0, sizeof b->merged);
}

void bpe_free(bpe *b)
{
    word_table_free(&b->vocab);
    key_table_free(&b->ids);
    key_table_free(&b->merges);
    key_table_free(&b->joints);
    free(b->merged.data);
    *b = (bpe){0};
}
