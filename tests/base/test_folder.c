/* Folders that one process works on at a time, and that are whole or not there. */
#include "testing.h"

#include "base/file.h"
#include "base/folder.h"

#include <fcntl.h>
#include <sys/stat.h>

static void put(const char *folder, const char *name, const char *content)
{
    qks_error error;
    assert_ok(folder_make(folder, &error), &error);
    assert_ok(file_put(path_of(folder, name), content, strlen(content), &error), &error);
}

static void assert_content(const char *path, const char *expected)
{
    char *bytes = NULL;
    size_t length = 0;
    qks_error error;
    assert_ok(file_get(path, 1000, &bytes, &length, &error), &error);
    assert_string_equal(bytes, expected);
    free(bytes);
}

static size_t count_in(const char *folder)
{
    arena a = {0};
    name_list names = {0};
    qks_error error;
    assert_ok(folder_list(&a, folder, &names, &error), &error);
    size_t count = names.length;
    free(names.data);
    arena_free(&a);
    return count;
}

static void test_one_at_a_time(void **state)
{
    const char *folder = path_of(*state, "a/b");
    int first = -1, second = -1;
    char holder[64];
    qks_error error;
    assert_ok(folder_lock(folder, &first, &error), &error);
    (void)snprintf(holder, sizeof holder, "process %ld on ", (long)getpid());
    assert_fails(folder_lock(folder, &second, &error), QKS_IO, &error, holder);
    assert_true(second < 0);
    folder_unlock(first);
    assert_ok(folder_lock(folder, &second, &error), &error);
    folder_unlock(second);
    folder_unlock(-1);
}

static void test_lock_that_fails(void **state)
{
    int lock = 0;
    qks_error error;
    put(*state, "file", "x");
    assert_fails(folder_lock(path_of(*state, "file"), &lock, &error), QKS_IO, &error, "file");
    assert_true(lock < 0);
    assert_int_equal(mkdir(path_of(*state, ".lock"), 0755), 0);
    assert_fails(folder_lock(*state, &lock, &error), QKS_IO, &error, ".lock");
}

static void test_place(void **state)
{
    const char *folder = path_of(*state, "units"), *fresh = path_of(*state, ".units.part");
    qks_error error;
    put(fresh, "a", "first");
    assert_ok(folder_place(fresh, folder, &error), &error);
    assert_content(path_of(folder, "a"), "first");
    put(fresh, "b", "second");
    assert_ok(folder_place(fresh, folder, &error), &error);
    assert_content(path_of(folder, "b"), "second");
    assert_int_equal(count_in(folder), 1);
    assert_int_equal(count_in(*state), 1); /* the old one is gone */
}

static void test_place_that_fails(void **state)
{
    const char *folder = path_of(*state, "units"), *fresh = path_of(*state, ".units.part");
    qks_error error;
    put(folder, "a", "first");
    assert_fails(folder_place(fresh, folder, &error), QKS_IO, &error, "units");
    assert_content(path_of(folder, "a"), "first");
    put(fresh, "b", "second");
    put(*state, "file", "x"); /* a file in the way stays as it is */
    assert_fails(folder_place(fresh, path_of(*state, "file"), &error), QKS_IO, &error, "file");
    assert_content(path_of(*state, "file"), "x");
}

static void test_remove(void **state)
{
    const char *folder = path_of(*state, "old"), *below = path_of(folder, "below");
    put(folder, "a", "x");
    put(below, "b", "x");
    folder_remove(folder);
    assert_int_equal(count_in(folder), 1); /* what is deeper is not ours */
    folder_remove(below);
    folder_remove(folder);
    assert_false(is_folder(folder));
    folder_remove(folder);
}

#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH(test_one_at_a_time),    SCRATCH(test_lock_that_fails), SCRATCH(test_place),
        SCRATCH(test_place_that_fails), SCRATCH(test_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
