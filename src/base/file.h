/* file.h: files that are whole or not there, and reads that never trust a length.
 *
 * An output is written to a temporary file beside its place, synced, renamed, and its folder
 * synced: whoever looks at the final name sees the old file or the new one, never a part. */
#ifndef QKS_BASE_FILE_H
#define QKS_BASE_FILE_H

#include "base/memory.h"
#include "qkscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- writing ---- */
typedef struct file_writer file_writer;

/* Begin to write `path`. On QKS_OK the caller ends with exactly one commit or discard. */
QKS_MUST_CHECK qks_status file_create(file_writer **out, const char *path, qks_error *error);
QKS_MUST_CHECK qks_status file_write(file_writer *w, const void *bytes, size_t length,
                                     qks_error *error);
/* Sync, rename into place, sync the folder. Frees `w`, also when it fails. */
QKS_MUST_CHECK qks_status file_commit(file_writer *w, qks_error *error);
/* Remove the temporary file; the final name is untouched. NULL is fine. */
void file_discard(file_writer *w);

/* The same for a file that a library writes by name (DuckDB, gnuplot): a temporary name beside
 * `path`, in the arena; then file_place() syncs and renames, file_remove() drops it. */
QKS_MUST_CHECK qks_status file_temporary(arena *a, const char *path, const char **temporary,
                                         qks_error *error);
QKS_MUST_CHECK qks_status file_place(const char *temporary, const char *path, qks_error *error);
void file_remove(const char *path); /* no complaint if it is not there */
/* Sync the folder that `path` is in, so that its new name lasts. */
QKS_MUST_CHECK qks_status file_sync_folder(const char *path, qks_error *error);

/* A whole small file from memory. */
QKS_MUST_CHECK qks_status file_put(const char *path, const void *bytes, size_t length,
                                   qks_error *error);

/* `path` and its parents as folders; fine if they are there. */
QKS_MUST_CHECK qks_status folder_make(const char *path, qks_error *error);

/* ---- reading ---- */
/* The whole of a regular file of at most `maximum` bytes, NUL-terminated, malloc'd. */
QKS_MUST_CHECK qks_status file_get(const char *path, size_t maximum, char **bytes, size_t *length,
                                   qks_error *error);

typedef struct file_reader {
    int descriptor;
    uint64_t size;
    const char *path; /* the caller's, must outlive the reader */
} file_reader;

QKS_MUST_CHECK qks_status file_open(file_reader *r, const char *path, qks_error *error);
/* Exactly `length` bytes at `offset`, or QKS_INVALID when the file is too short. */
QKS_MUST_CHECK qks_status file_read_at(const file_reader *r, uint64_t offset, void *bytes,
                                       size_t length, qks_error *error);
void file_close(file_reader *r);

bool is_folder(const char *path);
bool is_file(const char *path);

/* The last part of a path, in it; and the folder it is in, in the arena ("." for a bare name). */
const char *path_name(const char *path);
const char *path_folder(arena *a, const char *path);
/* A folder's or file's own name, in the arena, for a path that may end in slashes or be "." too;
 * NULL: out of memory. */
const char *path_title(arena *a, const char *path);
bool ends_with(const char *path, const char *ending); /* the same case, too */

/* Names in a folder, sorted, without "." and ".."; strings live in the arena. */
typedef ARRAY_OF(const char *) name_list;
QKS_MUST_CHECK qks_status folder_list(arena *a, const char *path, name_list *names,
                                      qks_error *error);

#endif
