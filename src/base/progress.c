/* progress.c: the progress line. Counting is a relaxed atomic; whoever counts when the time has
 * come draws, and nobody waits for a drawing. */
#include "base/progress.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
    TENTH = 100000000, /* nanoseconds between drawings */
    NARROWEST = 20,    /* columns; narrower terminals get no line */
    WIDEST = 160,
    USUAL = 80, /* if the terminal does not know */
    WORD_SIZE = 48,
    LINE_SIZE = 4 * WIDEST + 16,
};

static const char clear_line[] = "\r\033[K";

struct progress {
    FILE *stream; /* NULL: `tell` instead */
    progress_tell *tell;
    void *context;
    uint64_t total;
    int64_t started; /* nanoseconds */
    atomic_uint_fast64_t done, skipped;
    atomic_int_fast64_t next_draw; /* nanoseconds */
    pthread_mutex_t lock;          /* of the stream and the note */
    char what[WORD_SIZE], unit[WORD_SIZE], note[2 * WORD_SIZE];
};

/* A line under construction, in columns of the terminal. */
typedef struct line {
    char bytes[LINE_SIZE];
    size_t length;
    int columns, room;
} line;

/* Names come from files: no byte of theirs may steer the terminal, and a character cut in two may
 * not remain. */
static void copy_plain(char *to, size_t size, const char *from)
{
    size_t length = 0;
    for (; length < size - 1 && from[length]; length++) {
        unsigned char c = (unsigned char)from[length];
        bool c1_control = c < 0xA0 && length > 0 && (unsigned char)from[length - 1] == 0xC2;
        if (c1_control)
            to[length - 1] = '?';
        to[length] = c < 0x20 || c == 0x7F || c1_control ? '?' : (char)c;
    }
    if (from[length])
        while (length > 0 && ((unsigned char)from[length] & 0xC0) == 0x80)
            length--;
    to[length] = '\0';
}

/* No locale is asked how wide a character is: beyond ASCII it may be two columns. */
static int columns_of(const char *text)
{
    int columns = 0;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        columns += c < 0x80 ? 1 : c >= 0xC0 ? 2 : 0;
    }
    return columns;
}

static void add_piece(line *l, const char *piece)
{
    int columns = columns_of(piece) + (l->columns ? 2 : 0);
    size_t length = strlen(piece);
    if (length == 0 || columns > l->room - l->columns || length + 2 > LINE_SIZE - l->length)
        return;
    if (l->columns) {
        memcpy(l->bytes + l->length, "  ", 2);
        l->length += 2;
    }
    memcpy(l->bytes + l->length, piece, length);
    l->length += length;
    l->columns += columns;
}

/* Digits without printf's decimal point, which depends on the locale. */
static void format_rate(char *out, size_t size, double per_second, const char *unit)
{
    static const struct {
        double scale;
        const char *name;
    } scales[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};
    size_t s = 0;
    while (s < 3 && per_second < scales[s].scale)
        s++;
    double value = per_second / scales[s].scale;
    unsigned hundredths = value < 1e6 ? (unsigned)(value * 100 + 0.5) : 100000000U;
    if (hundredths >= 10000)
        (void)snprintf(out, size, "%u%s %s/s", hundredths / 100, scales[s].name, unit);
    else
        (void)snprintf(out, size, "%u.%02u%s %s/s", hundredths / 100, hundredths % 100,
                       scales[s].name, unit);
}

static void format_time_left(char *out, size_t size, double seconds)
{
    const double longest = 99 * 86400.0;
    unsigned left = (unsigned)(seconds < longest ? seconds + 0.5 : longest);
    unsigned days = left / 86400, hours = left / 3600 % 24, minutes = left / 60 % 60;
    if (days)
        (void)snprintf(out, size, "ETA %ud %02u:%02u h", days, hours, minutes);
    else if (hours)
        (void)snprintf(out, size, "ETA %u:%02u:%02u", hours, minutes, left % 60);
    else
        (void)snprintf(out, size, "ETA %u:%02u", minutes, left % 60);
}

static int columns_of_terminal(FILE *stream)
{
    struct winsize size = {0};
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL;
    return size.ws_col < WIDEST ? size.ws_col : WIDEST;
}

/* Pieces in the order of their worth: those that do not fit are left out. */
static void compose(line *l, progress *p, int64_t at)
{
    char piece[3 * WORD_SIZE];
    uint64_t done = atomic_load(&p->done), skipped = atomic_load(&p->skipped);
    double seconds = (double)(at - p->started) * 1e-9;
    double rate = seconds > 0 && done > skipped ? (double)(done - skipped) / seconds : 0;
    bool bounded = p->total > 0 && done <= p->total;

    add_piece(l, p->what);
    if (bounded) {
        unsigned percent = (unsigned)((double)done / (double)p->total * 100);
        (void)snprintf(piece, sizeof piece, "%u%%", percent);
        add_piece(l, piece);
        (void)snprintf(piece, sizeof piece, "%llu/%llu %s", (unsigned long long)done,
                       (unsigned long long)p->total, p->unit);
    } else {
        (void)snprintf(piece, sizeof piece, "%llu %s", (unsigned long long)done, p->unit);
    }
    add_piece(l, piece);
    if (bounded && rate > 0) {
        format_time_left(piece, sizeof piece, (double)(p->total - done) / rate);
        add_piece(l, piece);
    }
    if (rate > 0) {
        format_rate(piece, sizeof piece, rate, p->unit);
        add_piece(l, piece);
    }
    add_piece(l, p->note);
}

/* With the lock held. */
static void draw(progress *p, int64_t at)
{
    if (p->tell) {
        p->tell(p->context, atomic_load(&p->done));
        atomic_store(&p->next_draw, at + TENTH);
        return;
    }
    line l = {.room = columns_of_terminal(p->stream) - 1};
    atomic_store(&p->next_draw, at + TENTH);
    if (l.room < NARROWEST)
        return;
    compose(&l, p, at);
    (void)fprintf(p->stream, "%s%.*s", clear_line, (int)l.length, l.bytes);
    (void)fflush(p->stream);
}

static bool is_terminal(FILE *stream)
{
    const char *kind = getenv("TERM");
    int descriptor = stream ? fileno(stream) : -1;
    return descriptor >= 0 && isatty(descriptor) && kind && *kind && strcmp(kind, "dumb") != 0;
}

static progress *progress_new(void)
{
    progress *p = calloc(1, sizeof *p);
    if (p && pthread_mutex_init(&p->lock, NULL) != 0) {
        free(p);
        p = NULL;
    }
    return p;
}

progress *progress_relay(progress_tell *tell, void *context)
{
    progress *p = progress_new();
    if (p) {
        p->tell = tell;
        p->context = context;
    }
    return p;
}

progress *progress_start(FILE *stream, const char *what, uint64_t total, const char *unit)
{
    progress *p = is_terminal(stream) ? progress_new() : NULL;
    if (!p)
        return NULL;
    p->stream = stream;
    p->total = total;
    p->started = clock_nanoseconds();
    copy_plain(p->what, sizeof p->what, what);
    copy_plain(p->unit, sizeof p->unit, unit);
    draw(p, p->started);
    return p;
}

static void draw_if_due(progress *p)
{
    int64_t at = clock_nanoseconds();
    if (at < atomic_load(&p->next_draw) || pthread_mutex_trylock(&p->lock) != 0)
        return;
    if (at >= atomic_load(&p->next_draw))
        draw(p, at);
    (void)pthread_mutex_unlock(&p->lock);
}

void progress_add(progress *p, uint64_t n)
{
    if (!p)
        return;
    atomic_fetch_add(&p->done, n);
    draw_if_due(p);
}

void progress_skip(progress *p, uint64_t n)
{
    if (!p)
        return;
    atomic_fetch_add(&p->skipped, n);
    progress_add(p, n);
}

void progress_note(progress *p, const char *format, ...)
{
    if (!p)
        return;
    char note[2 * sizeof p->note]; /* longer, so that copy_plain() does the cutting */
    va_list values;
    va_start(values, format);
    (void)vsnprintf(note, sizeof note, format, values);
    va_end(values);
    (void)pthread_mutex_lock(&p->lock);
    copy_plain(p->note, sizeof p->note, note);
    (void)pthread_mutex_unlock(&p->lock);
    draw_if_due(p);
}

void progress_hide(progress *p)
{
    if (!p)
        return;
    (void)pthread_mutex_lock(&p->lock);
    if (p->tell) {
        p->tell(p->context, atomic_load(&p->done));
    } else {
        (void)fputs(clear_line, p->stream);
        (void)fflush(p->stream);
    }
    atomic_store(&p->next_draw, 0);
    (void)pthread_mutex_unlock(&p->lock);
}

void progress_end(progress *p)
{
    progress_hide(p);
    if (p)
        (void)pthread_mutex_destroy(&p->lock);
    free(p);
}
