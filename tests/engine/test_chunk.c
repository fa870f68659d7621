/* test_chunk.c: every token of every document is in one chunk, its blocks say where. */
#include "engine/chunk.h"
#include "testing.h"

enum { DOCUMENTS_MAX = 8, TOKENS_MAX = 2000 };

static engine_task task_of(const int32_t *lengths, engine_document *documents)
{
    engine_task task = {.documents = documents};
    for (; lengths[task.count]; task.count++)
        documents[task.count] = (engine_document){.n = lengths[task.count]};
    return task;
}

static void test_together(void **state)
{
    (void)state;
    const struct {
        int32_t lengths[DOCUMENTS_MAX];
        int most;
        size_t together;
    } cases[] = {
        {{5}, 10, 1},       {{5, 5}, 10, 2},  {{5, 6}, 10, 1},  {{2, 3, 4}, 10, 3},
        {{2, 3, 6}, 10, 2}, {{11, 1}, 10, 1}, {{10, 1}, 10, 1}, {{1, 1, 1}, 1, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        engine_document documents[DOCUMENTS_MAX];
        engine_task task = task_of(cases[i].lengths, documents);
        assert_int_equal(chunk_together(documents, task.count, cases[i].most), cases[i].together);
    }
}

/* Blocks of a chunk: its rows in order, none left out, positions and keys of their document. */
static void check_blocks(const engine_task *task, const chunk *c)
{
    attention_block blocks[TOKENS_MAX];
    int64_t count = chunk_blocks(c, task, blocks), row = 0, place = 0;
    size_t document = c->document;
    int32_t position = c->first;
    assert_true(count <= c->n);
    for (int64_t b = 0; b < count; b++) {
        assert_int_equal(blocks[b].row, row);
        assert_int_equal(blocks[b].position, position);
        assert_int_equal(blocks[b].key, c->first ? 0 : place);
        assert_in_range(blocks[b].n, 1, ATTENTION_QUERIES);
        row += blocks[b].n;
        position += (int32_t)blocks[b].n;
        if (position == task->documents[document].n) {
            document++;
            position = 0;
            place = row;
        }
    }
    assert_int_equal(row, c->n);
}

static void test_chunks(void **state)
{
    (void)state;
    static const int32_t lengths[] = {3, 400, 2, 5, 1000, 192, 193, 0};
    static const int sizes[] = {1, 7, 10, 193, 384, 600, TOKENS_MAX};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        engine_document documents[DOCUMENTS_MAX];
        engine_task task = task_of(lengths, documents);
        int64_t seen = 0;
        size_t document = 0;
        for (int32_t first = 0; document < task.count;) {
            chunk c = chunk_at(&task, document, first, sizes[i]);
            assert_in_range(c.n, 1, sizes[i]);
            check_blocks(&task, &c);
            for (size_t d = c.document; d < c.end; d++) {
                int32_t from = 0, n = chunk_part(&c, &task, d, &from);
                assert_int_equal(from, first);
                assert_true(c.end - c.document == 1 || n == documents[d].n);
                seen += n;
            }
            first += c.n;
            if (first >= documents[document].n) {
                document = c.end;
                first = 0;
            }
        }
        assert_int_equal(seen, 3 + 400 + 2 + 5 + 1000 + 192 + 193);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_together),
                                       cmocka_unit_test(test_chunks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
