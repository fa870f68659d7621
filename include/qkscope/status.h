/* status.h: how every qkscope function tells success from failure.
 *
 * A function that can fail returns a qks_status and takes a `qks_error *` as its last argument.
 * The message is built once, where the facts are known: what was asked, of which file, what is
 * wrong, what to do. Pass NULL if only the status matters. */
#ifndef QKSCOPE_STATUS_H
#define QKSCOPE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define QKS_MUST_CHECK __attribute__((warn_unused_result))
#define QKS_PRINTF(format_at, values_at) __attribute__((format(printf, format_at, values_at)))
#else
#define QKS_MUST_CHECK
#define QKS_PRINTF(format_at, values_at)
#endif

/* code, name */
#define QKS_STATUS_LIST(X)                                                                         \
    X(QKS_OK, "ok")                                                                                \
    X(QKS_INVALID, "invalid input")     /* a file or argument says something it must not */        \
    X(QKS_MISSING, "not found")         /* a file, column, tensor or head is not there */          \
    X(QKS_UNSUPPORTED, "not supported") /* well-formed, but of a kind qkscope does not read */     \
    X(QKS_IO, "input/output error")     /* the operating system refused */                         \
    X(QKS_MEMORY, "out of memory")                                                                 \
    X(QKS_USAGE, "wrong usage")   /* command line or study file: exit code 2 */                    \
    X(QKS_PARTIAL, "partly done") /* some of the work failed, the rest is there */                 \
    X(QKS_INTERRUPTED, "interrupted")                                                              \
    X(QKS_INTERNAL, "internal error") /* a bug in qkscope or in a library under it */

typedef enum qks_status {
#define X(code, name) code,
    QKS_STATUS_LIST(X)
#undef X
} qks_status;

enum { QKS_MESSAGE_SIZE = 1024 };

typedef struct qks_error {
    qks_status status;
    char message[QKS_MESSAGE_SIZE]; /* one line, no final newline; cut if longer */
} qks_error;

/* "invalid input" for QKS_INVALID and so on; never NULL. */
const char *qks_status_name(qks_status status);

/* Fill `error` (if not NULL) and return `status`, so that a failing function can end in
 * `return qks_fail(error, QKS_INVALID, "...", ...)`. */
qks_status qks_fail(qks_error *error, qks_status status, const char *format, ...) QKS_PRINTF(3, 4);

/* Put "prefix: " before the message already in `error`; returns error's status. */
qks_status qks_prefix(qks_error *error, qks_status status, const char *format, ...)
    QKS_PRINTF(3, 4);

#ifdef __cplusplus
}
#endif
#endif
