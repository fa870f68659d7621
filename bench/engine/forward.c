/* forward.c: passes of a session over its first group of documents, one per command, so that a
 * driver can let other programs take their turns: bench_forward MODEL TEXT THREADS UNIT [CHUNK]
 * Commands on stdin: "plain" keeps nothing, "moments" keeps those of all heads and tokens, "unit"
 * key pairs as well; both write the file UNIT. Each is answered by a line: wall seconds, processor
 * seconds, tokens. */
#include "study/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GROUPS = 20 }; /* as in the published studies: it decides how much a unit samples */

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(qks_status status, const qks_error *error)
{
    if (status == QKS_OK)
        return;
    fprintf(stderr, "bench_forward: %s\n", error->message);
    exit(1);
}

static session *opened(const char *model, const qks_capture_options *options)
{
    qks_error error = {QKS_OK, ""};
    session *s = NULL;
    must(session_open(&s, model, options, &error), &error);
    return s;
}

static void pass(session *s, const char *unit)
{
    qks_error error = {QKS_OK, ""};
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    must(session_run(s, 0, unit, NULL, NULL, &error), &error);
    printf("%.6f %.6f\n", seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    fflush(stdout);
}

int main(int count, char **arguments)
{
    if (count < 5) {
        fprintf(stderr, "bench_forward MODEL TEXT THREADS UNIT [CHUNK]\n");
        return 2;
    }
    qks_capture_options whole = {.text = arguments[2],
                                 .threads = atoi(arguments[3]),
                                 .max_length = 1 << 15,
                                 .groups = GROUPS,
                                 .chunk = count > 5 ? atoi(arguments[5]) : 0};
    qks_capture_options bare = whole;
    bare.pairs = -1;
    session *unit = opened(arguments[1], &whole), *moments = NULL;
    printf("ready\n");
    fflush(stdout);
    char line[32];
    while (fgets(line, sizeof line, stdin)) {
        if (strcmp(line, "moments\n") == 0) {
            moments = moments ? moments : opened(arguments[1], &bare);
            pass(moments, arguments[4]);
        } else {
            pass(unit, strcmp(line, "unit\n") == 0 ? arguments[4] : NULL);
        }
    }
    session_close(moments);
    session_close(unit);
    return 0;
}
