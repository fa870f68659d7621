/* fuzz.c: files in memory, and a folder that goes with the process. */
#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 256, PATHS = 8 };

static char folder[PATH_SIZE];
static pid_t owner;

void fuzz_fail(const char *what)
{
    (void)fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

static void put_all(int file, const void *bytes, size_t length)
{
    if (ftruncate(file, 0) != 0 || pwrite(file, bytes, length, 0) != (ssize_t)length)
        fuzz_fail("an input cannot be written to a file");
}

const char *fuzz_file(const uint8_t *bytes, size_t length, uint64_t more)
{
    static int file = -1;
    static char path[PATH_SIZE];
    if (file < 0)
        file = memfd_create("input", MFD_CLOEXEC);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    put_all(file, length ? bytes : (const uint8_t *)"", length);
    if (more && ftruncate(file, (off_t)(length + more)) != 0)
        fuzz_fail("an input cannot be made longer");
    return path;
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *walk)
{
    (void)facts, (void)kind, (void)walk;
    return remove(path);
}

static void remove_folder(void)
{
    if (getpid() == owner)
        (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_folder(void)
{
    if (*folder)
        return folder;
    const char *parent = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%.200s/qkscope-fuzz-XXXXXX",
                   parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder))
        fuzz_fail("a folder cannot be made");
    owner = getpid();
    (void)atexit(remove_folder);
    return folder;
}

const char *fuzz_path(const char *name)
{
    static char paths[PATHS][2 * PATH_SIZE];
    static unsigned turn;
    char *path = paths[turn++ % PATHS];
    (void)snprintf(path, sizeof *paths, "%s/%s", fuzz_folder(), name);
    return path;
}

const char *fuzz_write(const char *name, const void *bytes, size_t length)
{
    const char *path = fuzz_path(name);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        fuzz_fail("a file cannot be made");
    put_all(file, bytes, length);
    (void)close(file);
    return path;
}

uint64_t fuzz_number(const uint8_t **bytes, size_t *length, size_t size)
{
    uint64_t number = 0;
    if (size > *length || size > sizeof number)
        return 0;
    for (size_t i = 0; i < size; i++)
        number |= (uint64_t)(*bytes)[i] << (8 * i);
    *bytes += size;
    *length -= size;
    return number;
}
