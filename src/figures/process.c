/* process.c: posix_spawn and a pipe. */
#include "figures/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* This process's environment with a fixed locale: what a program draws or says is not to depend on
 * where it runs, and scripts and data are UTF-8. */
static char **fixed_environment(void)
{
    static char locale[] = "LC_ALL=C.UTF-8";
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **fixed = calloc(count + 2, sizeof *fixed);
    for (size_t i = 0; fixed && i < count; i++)
        if (strncmp(environ[i], locale, strlen("LC_ALL=")) != 0)
            fixed[kept++] = environ[i];
    if (fixed)
        fixed[kept] = locale;
    return fixed;
}

static int spawn(pid_t *child, char *const *arguments, const char *folder, int said,
                 posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes)
{
    sigset_t signals;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGPIPE); /* qkscope ignores it; the child is not to */
    int code = posix_spawnattr_setsigdefault(attributes, &signals);
    if (code == 0)
        code = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF);
    if (code == 0)
        code = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(actions, said, STDOUT_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(actions, said, STDERR_FILENO);
    if (code == 0 && folder)
        code = posix_spawn_file_actions_addchdir_np(actions, folder);
    char **environment = code == 0 ? fixed_environment() : NULL;
    if (environment)
        code = posix_spawnp(child, arguments[0], actions, attributes, arguments, environment);
    else if (code == 0)
        code = ENOMEM;
    free(environment);
    return code;
}

static int start(pid_t *child, char *const *arguments, const char *folder, int said)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        code = spawn(child, arguments, folder, said, &actions, &attributes);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* To the end, so that the child never waits for us. */
static void listen_to(int from, text *said)
{
    char block[4096];
    for (;;) {
        ssize_t n = read(from, block, sizeof block);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        size_t room = said->maximum - said->length;
        text_append(said, block, (size_t)n < room ? (size_t)n : room);
    }
}

qks_status process_run(char *const *arguments, const char *folder, text *said, int *code,
                       qks_error *error)
{
    int ends[2], how = 0;
    pid_t child = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return qks_fail(error, QKS_IO, "cannot run %s: %s", arguments[0], strerror(errno));
    int failed = start(&child, arguments, folder, ends[1]);
    (void)close(ends[1]);
    if (failed == 0) {
        listen_to(ends[0], said);
        while (waitpid(child, &how, 0) < 0 && errno == EINTR)
            ;
    }
    (void)close(ends[0]);
    if (failed == ENOENT || failed == EACCES)
        return qks_fail(error, QKS_MISSING, "%s is not on the PATH", arguments[0]);
    if (failed != 0)
        return qks_fail(error, QKS_IO, "cannot run %s: %s", arguments[0], strerror(failed));
    if (WIFSIGNALED(how))
        return qks_fail(error, QKS_IO, "%s was ended by signal %d", arguments[0], WTERMSIG(how));
    *code = WEXITSTATUS(how);
    return QKS_OK;
}
