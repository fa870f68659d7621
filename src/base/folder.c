/* folder.c: flock, and renaming of folders. */
#include "base/folder.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* ---- one process at a time ---- */

static qks_status held(const char *folder, int lock, qks_error *error)
{
    char holder[128] = "";
    ssize_t n = pread(lock, holder, sizeof holder - 1, 0);
    return qks_fail(error, QKS_IO, "another run works on '%s': %s", folder,
                    n > 0 ? holder : "unknown");
}

static qks_status take(const char *folder, const char *path, int lock, qks_error *error)
{
    char holder[128], host[64] = "?";
    if (flock(lock, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK
                   ? held(folder, lock, error)
                   : qks_fail(error, QKS_IO, "cannot lock '%s': %s", path, strerror(errno));
    (void)gethostname(host, sizeof host - 1);
    int length = snprintf(holder, sizeof holder, "process %ld on %s", (long)getpid(), host);
    if (ftruncate(lock, 0) != 0 || pwrite(lock, holder, (size_t)length, 0) != length)
        return qks_fail(error, QKS_IO, "cannot write '%s': %s", path, strerror(errno));
    return QKS_OK;
}

qks_status folder_lock(const char *folder, int *lock, qks_error *error)
{
    arena a = {0};
    *lock = -1;
    qks_status status = folder_make(folder, error);
    const char *path = arena_format(&a, "%s/.lock", folder);
    if (status == QKS_OK && !path)
        status = out_of_memory(error, "lock");
    int descriptor = status == QKS_OK ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (status == QKS_OK && descriptor < 0)
        status = qks_fail(error, QKS_IO, "cannot open '%s': %s", path, strerror(errno));
    if (status == QKS_OK)
        status = take(folder, path, descriptor, error);
    if (status == QKS_OK)
        *lock = descriptor;
    else
        folder_unlock(descriptor);
    arena_free(&a);
    return status;
}

void folder_unlock(int lock)
{
    if (lock >= 0)
        (void)close(lock);
}

/* ---- whole or not there ---- */

void folder_remove(const char *path)
{
    arena a = {0};
    name_list names = {0};
    qks_status status = folder_list(&a, path, &names, NULL);
    for (size_t i = 0; status == QKS_OK && i < names.length; i++) {
        const char *file = arena_format(&a, "%s/%s", path, names.data[i]);
        if (file)
            file_remove(file);
    }
    free(names.data);
    arena_free(&a);
    (void)rmdir(path);
}

static qks_status not_renamed(const char *path, qks_error *error)
{
    return qks_fail(error, QKS_IO, "cannot rename into place '%s': %s", path, strerror(errno));
}

/* On a file system that cannot swap: for a moment there is no folder at the path. */
static qks_status swap_slowly(const char *temporary, const char *path, qks_error *error)
{
    arena a = {0};
    const char *aside = NULL;
    qks_status status = file_temporary(&a, path, &aside, error);
    if (status == QKS_OK && rename(path, aside) != 0)
        status = not_renamed(path, error);
    else if (status == QKS_OK && rename(temporary, path) != 0) {
        status = not_renamed(path, error);
        (void)rename(aside, path);
    } else if (status == QKS_OK) {
        folder_remove(aside);
    }
    arena_free(&a);
    return status;
}

qks_status folder_place(const char *temporary, const char *path, qks_error *error)
{
    qks_status status = QKS_OK;
    if (!is_folder(path))
        status = rename(temporary, path) == 0 ? QKS_OK : not_renamed(path, error);
    else if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_EXCHANGE) == 0)
        folder_remove(temporary);
    else
        status = errno == EINVAL || errno == ENOSYS ? swap_slowly(temporary, path, error)
                                                    : not_renamed(path, error);
    return status == QKS_OK ? file_sync_folder(path, error) : status;
}
