/* stretch.h: a stretch of text on its way through a tokenizer.
 *
 * Metaspace asks whether a piece stands at the very start of the document, and after normalizing
 * and splitting more than one piece can: `head` counts the leading bytes that come from the
 * document's first character. */
#ifndef QKS_TEXT_STRETCH_H
#define QKS_TEXT_STRETCH_H

#include <stddef.h>

typedef struct stretch {
    const char *bytes; /* UTF-8 */
    size_t length;
    size_t head;
} stretch;

static inline stretch stretch_part(stretch s, size_t start, size_t end)
{
    size_t head = s.head > start ? s.head - start : 0;
    return (stretch){s.bytes + start, end - start, head < end - start ? head : end - start};
}

#endif
