/* turning.c: rope frequencies on the device, for as long as the engine lives. */
#include "engine/turning.h"

#include "base/memory.h"

#include <ggml-alloc.h>
#include <stdlib.h>

/* A tensor for each rope; false: no layer has one. */
static bool make_tensors(const turning *t, const architecture *a)
{
    bool any = false;
    for (int i = 0; i < a->n_layers; i++) {
        const rope *r = a->layers[i].rope;
        for (int j = 0; r && j < i && !t->frequencies[i]; j++)
            if (a->layers[j].rope == r)
                t->frequencies[i] = t->frequencies[j];
        if (r && !t->frequencies[i])
            t->frequencies[i] = ggml_new_tensor_1d(t->context, GGML_TYPE_F32, r->dimensions / 2);
        any = any || r;
    }
    return any;
}

static qks_status put_numbers(const turning *t, const architecture *a, qks_error *error)
{
    for (int i = 0; i < a->n_layers; i++) {
        const rope *r = a->layers[i].rope;
        if (!r)
            continue;
        size_t bytes = (size_t)(r->dimensions / 2) * sizeof(float);
        float *inverse = malloc(bytes);
        if (!inverse)
            return out_of_memory(error, "rope frequencies");
        for (int p = 0; p < r->dimensions / 2; p++)
            inverse[p] = 1.0F / r->frequency[p];
        ggml_backend_tensor_set(t->frequencies[i], inverse, 0, bytes);
        free(inverse);
    }
    return QKS_OK;
}

qks_status turning_open(turning *t, const architecture *a, const device *d, qks_error *error)
{
    struct ggml_init_params how = {.mem_size = ((size_t)a->n_layers + 1) * ggml_tensor_overhead(),
                                   .no_alloc = true};
    t->context = ggml_init(how);
    t->frequencies = calloc((size_t)a->n_layers, sizeof(struct ggml_tensor *));
    if (!t->context || !t->frequencies)
        return out_of_memory(error, "rope frequencies");
    if (!make_tensors(t, a))
        return QKS_OK;
    t->buffer = ggml_backend_alloc_ctx_tensors(t->context, d->backend);
    return t->buffer ? put_numbers(t, a, error)
                     : out_of_memory(error, "rope frequencies on the device");
}

void turning_close(turning *t)
{
    if (t->buffer)
        ggml_backend_buffer_free(t->buffer);
    if (t->context)
        ggml_free(t->context);
    free(t->frequencies);
    *t = (turning){0};
}
