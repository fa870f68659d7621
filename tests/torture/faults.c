/* faults.c: lets the Nth call of a kind fail. Linked into qkscope-torture with the linker's --wrap,
 * so that calls from qkscope's own code come here and those inside libraries do not.
 *
 *   QKS_FAULT=KIND:N    the Nth call of the kind fails, in each process, those after it do not
 *   QKS_FAULT=KIND:N+   and all after it fail, too
 *   QKS_FAULT_LOG=FILE  gets the number of calls that each process made, when it ends
 *
 * Kinds: alloc (ENOMEM), write (ENOSPC: also sync, rename, making files and folders), read (EIO:
 * also open, map, list, pipes and processes). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum kind { ALLOC, WRITE, READ, KINDS } kind;

static const char *const NAMES[KINDS] = {"alloc", "write", "read"};
static const int REASONS[KINDS] = {ENOMEM, ENOSPC, EIO};

static struct {
    kind kind;
    long number; /* 0: none */
    bool lasting;
} wanted;
static atomic_long calls;

__attribute__((constructor)) static void read_wish(void)
{
    const char *wish = getenv("QKS_FAULT");
    for (int k = 0; wish && k < KINDS; k++) {
        size_t length = strlen(NAMES[k]);
        if (strncmp(wish, NAMES[k], length) != 0 || wish[length] != ':')
            continue;
        wanted.kind = (kind)k;
        wanted.number = strtol(wish + length + 1, NULL, 10);
        wanted.lasting = wish[strlen(wish) - 1] == '+';
    }
}

int __real_open(const char *path, int flags, ...);
int __real_close(int file);

ssize_t __real_write(int file, const void *bytes, size_t n);

__attribute__((destructor)) static void note(void)
{
    const char *log = getenv("QKS_FAULT_LOG");
    char line[32];
    int length = snprintf(line, sizeof line, "%ld\n", atomic_load(&calls));
    int file = log ? __real_open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (file < 0 || __real_write(file, line, (size_t)length) != length)
        return;
    (void)__real_close(file);
}

static bool fails(kind k)
{
    if (wanted.number == 0 || k != wanted.kind)
        return false;
    long now = atomic_fetch_add(&calls, 1) + 1;
    if (now < wanted.number || (now > wanted.number && !wanted.lasting))
        return false;
    errno = REASONS[k];
    return true;
}

/* WRAP(kind, what it gives when it fails, type, name, (parameters), (arguments)) */
#define WRAP(kind, failed, type, name, parameters, arguments)                                      \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fails(kind) ? (failed) : __real_##name arguments;                                   \
    }

WRAP(ALLOC, NULL, void *, malloc, (size_t size), (size))
WRAP(ALLOC, NULL, void *, calloc, (size_t count, size_t size), (count, size))
WRAP(ALLOC, NULL, void *, realloc, (void *old, size_t size), (old, size))
WRAP(ALLOC, NULL, char *, strdup, (const char *text), (text))

WRAP(WRITE, -1, ssize_t, write, (int file, const void *bytes, size_t n), (file, bytes, n))
WRAP(WRITE, -1, ssize_t, pwrite, (int file, const void *bytes, size_t n, off_t at),
     (file, bytes, n, at))
WRAP(WRITE, -1, int, fsync, (int file), (file))
WRAP(WRITE, -1, int, ftruncate, (int file, off_t length), (file, length))
WRAP(WRITE, -1, int, rename, (const char *from, const char *to), (from, to))
WRAP(WRITE, -1, int, renameat2, (int a, const char *from, int b, const char *to, unsigned flags),
     (a, from, b, to, flags))
WRAP(WRITE, -1, int, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(WRITE, NULL, char *, mkdtemp, (char *path), (path))
WRAP(WRITE, 0, size_t, fwrite, (const void *bytes, size_t size, size_t n, FILE *file),
     (bytes, size, n, file))
WRAP(WRITE, EOF, int, fflush, (FILE * file), (file))
WRAP(WRITE, NULL, FILE *, tmpfile, (void), ())

WRAP(READ, -1, ssize_t, read, (int file, void *bytes, size_t n), (file, bytes, n))
WRAP(READ, -1, ssize_t, pread, (int file, void *bytes, size_t n, off_t at), (file, bytes, n, at))
WRAP(READ, 0, size_t, fread, (void *bytes, size_t size, size_t n, FILE *file),
     (bytes, size, n, file))
WRAP(READ, MAP_FAILED, void *, mmap, (void *at, size_t n, int how, int flags, int file, off_t from),
     (at, n, how, flags, file, from))
WRAP(READ, NULL, DIR *, opendir, (const char *path), (path))
WRAP(READ, NULL, struct dirent *, readdir, (DIR * folder), (folder))
WRAP(READ, -1, int, fstat, (int file, struct stat *facts), (file, facts))
WRAP(READ, -1, int, flock, (int file, int how), (file, how))
WRAP(READ, -1, int, pipe2, (int ends[2], int flags), (ends, flags))
WRAP(READ, EAGAIN, int, posix_spawn,
     (pid_t * child, const char *path, const posix_spawn_file_actions_t *actions,
      const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment),
     (child, path, actions, attributes, arguments, environment))

/* A write that is not seen to fail until the file is closed, as on NFS. */
int __wrap_close(int file);
int __wrap_close(int file)
{
    bool failed = fails(WRITE);
    int result = __real_close(file);
    if (failed)
        errno = EIO;
    return failed ? -1 : result;
}

int __wrap_fclose(FILE *file);
int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file)
{
    bool failed = fails(WRITE);
    int result = __real_fclose(file);
    if (failed)
        errno = ENOSPC;
    return failed ? EOF : result;
}

int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = flags & O_CREAT ? va_arg(more, int) : 0;
    va_end(more);
    return fails(flags & O_CREAT ? WRITE : READ) ? -1 : __real_open(path, flags, mode);
}
