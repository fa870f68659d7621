/* tensor.c: tensors by name. */
#include "model/tensor.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(((const tensor *)a)->name, ((const tensor *)b)->name);
}

qks_status tensor_table_sort(tensor_table *t, qks_error *error)
{
    if (t->length)
        qsort(t->data, t->length, sizeof *t->data, by_name);
    for (size_t i = 1; i < t->length; i++) {
        const tensor *one = &t->data[i - 1], *other = &t->data[i];
        if (strcmp(one->name, other->name) != 0)
            continue;
        if (strcmp(one->file, other->file) == 0)
            return qks_fail(error, QKS_INVALID, "'%s': tensor '%.200s' is there twice", one->file,
                            one->name);
        return qks_fail(error, QKS_INVALID, "tensor '%.200s' is in '%s' and in '%s'", one->name,
                        one->file, other->file);
    }
    return QKS_OK;
}

const tensor *tensor_table_find(const tensor_table *t, const char *name)
{
    tensor wanted = {.name = name};
    return t->length ? bsearch(&wanted, t->data, t->length, sizeof *t->data, by_name) : NULL;
}
