/* mapping.c: mmap and madvise. */
#include "model/mapping.h"

#include "base/file.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

qks_status mapping_open(mapping *m, const char *path, qks_error *error)
{
    file_reader r;
    *m = (mapping){0};
    qks_status status = file_open(&r, path, error);
    if (status != QKS_OK)
        return status;
    if (r.size == 0 || r.size > SIZE_MAX / 2) {
        file_close(&r);
        return qks_fail(error, QKS_INVALID, "'%s' is %s", path, r.size ? "too large" : "empty");
    }
    void *bytes = mmap(NULL, (size_t)r.size, PROT_READ, MAP_PRIVATE, r.descriptor, 0);
    int reason = errno;
    file_close(&r);
    if (bytes == MAP_FAILED)
        return qks_fail(error, reason == ENOMEM ? QKS_MEMORY : QKS_IO, "cannot map '%s': %s", path,
                        strerror(reason));
    *m = (mapping){bytes, (size_t)r.size};
    return QKS_OK;
}

void mapping_close(mapping *m)
{
    if (m->bytes)
        (void)munmap((void *)(uintptr_t)m->bytes, m->size);
    *m = (mapping){0};
}

static void advise(uintptr_t first, uintptr_t end, int advice)
{
    if (end > first)
        (void)madvise((void *)first, end - first, advice); /* a hint: failure costs time only */
}

/* All pages that the stretch touches; those that it fills. */
void mapping_prefetch(const void *bytes, size_t length)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)bytes;
    advise(start / page * page, start + length, MADV_WILLNEED);
}

void mapping_forget(const void *bytes, size_t length)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)bytes;
    advise((start + page - 1) / page * page, (start + length) / page * page, MADV_DONTNEED);
}
