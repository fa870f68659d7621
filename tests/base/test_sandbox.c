/* What a process can still do after it gave up the rest; each case in a process of its own. */
#include "testing.h"

#include "base/file.h"
#include "base/sandbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static bool has(const char *what)
{
    return strstr(sandbox_name(), what) != NULL;
}

/* 0: it can; else the reason. */
typedef int attempt(const char *inside, const char *outside);

static int write_to(const char *folder)
{
    qks_error error;
    return file_put(path_of(folder, "new"), "x", 1, &error) == QKS_OK ? 0 : EACCES;
}

static int write_inside(const char *inside, const char *outside)
{
    (void)outside;
    return write_to(inside);
}

static int write_outside(const char *inside, const char *outside)
{
    (void)inside;
    return write_to(outside);
}

static int read_outside(const char *inside, const char *outside)
{
    char *bytes = NULL;
    size_t length = 0;
    (void)inside;
    return file_get(path_of(outside, "old"), 10, &bytes, &length, NULL) == QKS_OK ? 0 : EACCES;
}

static int change_outside(const char *inside, const char *outside)
{
    (void)inside;
    return open(path_of(outside, "old"), O_WRONLY) >= 0 ? 0 : errno;
}

static int remove_outside(const char *inside, const char *outside)
{
    (void)inside;
    return unlink(path_of(outside, "old")) == 0 ? 0 : errno;
}

static int by_a_link(const char *inside, const char *outside)
{
    if (symlink(path_of(outside, "old"), path_of(inside, "link")) != 0)
        return errno;
    return open(path_of(inside, "link"), O_WRONLY | O_TRUNC) >= 0 ? 0 : errno;
}

static void *write_in_thread(void *folder)
{
    return (void *)(intptr_t)write_to(folder);
}

static int in_a_thread(const char *inside, const char *outside)
{
    pthread_t thread;
    void *result = NULL;
    (void)inside;
    if (pthread_create(&thread, NULL, write_in_thread, (void *)(uintptr_t)outside) != 0 ||
        pthread_join(thread, &result) != 0)
        return EAGAIN;
    return (int)(intptr_t)result;
}

static int run_a_program(const char *inside, const char *outside)
{
    (void)inside, (void)outside;
    (void)execl("/bin/true", "true", (char *)NULL); /* comes back only if refused; true gives 0 */
    return errno;
}

static int open_socket(const char *inside, const char *outside)
{
    (void)inside, (void)outside;
    return socket(AF_INET6, SOCK_DGRAM, 0) >= 0 || socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 0 : errno;
}

static int run_attempt(const char *scratch, attempt *what, bool network)
{
    const char *inside = path_of(scratch, "in"), *outside = path_of(scratch, "out");
    qks_error error;
    int status = 0;
    assert_ok(folder_make(inside, &error), &error);
    assert_ok(folder_make(outside, &error), &error);
    assert_ok(file_put(path_of(outside, "old"), "x", 1, &error), &error);
    pid_t child = fork();
    if (child == 0) {
        const char *folders[] = {inside, "/no such folder"};
        _exit(sandbox_enter(folders, 2, network) ? what(inside, outside) : 99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_what_stays_and_what_goes(void **state)
{
    const struct {
        const char *name;
        attempt *what;
        const char *by; /* what takes it away; NULL: nothing */
        bool network;
    } rows[] = {
        {"write inside", write_inside, NULL, false},
        {"read outside", read_outside, NULL, false},
        {"write outside", write_outside, "landlock", false},
        {"change outside", change_outside, "landlock", false},
        {"remove outside", remove_outside, "landlock", false},
        {"by a link", by_a_link, "landlock", false},
        {"in a thread", in_a_thread, "landlock", false},
        {"run a program", run_a_program, "seccomp", false},
        {"run a program", run_a_program, "seccomp", true},
        {"open a socket", open_socket, "seccomp", false},
        {"open a socket", open_socket, NULL, true},
    };
    print_message("%s\n", sandbox_name());
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].by && !has(rows[i].by))
            continue; /* the kernel does not have it, and says so above */
        print_message("%s\n", rows[i].name);
        assert_int_equal(run_attempt(*state, rows[i].what, rows[i].network),
                         rows[i].by ? EACCES : 0);
    }
}

static void test_switched_off(void **state)
{
    assert_int_equal(setenv("QKSCOPE_ISOLATION", "none", 1), 0);
    assert_string_equal(sandbox_name(), "none");
    assert_int_equal(run_attempt(*state, write_outside, false), 0);
    assert_int_equal(unsetenv("QKSCOPE_ISOLATION"), 0);
}

#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH(test_what_stays_and_what_goes),
        SCRATCH(test_switched_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
