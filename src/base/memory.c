/* memory.c: growable arrays and arenas. */
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK = 64 * 1024, ARENA_ALIGN = 16, ARRAY_FIRST = 16 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(ARENA_ALIGN) unsigned char bytes[];
};

bool size_multiply(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

qks_status memory_zeroed(void *pointer_to_pointer, size_t count, size_t size, qks_error *error)
{
    void *fresh = calloc(count ? count : 1, size ? size : 1);
    if (!fresh)
        return qks_fail(error, QKS_MEMORY, "out of memory: cannot have %zu x %zu bytes", count,
                        size);
    memcpy(pointer_to_pointer, &fresh, sizeof fresh);
    /* cppcheck-suppress memleak ; it is the caller's now */
    return QKS_OK;
}

qks_status array_reserve_bytes(void *pointer_to_data, size_t *capacity, size_t length, size_t more,
                               size_t element, qks_error *error)
{
    if (more <= *capacity - length)
        return QKS_OK;
    size_t need = 0, bytes = 0;
    if (__builtin_add_overflow(length, more, &need))
        return out_of_memory(error, "array");
    size_t grown = *capacity ? *capacity + *capacity / 2 : ARRAY_FIRST;
    if (grown < need)
        grown = need;
    void *old = NULL;
    memcpy(&old, pointer_to_data, sizeof old);
    void *fresh = size_multiply(grown, element, &bytes) ? realloc(old, bytes) : NULL;
    if (!fresh)
        return out_of_memory(error, "array");
    memcpy(pointer_to_data, &fresh, sizeof fresh);
    *capacity = grown;
    return QKS_OK;
}

void *arena_alloc(arena *a, size_t count, size_t size)
{
    size_t bytes = 0;
    if (!size_multiply(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    struct arena_block *block = a->head;
    if (!block || block->size - block->used < bytes) {
        size_t room = bytes > ARENA_BLOCK ? bytes : ARENA_BLOCK;
        block = calloc(1, sizeof *block + room);
        if (!block)
            return NULL;
        block->size = room;
        block->next = a->head;
        a->head = block;
    }
    void *place = block->bytes + block->used;
    block->used += bytes;
    return place;
}

char *arena_copy(arena *a, const char *text, size_t length)
{
    char *copy = length < SIZE_MAX ? arena_alloc(a, length + 1, 1) : NULL;
    if (copy && length)
        memcpy(copy, text, length);
    return copy;
}

char *arena_string(arena *a, const char *text)
{
    return arena_copy(a, text, strlen(text));
}

char *arena_format(arena *a, const char *format, ...)
{
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    int length = vsnprintf(NULL, 0, format, values);
    char *text = length < 0 ? NULL : arena_alloc(a, (size_t)length + 1, 1);
    if (text)
        (void)vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(values);
    return text;
}

void arena_free(arena *a)
{
    while (a->head) {
        struct arena_block *next = a->head->next;
        free(a->head);
        a->head = next;
    }
}
