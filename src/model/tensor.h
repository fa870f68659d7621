/* tensor.h: a named tensor in a mapped checkpoint file, whatever the format, and a table of them.
 */
#ifndef QKS_MODEL_TENSOR_H
#define QKS_MODEL_TENSOR_H

#include "base/memory.h"
#include "qkscope/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct tensor {
    const char *name, *file;
    const char *type_name; /* as the file spells it, for messages */
    int type;              /* a ggml_type; -1: none that weights can have */
    int n_dimensions;
    int64_t shape[2]; /* the last is contiguous; valid for n_dimensions 1 (shape[0]) and 2 */
    const unsigned char *data;
    size_t bytes;
} tensor;

typedef ARRAY_OF(tensor) tensor_table;

/* Sort by name; QKS_INVALID if a name is there twice. */
QKS_MUST_CHECK qks_status tensor_table_sort(tensor_table *t, qks_error *error);
/* NULL: not there. */
const tensor *tensor_table_find(const tensor_table *t, const char *name);

#endif
