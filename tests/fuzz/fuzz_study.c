/* A study file, read, and written out with its defaults. Input: the file. */
#include "fuzz.h"

#include "study/study.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    study s = {0};
    text faults = text_new(1 << 20), again = text_new(1 << 22);
    qks_error error;
    qks_status status = study_read(&s, fuzz_file(bytes, length, 0), &faults, &error);
    if (status == QKS_USAGE && faults.length == 0 && error.message[0] == '\0')
        fuzz_fail("a study is refused without a word");
    if (status == QKS_OK) {
        study_print(&s, &again);
        study_close(&s);
        study reread = {0};
        text_clear(&faults);
        if (again.status == QKS_OK &&
            study_read(&reread, fuzz_write("again.yaml", again.data, again.length), &faults,
                       &error) != QKS_OK)
            fuzz_fail(text_string(&faults));
        study_close(&reread);
    }
    text_free(&faults);
    text_free(&again);
    return 0;
}
