/* checkpoint.c: files opened and closed together. */
#include "model/checkpoint.h"

#include <stdlib.h>

void checkpoint_close(checkpoint *c)
{
    for (size_t i = 0; i < c->files.length; i++)
        mapping_close(&c->files.data[i].mapping);
    free(c->files.data);
    free(c->tensors.data);
    arena_free(&c->memory);
    *c = (checkpoint){0};
}

qks_status checkpoint_map(checkpoint *c, const char *path, size_t *file, qks_error *error)
{
    checkpoint_file opened = {.path = arena_string(&c->memory, path)};
    if (!opened.path)
        return out_of_memory(error, "file name");
    qks_status status = mapping_open(&opened.mapping, path, error);
    if (status != QKS_OK)
        return status;
    status = array_push(&c->files, opened, error);
    if (status != QKS_OK)
        mapping_close(&opened.mapping);
    else
        *file = c->files.length - 1;
    return status;
}
