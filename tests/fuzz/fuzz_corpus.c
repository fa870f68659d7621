/* Rows of a corpus. Input: a byte for the kind of file, then the file. */
#include "fuzz.h"

#include "store/corpus.h"

static qks_status look(void *context, const corpus_row *row, qks_error *error)
{
    unsigned *sum = context;
    (void)error;
    for (size_t i = 0; i < row->text_length; i++)
        *sum += (unsigned char)row->text[i];
    for (size_t i = 0; i < row->n_ids; i++)
        if (row->ids[i] < 0)
            fuzz_fail("a negative token");
    if (!row->id || (!row->text && !row->ids))
        fuzz_fail("a row without id, or without text and tokens");
    return QKS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char *const NAMES[] = {"input.jsonl", "input.csv", "input.json", "input.parquet",
                                        "input.jsonl.gz"};
    size_t kind = (size_t)fuzz_number(&bytes, &length, 1) % (sizeof NAMES / sizeof *NAMES);
    unsigned sum = 0;
    qks_error error;
    const char *path = fuzz_write(NAMES[kind], bytes, length);
    (void)!corpus_scan(path, NULL, look, &sum, &error);
    return 0;
}
