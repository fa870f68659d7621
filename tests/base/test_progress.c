/* test_progress.c: the progress line, seen through a pseudo-terminal. */
#include "testing.h"

#include "base/parallel.h"
#include "base/progress.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <time.h>

enum { SEEN_SIZE = 1 << 16, BETWEEN_DRAWINGS = 110 /* ms, a little more than a tenth */ };

typedef struct terminal {
    int master;
    FILE *stream;
    char seen[SEEN_SIZE]; /* what the last terminal_read() got */
} terminal;

static void terminal_width(const terminal *t, unsigned short columns)
{
    const struct winsize size = {.ws_row = 24, .ws_col = columns};
    assert_int_equal(ioctl(t->master, TIOCSWINSZ, &size), 0);
}

static int terminal_open(void **state)
{
    terminal *t = calloc(1, sizeof *t);
    assert_non_null(t);
    assert_int_equal(setenv("TERM", "xterm", 1), 0);
    t->master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(t->master >= 0);
    assert_int_equal(grantpt(t->master), 0);
    assert_int_equal(unlockpt(t->master), 0);
    int descriptor = open(ptsname(t->master), O_RDWR | O_NOCTTY);
    assert_true(descriptor >= 0);
    t->stream = fdopen(descriptor, "w");
    assert_non_null(t->stream);
    assert_int_equal(fcntl(t->master, F_SETFL, O_NONBLOCK), 0);
    terminal_width(t, 100);
    *state = t;
    return 0;
}

static int terminal_close(void **state)
{
    terminal *t = *state;
    (void)fclose(t->stream);
    (void)close(t->master);
    free(t);
    return 0;
}

/* Everything written since the last time. */
static const char *terminal_read(terminal *t)
{
    size_t length = 0;
    for (ssize_t got; (got = read(t->master, t->seen + length, SEEN_SIZE - 1 - length)) > 0;)
        length += (size_t)got;
    t->seen[length] = '\0';
    return t->seen;
}

static void wait_ms(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&t, NULL);
}

static size_t count_of(const char *text, char c)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == c;
    return count;
}

static void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' has no '%s'", text, part);
}

/* The whole numbers in "ETA 0:SS  RATE". */
static void time_left_and_rate(const char *line, unsigned long *seconds, unsigned long *rate)
{
    const char *at = strstr(line, "ETA 0:");
    char *end = NULL;
    assert_non_null(at);
    *seconds = strtoul(at + strlen("ETA 0:"), &end, 10);
    *rate = strtoul(end, &end, 10);
    assert_non_null(strchr(" .k", *end));
}

static void test_the_line(void **state)
{
    terminal *t = *state;
    progress *p = progress_start(t->stream, "capture", 200, "tokens");
    assert_non_null(p);
    assert_string_equal(terminal_read(t), "\r\033[Kcapture  0%  0/200 tokens");
    wait_ms(BETWEEN_DRAWINGS);
    progress_note(p, "layer %d", 7);
    (void)terminal_read(t);
    wait_ms(BETWEEN_DRAWINGS);
    progress_add(p, 50);
    /* 50 after 0.22 s or more: up to 227 tokens/s, at least 0.66 s to go. */
    unsigned long seconds, rate;
    assert_contains(terminal_read(t), "\r\033[Kcapture  25%  50/200 tokens  ETA 0:");
    time_left_and_rate(t->seen, &seconds, &rate);
    assert_in_range(seconds, 1, 59);
    assert_in_range(rate, 1, 227);
    assert_contains(t->seen, " tokens/s  layer 7");
    progress_end(p);
    assert_string_equal(terminal_read(t), "\r\033[K");
}

static void test_at_most_ten_a_second(void **state)
{
    terminal *t = *state;
    progress *p = progress_start(t->stream, "x", 0, "rows");
    struct timespec begin, end;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &begin), 0);
    for (int i = 0; i < 200; i++) {
        progress_add(p, 1);
        wait_ms(2);
    }
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &end), 0);
    double seconds = (double)(end.tv_sec - begin.tv_sec) +
                     (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    size_t drawings = count_of(terminal_read(t), '\r');
    assert_in_range(drawings, 2, 1 + (size_t)(seconds * 10 + 1));
    progress_end(p);
}

static void test_unknown_total_has_no_end(void **state)
{
    terminal *t = *state;
    progress *p = progress_start(t->stream, "read", 0, "rows");
    wait_ms(BETWEEN_DRAWINGS);
    progress_add(p, 5);
    assert_contains(terminal_read(t), "read  5 rows  ");
    assert_contains(t->seen, " rows/s");
    assert_null(strchr(t->seen, '%'));
    assert_null(strstr(t->seen, "ETA"));
    progress_end(p);
}

static void test_more_than_the_total(void **state)
{
    terminal *t = *state;
    progress *p = progress_start(t->stream, "read", 3, "rows");
    wait_ms(BETWEEN_DRAWINGS);
    progress_add(p, 5);
    assert_contains(terminal_read(t), "read  5 rows  ");
    assert_null(strstr(t->seen, "ETA"));
    progress_end(p);
}

static void test_skipped_work_is_not_speed(void **state)
{
    terminal *t = *state;
    progress *p = progress_start(t->stream, "units", 10, "units");
    wait_ms(BETWEEN_DRAWINGS);
    progress_skip(p, 8);
    assert_string_equal(terminal_read(t) + strlen("\r\033[Kunits  0%  0/10 units"),
                        "\r\033[Kunits  80%  8/10 units");
    wait_ms(BETWEEN_DRAWINGS);
    progress_add(p, 1);
    /* One in 0.22 s or more, not nine. */
    unsigned long seconds, rate;
    assert_contains(terminal_read(t), "\r\033[Kunits  90%  9/10 units  ETA 0:");
    time_left_and_rate(t->seen, &seconds, &rate);
    assert_in_range(rate, 0, 4);
    progress_end(p);
}

/* Pieces are left out from the end, and the last column stays free (some terminals wrap there). */
static void test_width(void **state)
{
    terminal *t = *state;
    static const struct {
        unsigned short columns;
        const char *line;
    } cases[] = {
        {80, "\r\033[Kcapture  0%  0/131072 tokens"},
        {29, "\r\033[Kcapture  0%  0/131072 tokens"},
        {28, "\r\033[Kcapture  0%"},
        {21, "\r\033[Kcapture  0%"},
        {20, ""},
        {1, ""},
        {0, "\r\033[Kcapture  0%  0/131072 tokens"}, /* a terminal that does not know */
        {2000, "\r\033[Kcapture  0%  0/131072 tokens"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        terminal_width(t, cases[i].columns);
        progress *p = progress_start(t->stream, "capture", 131072, "tokens");
        assert_string_equal(terminal_read(t), cases[i].line);
        progress_end(p);
        (void)terminal_read(t);
    }
}

static void test_names_do_not_steer_the_terminal(void **state)
{
    terminal *t = *state;
    static const struct {
        const char *what, *line;
    } cases[] = {
        {"a\033[2Jb\nc\x7f", "\r\033[Ka?[2Jb?c?  0%  0/1 u"},
        {"\302\2332J", "\r\033[K??2J  0%  0/1 u"},
        {"na\xC3\xAFve", "\r\033[Kna\xC3\xAFve  0%  0/1 u"},
        {"%s%n", "\r\033[K%s%n  0%  0/1 u"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        progress *p = progress_start(t->stream, cases[i].what, 1, "u");
        assert_string_equal(terminal_read(t), cases[i].line);
        progress_end(p);
        (void)terminal_read(t);
    }
}

/* Cut to 47 bytes, but not within a character: 46 x and half of a two-byte letter. */
static void test_long_names_are_cut(void **state)
{
    terminal *t = *state;
    char name[201], expected[80];
    memset(name, 'x', sizeof name);
    memcpy(name + 46, "\xC3\xAF", 2);
    name[200] = '\0';
    (void)snprintf(expected, sizeof expected, "\r\033[K%.46s  0%%  0/1 u", name);
    progress *p = progress_start(t->stream, name, 1, "u");
    assert_string_equal(terminal_read(t), expected);
    progress_end(p);
}

static void test_hide_and_come_back(void **state)
{
    terminal *t = *state;
    progress *p = progress_start(t->stream, "x", 4, "rows");
    (void)terminal_read(t);
    progress_hide(p);
    assert_string_equal(terminal_read(t), "\r\033[K");
    progress_add(p, 1); /* at once, without waiting for the next tenth */
    assert_contains(terminal_read(t), "\r\033[Kx  25%  1/4 rows");
    progress_end(p);
}

static qks_status count_one(void *context, size_t index, int thread, qks_error *error)
{
    (void)thread, (void)error;
    progress_add(context, 1);
    if (index % 64 == 0)
        progress_note(context, "item %zu", index);
    return QKS_OK;
}

static void test_many_threads(void **state)
{
    terminal *t = *state;
    enum { ITEMS = 200000 };
    progress *p = progress_start(t->stream, "x", ITEMS, "items");
    qks_error error;
    assert_ok(parallel_for(ITEMS, 4, count_one, p, &error), &error);
    wait_ms(BETWEEN_DRAWINGS);
    (void)terminal_read(t);
    progress_add(p, 0);
    assert_contains(terminal_read(t), "x  100%  200000/200000 items  ETA 0:00  ");
    progress_end(p);
}

static void test_silent_where_nobody_looks(void **state)
{
    terminal *t = *state;
    FILE *file = tmpfile();
    char *memory = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&memory, &length);
    assert_non_null(file);
    assert_non_null(stream);
    assert_null(progress_start(file, "x", 1, "u"));
    assert_null(progress_start(stream, "x", 1, "u"));
    assert_null(progress_start(NULL, "x", 1, "u"));
    assert_int_equal(ftell(file), 0);
    (void)fclose(file);
    (void)fclose(stream);
    free(memory);

    static const char *const terms[] = {"dumb", ""};
    for (size_t i = 0; i < COUNT_OF(terms); i++) {
        assert_int_equal(setenv("TERM", terms[i], 1), 0);
        assert_null(progress_start(t->stream, "x", 1, "u"));
    }
    assert_int_equal(unsetenv("TERM"), 0);
    assert_null(progress_start(t->stream, "x", 1, "u"));
    assert_string_equal(terminal_read(t), "");
}

static void test_no_progress_takes_every_call(void **state)
{
    (void)state;
    progress_add(NULL, 1);
    progress_skip(NULL, 1);
    progress_note(NULL, "%s", "x");
    progress_hide(NULL);
    progress_end(NULL);
}

#define WITH_TERMINAL(test) cmocka_unit_test_setup_teardown(test, terminal_open, terminal_close)

/* A root without /dev/pts has no pseudo terminals. */
static bool has_terminals(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master >= 0)
        (void)close(master);
    return master >= 0;
}

int main(void)
{
    enum { SKIPPED = 77 };
    if (!has_terminals()) {
        (void)puts("skipped: there are no pseudo terminals here (/dev/pts)");
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        WITH_TERMINAL(test_the_line),
        WITH_TERMINAL(test_at_most_ten_a_second),
        WITH_TERMINAL(test_unknown_total_has_no_end),
        WITH_TERMINAL(test_more_than_the_total),
        WITH_TERMINAL(test_skipped_work_is_not_speed),
        WITH_TERMINAL(test_width),
        WITH_TERMINAL(test_names_do_not_steer_the_terminal),
        WITH_TERMINAL(test_long_names_are_cut),
        WITH_TERMINAL(test_hide_and_come_back),
        WITH_TERMINAL(test_many_threads),
        WITH_TERMINAL(test_silent_where_nobody_looks),
        cmocka_unit_test(test_no_progress_takes_every_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
