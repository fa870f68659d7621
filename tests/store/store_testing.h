/* store_testing.h: a store and a scratch folder per test, and Parquet files from a SELECT. */
#ifndef QKS_STORE_TESTING_H
#define QKS_STORE_TESTING_H

#include "testing.h"

#include "base/file.h"
#include "base/text.h"
#include "store/store.h"

enum { TEST_THREADS = 2 };

typedef struct bench {
    store *store;
    char *folder;
} bench;

static inline int bench_setup(void **state)
{
    bench *b = calloc(1, sizeof *b);
    qks_error error;
    if (!b || !(b->folder = scratch_make()) ||
        store_open(&b->store, TEST_THREADS, &error) != QKS_OK)
        return -1;
    *state = b;
    return 0;
}

static inline int bench_teardown(void **state)
{
    bench *b = *state;
    store_close(b->store);
    scratch_remove(b->folder);
    free(b);
    return 0;
}

/* A test with a bench as its state. */
#define bench_test(function) cmocka_unit_test_setup_teardown(function, bench_setup, bench_teardown)

static inline void run_sql(const bench *b, const char *sql)
{
    qks_error error;
    assert_ok(store_sql(b->store, sql, SQL_CSV, stdout, &error), &error);
}

/* FOLDER/l00h00q/data.parquet and the like: `path` below the scratch folder, which has no quotes in
 * its name; returns the whole path. */
static inline const char *put_parquet(const bench *b, const char *path, const char *select)
{
    const char *whole = path_of(b->folder, path);
    char *folder = strdup(whole);
    text sql = text_new(1 << 20);
    qks_error error;
    *strrchr(folder, '/') = '\0';
    assert_ok(folder_make(folder, &error), &error);
    free(folder);
    text_addf(&sql, "COPY (%s) TO '%s' (FORMAT parquet)", select, whole);
    run_sql(b, text_string(&sql));
    text_free(&sql);
    return whole;
}

static inline const char *put_file(const bench *b, const char *path, const char *content)
{
    const char *whole = path_of(b->folder, path);
    qks_error error;
    assert_ok(file_put(whole, content, strlen(content), &error), &error);
    return whole;
}

/* The names in a folder, joined with spaces; the caller frees. */
static inline char *names_in(const char *folder)
{
    arena a = {0};
    name_list names = {0};
    text joined = text_new(1 << 16);
    qks_error error;
    assert_ok(folder_list(&a, folder, &names, &error), &error);
    for (size_t i = 0; i < names.length; i++)
        text_addf(&joined, "%s%s", i ? " " : "", names.data[i]);
    char *copy = strdup(text_string(&joined));
    text_free(&joined);
    free(names.data);
    arena_free(&a);
    return copy;
}

static inline void assert_names(const char *folder, const char *expected)
{
    char *names = names_in(folder);
    assert_string_equal(names, expected);
    free(names);
}

#endif
