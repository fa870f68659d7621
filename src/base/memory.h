/* memory.h: the two ways memory is had in qkscope: a growable array, and an arena for what lives
 * as long as its owner. Both check sizes before they multiply and report failure, never abort. */
#ifndef QKS_BASE_MEMORY_H
#define QKS_BASE_MEMORY_H

#include "qkscope/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* *product = a * b, or false if that overflows. */
bool size_multiply(size_t a, size_t b, size_t *product);

/* count * size zeroed bytes; never NULL on QKS_OK. The caller frees with free(). */
QKS_MUST_CHECK qks_status memory_zeroed(void *pointer_to_pointer, size_t count, size_t size,
                                        qks_error *error);

/* ---- growable array: `ARRAY_OF(int) a = {0}; array_push(&a, 7, error); free(a.data);` ---- */
#define ARRAY_OF(type)                                                                             \
    struct {                                                                                       \
        type *data;                                                                                \
        size_t length, capacity;                                                                   \
    }

/* Room for `more` further elements. Evaluates to a qks_status. */
#define array_reserve(array, more, error)                                                          \
    array_reserve_bytes((void *)&(array)->data, &(array)->capacity, (array)->length, (more),       \
                        sizeof *(array)->data, (error))

/* Append one element. Evaluates to a qks_status (and `array` more than once). */
#define array_push(array, value, error)                                                            \
    (array_reserve((array), 1, (error)) == QKS_OK                                                  \
         ? ((array)->data[(array)->length++] = (value), (qks_status)QKS_OK)                        \
         : (qks_status)QKS_MEMORY)

QKS_MUST_CHECK qks_status array_reserve_bytes(void *pointer_to_data, size_t *capacity,
                                              size_t length, size_t more, size_t element,
                                              qks_error *error);

/* ---- arena: many small allocations, freed together ---- */
typedef struct arena {
    struct arena_block *head;
} arena; /* zero is an empty arena */

/* Zeroed, aligned for any type; NULL when out of memory or when the size overflows. */
void *arena_alloc(arena *a, size_t count, size_t size);
char *arena_copy(arena *a, const char *text, size_t length); /* with a final NUL */
char *arena_string(arena *a, const char *text);
char *arena_format(arena *a, const char *format, ...) QKS_PRINTF(2, 3);
void arena_free(arena *a); /* everything at once; the arena is empty again */

/* The status for a failed arena or malloc call. Inline, so that static analysis sees that what
 * comes back is never QKS_OK. */
static inline qks_status out_of_memory(qks_error *error, const char *what)
{
    (void)qks_fail(error, QKS_MEMORY, "out of memory (%s)", what);
    return QKS_MEMORY;
}

#endif
