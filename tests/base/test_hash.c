/* test_hash.c: BLAKE2b against primitives.json and Python's hashlib. */
#include "testing.h"

#include "base/hash.h"

static void digest_hex(const void *bytes, size_t length, size_t size, char *hex)
{
    unsigned char digest[HASH_MAX];
    hash h;
    hash_start(&h, size);
    hash_add(&h, bytes, length);
    hash_end(&h, digest);
    hex_of(digest, size, hex);
}

static void test_golden_digests(void **state)
{
    (void)state;
    json_t *document = load_json("data/analysis/sampling/primitives.json");
    const json_t *item;
    size_t i;
    json_array_foreach(member_of(document, "blake2b_8"), i, item) {
        const char *string = text_member(item, "text");
        char hex[2 * HASH_MAX + 1];
        digest_hex(string, strlen(string), 8, hex);
        assert_string_equal(hex, text_member(item, "hex"));
        int64_t expected = strtoll(text_member(item, "int64"), NULL, 10);
        assert_true((int64_t)hash64(string, strlen(string)) == expected);
    }
    assert_int_equal(i, 3);
    json_decref(document);
}

/* hashlib.blake2b(b"abc", digest_size=...).hexdigest(): another size is another hash. */
static void test_abc(void **state)
{
    (void)state;
    char hex[2 * HASH_MAX + 1];
    digest_hex("abc", 3, 64, hex);
    assert_string_equal(hex, "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
                             "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
    digest_hex("abc", 3, 16, hex);
    assert_string_equal(hex, "cf4ab791c62b8d2b2109c90275287816");
}

/* Pieces add up, whatever their lengths, also across the blocks of 128 bytes. */
static void test_pieces(void **state)
{
    (void)state;
    unsigned char bytes[1000], whole[32], parts[32];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7);
    hash h;
    hash_start(&h, sizeof whole);
    hash_add(&h, bytes, sizeof bytes);
    hash_end(&h, whole);
    for (size_t step = 1; step < 300; step += 31) {
        hash_start(&h, sizeof parts);
        for (size_t at = 0; at < sizeof bytes; at += step)
            hash_add(&h, bytes + at, at + step < sizeof bytes ? step : sizeof bytes - at);
        hash_add(&h, NULL, 0);
        hash_end(&h, parts);
        assert_memory_equal(whole, parts, sizeof whole);
    }
}

static uint64_t hash_of_strings(const char *one, const char *other)
{
    unsigned char digest[8];
    uint64_t number;
    hash h;
    hash_start(&h, sizeof digest);
    hash_add_string(&h, one);
    hash_add_string(&h, other);
    hash_end(&h, digest);
    memcpy(&number, digest, sizeof number);
    return number;
}

static void test_strings_keep_their_ends(void **state)
{
    (void)state;
    assert_true(hash_of_strings("ab", "c") == hash_of_strings("ab", "c"));
    assert_true(hash_of_strings("ab", "c") != hash_of_strings("a", "bc"));
    assert_true(hash_of_strings("", "abc") != hash_of_strings("abc", ""));
}

static void test_hex(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {0x00, 0x0f, 0xa5, 0xff};
    char hex[9];
    hex_of(bytes, sizeof bytes, hex);
    assert_string_equal(hex, "000fa5ff");
    hex_of(bytes, 0, hex);
    assert_string_equal(hex, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_digests),
        cmocka_unit_test(test_abc),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_strings_keep_their_ends),
        cmocka_unit_test(test_hex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
