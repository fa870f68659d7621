/* child.c: starting, hearing and ending a worker process. */
#include "study/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 64 << 20, READ_BYTES = 1 << 16, TAIL_BYTES = 2000 };

static qks_status failed(qks_error *error, const char *what)
{
    return qks_fail(error, QKS_IO, "cannot %s: %s", what, strerror(errno));
}

static void close_pipe(int *descriptor)
{
    if (*descriptor >= 0)
        (void)close(*descriptor);
    *descriptor = -1;
}

static int spawn(child *c, const char *program, int in, int out)
{
    posix_spawn_file_actions_t actions;
    char name[] = "qkscope", verb[] = "worker";
    char *arguments[] = {name, verb, NULL};
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    int result = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(&actions, fileno(c->errors), STDERR_FILENO);
    if (result == 0)
        result = posix_spawn(&c->process, program, &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return result;
}

qks_status child_start(child *c, const char *program, qks_error *error)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    *c = (child){.to = -1, .from = -1, .lines = text_new(LINE_MAX_BYTES)};
    c->errors = tmpfile();
    qks_status status = QKS_OK;
    if (!c->errors || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        status = failed(error, "make pipes to a worker");
    if (status == QKS_OK) {
        errno = spawn(c, program, in[0], out[1]);
        if (errno) {
            c->process = 0;
            status = qks_fail(error, QKS_IO, "cannot start '%s': %s", program, strerror(errno));
        }
    }
    close_pipe(&in[0]);
    close_pipe(&out[1]);
    c->to = in[1];
    c->from = out[0];
    if (status != QKS_OK)
        child_end(c, true, NULL);
    return status;
}

qks_status child_tell(child *c, const json_t *message, qks_error *error)
{
    char *line = json_dumps(message, JSON_COMPACT);
    if (!line)
        return qks_fail(error, QKS_MEMORY, "out of memory");
    size_t length = strlen(line);
    line[length++] = '\n'; /* in place of the final NUL */
    qks_status status = QKS_OK;
    for (size_t at = 0; at < length;) {
        ssize_t done = write(c->to, line + at, length - at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            status = failed(error, "speak to a worker");
            close_pipe(&c->to); /* it would wait for the rest of the line, and we for its answer */
            break;
        }
        at += (size_t)done;
    }
    free(line);
    return status;
}

/* The first whole line, taken off the buffer; NULL if there is none. */
static qks_status take_line(child *c, json_t **message, qks_error *error)
{
    char *end = c->lines.length ? memchr(c->lines.data, '\n', c->lines.length) : NULL;
    *message = NULL;
    if (!end)
        return QKS_OK;
    size_t length = (size_t)(end - c->lines.data);
    *message = json_loadb(c->lines.data, length, 0, NULL);
    memmove(c->lines.data, end + 1, c->lines.length - length - 1);
    c->lines.length -= length + 1;
    return *message ? QKS_OK
                    : qks_fail(error, QKS_INTERNAL, "a worker sent a line that is not JSON");
}

qks_status child_hear(child *c, int milliseconds, json_t **message, bool *ended, qks_error *error)
{
    *ended = false;
    qks_status status = take_line(c, message, error);
    while (status == QKS_OK && !*message) {
        struct pollfd ready = {.fd = c->from, .events = POLLIN};
        int found = poll(&ready, 1, milliseconds);
        if (found == 0 || (found < 0 && errno == EINTR))
            return QKS_OK;
        char bytes[READ_BYTES];
        ssize_t n = found < 0 ? -1 : read(c->from, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failed(error, "hear a worker");
        if (n == 0) {
            *ended = true;
            return QKS_OK;
        }
        text_append(&c->lines, bytes, (size_t)n);
        status = text_status(&c->lines, "a worker's line", error);
        if (status == QKS_OK)
            status = take_line(c, message, error);
    }
    return status;
}

/* The last line of what it wrote to standard error. */
static void add_last_words(const child *c, text *reason)
{
    char tail[TAIL_BYTES + 1];
    if (fseek(c->errors, 0, SEEK_END) != 0)
        return;
    long size = ftell(c->errors), from = size > TAIL_BYTES ? size - TAIL_BYTES : 0;
    if (size <= 0 || fseek(c->errors, from, SEEK_SET) != 0)
        return;
    size_t n = fread(tail, 1, TAIL_BYTES, c->errors);
    while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == ' '))
        n--;
    tail[n] = '\0';
    const char *line = strrchr(tail, '\n');
    if (n)
        text_addf(reason, "; its last words: %.300s", line ? line + 1 : tail);
}

static void explain(const child *c, int how, text *reason)
{
    if (WIFSIGNALED(how)) {
        int signal_number = WTERMSIG(how);
        text_addf(reason, "its process was killed by signal %d (%s%s)", signal_number,
                  strsignal(signal_number),
                  signal_number == SIGKILL ? "; perhaps there was not enough memory" : "");
        add_last_words(c, reason);
    } else if (WIFEXITED(how) && WEXITSTATUS(how) != 0) {
        text_addf(reason, "its process ended with code %d", WEXITSTATUS(how));
        add_last_words(c, reason);
    }
}

void child_end(child *c, bool kill_it, text *reason)
{
    close_pipe(&c->to);
    if (c->process > 0) {
        int how = 0;
        if (kill_it)
            (void)kill(c->process, SIGKILL);
        while (waitpid(c->process, &how, 0) < 0 && errno == EINTR)
            continue;
        if (reason && !kill_it)
            explain(c, how, reason);
    }
    close_pipe(&c->from);
    if (c->errors)
        (void)fclose(c->errors);
    text_free(&c->lines);
    *c = (child){.to = -1, .from = -1};
}
