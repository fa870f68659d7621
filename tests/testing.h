/* testing.h: what the tests have in common: cmocka with its includes in the order it wants, a
 * scratch folder per test, JSON fixtures, comparisons of numbers and of statuses.
 *
 * Tests run with tests/ as working directory, so fixtures are "data/...". Everything here is
 * static inline: a test that reads no JSON need not link jansson. */
#ifndef QKS_TESTING_H
#define QKS_TESTING_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <unistd.h>

#include "qkscope/status.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Tests ask for more memory than there is; AddressSanitizer is to say no, as malloc does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* ---- statuses: `assert_ok(file_put(path, "x", 1, &error), &error)` shows the message ---- */
#define assert_ok(call, error) check_status_((call), QKS_OK, (error), #call, __FILE__, __LINE__)
/* `assert_fails(call, QKS_IO, &error, "disk")`: the status, and a part of the message. */
#define assert_fails(call, status, error, part)                                                    \
    do {                                                                                           \
        check_status_((call), (status), (error), #call, __FILE__, __LINE__);                       \
        check_message_((error), (part), #call, __FILE__, __LINE__);                                \
    } while (0)

static inline void check_status_(qks_status actual, qks_status expected, const qks_error *error,
                                 const char *call, const char *file, int line)
{
    if (actual == expected)
        return;
    print_error("%s\n  gave '%s', expected '%s': %s\n", call, qks_status_name(actual),
                qks_status_name(expected), actual != QKS_OK && error ? error->message : "");
    _fail(file, line);
}

static inline void check_message_(const qks_error *error, const char *part, const char *call,
                                  const char *file, int line)
{
    if (strstr(error->message, part))
        return;
    print_error("%s\n  said '%s', which has no '%s'\n", call, error->message, part);
    _fail(file, line);
}

/* ---- numbers: NaN is near nothing, infinity only to itself ---- */
static inline bool near_absolute(double actual, double expected, double tolerance)
{
    return actual == expected || fabs(actual - expected) <= tolerance;
}

static inline bool near_relative(double actual, double expected, double tolerance)
{
    return actual == expected || (isfinite(actual) && isfinite(expected) &&
                                  fabs(actual - expected) <= tolerance * fabs(expected));
}

#define assert_near(actual, expected, tolerance)                                                   \
    check_near_((actual), (expected), (tolerance), near_absolute, #actual, __FILE__, __LINE__)
#define assert_near_relative(actual, expected, tolerance)                                          \
    check_near_((actual), (expected), (tolerance), near_relative, #actual, __FILE__, __LINE__)

static inline void check_near_(double actual, double expected, double tolerance,
                               bool (*near)(double, double, double), const char *what,
                               const char *file, int line)
{
    if (near(actual, expected, tolerance))
        return;
    print_error("%s\n  is %.17g, expected %.17g, off by %.3g, tolerance %.3g\n", what, actual,
                expected, fabs(actual - expected), tolerance);
    _fail(file, line);
}

/* ---- paths: "folder/name"; the last few hundred stay valid, nobody frees them ---- */
static inline const char *path_of(const char *folder, const char *name)
{
    static char *paths[256];
    static unsigned turn;
    char **path = &paths[turn++ % COUNT_OF(paths)], *old = *path;
    if (asprintf(path, "%s/%s", folder, name) < 0)
        fail_msg("no memory for a path");
    free(old);
    return *path;
}

/* ---- scratch folder: cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown),
 * then `const char *folder = *state;` ---- */
static inline int scratch_remove_one_(const char *path, const struct stat *facts, int kind,
                                      struct FTW *walk)
{
    (void)facts, (void)kind, (void)walk;
    return remove(path);
}

/* The folder's name, malloc'd; $TMPDIR or /tmp. */
static inline char *scratch_make(void)
{
    const char *parent = getenv("TMPDIR");
    char *folder = NULL;
    if (asprintf(&folder, "%s/qkscope-test-XXXXXX", parent && *parent ? parent : "/tmp") < 0)
        return NULL;
    if (mkdtemp(folder))
        return folder;
    free(folder);
    return NULL;
}

/* Removes the folder with all that is in it and frees the name. */
static inline void scratch_remove(char *folder)
{
    if (folder)
        (void)nftw(folder, scratch_remove_one_, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

static inline int scratch_setup(void **state)
{
    *state = scratch_make();
    return *state ? 0 : -1;
}

static inline int scratch_teardown(void **state)
{
    scratch_remove(*state);
    *state = NULL;
    return 0;
}

/* ---- JSON fixtures; the caller ends with json_decref() ---- */
static inline json_t *load_json(const char *path)
{
    json_error_t error;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!document)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    return document;
}

/* A member that must be there; borrowed. */
static inline json_t *member_of(const json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);
    if (!value)
        fail_msg("fixture has no member '%s'", name);
    return value;
}

static inline const char *text_member(const json_t *object, const char *name)
{
    const char *value = json_string_value(member_of(object, name));
    if (!value)
        fail_msg("fixture's '%s' is not a string", name);
    return value;
}

static inline int64_t whole_member(const json_t *object, const char *name)
{
    const json_t *value = member_of(object, name);
    if (!json_is_integer(value))
        fail_msg("fixture's '%s' is not a whole number", name);
    return json_integer_value(value);
}

static inline double real_member(const json_t *object, const char *name)
{
    const json_t *value = member_of(object, name);
    if (!json_is_number(value))
        fail_msg("fixture's '%s' is not a number", name);
    return json_number_value(value);
}

#endif
