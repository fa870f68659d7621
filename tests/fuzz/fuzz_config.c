/* config.json to an architecture. Input: the file; after a NUL, if there is one, the JSON of
 * --rope-scaling. What is accepted must be of sizes that can be multiplied. */
#include "fuzz.h"

#include "model/architecture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check(const architecture *a)
{
    if (a->n_layers < 1 || a->hidden < 1 || a->q_heads < 1 || a->kv_heads < 1 || a->head_dim < 1 ||
        a->q_heads % a->kv_heads != 0)
        fuzz_fail("an architecture without sense");
    if ((int64_t)a->q_heads * a->head_dim > INT32_MAX)
        fuzz_fail("an architecture too large to count");
    for (int i = 0; i < a->n_layers; i++) {
        const rope *r = a->layers[i].rope;
        if (r && (r->dimensions < 2 || r->dimensions % 2 != 0 || r->dimensions > a->head_dim))
            fuzz_fail("a rope that does not fit its head");
        for (int p = 0; r && p < r->dimensions / 2; p++)
            if (!isfinite(r->frequency[p]))
                fuzz_fail("a rope that turns by NaN or infinity");
    }
}

/* strndup would be told off by strict string checks: nothing ends the input. */
static char *string_of(const uint8_t *bytes, size_t length)
{
    char *copy = calloc(length + 1, 1);
    if (copy)
        memcpy(copy, bytes, length);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const uint8_t *end = length ? memchr(bytes, 0, length) : NULL;
    size_t config = end ? (size_t)(end - bytes) : length;
    char *scaling = end ? string_of(end + 1, length - config - 1) : NULL;
    rope_override override = {.scaling = scaling};
    architecture a;
    qks_error error;
    const char *path = fuzz_file(bytes, config, 0);
    if (architecture_read(&a, path, scaling ? &override : NULL, &error) == QKS_OK) {
        check(&a);
        architecture_close(&a);
    }
    free(scaling);
    return 0;
}
