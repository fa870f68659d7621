/* chunk.c: documents cut into chunks, chunks into blocks. */
#include "engine/chunk.h"

size_t chunk_together(const engine_document *documents, size_t count, int most)
{
    size_t n = 1;
    for (int64_t tokens = documents[0].n; n < count; n++)
        if ((tokens += documents[n].n) > most)
            break;
    return n;
}

chunk chunk_at(const engine_task *task, size_t document, int32_t first, int most)
{
    int32_t left = task->documents[document].n - first;
    chunk c = {document, document + 1, first, left < most ? left : most};
    if (first == 0)
        c.end = document + chunk_together(task->documents + document, task->count - document, most);
    for (size_t i = document + 1; i < c.end; i++)
        c.n += task->documents[i].n;
    return c;
}

int32_t chunk_part(const chunk *c, const engine_task *task, size_t document, int32_t *first)
{
    bool alone = c->end - c->document == 1;
    *first = alone ? c->first : 0;
    return alone ? c->n : task->documents[document].n;
}

int64_t chunk_blocks(const chunk *c, const engine_task *task, attention_block *blocks)
{
    int64_t row = 0, count = 0;
    for (size_t i = c->document; i < c->end; i++) {
        int32_t first = 0, n = chunk_part(c, task, i, &first);
        for (int32_t done = 0; done < n; done += ATTENTION_QUERIES) {
            int32_t left = n - done;
            blocks[count++] = (attention_block){.row = row + done,
                                                .n = left < ATTENTION_QUERIES ? left
                                                                              : ATTENTION_QUERIES,
                                                .position = first + done,
                                                .key = c->first ? 0 : row};
        }
        row += n;
    }
    return count;
}
