/* text.c: the one string buffer. */
#include "base/text.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

text text_new(size_t maximum)
{
    return (text){.maximum = maximum};
}

static bool text_room(text *t, size_t more)
{
    if (t->status != QKS_OK)
        return false;
    if (more > t->maximum - t->length)
        t->status = QKS_INVALID;
    else
        t->status = array_reserve_bytes((void *)&t->data, &t->capacity, t->length, more + 1, 1,
                                        NULL);
    return t->status == QKS_OK;
}

void text_append(text *t, const char *bytes, size_t length)
{
    if (!text_room(t, length))
        return;
    if (length)
        memcpy(t->data + t->length, bytes, length);
    t->length += length;
    t->data[t->length] = '\0';
}

void text_add(text *t, const char *string)
{
    text_append(t, string, strlen(string));
}

void text_addf(text *t, const char *format, ...)
{
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    int length = vsnprintf(NULL, 0, format, values);
    if (length < 0 && t->status == QKS_OK)
        t->status = QKS_INVALID; /* longer than INT_MAX */
    if (length >= 0 && text_room(t, (size_t)length)) {
        (void)vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
        t->length += (size_t)length;
    }
    va_end(again);
    va_end(values);
}

void text_clear(text *t)
{
    t->length = 0;
    t->status = QKS_OK;
    if (t->data)
        t->data[0] = '\0';
}

void text_free(text *t)
{
    free(t->data);
    *t = (text){.maximum = t->maximum};
}

const char *text_string(const text *t)
{
    return t->data ? t->data : "";
}

qks_status text_status(const text *t, const char *what, qks_error *error)
{
    if (t->status == QKS_MEMORY)
        return out_of_memory(error, what);
    if (t->status != QKS_OK)
        return qks_fail(error, t->status, "%s is longer than %zu bytes", what, t->maximum);
    return QKS_OK;
}

void slug_of(const char *name, char out[SLUG_SIZE])
{
    /* Not <ctype.h>: a Turkish locale has its own idea of a small I. */
    static const char kept[] = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
    size_t length = 0;
    for (; *name && length < SLUG_SIZE - 1; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name + ('a' - 'A')) : *name;
        if (strchr(kept, c) && (length > 0 || (c != '.' && c != '-')))
            out[length++] = c;
        else if (length > 0 && out[length - 1] != '-')
            out[length++] = '-';
    }
    while (length > 0 && out[length - 1] == '-')
        length--;
    if (length == 0)
        out[length++] = 'x';
    out[length] = '\0';
}
