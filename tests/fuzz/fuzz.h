/* fuzz.h: what the fuzz targets share: bytes as a file, and a folder of the process' own.
 *
 * A target is fuzz_<name>.c with LLVMFuzzerTestOneInput(). Built with clang and QKSCOPE_FUZZ it is
 * a libFuzzer program (scripts/fuzz); in all other builds replay.c gives it a main() that runs the
 * inputs in data/fuzz/<name>, which were found so. */
#ifndef QKS_FUZZ_H
#define QKS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* The bytes, then `more` zeros, as a regular file without a name; its path until the next call. */
const char *fuzz_file(const uint8_t *bytes, size_t length, uint64_t more);

/* A folder of this process, removed at its end; the path of a file in it; the file written. */
const char *fuzz_folder(void);
const char *fuzz_path(const char *name);
const char *fuzz_write(const char *name, const void *bytes, size_t length);

/* Takes a little-endian number off the front; 0 when there are too few bytes. */
uint64_t fuzz_number(const uint8_t **bytes, size_t *length, size_t size);

/* Ends the process with a message: something that must not be, is. */
void fuzz_fail(const char *what) __attribute__((noreturn));

#endif
