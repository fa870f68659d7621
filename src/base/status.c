/* status.c: names of the status codes and the one place where messages are formatted. */
#include "qkscope/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *qks_status_name(qks_status status)
{
    static const char *const names[] = {
#define X(code, name) [code] = name,
        QKS_STATUS_LIST(X)
#undef X
    };
    size_t index = (size_t)status;
    return index < sizeof names / sizeof *names ? names[index] : "unknown status";
}

qks_status qks_fail(qks_error *error, qks_status status, const char *format, ...)
{
    if (error) {
        va_list values;
        va_start(values, format);
        error->status = status;
        (void)vsnprintf(error->message, sizeof error->message, format, values);
        va_end(values);
    }
    return status;
}

qks_status qks_prefix(qks_error *error, qks_status status, const char *format, ...)
{
    if (error) {
        char old[QKS_MESSAGE_SIZE];
        memcpy(old, error->message, sizeof old);
        va_list values;
        va_start(values, format);
        int used = vsnprintf(error->message, sizeof error->message, format, values);
        va_end(values);
        error->status = status;
        size_t room = used < 0 || (size_t)used >= sizeof old ? 0 : sizeof old - (size_t)used;
        if (room > 2)
            (void)snprintf(error->message + used, room, ": %.*s", (int)(room - 3), old);
    }
    return status;
}
