/* gguf.h: the header of a GGUF file (versions 2 and 3): keys with values, and tensors. All of it is
 * walked and checked against the file's length before anything is used. */
#ifndef QKS_MODEL_GGUF_H
#define QKS_MODEL_GGUF_H

#include "base/memory.h"
#include "model/mapping.h"
#include "model/tensor.h"

#include <stdbool.h>
#include <stdint.h>

/* A value where it lies in the file, unaligned. */
typedef struct gguf_value {
    const char *key;
    uint32_t type; /* a gguf_type of ggml's gguf.h; of an array, its elements' */
    bool is_array;
    uint64_t count;             /* of the elements; 1 if it is no array */
    const unsigned char *bytes; /* of the first */
} gguf_value;

typedef struct gguf_header {
    const char *path;
    size_t length;               /* bytes before the tensors' data */
    ARRAY_OF(gguf_value) values; /* sorted by key */
} gguf_header;

/* Append the tensors to `tensors` too. Names live in the arena; `path` must outlive the header. */
QKS_MUST_CHECK qks_status gguf_header_read(gguf_header *h, const mapping *m, const char *path,
                                           arena *a, tensor_table *tensors, qks_error *error);
void gguf_header_close(gguf_header *h);

const gguf_value *gguf_value_find(const gguf_header *h, const char *key); /* NULL: not there */

/* Element `index` (0 if no array) as a number; false if it is none. Whole numbers and bools only.
 */
bool gguf_value_whole(const gguf_value *v, uint64_t index, int64_t *number);
bool gguf_value_number(const gguf_value *v, double *number);
/* A string that is no array; not NUL-terminated. */
bool gguf_value_string(const gguf_value *v, const char **bytes, size_t *length);

#endif
