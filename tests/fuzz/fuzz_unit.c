/* A unit file. Input: the file; its checksums are put right first, or nothing behind them would
 * ever be reached. Heads are then read as an analysis reads them. */
#include "fuzz.h"

#include "base/hash.h"
#include "capture/unit.h"

#include <stdlib.h>
#include <string.h>

enum { PREAMBLE = 32, LENGTH_AT = 16, SUM_AT = 24 };

static void mend_header(uint8_t *bytes, size_t length)
{
    uint64_t header = 0, sum = 0;
    if (length < PREAMBLE)
        return;
    memcpy(&header, bytes + LENGTH_AT, sizeof header);
    if (header > length - PREAMBLE)
        return;
    sum = hash64(bytes + PREAMBLE, (size_t)header);
    memcpy(bytes + SUM_AT, &sum, sizeof sum);
}

static void mend_records(uint8_t *bytes, const unit *u)
{
    for (size_t i = 0; i < u->info.n_sides; i++) {
        size_t end = (size_t)u->offsets[i + 1] - sizeof(uint64_t);
        uint64_t sum = hash64(bytes + u->offsets[i], end - (size_t)u->offsets[i]);
        memcpy(bytes + end, &sum, sizeof sum);
    }
}

static void read_sides(const unit *u)
{
    const unit_info *info = &u->info;
    int *places = calloc(info->n_groups, sizeof *places);
    for (size_t g = 0; places && g < info->n_groups; g++)
        places[g] = (int)g;
    for (size_t i = 0; places && i < info->n_sides; i++) {
        side s;
        size_t pairs = info->sides[i].kind == 'k' ? info->pairs : 0;
        if (side_open(&s, info->d, (int)info->n_groups, info->n_buckets, pairs, NULL) != QKS_OK)
            continue;
        if (side_sample_open(&s, info->samples, NULL) == QKS_OK)
            (void)!unit_read(u, i, &s, places, NULL);
        side_close(&s);
    }
    free(places);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    uint8_t *copy = malloc(length ? length : 1);
    qks_error error;
    unit u;
    if (!copy)
        return 0;
    memcpy(copy, bytes, length);
    mend_header(copy, length);
    if (unit_open(&u, fuzz_file(copy, length, 0), &error) == QKS_OK) {
        mend_records(copy, &u);
        unit_close(&u);
        if (unit_open(&u, fuzz_file(copy, length, 0), &error) != QKS_OK ||
            unit_check(&u, &error) != QKS_OK)
            fuzz_fail("a unit with right checksums is refused");
        read_sides(&u);
        unit_close(&u);
    }
    free(copy);
    return 0;
}
