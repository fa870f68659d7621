/* replay.c: runs a fuzz target on files: replay FILE-OR-FOLDER... */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t runs;

static void run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        fuzz_fail(path);
    long size = ftell(file);
    uint8_t *bytes = size >= 0 ? malloc((size_t)size + 1) : NULL;
    rewind(file);
    if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size)
        fuzz_fail(path);
    (void)fclose(file);
    (void)fprintf(stderr, "%s\n", path);
    uint8_t *exact = malloc(size ? (size_t)size : 1); /* so that a step beyond the end is seen */
    if (!exact)
        fuzz_fail(path);
    memcpy(exact, bytes, (size_t)size);
    (void)LLVMFuzzerTestOneInput(exact, (size_t)size);
    free(exact);
    free(bytes);
    runs++;
}

static void run(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) {
        run_file(path);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(folder));) {
        char below[4096];
        (void)snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (*entry->d_name != '.')
            run_file(below);
    }
    (void)closedir(folder);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run(argv[i]);
    if (runs == 0)
        fuzz_fail("there is no input");
    (void)printf("%zu inputs\n", runs);
    return 0;
}
