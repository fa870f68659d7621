/* The header of a safetensors file. Input: 4 bytes, how much data the file has (which is never read
 * and need not be there); then the file up to it. */
#include "fuzz.h"

#include "model/safetensors.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    size_t more = (size_t)fuzz_number(&bytes, &length, 4);
    uint64_t header = 0;
    unsigned char *copy = malloc(length ? length : 1);
    if (!copy)
        return 0;
    memcpy(copy, bytes, length);
    if (length >= sizeof header)
        memcpy(&header, copy, sizeof header);
    if (length < sizeof header || header > length - sizeof header)
        more = 0; /* what is not there must not be read as the header */
    mapping m = {copy, length + more};
    arena a = {0};
    tensor_table tensors = {0};
    qks_error error;
    if (safetensors_read(&m, "input", &a, &tensors, &error) == QKS_OK)
        for (size_t i = 0; i < tensors.length; i++) {
            const tensor *t = &tensors.data[i];
            if (t->data < copy || t->bytes > m.size || (size_t)(t->data - copy) > m.size - t->bytes)
                fuzz_fail("a tensor lies outside of the file");
        }
    free(tensors.data);
    arena_free(&a);
    free(copy);
    return 0;
}
