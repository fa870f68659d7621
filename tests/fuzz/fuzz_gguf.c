/* A GGUF file: the check of its header, then the model and the tokenizer in it. Input: 4 bytes, how
 * many zeros of data follow; then the file up to them. */
#include "fuzz.h"

#include "model/gguf.h"
#include "model/weights.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

/* In memory of exactly its size, so that a step beyond the end is seen. */
static void read_header(const uint8_t *bytes, size_t length)
{
    unsigned char *copy = malloc(length ? length : 1);
    if (!copy)
        return;
    memcpy(copy, bytes, length);
    mapping m = {copy, length};
    arena a = {0};
    tensor_table tensors = {0};
    gguf_header h;
    qks_error error;
    if (gguf_header_read(&h, &m, "input", &a, &tensors, &error) == QKS_OK)
        gguf_header_close(&h);
    free(tensors.data);
    arena_free(&a);
    free(copy);
}

static void read_model(const char *path)
{
    architecture a;
    weights *w = NULL;
    qks_error error;
    if (weights_open(&w, &a, path, NULL, &error) != QKS_OK)
        return;
    weights_close(w);
    architecture_close(&a);
}

static void read_tokenizer(const char *path)
{
    tokenizer *t = NULL;
    encoder *e = NULL;
    const int32_t *ids = NULL;
    size_t count = 0;
    static const char text[] = "It's 3 o'clock\n\n  \xc3\xa9t\xc3\xa9 <s>";
    if (tokenizer_open(&t, path, NULL) != QKS_OK)
        return;
    if (encoder_open(&e, t, NULL) == QKS_OK &&
        encoder_run(e, text, strlen(text), true, &ids, &count, NULL) == QKS_OK)
        for (size_t i = 0; i < count; i++)
            if (ids[i] < 0 || ids[i] >= tokenizer_size(t))
                fuzz_fail("an id outside of the vocabulary");
    encoder_close(e);
    tokenizer_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { MORE_MAX = 1 << 24 };
    uint64_t more = fuzz_number(&bytes, &length, 4) % MORE_MAX;
    read_header(bytes, length);
    const char *path = fuzz_file(bytes, length, more);
    read_model(path);
    read_tokenizer(path);
    return 0;
}
