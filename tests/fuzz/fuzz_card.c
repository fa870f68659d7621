/* A dataset's card. Input: the file. Its numbers must come back when they are printed. */
#include "fuzz.h"

#include "base/text.h"
#include "store/card.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    arena a = {0};
    dataset_card card = {0}, again = {0};
    qks_error error;
    text out = text_new(1 << 22);
    (void)fuzz_write("README.md", bytes, length);
    if (card_read(&card, fuzz_folder(), &a, &error) == QKS_OK) {
        card_print(&out, &card, 1, 1, 1);
        if (out.status == QKS_OK) {
            (void)fuzz_write("README.md", out.data, out.length);
            if (card_read(&again, fuzz_folder(), &a, &error) == QKS_OK &&
                (card.layers != again.layers || card.bucket_size != again.bucket_size ||
                 card.context != again.context || card.q_heads != again.q_heads))
                fuzz_fail("a card reads back otherwise");
        }
    }
    text_free(&out);
    arena_free(&a);
    return 0;
}
