/* tokenizer.json, and texts through what it says. Input: the file. */
#include "fuzz.h"

#include "text/tokenizer.h"

#include <string.h>

static const char *const TEXTS[] = {
    "",
    "It's 3 o'clock\n\n  on   2024-01-02 <s>",
    "\xc3\xa9t\xc3\xa9 e\xcc\x81 \xe2\x96\x81 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x99\x82",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
};

static void encode(encoder *e, const tokenizer *t, const char *text)
{
    const int32_t *ids = NULL;
    size_t count = 0;
    if (encoder_run(e, text, strlen(text), true, &ids, &count, NULL) != QKS_OK)
        return;
    for (size_t i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= tokenizer_size(t))
            fuzz_fail("an id outside of the vocabulary");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    tokenizer *t = NULL;
    encoder *e = NULL;
    qks_error error;
    if (tokenizer_open(&t, fuzz_file(bytes, length, 0), &error) != QKS_OK)
        return 0;
    if (encoder_open(&e, t, &error) == QKS_OK)
        for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
            encode(e, t, TEXTS[i]);
    encoder_close(e);
    tokenizer_close(t);
    return 0;
}
