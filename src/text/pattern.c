/* pattern.c: Oniguruma with limits, and memmem. */
#include "text/pattern.h"

#include "base/memory.h"
#include "text/unicode.h"

#include <oniguruma.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Backtracking in one attempt: the library's limit, some 0.1 s. In one search, at all its starts:
 * an honest pattern fails a few times at each byte. Stack entries: an honest pattern needs one or
 * two for each byte. */
enum {
    RETRIES_IN_MATCH = 10 * 1000 * 1000,
    RETRIES_PER_BYTE = 64,
    STACK_FIXED = 1 << 20,
    STACK_PER_BYTE = 4,
};
enum { SECONDS_FIXED = 5, SECONDS_PER_MEGABYTE = 10 };

struct pattern {
    regex_t *code; /* NULL: plain */
    char *source;  /* the expression or the plain string, with a NUL behind it */
    size_t length;
};

struct search {
    OnigRegion *region;
    OnigMatchParam *limits;
    time_t deadline, processor; /* on the monotonic clock; on the thread's own */
};

static pthread_once_t started = PTHREAD_ONCE_INIT;

static void start_oniguruma(void)
{
    OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
    (void)onig_initialize(encodings, 1);
}

/* ---- patterns ---- */
static qks_status pattern_new(pattern **out, const char *source, size_t length, qks_error *error)
{
    pattern *p = calloc(1, sizeof *p);
    char *copy = calloc(length + 1, 1);
    if (!p || !copy) {
        free(p);
        free(copy);
        return out_of_memory(error, "pattern");
    }
    memcpy(copy, source, length);
    *p = (pattern){.source = copy, .length = length};
    *out = p;
    return QKS_OK;
}

/* Before 6.9.9 Oniguruma's class of punctuation had no symbols in it. */
static qks_status check_classes(const char *source, qks_error *error)
{
    if (ONIGURUMA_VERSION_INT >= 60909 ||
        (!strcasestr(source, "[:punct:]") && !strcasestr(source, "[:^punct:]") &&
         !strcasestr(source, "PosixPunct")))
        return QKS_OK;
    return qks_fail(error, QKS_UNSUPPORTED,
                    "[[:punct:]] in a regular expression needs Oniguruma 6.9.9 or newer; "
                    "[\\p{P}\\p{S}] says the same");
}

qks_status pattern_compile(pattern **out, const char *expression, size_t length, qks_error *error)
{
    (void)pthread_once(&started, start_oniguruma);
    pattern *p = NULL;
    qks_status status = pattern_new(&p, expression, length, error);
    if (status != QKS_OK)
        return status;
    const OnigUChar *start = (const OnigUChar *)p->source;
    OnigErrorInfo info;
    status = check_classes(p->source, error);
    int result = status != QKS_OK ? ONIG_NORMAL
                                  : onig_new(&p->code, start, start + length, ONIG_OPTION_NONE,
                                             ONIG_ENCODING_UTF8, ONIG_SYNTAX_ONIGURUMA, &info);
    if (result != ONIG_NORMAL) {
        OnigUChar why[ONIG_MAX_ERROR_MESSAGE_LEN];
        (void)onig_error_code_to_str(why, result, &info);
        p->code = NULL;
        char source[SHOWN_SIZE];
        status = qks_fail(error, QKS_INVALID, "bad regular expression '%s': %s",
                          shown(p->source, length, source), (const char *)why);
    }
    if (status == QKS_OK)
        *out = p;
    else
        pattern_free(p);
    return status;
}

qks_status pattern_plain(pattern **out, const char *string, size_t length, qks_error *error)
{
    if (length == 0) /* matches between any two characters, which is a regular expression's job */
        return pattern_compile(out, "", 0, error);
    return pattern_new(out, string, length, error);
}

void pattern_free(pattern *p)
{
    if (!p)
        return;
    if (p->code)
        onig_free(p->code);
    free(p->source);
    free(p);
}

/* ---- searching ---- */
qks_status search_open(search **out, qks_error *error)
{
    (void)pthread_once(&started, start_oniguruma);
    search *s = calloc(1, sizeof *s);
    if (!s)
        return out_of_memory(error, "search");
    s->region = onig_region_new();
    s->limits = onig_new_match_param();
    if (!s->region || !s->limits) {
        search_close(s);
        return out_of_memory(error, "search");
    }
    (void)onig_initialize_match_param(s->limits);
    (void)onig_set_retry_limit_in_match_of_match_param(s->limits, RETRIES_IN_MATCH);
    *out = s;
    return QKS_OK;
}

void search_close(search *s)
{
    if (!s)
        return;
    if (s->region)
        onig_region_free(s->region, 1);
    if (s->limits)
        onig_free_match_param(s->limits);
    free(s);
}

static time_t seconds_on(clockid_t clock)
{
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return now.tv_sec;
}

/* A busy or sleeping machine is no fault of the pattern: what counts is the processor's time. It
 * costs a system call, so it is asked for only once the other clock, which goes no slower, is past.
 */
static bool takes_too_long(const search *s)
{
    return seconds_on(CLOCK_MONOTONIC_COARSE) > s->deadline &&
           seconds_on(CLOCK_THREAD_CPUTIME_ID) > s->processor;
}

void search_begin(search *s, size_t document)
{
    uint64_t stack = STACK_FIXED + (uint64_t)document * STACK_PER_BYTE;
    uint64_t retries = RETRIES_IN_MATCH + (uint64_t)document * RETRIES_PER_BYTE;
    (void)onig_set_match_stack_limit_size_of_match_param(
        s->limits, stack < INT32_MAX ? (unsigned)stack : INT32_MAX);
    (void)onig_set_retry_limit_in_search_of_match_param(s->limits, retries);
    time_t seconds = SECONDS_FIXED + (time_t)(document / 1000000 * SECONDS_PER_MEGABYTE);
    s->deadline = seconds_on(CLOCK_MONOTONIC_COARSE) + seconds;
    s->processor = seconds_on(CLOCK_THREAD_CPUTIME_ID) + seconds;
}

static qks_status bad_search(const pattern *p, const char *why, qks_error *error)
{
    char source[SHOWN_SIZE];
    return qks_fail(error, QKS_INVALID, "the regular expression '%s' fails on this text: %s",
                    shown(p->source, p->length, source), why);
}

static qks_status search_expression(const pattern *p, search *s, const char *bytes, size_t length,
                                    match *m, qks_error *error)
{
    const OnigUChar *text = (const OnigUChar *)bytes, *end = text + length;
    int at = onig_search_with_param(p->code, text, end, text + m->from, end, s->region,
                                    ONIG_OPTION_NONE, s->limits);
    m->found = at >= 0;
    if (at >= 0) {
        m->start = (size_t)s->region->beg[0];
        m->end = (size_t)s->region->end[0];
    } else if (at != ONIG_MISMATCH) {
        OnigUChar why[ONIG_MAX_ERROR_MESSAGE_LEN];
        (void)onig_error_code_to_str(why, at);
        return bad_search(p, (const char *)why, error);
    }
    if (takes_too_long(s))
        return bad_search(p, "it takes too long", error);
    return QKS_OK;
}

static void search_plain(const pattern *p, const char *bytes, size_t length, match *m)
{
    const char *at = memmem(bytes + m->from, length - m->from, p->source, p->length);
    m->found = at != NULL;
    if (at) {
        m->start = (size_t)(at - bytes);
        m->end = m->start + p->length;
    }
}

qks_status pattern_next(const pattern *p, search *s, const char *bytes, size_t length, match *m,
                        qks_error *error)
{
    while (m->from <= length) {
        if (p->code) {
            qks_status status = search_expression(p, s, bytes, length, m, error);
            if (status != QKS_OK)
                return status;
        } else {
            search_plain(p, bytes, length, m);
        }
        if (!m->found)
            return QKS_OK;
        if (m->end > m->start || !m->any || m->before != m->end) {
            if (m->end < m->start || (m->any && m->start < m->before))
                return bad_search(p, "a match begins in the one before", error);
            m->any = true;
            m->from = m->before = m->end;
            return QKS_OK;
        }
        m->from += m->from < length ? utf8_size(bytes[m->from]) : 1;
    }
    m->found = false;
    return QKS_OK;
}
