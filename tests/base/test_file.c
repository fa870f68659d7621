/* test_file.c: an output is the old file or the new one, never a part, and no temporary file
 * stays; reads are bounded by what the file has. */
#include "testing.h"

#include "base/file.h"
#include "base/text.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const char old[] = "the old content";

/* More than the writer's buffer, so that bytes reach the disk before the end. */
enum { LARGE = 300000 };
static char large[LARGE];

static void assert_content(const char *path, const void *expected, size_t length)
{
    char *bytes = NULL;
    size_t got = 0;
    qks_error error;
    assert_ok(file_get(path, 1 << 20, &bytes, &got, &error), &error);
    assert_int_equal(got, length);
    assert_memory_equal(bytes, expected, length);
    assert_int_equal(bytes[length], '\0');
    free(bytes);
}

/* The folder's names, joined with spaces, are `expected`. */
static void assert_names(const char *folder, const char *expected)
{
    arena a = {0};
    name_list names = {0};
    text joined = text_new(1000);
    qks_error error;
    assert_ok(folder_list(&a, folder, &names, &error), &error);
    for (size_t i = 0; i < names.length; i++)
        text_addf(&joined, "%s%s", i > 0 ? " " : "", names.data[i]);
    assert_string_equal(text_string(&joined), expected);
    text_free(&joined);
    free(names.data);
    arena_free(&a);
}

static void put_old(const char *path)
{
    qks_error error;
    assert_ok(file_put(path, old, strlen(old), &error), &error);
}

static void fill_large(void)
{
    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)(i * 31 + i / 256);
}

/* ---- writing ---- */
static void test_put(void **state)
{
    const char *path = path_of(*state, "a.csv");
    qks_error error;
    assert_ok(file_put(path, "one", 3, &error), &error);
    assert_content(path, "one", 3);
    assert_ok(file_put(path, "another one", 11, &error), &error);
    assert_content(path, "another one", 11);
    assert_ok(file_put(path, NULL, 0, &error), &error);
    assert_content(path, "", 0);
    assert_names(*state, "a.csv");
}

/* Pieces around the size of the buffer (65536), in order and whole. */
static void test_pieces(void **state)
{
    static const size_t sizes[] = {1, 65535, 65536, 65537, 100, 0, 70000};
    const char *path = path_of(*state, "pieces");
    fill_large();
    file_writer *w = NULL;
    size_t total = 0;
    qks_error error;
    assert_ok(file_create(&w, path, &error), &error);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        assert_ok(file_write(w, large + total, sizes[i], &error), &error);
        total += sizes[i];
    }
    assert_ok(file_commit(w, &error), &error);
    assert_content(path, large, total);
}

static void test_old_file_until_commit(void **state)
{
    const char *path = path_of(*state, "a");
    put_old(path);
    fill_large();
    file_writer *w = NULL;
    qks_error error;
    assert_ok(file_create(&w, path, &error), &error);
    assert_ok(file_write(w, large, LARGE, &error), &error);
    assert_content(path, old, strlen(old));
    assert_ok(file_commit(w, &error), &error);
    assert_content(path, large, LARGE);
    assert_names(*state, "a");
}

static void test_discard(void **state)
{
    const char *path = path_of(*state, "a");
    put_old(path);
    fill_large();
    file_writer *w = NULL;
    qks_error error;
    assert_ok(file_create(&w, path, &error), &error);
    assert_ok(file_write(w, large, LARGE, &error), &error);
    file_discard(w);
    file_discard(NULL);
    assert_content(path, old, strlen(old));
    assert_names(*state, "a");
}

static void test_two_writers_of_one_file(void **state)
{
    const char *path = path_of(*state, "a");
    file_writer *one = NULL, *other = NULL;
    qks_error error;
    assert_ok(file_create(&one, path, &error), &error);
    assert_ok(file_create(&other, path, &error), &error);
    assert_ok(file_write(one, "one", 3, &error), &error);
    assert_ok(file_write(other, "other", 5, &error), &error);
    assert_ok(file_commit(one, &error), &error);
    assert_content(path, "one", 3);
    assert_ok(file_commit(other, &error), &error);
    assert_content(path, "other", 5);
    assert_names(*state, "a");
}

/* ---- a disk that is full: files may have so many bytes and no more ---- */
static struct rlimit limit_before;
static void (*handler_before)(int);

static void limit_files(rlim_t bytes)
{
    handler_before = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit_before), 0);
    const struct rlimit limit = {bytes, limit_before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void unlimit_files(void)
{
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit_before), 0);
    (void)signal(SIGXFSZ, handler_before);
}

static void test_full_disk_while_writing(void **state)
{
    const char *path = path_of(*state, "a");
    put_old(path);
    fill_large();
    file_writer *w = NULL;
    qks_error write_error, commit_error;
    assert_ok(file_create(&w, path, &write_error), &write_error);
    limit_files(100000);
    qks_status written = file_write(w, large, LARGE, &write_error);
    unlimit_files();
    /* The disk has room again, but the file has a hole: a commit must not hide that. */
    qks_status more = file_write(w, "x", 1, &commit_error);
    qks_status committed = file_commit(w, &commit_error);
    assert_fails(written, QKS_IO, &write_error, path);
    assert_int_equal(more, QKS_OK);
    assert_fails(committed, QKS_IO, &commit_error, path);
    assert_content(path, old, strlen(old));
    assert_names(*state, "a");
}

/* Bytes still in the buffer fail when they are flushed by the commit. */
static void test_full_disk_at_commit(void **state)
{
    const char *path = path_of(*state, "a");
    put_old(path);
    file_writer *w = NULL;
    qks_error error;
    assert_ok(file_create(&w, path, &error), &error);
    assert_ok(file_write(w, "0123456789", 10, &error), &error);
    limit_files(5);
    qks_status status = file_commit(w, &error);
    unlimit_files();
    assert_fails(status, QKS_IO, &error, path);
    assert_content(path, old, strlen(old));
    assert_names(*state, "a");
}

static void test_full_disk_for_put(void **state)
{
    const char *path = path_of(*state, "a");
    put_old(path);
    fill_large();
    static const size_t sizes[] = {10, LARGE};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        qks_error error;
        limit_files(5);
        qks_status status = file_put(path, large, sizes[i], &error);
        unlimit_files();
        assert_fails(status, QKS_IO, &error, "cannot write");
        assert_content(path, old, strlen(old));
        assert_names(*state, "a");
    }
}

/* ---- places that cannot be written ---- */
static void test_no_such_folder(void **state)
{
    const char *path = path_of(*state, "none/a");
    file_writer *w = NULL;
    qks_error error;
    assert_fails(file_create(&w, path, &error), QKS_MISSING, &error, path);
    assert_null(w);
    assert_fails(file_put(path, "x", 1, &error), QKS_MISSING, &error, path);
    assert_names(*state, "");
}

static void test_a_folder_in_the_way(void **state)
{
    const char *path = path_of(*state, "a");
    qks_error error;
    assert_ok(folder_make(path, &error), &error);
    assert_fails(file_put(path, "x", 1, &error), QKS_IO, &error, path);
    assert_true(is_folder(path));
    assert_names(*state, "a");
    assert_names(path, "");
}

static void test_folder_that_is_read_only(void **state)
{
    if (geteuid() == 0)
        skip(); /* root may write anywhere */
    const char *path = path_of(*state, "a");
    qks_error error;
    put_old(path);
    assert_int_equal(chmod(*state, 0500), 0);
    qks_status status = file_put(path, "x", 1, &error);
    assert_int_equal(chmod(*state, 0700), 0);
    assert_fails(status, QKS_IO, &error, path);
    assert_content(path, old, strlen(old));
    assert_names(*state, "a");
}

static void test_longest_name(void **state)
{
    char name[257];
    memset(name, 'n', sizeof name);
    name[255] = '\0';
    qks_error error;
    assert_ok(file_put(path_of(*state, name), "x", 1, &error), &error);
    assert_names(*state, name);
    name[255] = 'n';
    name[256] = '\0';
    assert_fails(file_put(path_of(*state, name), "x", 1, &error), QKS_IO, &error, "too long");
}

/* ---- files that a library writes by name ---- */
static const char *temporary_of(arena *a, const char *path)
{
    const char *temporary = NULL;
    qks_error error;
    assert_ok(file_temporary(a, path, &temporary, &error), &error);
    return temporary;
}

static void test_temporary_names(void **state)
{
    (void)state;
    arena a = {0};
    const char *one = temporary_of(&a, "out/tables/qk.parquet");
    const char *other = temporary_of(&a, "out/tables/qk.parquet");
    assert_string_not_equal(one, other);
    assert_int_equal(strncmp(one, "out/tables/.qk.parquet.", 23), 0);
    assert_int_equal(strncmp(temporary_of(&a, "qk.csv"), ".qk.csv.", 8), 0);
    assert_int_equal(strncmp(temporary_of(&a, "/qk.csv"), "/.qk.csv.", 9), 0);
    arena_free(&a);
}

static void write_plainly(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void test_place(void **state)
{
    const char *path = path_of(*state, "a");
    arena a = {0};
    qks_error error;
    put_old(path);
    const char *temporary = temporary_of(&a, path);
    write_plainly(temporary, "new");
    assert_content(path, old, strlen(old));
    assert_ok(file_place(temporary, path, &error), &error);
    assert_content(path, "new", 3);
    assert_names(*state, "a");
    arena_free(&a);
}

static void test_place_that_fails(void **state)
{
    const char *folder = path_of(*state, "folder"), *path = path_of(*state, "a");
    arena a = {0};
    qks_error error;
    assert_ok(folder_make(folder, &error), &error);
    const char *temporary = temporary_of(&a, folder);
    write_plainly(temporary, "new");
    assert_fails(file_place(temporary, folder, &error), QKS_IO, &error, folder);
    assert_names(*state, "folder");
    put_old(path);
    assert_fails(file_place(path_of(*state, "none"), path, &error), QKS_MISSING, &error, "none");
    assert_content(path, old, strlen(old));
    arena_free(&a);
}

static void test_remove(void **state)
{
    const char *path = path_of(*state, "a");
    put_old(path);
    file_remove(path);
    file_remove(path);
    assert_names(*state, "");
}

/* ---- folders ---- */
static void test_folder_make(void **state)
{
    static const char *const names[] = {"a", "b/c/d", "b/c/d", "e//f", "g/h/", "b/../i", "./j"};
    qks_error error;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *path = path_of(*state, names[i]);
        assert_ok(folder_make(path, &error), &error);
        assert_true(is_folder(path));
    }
    assert_names(*state, "a b e g i j");
    assert_ok(folder_make("/", &error), &error);
    assert_ok(folder_make(".", &error), &error);
}

static void test_folder_make_that_fails(void **state)
{
    const char *file = path_of(*state, "file");
    char name[PATH_MAX + 1];
    qks_error error;
    put_old(file);
    assert_fails(folder_make(file, &error), QKS_IO, &error, file);
    assert_fails(folder_make(path_of(file, "below"), &error), QKS_IO, &error, "below");
    assert_fails(folder_make("", &error), QKS_INVALID, &error, "folder");
    memset(name, 'n', sizeof name);
    name[PATH_MAX] = '\0';
    assert_fails(folder_make(name, &error), QKS_INVALID, &error, "folder");
    name[300] = '\0';
    assert_fails(folder_make(path_of(*state, name), &error), QKS_IO, &error, "too long");
    assert_content(file, old, strlen(old));
}

/* By bytes, so that the order is the same in every locale. */
static void test_folder_list(void **state)
{
    static const char *const names[] = {"b",       "a",   "10",       "9", "Z",
                                        ".hidden", "a.b", "\xC3\xA9", "aa"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        put_old(path_of(*state, names[i]));
    assert_names(*state, ".hidden 10 9 Z a a.b aa b \xC3\xA9");
}

static void test_folder_list_adds(void **state)
{
    const char *one = path_of(*state, "one"), *other = path_of(*state, "other");
    arena a = {0};
    name_list names = {0};
    qks_error error;
    assert_ok(folder_make(one, &error), &error);
    assert_ok(folder_make(other, &error), &error);
    put_old(path_of(one, "z"));
    put_old(path_of(other, "b"));
    put_old(path_of(other, "a"));
    assert_ok(folder_list(&a, one, &names, &error), &error);
    assert_ok(folder_list(&a, other, &names, &error), &error);
    assert_int_equal(names.length, 3);
    assert_string_equal(names.data[0], "z");
    assert_string_equal(names.data[1], "a");
    assert_string_equal(names.data[2], "b");
    assert_fails(folder_list(&a, path_of(*state, "none"), &names, &error), QKS_MISSING, &error,
                 "none");
    assert_fails(folder_list(&a, path_of(one, "z"), &names, &error), QKS_IO, &error, "one/z");
    assert_int_equal(names.length, 3);
    free(names.data);
    arena_free(&a);
}

static void test_kinds(void **state)
{
    const char *file = path_of(*state, "file"), *none = path_of(*state, "none");
    put_old(file);
    assert_true(is_file(file) && !is_folder(file));
    assert_true(!is_file(*state) && is_folder(*state));
    assert_true(!is_file(none) && !is_folder(none));
}

static void test_title(void **state)
{
    arena a = {0};
    qks_error error;
    assert_ok(folder_make(path_of(*state, "in/side"), &error), &error);
    const struct {
        const char *path, *title;
    } rows[] = {
        {"a", "a"},
        {"a/b.gguf", "b.gguf"},
        {"/a/b/", "b"},
        {"org/name@main", "name@main"},
        {path_of(*state, "in/side//"), "side"},
        {path_of(*state, "in/side/."), "side"},
        {path_of(*state, "in/side/.."), "in"},
        {path_of(*state, "none/."), "."},
        {"/", "/"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(path_title(&a, rows[i].path), rows[i].title);
    arena_free(&a);
}

/* ---- reading ---- */
static void test_get_maximum(void **state)
{
    const char *path = path_of(*state, "a");
    char *bytes = NULL;
    size_t length = 77, size = strlen(old);
    qks_error error;
    put_old(path);
    assert_fails(file_get(path, size - 1, &bytes, &length, &error), QKS_INVALID, &error,
                 "15 bytes, more than the 14 allowed");
    assert_null(bytes);
    assert_int_equal(length, 77);
    assert_ok(file_get(path, size, &bytes, &length, &error), &error);
    assert_int_equal(length, size);
    assert_string_equal(bytes, old);
    free(bytes);
}

static void test_get_what_is_no_file(void **state)
{
    const char *pipe_path = path_of(*state, "pipe"), *none = path_of(*state, "none");
    char *bytes = NULL;
    size_t length = 0;
    qks_error error;
    assert_fails(file_get(none, 100, &bytes, &length, &error), QKS_MISSING, &error, none);
    assert_fails(file_get(*state, 100, &bytes, &length, &error), QKS_INVALID, &error, "regular");
    assert_fails(file_get("/dev/null", 100, &bytes, &length, &error), QKS_INVALID, &error,
                 "regular");
    /* Nobody writes to this pipe: to wait for somebody would be for ever. */
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    (void)alarm(20);
    assert_fails(file_get(pipe_path, 100, &bytes, &length, &error), QKS_INVALID, &error, pipe_path);
    (void)alarm(0);
    assert_null(bytes);
}

static void test_read_at(void **state)
{
    const char *path = path_of(*state, "a");
    static const struct {
        uint64_t offset;
        size_t length;
        const char *expected; /* NULL: past the end */
    } cases[] = {
        {0, 10, "0123456789"},
        {3, 4, "3456"},
        {9, 1, "9"},
        {10, 0, ""},
        {0, 0, ""},
        {10, 1, NULL},
        {0, 11, NULL},
        {9, 2, NULL},
        {11, 0, NULL},
        {UINT64_MAX, 1, NULL},
        {UINT64_MAX, SIZE_MAX, NULL},
        {1, SIZE_MAX, NULL},
        {5, SIZE_MAX - 4, NULL},
    };
    file_reader r;
    qks_error error;
    assert_ok(file_put(path, "0123456789", 10, &error), &error);
    assert_ok(file_open(&r, path, &error), &error);
    assert_int_equal(r.size, 10);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char bytes[11] = "..........";
        qks_status status = file_read_at(&r, cases[i].offset, bytes, cases[i].length, &error);
        if (cases[i].expected) {
            assert_ok(status, &error);
            assert_memory_equal(bytes, cases[i].expected, cases[i].length);
        } else {
            assert_fails(status, QKS_INVALID, &error, "the file has 10");
            assert_string_equal(bytes, "..........");
        }
    }
    file_close(&r);
    file_close(&r);
}

static void test_file_that_shrinks(void **state)
{
    const char *path = path_of(*state, "a");
    file_reader r;
    char bytes[10];
    qks_error error;
    assert_ok(file_put(path, "0123456789", 10, &error), &error);
    assert_ok(file_open(&r, path, &error), &error);
    assert_int_equal(truncate(path, 5), 0);
    assert_fails(file_read_at(&r, 0, bytes, 10, &error), QKS_INVALID, &error, "became shorter");
    file_close(&r);
}

static void test_open_that_fails(void **state)
{
    file_reader r;
    qks_error error;
    assert_fails(file_open(&r, path_of(*state, "none"), &error), QKS_MISSING, &error, "none");
    assert_int_equal(r.descriptor, -1);
    file_close(&r);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_put),
        IN_SCRATCH(test_pieces),
        IN_SCRATCH(test_old_file_until_commit),
        IN_SCRATCH(test_discard),
        IN_SCRATCH(test_two_writers_of_one_file),
        IN_SCRATCH(test_full_disk_while_writing),
        IN_SCRATCH(test_full_disk_at_commit),
        IN_SCRATCH(test_full_disk_for_put),
        IN_SCRATCH(test_no_such_folder),
        IN_SCRATCH(test_a_folder_in_the_way),
        IN_SCRATCH(test_folder_that_is_read_only),
        IN_SCRATCH(test_longest_name),
        cmocka_unit_test(test_temporary_names),
        IN_SCRATCH(test_place),
        IN_SCRATCH(test_place_that_fails),
        IN_SCRATCH(test_remove),
        IN_SCRATCH(test_folder_make),
        IN_SCRATCH(test_folder_make_that_fails),
        IN_SCRATCH(test_folder_list),
        IN_SCRATCH(test_folder_list_adds),
        IN_SCRATCH(test_kinds),
        IN_SCRATCH(test_title),
        IN_SCRATCH(test_get_maximum),
        IN_SCRATCH(test_get_what_is_no_file),
        IN_SCRATCH(test_read_at),
        IN_SCRATCH(test_file_that_shrinks),
        IN_SCRATCH(test_open_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
