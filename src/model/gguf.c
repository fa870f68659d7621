/* gguf.c: a GGUF header, walked with every length checked first. */
#include "model/gguf.h"

#include <ggml.h>
#include <gguf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEYS_MAX = 1 << 16,
    TENSORS_MAX = 1 << 20,
    KEY_LENGTH_MAX = 65535,
    NAME_LENGTH_MAX = 255,
    DEPTH_MAX = 4, /* arrays in arrays */
    ALIGNMENT_MAX = 1 << 16,
};

typedef struct cursor {
    const unsigned char *bytes;
    size_t size, at;
    const char *path;
} cursor;

static qks_status cut_short(const cursor *c, const char *what, qks_error *error)
{
    return qks_fail(error, QKS_INVALID,
                    "'%s' ends at byte %zu, within '%.100s'; the file is cut short or damaged",
                    c->path, c->size, what);
}

static const unsigned char *take(cursor *c, uint64_t length)
{
    if (length > c->size - c->at)
        return NULL;
    const unsigned char *bytes = c->bytes + c->at;
    c->at += (size_t)length;
    return bytes;
}

static bool take_u32(cursor *c, uint32_t *value)
{
    const unsigned char *bytes = take(c, sizeof *value);
    if (bytes)
        memcpy(value, bytes, sizeof *value);
    return bytes != NULL;
}

static bool take_u64(cursor *c, uint64_t *value)
{
    const unsigned char *bytes = take(c, sizeof *value);
    if (bytes)
        memcpy(value, bytes, sizeof *value);
    return bytes != NULL;
}

/* A name: bounded, without NUL. */
static qks_status take_name(cursor *c, size_t maximum, const char *what, arena *a,
                            const char **name, qks_error *error)
{
    uint64_t length = 0;
    if (!take_u64(c, &length))
        return cut_short(c, what, error);
    if (length == 0 || length > maximum)
        return qks_fail(error, QKS_INVALID, "'%s': %s of %llu bytes; 1 to %zu are allowed", c->path,
                        what, (unsigned long long)length, maximum);
    const unsigned char *bytes = take(c, length);
    if (!bytes)
        return cut_short(c, what, error);
    if (memchr(bytes, '\0', (size_t)length))
        return qks_fail(error, QKS_INVALID, "'%s': %s with a NUL byte", c->path, what);
    *name = arena_copy(a, (const char *)bytes, (size_t)length);
    return *name ? QKS_OK : out_of_memory(error, what);
}

/* ---- values ---- */

/* Bytes of a value of a type; 0: not of one size (strings, arrays), or no type at all. */
static size_t type_bytes(uint32_t type)
{
    static const size_t sizes[GGUF_TYPE_COUNT] = {
        [GGUF_TYPE_UINT8] = 1,   [GGUF_TYPE_INT8] = 1,   [GGUF_TYPE_UINT16] = 2,
        [GGUF_TYPE_INT16] = 2,   [GGUF_TYPE_UINT32] = 4, [GGUF_TYPE_INT32] = 4,
        [GGUF_TYPE_FLOAT32] = 4, [GGUF_TYPE_BOOL] = 1,   [GGUF_TYPE_UINT64] = 8,
        [GGUF_TYPE_INT64] = 8,   [GGUF_TYPE_FLOAT64] = 8};
    return type < GGUF_TYPE_COUNT ? sizes[type] : 0;
}

static qks_status skip_elements(cursor *c, uint32_t type, uint64_t count, const char *key,
                                int depth, qks_error *error);

static qks_status skip_element(cursor *c, uint32_t type, const char *key, int depth,
                               qks_error *error)
{
    uint64_t length = 0;
    uint32_t inner = 0;
    if (type == GGUF_TYPE_STRING)
        return take_u64(c, &length) && take(c, length) ? QKS_OK : cut_short(c, key, error);
    if (!take_u32(c, &inner) || !take_u64(c, &length))
        return cut_short(c, key, error);
    return skip_elements(c, inner, length, key, depth + 1, error);
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX */
static qks_status skip_elements(cursor *c, uint32_t type, uint64_t count, const char *key,
                                int depth, qks_error *error)
{
    size_t each = type_bytes(type);
    if (each) {
        uint64_t total = 0;
        bool fits = !__builtin_mul_overflow(count, (uint64_t)each, &total) && take(c, total);
        return fits ? QKS_OK : cut_short(c, key, error);
    }
    if (type != GGUF_TYPE_STRING && type != GGUF_TYPE_ARRAY)
        return qks_fail(error, QKS_INVALID, "'%s': key '%.100s' has the unknown type %u", c->path,
                        key, type);
    if (type == GGUF_TYPE_ARRAY && depth == DEPTH_MAX)
        return qks_fail(error, QKS_INVALID, "'%s': key '%.100s': arrays within arrays, too deep",
                        c->path, key);
    qks_status status = QKS_OK;
    for (uint64_t i = 0; status == QKS_OK && i < count; i++)
        status = skip_element(c, type, key, depth, error); /* each takes bytes, so this ends */
    return status;
}

static qks_status take_value(cursor *c, arena *a, gguf_value *v, qks_error *error)
{
    *v = (gguf_value){.count = 1};
    qks_status status = take_name(c, KEY_LENGTH_MAX, "a key", a, &v->key, error);
    if (status != QKS_OK)
        return status;
    if (!take_u32(c, &v->type))
        return cut_short(c, v->key, error);
    v->is_array = v->type == GGUF_TYPE_ARRAY;
    if (v->is_array && (!take_u32(c, &v->type) || !take_u64(c, &v->count)))
        return cut_short(c, v->key, error);
    v->bytes = c->bytes + c->at;
    return skip_elements(c, v->type, v->count, v->key, v->is_array ? 1 : 0, error);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const gguf_value *)a)->key, ((const gguf_value *)b)->key);
}

static qks_status take_values(cursor *c, uint64_t count, arena *a, gguf_header *h, qks_error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        gguf_value v;
        qks_status status = take_value(c, a, &v, error);
        if (status == QKS_OK)
            status = array_push(&h->values, v, error);
        if (status != QKS_OK)
            return status;
    }
    if (count)
        qsort(h->values.data, h->values.length, sizeof *h->values.data, by_key);
    for (size_t i = 1; i < h->values.length; i++)
        if (by_key(&h->values.data[i - 1], &h->values.data[i]) == 0)
            return qks_fail(error, QKS_INVALID, "'%s': key '%.100s' is there twice", c->path,
                            h->values.data[i].key);
    return QKS_OK;
}

/* ---- tensors ---- */

/* GGUF counts from the contiguous dimension; a tensor's shape ends with it. */
static void set_shape(tensor *t, const uint64_t *dimensions)
{
    t->shape[0] = (int64_t)dimensions[t->n_dimensions == 2 ? 1 : 0];
    t->shape[1] = t->n_dimensions == 2 ? (int64_t)dimensions[0] : 0;
}

static qks_status set_type(const cursor *c, tensor *t, uint32_t type, qks_error *error)
{
    const struct ggml_type_traits *traits = type < GGML_TYPE_COUNT
                                                ? ggml_get_type_traits((enum ggml_type)type)
                                                : NULL;
    if (!traits || traits->blck_size <= 0 || traits->type_size == 0)
        return qks_fail(error, QKS_UNSUPPORTED,
                        "'%s': tensor '%.200s' has the unknown quantisation type %u", c->path,
                        t->name, type);
    t->type_name = traits->type_name;
    t->type = type == GGML_TYPE_F32 || traits->to_float ? (int)type : -1;
    return QKS_OK;
}

/* Dimensions and type in bytes, without overflow, in whole blocks. */
static qks_status set_bytes(const cursor *c, tensor *t, uint32_t type, const uint64_t *dimensions,
                            qks_error *error)
{
    uint64_t block = (uint64_t)ggml_blck_size((enum ggml_type)type), elements = 1, bytes = 0;
    bool fits = dimensions[0] % block == 0;
    for (int i = 0; fits && i < t->n_dimensions; i++)
        fits = dimensions[i] > 0 && dimensions[i] <= INT64_MAX &&
               !__builtin_mul_overflow(elements, dimensions[i], &elements);
    fits = fits && !__builtin_mul_overflow(elements / block,
                                           (uint64_t)ggml_type_size((enum ggml_type)type), &bytes);
    if (!fits || bytes > SIZE_MAX)
        return qks_fail(error, QKS_INVALID,
                        "'%s': tensor '%.200s' has impossible dimensions for type %s", c->path,
                        t->name, t->type_name);
    t->bytes = (size_t)bytes;
    return QKS_OK;
}

/* `*offset` is from the beginning of the data. */
static qks_status take_tensor(cursor *c, arena *a, tensor *t, uint64_t *offset, qks_error *error)
{
    uint64_t dimensions[GGML_MAX_DIMS] = {1, 1, 1, 1};
    uint32_t count = 0, type = 0;
    *t = (tensor){.file = c->path};
    qks_status status = take_name(c, NAME_LENGTH_MAX, "a tensor's name", a, &t->name, error);
    if (status != QKS_OK)
        return status;
    if (!take_u32(c, &count))
        return cut_short(c, t->name, error);
    if (count == 0 || count > GGML_MAX_DIMS)
        return qks_fail(error, QKS_INVALID, "'%s': tensor '%.200s' has %u dimensions", c->path,
                        t->name, count);
    t->n_dimensions = (int)count;
    bool whole = true;
    for (uint32_t i = 0; i < count; i++)
        whole = whole && take_u64(c, &dimensions[i]);
    if (!whole || !take_u32(c, &type) || !take_u64(c, offset))
        return cut_short(c, t->name, error);
    status = set_type(c, t, type, error);
    if (status == QKS_OK)
        status = set_bytes(c, t, type, dimensions, error);
    set_shape(t, dimensions);
    return status;
}

static int by_place(const void *a, const void *b)
{
    const tensor *one = a, *other = b;
    return (one->data > other->data) - (one->data < other->data);
}

static qks_status place_tensor(const cursor *c, tensor *t, size_t start, uint64_t alignment,
                               uint64_t offset, qks_error *error)
{
    size_t room = c->size - start;
    if (offset % alignment != 0)
        return qks_fail(error, QKS_INVALID, "'%s': tensor '%.200s' is not aligned to %llu bytes",
                        c->path, t->name, (unsigned long long)alignment);
    if (offset > room || t->bytes > room - offset)
        return qks_fail(error, QKS_INVALID,
                        "'%s': tensor '%.200s' (%zu bytes at %llu) is outside of the file's %zu "
                        "bytes of data; the file is cut short or damaged",
                        c->path, t->name, t->bytes, (unsigned long long)offset, room);
    t->data = c->bytes + start + (size_t)offset;
    return QKS_OK;
}

static qks_status check_overlap(const cursor *c, tensor *tensors, size_t count, qks_error *error)
{
    if (count)
        qsort(tensors, count, sizeof *tensors, by_place);
    for (size_t i = 1; i < count; i++)
        if (tensors[i].data < tensors[i - 1].data + tensors[i - 1].bytes)
            return qks_fail(error, QKS_INVALID, "'%s': tensor '%.200s' overlaps '%.200s'", c->path,
                            tensors[i].name, tensors[i - 1].name);
    return QKS_OK;
}

static qks_status read_alignment(const gguf_header *h, uint64_t *alignment, qks_error *error)
{
    const gguf_value *v = gguf_value_find(h, "general.alignment");
    int64_t number = GGUF_DEFAULT_ALIGNMENT;
    if (v && (!gguf_value_whole(v, 0, &number) || number < 1 || number > ALIGNMENT_MAX ||
              (number & (number - 1)) != 0))
        return qks_fail(error, QKS_INVALID, "'%s': general.alignment is no power of two up to %d",
                        h->path, ALIGNMENT_MAX);
    *alignment = (uint64_t)number;
    return QKS_OK;
}

static qks_status take_tensors(cursor *c, uint64_t count, arena *a, gguf_header *h,
                               tensor_table *out, qks_error *error)
{
    ARRAY_OF(uint64_t) offsets = {0};
    size_t first = out->length;
    uint64_t alignment = 0;
    qks_status status = read_alignment(h, &alignment, error);
    for (uint64_t i = 0; status == QKS_OK && i < count; i++) {
        tensor t;
        uint64_t offset = 0;
        status = take_tensor(c, a, &t, &offset, error);
        if (status == QKS_OK)
            status = array_push(out, t, error);
        if (status == QKS_OK)
            status = array_push(&offsets, offset, error);
    }
    size_t padding = alignment ? (size_t)((alignment - c->at % alignment) % alignment) : 0;
    if (status == QKS_OK && count && !take(c, padding))
        status = cut_short(c, "the header's padding", error);
    h->length = c->at;
    for (size_t i = 0; status == QKS_OK && i < count; i++)
        status = place_tensor(c, &out->data[first + i], c->at, alignment, offsets.data[i], error);
    if (status == QKS_OK)
        status = check_overlap(c, out->data ? out->data + first : NULL, (size_t)count, error);
    free(offsets.data);
    return status;
}

/* ---- the header ---- */

static qks_status take_counts(cursor *c, uint64_t *tensors, uint64_t *keys, qks_error *error)
{
    uint32_t version = 0;
    const unsigned char *magic = take(c, 4);
    if (!magic || memcmp(magic, GGUF_MAGIC, 4) != 0)
        return qks_fail(error, QKS_INVALID, "'%s' is no GGUF file: it does not begin with GGUF",
                        c->path);
    if (!take_u32(c, &version))
        return cut_short(c, "the version", error);
    if (version != 2 && version != 3)
        return qks_fail(
            error, QKS_UNSUPPORTED, "'%s': GGUF version %u is not read; %s", c->path, version,
            version && (version & 0xffff) == 0 ? "the file is big-endian" : "2 and 3 are");
    if (!take_u64(c, tensors) || !take_u64(c, keys))
        return cut_short(c, "the counts", error);
    if (*tensors > TENSORS_MAX || *keys > KEYS_MAX)
        return qks_fail(error, QKS_INVALID,
                        "'%s' claims %llu tensors and %llu keys; %d and %d are "
                        "allowed",
                        c->path, (unsigned long long)*tensors, (unsigned long long)*keys,
                        TENSORS_MAX, KEYS_MAX);
    return QKS_OK;
}

qks_status gguf_header_read(gguf_header *h, const mapping *m, const char *path, arena *a,
                            tensor_table *tensors, qks_error *error)
{
    cursor c = {m->bytes, m->size, 0, path};
    uint64_t n_tensors = 0, n_keys = 0;
    *h = (gguf_header){.path = path};
    qks_status status = take_counts(&c, &n_tensors, &n_keys, error);
    if (status == QKS_OK)
        status = take_values(&c, n_keys, a, h, error);
    if (status == QKS_OK)
        status = take_tensors(&c, n_tensors, a, h, tensors, error);
    if (status != QKS_OK)
        gguf_header_close(h);
    return status;
}

void gguf_header_close(gguf_header *h)
{
    free(h->values.data);
    *h = (gguf_header){0};
}

const gguf_value *gguf_value_find(const gguf_header *h, const char *key)
{
    gguf_value wanted = {.key = key};
    return h->values.length
               ? bsearch(&wanted, h->values.data, h->values.length, sizeof *h->values.data, by_key)
               : NULL;
}

bool gguf_value_whole(const gguf_value *v, uint64_t index, int64_t *number)
{
    size_t each = type_bytes(v->type);
    if (each == 0 || index >= v->count)
        return false;
    const unsigned char *at = v->bytes + index * each;
    uint64_t bits = 0;
    memcpy(&bits, at, each); /* little-endian, as the machine is */
    int unused = 64 - 8 * (int)each;
    switch (v->type) {
    case GGUF_TYPE_INT8:
    case GGUF_TYPE_INT16:
    case GGUF_TYPE_INT32:
    case GGUF_TYPE_INT64:
        *number = (int64_t)(bits << unused) >> unused; /* the sign goes all the way up */
        return true;
    case GGUF_TYPE_UINT8:
    case GGUF_TYPE_UINT16:
    case GGUF_TYPE_UINT32:
    case GGUF_TYPE_UINT64:
    case GGUF_TYPE_BOOL:
        *number = (int64_t)bits;
        return bits <= INT64_MAX;
    default:
        return false;
    }
}

bool gguf_value_number(const gguf_value *v, double *number)
{
    int64_t whole = 0;
    if (v->is_array)
        return false;
    if (v->type == GGUF_TYPE_FLOAT32) {
        float single = 0;
        memcpy(&single, v->bytes, sizeof single);
        *number = single;
    } else if (v->type == GGUF_TYPE_FLOAT64) {
        memcpy(number, v->bytes, sizeof *number);
    } else {
        if (!gguf_value_whole(v, 0, &whole))
            return false;
        *number = (double)whole;
    }
    return isfinite(*number);
}

bool gguf_value_string(const gguf_value *v, const char **bytes, size_t *length)
{
    uint64_t count = 0;
    if (v->is_array || v->type != GGUF_TYPE_STRING)
        return false;
    memcpy(&count, v->bytes, sizeof count); /* checked when the header was walked */
    *bytes = (const char *)v->bytes + sizeof count;
    *length = (size_t)count;
    return true;
}
