/* safetensors.c: the header of a .safetensors file, read and checked. */
#include "model/safetensors.h"

#include <ggml.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "weights are mapped as they are on disk");

enum { LENGTH_BYTES = 8, HEADER_MAX = 100000000, DIMENSIONS_MAX = 64 };

typedef struct reader {
    const char *path;
    const unsigned char *data; /* after the header */
    size_t data_size;
    arena *names;
} reader;

static const struct data_type {
    const char *name;
    unsigned bits;
    int type; /* ggml's, if weights may have it */
} data_types[] = {
    {"F32", 32, GGML_TYPE_F32},
    {"F16", 16, GGML_TYPE_F16},
    {"BF16", 16, GGML_TYPE_BF16},
    {"F64", 64, -1},
    {"I64", 64, -1},
    {"U64", 64, -1},
    {"I32", 32, -1},
    {"U32", 32, -1},
    {"I16", 16, -1},
    {"U16", 16, -1},
    {"I8", 8, -1},
    {"U8", 8, -1},
    {"BOOL", 8, -1},
    {"C64", 64, -1},
    {"F8_E5M2", 8, -1},
    {"F8_E4M3", 8, -1},
    {"F8_E8M0", 8, -1},
    {"F8_E4M3FNUZ", 8, -1},
    {"F8_E5M2FNUZ", 8, -1},
    {"F6_E2M3", 6, -1},
    {"F6_E3M2", 6, -1},
    {"F4", 4, -1},
};

static qks_status bad_tensor(const reader *r, const char *name, const char *what, qks_error *error)
{
    return qks_fail(error, QKS_INVALID, "'%s': tensor '%.200s': %s", r->path, name, what);
}

static bool only_known_keys(const json_t *entry)
{
    return json_object_size(entry) == 3 && json_is_string(json_object_get(entry, "dtype")) &&
           json_is_array(json_object_get(entry, "shape")) &&
           json_is_array(json_object_get(entry, "data_offsets"));
}

/* A list of `count` numbers that fit a size_t; -1 if not so. */
static bool read_sizes(const json_t *list, size_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(list, i);
        if (!json_is_integer(entry) || json_integer_value(entry) < 0)
            return false;
        numbers[i] = (size_t)json_integer_value(entry);
    }
    return true;
}

static const struct data_type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof data_types / sizeof *data_types; i++)
        if (strcmp(data_types[i].name, name) == 0)
            return &data_types[i];
    return NULL;
}

/* shape x type in bytes; false: it overflows or is no whole number of bytes. */
static bool shape_bytes(const size_t *shape, size_t count, unsigned bits, size_t *bytes)
{
    size_t elements = 1, total = 0;
    for (size_t i = 0; i < count; i++)
        if (!size_multiply(elements, shape[i], &elements))
            return false;
    if (!size_multiply(elements, bits, &total) || total % 8 != 0)
        return false;
    *bytes = total / 8;
    return true;
}

static qks_status read_tensor(const reader *r, const char *name, const json_t *entry, tensor *out,
                              qks_error *error)
{
    if (!only_known_keys(entry))
        return bad_tensor(r, name, "its entry must have dtype, shape and data_offsets, no more",
                          error);
    const struct data_type *type = find_type(json_string_value(json_object_get(entry, "dtype")));
    if (!type)
        return bad_tensor(r, name, "its dtype is unknown", error);
    const json_t *list = json_object_get(entry, "shape");
    const json_t *range = json_object_get(entry, "data_offsets");
    size_t count = json_array_size(list), shape[DIMENSIONS_MAX], offsets[2], bytes = 0;
    if (count > DIMENSIONS_MAX || !read_sizes(list, shape, count))
        return bad_tensor(r, name, "its shape is no list of sizes", error);
    if (json_array_size(range) != 2 || !read_sizes(range, offsets, 2))
        return bad_tensor(r, name, "its data_offsets are no two offsets", error);
    if (offsets[0] > offsets[1] || offsets[1] > r->data_size)
        return qks_fail(error, QKS_INVALID,
                        "'%s': tensor '%.200s': its data_offsets %zu to %zu are outside of the "
                        "file's %zu bytes of data; the file is cut short or damaged",
                        r->path, name, offsets[0], offsets[1], r->data_size);
    if (!shape_bytes(shape, count, type->bits, &bytes))
        return bad_tensor(r, name, "its shape is too large", error);
    if (bytes != offsets[1] - offsets[0])
        return qks_fail(error, QKS_INVALID,
                        "'%s': tensor '%.200s': its shape needs %zu bytes, its data_offsets have "
                        "%zu",
                        r->path, name, bytes, offsets[1] - offsets[0]);
    *out = (tensor){.name = arena_string(r->names, name),
                    .file = r->path,
                    .type_name = type->name,
                    .type = type->type,
                    .n_dimensions = (int)count,
                    .data = r->data + offsets[0],
                    .bytes = bytes};
    for (size_t i = 0; i < count && i < 2; i++)
        out->shape[i] = (int64_t)shape[i];
    return out->name ? QKS_OK : out_of_memory(error, "tensor names");
}

static qks_status check_metadata(const reader *r, const json_t *metadata, qks_error *error)
{
    const char *key;
    json_t *value;
    bool strings = json_is_object(metadata);
    json_object_foreach((json_t *)(uintptr_t)metadata, key, value)
        strings = strings && json_is_string(value);
    return strings
               ? QKS_OK
               : qks_fail(error, QKS_INVALID, "'%s': __metadata__ must hold strings only", r->path);
}

static int by_place(const void *a, const void *b)
{
    const tensor *one = a, *other = b;
    if (one->data != other->data)
        return one->data < other->data ? -1 : 1;
    return (one->bytes > other->bytes) - (one->bytes < other->bytes);
}

/* Sorts the tensors by place; they must lie end to end. */
static qks_status check_cover(const reader *r, tensor *tensors, size_t count, qks_error *error)
{
    if (tensors)
        qsort(tensors, count, sizeof *tensors, by_place);
    const unsigned char *end = r->data;
    for (size_t i = 0; tensors && i < count; i++) {
        if (tensors[i].data < end)
            return bad_tensor(r, tensors[i].name, "it overlaps the one before it", error);
        if (tensors[i].data > end)
            return bad_tensor(r, tensors[i].name, "there is a hole in the data before it", error);
        end += tensors[i].bytes;
    }
    size_t covered = (size_t)(end - r->data);
    if (covered != r->data_size)
        return qks_fail(error, QKS_INVALID, "'%s': %zu bytes of data belong to no tensor", r->path,
                        r->data_size - covered);
    return QKS_OK;
}

static qks_status read_header(const reader *r, const json_t *header, tensor_table *out,
                              qks_error *error)
{
    size_t first = out->length;
    const char *name;
    json_t *entry;
    json_object_foreach((json_t *)(uintptr_t)header, name, entry) {
        tensor t;
        bool metadata = strcmp(name, "__metadata__") == 0;
        qks_status status = metadata ? check_metadata(r, entry, error)
                                     : read_tensor(r, name, entry, &t, error);
        if (status == QKS_OK && !metadata)
            status = array_push(out, t, error);
        if (status != QKS_OK)
            return status;
    }
    return check_cover(r, out->data ? out->data + first : NULL, out->length - first, error);
}

qks_status safetensors_read(const mapping *m, const char *path, arena *a, tensor_table *out,
                            qks_error *error)
{
    uint64_t length = 0;
    if (m->size < LENGTH_BYTES)
        return qks_fail(error, QKS_INVALID, "'%s' has %zu bytes and is no safetensors file", path,
                        m->size);
    memcpy(&length, m->bytes, sizeof length);
    if (length > HEADER_MAX || length > m->size - LENGTH_BYTES)
        return qks_fail(error, QKS_INVALID,
                        "'%s': the header's length %llu is past the end of the file (%zu bytes) or "
                        "over 100 MB",
                        path, (unsigned long long)length, m->size);
    json_error_t fault;
    const unsigned char *text = m->bytes + LENGTH_BYTES;
    json_t *header = json_loadb((const char *)text, (size_t)length, JSON_REJECT_DUPLICATES, &fault);
    if (!header && json_error_code(&fault) == json_error_out_of_memory)
        return out_of_memory(error, path);
    reader r = {path, text + length, m->size - LENGTH_BYTES - (size_t)length, a};
    qks_status status = QKS_OK;
    if (!json_is_object(header))
        status = qks_fail(error, QKS_INVALID, "'%s': the header is no JSON object: %s", path,
                          header ? "it begins otherwise" : fault.text);
    else
        status = read_header(&r, header, out, error);
    json_decref(header);
    return status;
}
