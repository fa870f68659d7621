/* bpe_encode.c: from a word to ids.
 *
 * The word's characters become symbols in a linked list; a heap gives the merge of lowest rank,
 * leftmost first. Where no merge can cross a place between two characters, the word is cut there
 * first, and each part's ids are remembered: text repeats itself. */
#include "text/bpe.h"

#include "base/text.h"
#include "text/normalizer.h"
#include "text/unicode.h"

#include <stdlib.h>
#include <string.h>

enum {
    CACHE_SETS = 1 << 15, /* of two slots each */
    CACHED_BYTES = 4 << 20,
    CACHED_WORD = 128, /* longer words are not remembered */
    WORD_MAX = 1 << 30,
};

#define NO_RANK UINT32_MAX

typedef struct symbol {
    int32_t id;             /* NO_ID: merged into another */
    int32_t previous, next; /* -1: none */
    uint32_t rank;          /* of the merge with the next one; NO_RANK: there is none */
    int32_t merged;         /* what that makes */
} symbol;

typedef struct cached {
    uint64_t hash;
    uint32_t word, ids;     /* where they are in the buffers */
    uint16_t length, count; /* length 0: empty */
} cached;

struct bpe_scratch {
    ARRAY_OF(symbol) symbols;
    ARRAY_OF(uint64_t) heap; /* (rank, symbol), the least first */
    text spelled;            /* a word in the byte-level alphabet, or a symbol with its affixes */
    cached *cache;           /* [CACHE_SETS * 2], the newer of the two first */
    ARRAY_OF(char) words;
    id_list ids;
};

qks_status bpe_scratch_open(bpe_scratch **out, qks_error *error)
{
    bpe_scratch *s = calloc(1, sizeof *s);
    if (!s)
        return out_of_memory(error, "words");
    s->spelled = text_new(WORD_MAX);
    qks_status status = memory_zeroed(&s->cache, (size_t)CACHE_SETS * 2, sizeof *s->cache, error);
    if (status == QKS_OK)
        *out = s;
    else
        bpe_scratch_close(s);
    return status;
}

void bpe_scratch_close(bpe_scratch *s)
{
    if (!s)
        return;
    free(s->symbols.data);
    free(s->heap.data);
    text_free(&s->spelled);
    free(s->cache);
    free(s->words.data);
    free(s->ids.data);
    free(s);
}

/* ---- the heap ---- */
static void sift_down(uint64_t *heap, size_t count, size_t at)
{
    uint64_t moved = heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && heap[child + 1] < heap[child])
            child++;
        if (moved <= heap[child])
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static uint64_t heap_pop(bpe_scratch *s)
{
    uint64_t *heap = s->heap.data, top = heap[0];
    heap[0] = heap[--s->heap.length];
    if (s->heap.length)
        sift_down(heap, s->heap.length, 0);
    return top;
}

static qks_status heap_push(bpe_scratch *s, uint64_t value, qks_error *error)
{
    qks_status status = array_push(&s->heap, value, error);
    uint64_t *heap = s->heap.data;
    size_t at = s->heap.length - 1;
    for (; status == QKS_OK && at > 0 && heap[(at - 1) / 2] > value; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    if (status == QKS_OK)
        heap[at] = value;
    return status;
}

/* ---- merging ---- */
/* See what symbol `at` makes with the one after it. */
static void look_up(const bpe *b, symbol *symbols, int32_t at)
{
    symbol *left = &symbols[at];
    left->rank = NO_RANK;
    if (left->next < 0)
        return;
    uint64_t found = key_find(&b->merges,
                              key_of((uint32_t)left->id, (uint32_t)symbols[left->next].id));
    if (found == NO_VALUE)
        return;
    left->rank = (uint32_t)(found >> 32);
    left->merged = (int32_t)(uint32_t)found;
}

static void fill_heap(const bpe *b, bpe_scratch *s)
{
    symbol *symbols = s->symbols.data;
    s->heap.length = 0;
    for (size_t i = 0; i < s->symbols.length; i++) {
        look_up(b, symbols, (int32_t)i);
        if (symbols[i].rank != NO_RANK)
            s->heap.data[s->heap.length++] = key_of(symbols[i].rank, (uint32_t)i);
    }
    for (size_t i = s->heap.length / 2; i-- > 0;)
        sift_down(s->heap.data, s->heap.length, i);
}

/* The pair at `at` has changed. */
static qks_status renew(const bpe *b, bpe_scratch *s, int32_t at, qks_error *error)
{
    look_up(b, s->symbols.data, at);
    uint32_t rank = s->symbols.data[at].rank;
    return rank == NO_RANK ? QKS_OK : heap_push(s, key_of(rank, (uint32_t)at), error);
}

static qks_status merge_symbols(const bpe *b, bpe_scratch *s, qks_error *error)
{
    qks_status status = array_reserve(&s->heap, s->symbols.length, error);
    if (status != QKS_OK)
        return status;
    fill_heap(b, s);
    symbol *symbols = s->symbols.data;
    while (status == QKS_OK && s->heap.length) {
        uint64_t top = heap_pop(s);
        int32_t at = (int32_t)(uint32_t)top;
        symbol *left = &symbols[at];
        if (left->id == NO_ID || left->rank != (uint32_t)(top >> 32))
            continue; /* an entry of a pair that is no more */
        symbol *right = &symbols[left->next];
        left->id = left->merged;
        left->next = right->next;
        right->id = NO_ID;
        if (left->next >= 0)
            symbols[left->next].previous = at;
        status = renew(b, s, at, error);
        if (status == QKS_OK && left->previous >= 0)
            status = renew(b, s, left->previous, error);
    }
    return status;
}

/* ---- from characters to symbols ---- */
static qks_status add_symbol(bpe_scratch *s, int32_t id, qks_error *error)
{
    int32_t at = (int32_t)s->symbols.length;
    symbol fresh = {.id = id, .previous = at - 1, .next = -1, .rank = NO_RANK};
    if (at > 0)
        s->symbols.data[at - 1].next = at;
    return array_push(&s->symbols, fresh, error);
}

static bool has_fallback(const bpe *b, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (b->fallback_ids[(unsigned char)bytes[i]] == NO_ID)
            return false;
    return b->byte_fallback;
}

/* A character without a token. The unknown token it leaves waits for the next known character, as
 * the library's does: byte tokens overtake it. */
static qks_status add_unknown(const bpe *b, bpe_scratch *s, const char *bytes, size_t length,
                              bool *waiting, qks_error *error)
{
    qks_status status = QKS_OK;
    if (has_fallback(b, bytes, length)) {
        for (size_t i = 0; status == QKS_OK && i < length; i++)
            status = add_symbol(s, b->fallback_ids[(unsigned char)bytes[i]], error);
        return status;
    }
    if (!b->unk_token)
        return QKS_OK;
    if (b->unk_id == NO_ID) {
        char character[SHOWN_SIZE], unk[SHOWN_SIZE];
        return qks_fail(
            error, QKS_INVALID, "'%s' has no token, and unk_token '%s' is not in the vocabulary",
            shown(bytes, length, character), shown(b->unk_token, strlen(b->unk_token), unk));
    }
    if (*waiting && !b->fuse_unk)
        status = add_symbol(s, b->unk_id, error);
    *waiting = true;
    return status;
}

static qks_status add_character(const bpe *b, bpe_scratch *s, int32_t id, const char *bytes,
                                size_t length, bool *waiting, qks_error *error)
{
    if (id == NO_ID)
        return add_unknown(b, s, bytes, length, waiting, error);
    qks_status status = *waiting ? add_symbol(s, b->unk_id, error) : QKS_OK;
    *waiting = false;
    return status == QKS_OK ? add_symbol(s, id, error) : status;
}

static int32_t id_of_character(const bpe *b, const char *bytes, size_t size)
{
    return size == 1 ? b->ascii_ids[(unsigned char)*bytes] : word_find(&b->vocab, bytes, size);
}

/* A character with what the model puts before it inside a word and behind it at the end. */
static qks_status add_with_affixes(const bpe *b, bpe_scratch *s, const char *bytes, size_t size,
                                   bool first, bool last, bool *waiting, qks_error *error)
{
    text *t = &s->spelled;
    text_clear(t);
    if (!first)
        text_add(t, b->prefix);
    text_append(t, bytes, size);
    if (last)
        text_add(t, b->suffix);
    qks_status status = text_status(t, "a symbol", error);
    if (status != QKS_OK)
        return status;
    int32_t id = word_find(&b->vocab, t->data, t->length);
    return add_character(b, s, id, t->data, t->length, waiting, error);
}

static bool has_affixes(const bpe *b)
{
    return *b->prefix || *b->suffix;
}

static qks_status add_characters(const bpe *b, bpe_scratch *s, const char *word, size_t length,
                                 qks_error *error)
{
    bool waiting = false, affixes = has_affixes(b);
    qks_status status = QKS_OK;
    for (size_t at = 0, size = 0; status == QKS_OK && at < length; at += size) {
        const char *c = word + at;
        if (b->byte_level) {
            char spelled[UTF8_MAX] = "";
            size_t spelled_size = utf8_encode(byte_character((unsigned char)*c), spelled);
            size = 1;
            status = add_character(b, s, b->byte_ids[(unsigned char)*c], spelled, spelled_size,
                                   &waiting, error);
            continue;
        }
        size = utf8_size(*c);
        if (affixes)
            status = add_with_affixes(b, s, c, size, at == 0, at + size == length, &waiting, error);
        else
            status = add_character(b, s, id_of_character(b, c, size), c, size, &waiting, error);
    }
    if (status == QKS_OK && waiting)
        status = add_symbol(s, b->unk_id, error);
    return status;
}

/* The token that the whole word is, or NO_ID. */
static int32_t id_of_word(const bpe *b, bpe_scratch *s, const char *word, size_t length)
{
    if (!b->byte_level)
        return word_find(&b->vocab, word, length);
    text_clear(&s->spelled);
    append_byte_characters(&s->spelled, word, length);
    return word_find(&b->vocab, text_string(&s->spelled), s->spelled.length);
}

static qks_status encode_part(const bpe *b, bpe_scratch *s, const char *word, size_t length,
                              id_list *out, qks_error *error)
{
    int32_t whole = b->byte_level && b->ignore_merges ? id_of_word(b, s, word, length) : NO_ID;
    if (whole != NO_ID)
        return array_push(out, whole, error);
    s->symbols.length = 0;
    qks_status status = add_characters(b, s, word, length, error);
    if (status == QKS_OK)
        status = merge_symbols(b, s, error);
    if (status == QKS_OK)
        status = array_reserve(out, s->symbols.length, error);
    for (size_t i = 0; status == QKS_OK && i < s->symbols.length; i++)
        if (s->symbols.data[i].id != NO_ID)
            out->data[out->length++] = s->symbols.data[i].id;
    return status;
}

/* ---- remembering ---- */
static const cached *recall(const bpe_scratch *s, const char *word, size_t length, uint64_t hash)
{
    const cached *set = &s->cache[hash % CACHE_SETS * 2];
    for (size_t way = 0; way < 2; way++)
        if (set[way].hash == hash && set[way].length == length &&
            memcmp(s->words.data + set[way].word, word, length) == 0)
            return &set[way];
    return NULL;
}

static qks_status remember(bpe_scratch *s, const char *word, size_t length, uint64_t hash,
                           const int32_t *ids, size_t count, qks_error *error)
{
    if (s->words.length + length > CACHED_BYTES) {
        memset(s->cache, 0, sizeof *s->cache * CACHE_SETS * 2);
        s->words.length = s->ids.length = 0;
    }
    qks_status status = array_reserve(&s->words, length, error);
    if (status == QKS_OK)
        status = array_reserve(&s->ids, count, error);
    if (status != QKS_OK)
        return status;
    cached *set = &s->cache[hash % CACHE_SETS * 2];
    set[1] = set[0];
    set[0] = (cached){hash, (uint32_t)s->words.length, (uint32_t)s->ids.length, (uint16_t)length,
                      (uint16_t)count};
    memcpy(s->words.data + s->words.length, word, length);
    s->words.length += length;
    for (size_t i = 0; i < count; i++)
        s->ids.data[s->ids.length++] = ids[i];
    return QKS_OK;
}

static qks_status encode_cached(const bpe *b, bpe_scratch *s, const char *word, size_t length,
                                id_list *out, qks_error *error)
{
    if (length > CACHED_WORD)
        return encode_part(b, s, word, length, out, error);
    uint64_t hash = quick_hash(word, length);
    const cached *known = recall(s, word, length, hash);
    if (!known) {
        size_t before = out->length;
        qks_status status = encode_part(b, s, word, length, out, error);
        if (status != QKS_OK)
            return status;
        return remember(s, word, length, hash, out->data + before, out->length - before, error);
    }
    qks_status status = array_reserve(out, known->count, error);
    for (size_t i = 0; status == QKS_OK && i < known->count; i++)
        out->data[out->length++] = s->ids.data[known->ids + i];
    return status;
}

/* ---- words ---- */
/* Can a merge join these two? A character without a token can be part of one with its neighbour:
 * unknown ones fuse. */
static bool may_join(const bpe *b, const char *left, size_t left_size, const char *right)
{
    size_t right_size = utf8_size(*right);
    if (left_size == 1 && right_size == 1 &&
        b->ascii_joints[(unsigned char)*left][(unsigned char)*right])
        return true;
    if (id_of_character(b, left, left_size) == NO_ID ||
        id_of_character(b, right, right_size) == NO_ID)
        return true;
    return (left_size > 1 || right_size > 1) &&
           key_find(&b->joints, key_of(utf8_decode(left, &left_size),
                                       utf8_decode(right, &right_size))) != NO_VALUE;
}

qks_status bpe_encode(const bpe *b, bpe_scratch *s, const char *word, size_t length, id_list *out,
                      qks_error *error)
{
    if (length > WORD_MAX)
        return qks_fail(error, QKS_UNSUPPORTED, "a word of %zu bytes is too long", length);
    if (b->byte_level)
        return encode_cached(b, s, word, length, out, error);
    int32_t whole = b->ignore_merges ? id_of_word(b, s, word, length) : NO_ID;
    if (whole != NO_ID)
        return array_push(out, whole, error);
    if (has_affixes(b))
        return encode_cached(b, s, word, length, out, error);
    size_t start = 0, size = 0;
    qks_status status = QKS_OK;
    for (size_t at = 0; status == QKS_OK && at < length; at += size) {
        size = utf8_size(word[at]);
        if (at + size < length && may_join(b, word + at, size, word + at + size))
            continue;
        status = encode_cached(b, s, word + start, at + size - start, out, error);
        start = at + size;
    }
    return status;
}
