/* file.c: atomic writes and bounded reads on POSIX. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WRITE_BUFFER = 1 << 16 };

struct file_writer {
    arena names;
    const char *path, *temporary;
    int descriptor;
    bool failed; /* some bytes are missing: it must never be placed */
    size_t filled;
    unsigned char buffer[WRITE_BUFFER];
};

static qks_status io_failed(qks_error *error, const char *verb, const char *path)
{
    int reason = errno;
    qks_status status = reason == ENOENT ? QKS_MISSING : reason == ENOMEM ? QKS_MEMORY : QKS_IO;
    (void)qks_fail(error, status, "cannot %s '%s': %s", verb, path, strerror(reason));
    return status;
}

qks_status file_temporary(arena *a, const char *path, const char **temporary, qks_error *error)
{
    /* Process and counter tell writers on one machine apart, the time those of several machines on
     * one disk, and a run in a container from the killed one before it that had the same process
     * id. The name is cut, so that a long one has room for all this. */
    static atomic_uint counter;
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path + 1) : 0;
    *temporary = arena_format(a, "%.*s.%.150s.%ld-%u-%llx%08lx.part", folder, path,
                              slash ? slash + 1 : path, (long)getpid(),
                              atomic_fetch_add(&counter, 1), (unsigned long long)now.tv_sec,
                              (unsigned long)now.tv_nsec);
    return *temporary ? QKS_OK : out_of_memory(error, "file name");
}

void file_remove(const char *path)
{
    (void)unlink(path);
}

static bool sync_descriptor(int descriptor)
{
    while (fsync(descriptor) != 0)
        if (errno != EINTR)
            return false;
    return true;
}

qks_status file_sync_folder(const char *path, qks_error *error)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int length = snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1,
                          slash ? path : ".");
    if (length < 0 || (size_t)length >= sizeof folder)
        return qks_fail(error, QKS_INVALID, "path is too long: '%.80s...'", path);
    int descriptor = open(length ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* A folder that may be written but not read, and a file system that does not sync folders:
     * there is nothing more to do then. */
    if (descriptor < 0)
        return errno == EACCES ? QKS_OK : io_failed(error, "open the folder of", path);
    bool failed = !sync_descriptor(descriptor) && errno != EINVAL && errno != ENOTSUP;
    qks_status status = failed ? io_failed(error, "sync the folder of", path) : QKS_OK;
    (void)close(descriptor);
    return status;
}

/* Of a file that is synced already. */
static qks_status rename_into_place(const char *temporary, const char *path, qks_error *error)
{
    if (rename(temporary, path) != 0)
        return io_failed(error, "rename into place", path);
    return file_sync_folder(path, error);
}

qks_status file_place(const char *temporary, const char *path, qks_error *error)
{
    int descriptor = open(temporary, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return io_failed(error, "open", temporary);
    bool synced = sync_descriptor(descriptor);
    qks_status status = synced ? QKS_OK : io_failed(error, "sync", temporary);
    (void)close(descriptor);
    if (status == QKS_OK)
        status = rename_into_place(temporary, path, error);
    if (status != QKS_OK)
        file_remove(temporary); /* no-op if only the folder could not be synced */
    return status;
}

qks_status file_create(file_writer **out, const char *path, qks_error *error)
{
    file_writer *w = calloc(1, sizeof *w);
    if (!w)
        return out_of_memory(error, "file writer");
    w->descriptor = -1;
    w->path = arena_string(&w->names, path);
    qks_status status = w->path ? file_temporary(&w->names, path, &w->temporary, error)
                                : out_of_memory(error, "file name");
    if (status == QKS_OK) {
        w->descriptor = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (w->descriptor < 0)
            status = io_failed(error, "create", w->path);
    }
    if (status != QKS_OK) {
        arena_free(&w->names);
        free(w);
        return status;
    }
    *out = w;
    return QKS_OK;
}

static qks_status write_all(file_writer *w, const unsigned char *bytes, size_t length,
                            qks_error *error)
{
    while (length > 0) {
        ssize_t done = write(w->descriptor, bytes, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            w->failed = true;
            return io_failed(error, "write", w->path);
        }
        bytes += done;
        length -= (size_t)done;
    }
    return QKS_OK;
}

static qks_status flush(file_writer *w, qks_error *error)
{
    qks_status status = write_all(w, w->buffer, w->filled, error);
    w->filled = 0;
    return status;
}

qks_status file_write(file_writer *w, const void *bytes, size_t length, qks_error *error)
{
    if (length > sizeof w->buffer - w->filled) {
        qks_status status = flush(w, error);
        if (status != QKS_OK)
            return status;
    }
    if (length > sizeof w->buffer)
        return write_all(w, bytes, length, error);
    if (length > 0)
        memcpy(w->buffer + w->filled, bytes, length);
    w->filled += length;
    return QKS_OK;
}

void file_discard(file_writer *w)
{
    if (!w)
        return;
    if (w->descriptor >= 0)
        (void)close(w->descriptor);
    file_remove(w->temporary);
    arena_free(&w->names);
    free(w);
}

static qks_status sync_and_close(file_writer *w, qks_error *error)
{
    int descriptor = w->descriptor;
    bool synced = sync_descriptor(descriptor);
    qks_status status = synced ? QKS_OK : io_failed(error, "sync", w->path);
    w->descriptor = -1;
    if (close(descriptor) != 0 && errno != EINTR && status == QKS_OK)
        status = io_failed(error, "close", w->path);
    return status;
}

qks_status file_commit(file_writer *w, qks_error *error)
{
    qks_status status = w->failed ? qks_fail(error, QKS_IO,
                                             "cannot write '%s': an earlier part was not written",
                                             w->path)
                                  : flush(w, error);
    if (status == QKS_OK)
        status = sync_and_close(w, error);
    if (status == QKS_OK)
        status = rename_into_place(w->temporary, w->path, error);
    file_discard(w); /* after a rename the temporary name is gone and removing it is no-op */
    return status;
}

qks_status file_put(const char *path, const void *bytes, size_t length, qks_error *error)
{
    file_writer *w = NULL;
    qks_status status = file_create(&w, path, error);
    if (status != QKS_OK)
        return status;
    status = file_write(w, bytes, length, error);
    if (status == QKS_OK)
        return file_commit(w, error);
    file_discard(w);
    return status;
}

static qks_status make_one_folder(const char *path, qks_error *error)
{
    if (mkdir(path, 0777) == 0)
        return file_sync_folder(path, error);
    int reason = errno; /* is_folder() may change it */
    if (reason == EEXIST || is_folder(path))
        return QKS_OK;
    errno = reason;
    return io_failed(error, "make the folder", path);
}

qks_status folder_make(const char *path, qks_error *error)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part)
        return qks_fail(error, QKS_INVALID, "'%.80s' cannot be the name of a folder", path);
    for (size_t end = 1; end <= length; end++) {
        if (path[end] != '/' && path[end] != '\0')
            continue;
        memcpy(part, path, end);
        part[end] = '\0';
        qks_status status = make_one_folder(part, error);
        if (status != QKS_OK)
            return status;
    }
    return is_folder(path) ? QKS_OK
                           : qks_fail(error, QKS_IO, "'%s' is there and is not a folder", path);
}

qks_status file_open(file_reader *r, const char *path, qks_error *error)
{
    struct stat facts;
    r->path = path;
    r->size = 0;
    r->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not hold us up */
    if (r->descriptor < 0)
        return io_failed(error, "open", path);
    qks_status status = QKS_OK;
    if (fstat(r->descriptor, &facts) != 0)
        status = io_failed(error, "look at", path);
    else if (!S_ISREG(facts.st_mode))
        status = qks_fail(error, QKS_INVALID, "'%s' is not a regular file", path);
    if (status != QKS_OK)
        file_close(r);
    else
        r->size = (uint64_t)facts.st_size;
    return status;
}

qks_status file_read_at(const file_reader *r, uint64_t offset, void *bytes, size_t length,
                        qks_error *error)
{
    if (offset > r->size || length > r->size - offset)
        return qks_fail(error, QKS_INVALID,
                        "'%s' is cut short: %zu bytes at %llu wanted, the file has %llu", r->path,
                        length, (unsigned long long)offset, (unsigned long long)r->size);
    unsigned char *place = bytes;
    while (length > 0) {
        ssize_t done = pread(r->descriptor, place, length, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return io_failed(error, "read", r->path);
        if (done == 0)
            return qks_fail(error, QKS_INVALID, "'%s' became shorter while it was read", r->path);
        place += done;
        offset += (uint64_t)done;
        length -= (size_t)done;
    }
    return QKS_OK;
}

void file_close(file_reader *r)
{
    if (r->descriptor >= 0)
        (void)close(r->descriptor);
    r->descriptor = -1;
}

static qks_status read_whole(const file_reader *r, size_t maximum, char **bytes, qks_error *error)
{
    if (r->size > maximum)
        return qks_fail(error, QKS_INVALID, "'%s' has %llu bytes, more than the %zu allowed",
                        r->path, (unsigned long long)r->size, maximum);
    size_t length = (size_t)r->size;
    char *content = malloc(length + 1);
    if (!content)
        return out_of_memory(error, r->path);
    qks_status status = file_read_at(r, 0, content, length, error);
    if (status != QKS_OK) {
        free(content);
        return status;
    }
    content[length] = '\0';
    *bytes = content;
    return QKS_OK;
}

qks_status file_get(const char *path, size_t maximum, char **bytes, size_t *length,
                    qks_error *error)
{
    file_reader r;
    qks_status status = file_open(&r, path, error);
    if (status != QKS_OK)
        return status;
    status = read_whole(&r, maximum, bytes, error);
    file_close(&r);
    if (status == QKS_OK)
        *length = (size_t)r.size;
    return status;
}

bool is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

bool is_file(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

qks_status folder_list(arena *a, const char *path, name_list *names, qks_error *error)
{
    DIR *folder = opendir(path);
    if (!folder)
        return io_failed(error, "open the folder", path);
    qks_status status = QKS_OK;
    size_t first = names->length;
    while (status == QKS_OK) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (!entry && errno)
            status = io_failed(error, "read the folder", path);
        if (!entry)
            break;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *name = arena_string(a, entry->d_name);
        status = name ? array_push(names, name, error) : out_of_memory(error, "folder list");
    }
    (void)closedir(folder);
    if (status != QKS_OK)
        names->length = first;
    else if (names->length > first)
        qsort(names->data + first, names->length - first, sizeof *names->data, by_name);
    return status;
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *path_folder(arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/" : arena_copy(a, path, (size_t)(slash - path));
}

/* The last part without the slashes behind it. */
static const char *last_part(arena *a, const char *path)
{
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t first = end;
    while (first > 0 && path[first - 1] != '/')
        first--;
    return arena_copy(a, path + first, end - first);
}

const char *path_title(arena *a, const char *path)
{
    const char *title = last_part(a, path);
    if (!title || (*title && strcmp(title, ".") != 0 && strcmp(title, "..") != 0))
        return title;
    char *whole = realpath(path, NULL);
    title = last_part(a, whole ? whole : path);
    free(whole);
    return title && !*title ? path : title;
}

bool ends_with(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}
