/* gguf_vocab.c: a bounded walk over GGUF's keys and values (little-endian, versions 2 and 3). */
#include "text/gguf_vocab.h"

#include "base/file.h"
#include "base/utf8.h"
#include "text/unicode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_SIZE = 1 << 16, STRING_MAX = 1 << 20, KEY_MAX = 1 << 16, OLDEST = 2, NEWEST = 3 };

typedef enum value_type {
    TYPE_U8,
    TYPE_I8,
    TYPE_U16,
    TYPE_I16,
    TYPE_U32,
    TYPE_I32,
    TYPE_F32,
    TYPE_BOOL,
    TYPE_STRING,
    TYPE_ARRAY,
    TYPE_U64,
    TYPE_I64,
    TYPE_F64,
    TYPES,
} value_type;

static const uint8_t SIZES[TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

typedef struct cursor {
    file_reader file;
    uint64_t at; /* what is read up to */
    unsigned char buffer[BUFFER_SIZE];
    size_t used, filled;
    const char *key; /* in hand, for messages */
} cursor;

/* ---- bytes ---- */
static uint64_t bytes_left(const cursor *c)
{
    return c->file.size - c->at;
}

static qks_status too_short(const cursor *c, qks_error *error)
{
    (void)qks_fail(error, QKS_INVALID, "the file ends in the middle of %s",
                   c->key ? c->key : "its header");
    return QKS_INVALID; /* where static analysis sees it */
}

static qks_status fill_buffer(cursor *c, qks_error *error)
{
    size_t size = bytes_left(c) < BUFFER_SIZE ? (size_t)bytes_left(c) : BUFFER_SIZE;
    c->used = c->filled = 0;
    qks_status status = file_read_at(&c->file, c->at, c->buffer, size, error);
    if (status == QKS_OK)
        c->filled = size;
    return status;
}

static qks_status take(cursor *c, void *out, size_t size, qks_error *error)
{
    unsigned char *to = out;
    if (size > bytes_left(c))
        return too_short(c, error);
    while (size) {
        qks_status status = c->used == c->filled ? fill_buffer(c, error) : QKS_OK;
        if (status != QKS_OK)
            return status;
        size_t some = c->filled - c->used < size ? c->filled - c->used : size;
        memcpy(to, c->buffer + c->used, some);
        to += some;
        size -= some;
        c->used += some;
        c->at += some;
    }
    return QKS_OK;
}

static qks_status skip(cursor *c, uint64_t size, qks_error *error)
{
    if (size > bytes_left(c))
        return too_short(c, error);
    c->at += size;
    if (size <= c->filled - c->used)
        c->used += (size_t)size;
    else
        c->used = c->filled = 0;
    return QKS_OK;
}

static qks_status take_length(cursor *c, uint64_t most, uint64_t *length, qks_error *error)
{
    qks_status status = take(c, length, sizeof *length, error);
    if (status == QKS_OK && *length > most)
        status = qks_fail(error, QKS_INVALID, "a string of %llu bytes in %s is too long",
                          (unsigned long long)*length, c->key ? c->key : "the header");
    if (status == QKS_OK && *length > bytes_left(c))
        status = too_short(c, error);
    return status;
}

static qks_status take_string(cursor *c, arena *a, uint64_t most, gguf_string *out,
                              qks_error *error)
{
    uint64_t length = 0;
    qks_status status = take_length(c, most, &length, error);
    if (status != QKS_OK)
        return status;
    char *bytes = arena_alloc(a, (size_t)length + 1, 1);
    if (!bytes)
        return out_of_memory(error, "vocabulary");
    status = take(c, bytes, (size_t)length, error);
    *out = (gguf_string){bytes, (size_t)length};
    if (status == QKS_OK && !utf8_valid(bytes, (size_t)length))
        status = qks_fail(error, QKS_INVALID, "a string in %s is not UTF-8",
                          c->key ? c->key : "the header");
    return status;
}

/* ---- values ---- */
static qks_status check_type(const cursor *c, uint32_t type, qks_error *error)
{
    if (type < TYPES)
        return QKS_OK;
    (void)qks_fail(error, QKS_INVALID, "%s has the unknown type %u", c->key, (unsigned)type);
    return QKS_INVALID;
}

/* The type of an array's elements and their number, which the rest of the file can hold. */
static qks_status take_array(cursor *c, uint32_t *type, uint64_t *count, qks_error *error)
{
    qks_status status = take(c, type, sizeof *type, error);
    if (status == QKS_OK)
        status = take(c, count, sizeof *count, error);
    if (status == QKS_OK)
        status = check_type(c, *type, error);
    if (status != QKS_OK)
        return status;
    if (*type == TYPE_ARRAY)
        return qks_fail(error, QKS_UNSUPPORTED, "%s is an array of arrays", c->key);
    uint64_t least = *type == TYPE_STRING ? sizeof(uint64_t) : SIZES[*type];
    return *count > bytes_left(c) / least ? too_short(c, error) : QKS_OK;
}

static qks_status skip_value(cursor *c, uint32_t type, qks_error *error)
{
    uint64_t count = 1;
    qks_status status = type == TYPE_ARRAY ? take_array(c, &type, &count, error) : QKS_OK;
    if (status != QKS_OK)
        return status;
    if (type != TYPE_STRING)
        return skip(c, count * SIZES[type], error);
    for (uint64_t i = 0; status == QKS_OK && i < count; i++) {
        uint64_t length = 0;
        status = take_length(c, UINT64_MAX, &length, error);
        if (status == QKS_OK)
            status = skip(c, length, error);
    }
    return status;
}

/* A number of any type: as a double, and as a whole number (0 if it is none). */
static qks_status take_number(cursor *c, uint32_t type, double *real, int64_t *whole,
                              qks_error *error)
{
    unsigned char raw[8] = {0};
    if (type == TYPE_STRING || type == TYPE_ARRAY)
        return qks_fail(error, QKS_INVALID, "%s must be a number", c->key);
    qks_status status = take(c, raw, SIZES[type], error);
    if (status != QKS_OK)
        return status;
    float single = 0;
    uint64_t bits = 0;
    memcpy(&single, raw, sizeof single);
    memcpy(real, raw, sizeof *real);
    memcpy(&bits, raw, sizeof bits);
    if (type == TYPE_F32 || type == TYPE_F64) {
        *real = type == TYPE_F32 ? (double)single : *real;
        *whole = 0;
        return QKS_OK;
    }
    bool is_signed = type == TYPE_I8 || type == TYPE_I16 || type == TYPE_I32 || type == TYPE_I64;
    unsigned unused = 64 - 8U * SIZES[type];
    *whole = is_signed          ? (int64_t)(bits << unused) >> unused
             : bits > INT64_MAX ? INT64_MAX
                                : (int64_t)bits;
    *real = (double)*whole;
    return QKS_OK;
}

static qks_status read_strings(cursor *c, gguf_vocab *v, uint32_t type, gguf_strings *out,
                               qks_error *error)
{
    uint64_t count = 0;
    uint32_t element = TYPES;
    qks_status status = type == TYPE_ARRAY ? take_array(c, &element, &count, error) : QKS_OK;
    if (status == QKS_OK && element != TYPE_STRING)
        status = qks_fail(error, QKS_INVALID, "%s must be an array of strings", c->key);
    for (uint64_t i = 0; status == QKS_OK && i < count; i++) {
        gguf_string string;
        status = take_string(c, v->memory, STRING_MAX, &string, error);
        if (status == QKS_OK)
            status = array_push(out, string, error);
    }
    return status;
}

static qks_status read_numbers(cursor *c, gguf_vocab *v, uint32_t type, bool scores,
                               qks_error *error)
{
    uint64_t count = 0;
    uint32_t element = TYPES;
    qks_status status = type == TYPE_ARRAY ? take_array(c, &element, &count, error) : QKS_OK;
    if (status == QKS_OK && type != TYPE_ARRAY)
        status = qks_fail(error, QKS_INVALID, "%s must be an array of numbers", c->key);
    for (uint64_t i = 0; status == QKS_OK && i < count; i++) {
        double real = 0;
        int64_t whole = 0;
        status = take_number(c, element, &real, &whole, error);
        if (status == QKS_OK && scores && !isfinite(real))
            status = qks_fail(error, QKS_INVALID, "%s: the score of token %llu is not finite",
                              c->key, (unsigned long long)i);
        if (status == QKS_OK)
            status = scores ? array_push(&v->scores, real, error)
                            : array_push(&v->types, whole, error);
    }
    return status;
}

static qks_status read_name(cursor *c, gguf_vocab *v, uint32_t type, const char **name,
                            qks_error *error)
{
    gguf_string string = {0};
    if (type != TYPE_STRING)
        return qks_fail(error, QKS_INVALID, "%s must be a string", c->key);
    qks_status status = take_string(c, v->memory, KEY_MAX, &string, error);
    *name = string.bytes;
    return status;
}

static qks_status read_whole(cursor *c, uint32_t type, int64_t *out, qks_error *error)
{
    double real = 0;
    if (type == TYPE_F32 || type == TYPE_F64)
        return qks_fail(error, QKS_INVALID, "%s must be a whole number", c->key);
    qks_status status = take_number(c, type, &real, out, error);
    if (status == QKS_OK && *out < 0)
        *out = GGUF_NOT_SAID;
    return status;
}

/* ---- keys ---- */
static qks_status read_value(cursor *c, gguf_vocab *v, const char *name, uint32_t type,
                             qks_error *error)
{
    const struct {
        const char *name;
        int64_t *value;
    } wholes[] = {{"bos_token_id", &v->bos},      {"eos_token_id", &v->eos},
                  {"unknown_token_id", &v->unk},  {"add_bos_token", &v->add_bos},
                  {"add_eos_token", &v->add_eos}, {"add_space_prefix", &v->add_space_prefix}};
    if (strcmp(name, "tokens") == 0 && v->tokens.length == 0)
        return read_strings(c, v, type, &v->tokens, error);
    if (strcmp(name, "merges") == 0 && v->merges.length == 0)
        return read_strings(c, v, type, &v->merges, error);
    if (strcmp(name, "scores") == 0 && v->scores.length == 0)
        return read_numbers(c, v, type, true, error);
    if (strcmp(name, "token_type") == 0 && v->types.length == 0)
        return read_numbers(c, v, type, false, error);
    if (strcmp(name, "model") == 0)
        return read_name(c, v, type, &v->model, error);
    if (strcmp(name, "pre") == 0)
        return read_name(c, v, type, &v->pre, error);
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        if (strcmp(name, wholes[i].name) == 0)
            return read_whole(c, type, wholes[i].value, error);
    v->has_charsmap |= strcmp(name, "precompiled_charsmap") == 0;
    return skip_value(c, type, error);
}

static qks_status read_pair(cursor *c, gguf_vocab *v, qks_error *error)
{
    static const char PREFIX[] = "tokenizer.ggml.";
    gguf_string key = {0};
    uint32_t type = TYPES;
    arena names = {0};
    c->key = NULL;
    qks_status status = take_string(c, &names, KEY_MAX, &key, error);
    if (status == QKS_OK)
        status = take(c, &type, sizeof type, error);
    if (status == QKS_OK) {
        c->key = key.bytes;
        status = check_type(c, type, error);
    }
    if (status == QKS_OK && strncmp(key.bytes, PREFIX, sizeof PREFIX - 1) == 0)
        status = read_value(c, v, key.bytes + sizeof PREFIX - 1, type, error);
    else if (status == QKS_OK)
        status = skip_value(c, type, error);
    c->key = NULL;
    arena_free(&names);
    return status;
}

static qks_status read_header(cursor *c, uint64_t *pairs, qks_error *error)
{
    struct {
        char magic[4];
        uint32_t version;
        uint64_t tensors, pairs;
    } header = {0};
    qks_status status = take(c, &header, sizeof header, error);
    if (status != QKS_OK)
        return status;
    if (memcmp(header.magic, "GGUF", sizeof header.magic) != 0)
        return qks_fail(error, QKS_INVALID, "not a GGUF file");
    if (header.version < OLDEST || header.version > NEWEST)
        return qks_fail(error, QKS_UNSUPPORTED, "GGUF version %u is not supported; %d and %d are",
                        (unsigned)header.version, OLDEST, NEWEST);
    *pairs = header.pairs; /* each of 13 bytes at least; the walk ends with the file */
    return header.pairs > bytes_left(c) / 13 ? too_short(c, error) : QKS_OK;
}

qks_status gguf_vocab_read(gguf_vocab *v, const char *path, arena *memory, qks_error *error)
{
    *v = (gguf_vocab){.memory = memory,
                      .bos = GGUF_NOT_SAID,
                      .eos = GGUF_NOT_SAID,
                      .unk = GGUF_NOT_SAID,
                      .add_bos = GGUF_NOT_SAID,
                      .add_eos = GGUF_NOT_SAID,
                      .add_space_prefix = GGUF_NOT_SAID};
    cursor *c = calloc(1, sizeof *c);
    if (!c)
        return out_of_memory(error, "GGUF");
    uint64_t pairs = 0;
    qks_status status = file_open(&c->file, path, error);
    if (status != QKS_OK) {
        free(c);
        return status;
    }
    status = read_header(c, &pairs, error);
    for (uint64_t i = 0; status == QKS_OK && i < pairs; i++)
        status = read_pair(c, v, error);
    file_close(&c->file);
    free(c);
    return status;
}

void gguf_vocab_close(gguf_vocab *v)
{
    free(v->tokens.data);
    free(v->merges.data);
    free(v->scores.data);
    free(v->types.data);
    *v = (gguf_vocab){0};
}
