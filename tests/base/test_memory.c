/* test_memory.c: growable arrays, arenas, and sizes that no machine has. */
#include "testing.h"

#include "base/memory.h"

static const size_t most = SIZE_MAX / 4; /* bytes; more than any allocator gives */

static void test_multiply(void **state)
{
    (void)state;
    static const struct {
        size_t a, b;
        bool fits;
        size_t product;
    } cases[] = {
        {0, 0, true, 0},
        {0, SIZE_MAX, true, 0},
        {7, 6, true, 42},
        {SIZE_MAX, 1, true, SIZE_MAX},
        {SIZE_MAX, 2, false, 0},
        {SIZE_MAX / 2 + 1, 2, false, 0},
        {SIZE_MAX / 2, 2, true, SIZE_MAX - 1},
        {(size_t)1 << 32, (size_t)1 << 32, false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t product = 0;
        assert_int_equal(size_multiply(cases[i].a, cases[i].b, &product), cases[i].fits);
        if (cases[i].fits)
            assert_true(product == cases[i].product);
    }
}

static void test_zeroed(void **state)
{
    (void)state;
    qks_error error;
    double *numbers = NULL;
    assert_ok(memory_zeroed(&numbers, 1000, sizeof *numbers, &error), &error);
    for (size_t i = 0; i < 1000; i++)
        assert_true(numbers[i] == 0);
    free(numbers);

    char *nothing = NULL;
    assert_ok(memory_zeroed(&nothing, 0, 8, &error), &error);
    assert_non_null(nothing);
    free(nothing);
}

static void test_zeroed_beyond_memory(void **state)
{
    (void)state;
    qks_error error;
    char untouched, *place = &untouched;
    assert_fails(memory_zeroed(&place, SIZE_MAX, 2, &error), QKS_MEMORY, &error, "x 2 bytes");
    assert_fails(memory_zeroed(&place, most, 1, &error), QKS_MEMORY, &error, "out of memory");
    assert_ptr_equal(place, &untouched);
}

static void test_array_grows(void **state)
{
    (void)state;
    ARRAY_OF(int) numbers = {0};
    qks_error error;
    for (int i = 0; i < 10000; i++)
        assert_ok(array_push(&numbers, i * i, &error), &error);
    assert_int_equal(numbers.length, 10000);
    assert_true(numbers.capacity >= numbers.length);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(numbers.data[i], i * i);
    free(numbers.data);
}

/* Growing by half each time: ten thousand pushes move the data a few dozen times, not thousands. */
static void test_array_seldom_moves(void **state)
{
    (void)state;
    ARRAY_OF(int) numbers = {0};
    size_t capacity = 0, growths = 0;
    qks_error error;
    for (int i = 0; i < 10000; i++) {
        assert_ok(array_push(&numbers, i, &error), &error);
        growths += numbers.capacity != capacity;
        capacity = numbers.capacity;
    }
    assert_in_range(growths, 1, 20);
    free(numbers.data);
}

static void test_array_reserve(void **state)
{
    (void)state;
    ARRAY_OF(int64_t) numbers = {0};
    qks_error error;
    assert_ok(array_reserve(&numbers, 0, &error), &error);
    assert_null(numbers.data);
    assert_ok(array_reserve(&numbers, 100, &error), &error);
    assert_true(numbers.capacity >= 100);
    assert_int_equal(numbers.length, 0);
    const int64_t *data = numbers.data;
    for (int i = 0; i < 100; i++)
        assert_ok(array_push(&numbers, i, &error), &error);
    assert_ptr_equal(numbers.data, data);
    free(numbers.data);
}

static void test_array_beyond_memory(void **state)
{
    (void)state;
    ARRAY_OF(int64_t) numbers = {0};
    qks_error error;
    assert_ok(array_push(&numbers, 42, &error), &error);
    const int64_t *data = numbers.data;
    size_t capacity = numbers.capacity;
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 8 + 1, SIZE_MAX / 32};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        assert_fails(array_reserve(&numbers, sizes[i], &error), QKS_MEMORY, &error, "array");
        assert_ptr_equal(numbers.data, data);
        assert_int_equal(numbers.capacity, capacity);
        assert_int_equal(numbers.data[0], 42);
    }
    free(numbers.data);
}

static void test_arena_pieces(void **state)
{
    (void)state;
    arena a = {0};
    unsigned char *pieces[2000];
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        size_t size = i % 300;
        pieces[i] = arena_alloc(&a, size, 1);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        for (size_t j = 0; j < size; j++)
            assert_int_equal(pieces[i][j], 0);
        memset(pieces[i], (int)(i % 251 + 1), size);
    }
    for (size_t i = 0; i < COUNT_OF(pieces); i++)
        for (size_t j = 0; j < i % 300; j++)
            assert_int_equal(pieces[i][j], i % 251 + 1);
    arena_free(&a);
    assert_null(a.head);
    arena_free(&a);
}

static void test_arena_large_piece(void **state)
{
    (void)state;
    enum { LARGE = 1 << 20 };
    arena a = {0};
    char *before = arena_string(&a, "before");
    char *large = arena_alloc(&a, LARGE / 4, 4);
    char *after = arena_string(&a, "after");
    assert_non_null(before);
    assert_non_null(large);
    assert_non_null(after);
    memset(large, 'x', LARGE);
    assert_string_equal(before, "before");
    assert_string_equal(after, "after");
    arena_free(&a);
}

static void test_arena_strings(void **state)
{
    (void)state;
    arena a = {0};
    assert_string_equal(arena_string(&a, ""), "");
    assert_string_equal(arena_copy(&a, "abcdef", 3), "abc");
    assert_memory_equal(arena_copy(&a, "a\0b", 3), "a\0b", 4);
    assert_string_equal(arena_copy(&a, NULL, 0), "");
    assert_string_equal(arena_format(&a, "l%02dh%02d%c", 3, 11, 'q'), "l03h11q");
    char *wide = arena_format(&a, "%100000d", 7);
    assert_non_null(wide);
    assert_int_equal(strlen(wide), 100000);
    arena_free(&a);
}

static void test_arena_beyond_memory(void **state)
{
    (void)state;
    arena a = {0};
    char *kept = arena_string(&a, "kept");
    assert_null(arena_alloc(&a, SIZE_MAX, 1));
    assert_null(arena_alloc(&a, SIZE_MAX - 8, 1));
    assert_null(arena_alloc(&a, SIZE_MAX / 2 + 1, 2));
    assert_null(arena_alloc(&a, most, 1));
    assert_null(arena_copy(&a, "x", SIZE_MAX));
    assert_string_equal(kept, "kept");
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multiply),
        cmocka_unit_test(test_zeroed),
        cmocka_unit_test(test_zeroed_beyond_memory),
        cmocka_unit_test(test_array_grows),
        cmocka_unit_test(test_array_seldom_moves),
        cmocka_unit_test(test_array_reserve),
        cmocka_unit_test(test_array_beyond_memory),
        cmocka_unit_test(test_arena_pieces),
        cmocka_unit_test(test_arena_large_piece),
        cmocka_unit_test(test_arena_strings),
        cmocka_unit_test(test_arena_beyond_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
