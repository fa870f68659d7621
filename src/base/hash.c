/* hash.c: a thin skin over libb2. */
#include "base/hash.h"

#include <string.h>

void hash_start(hash *h, size_t size)
{
    h->size = size;
    (void)blake2b_init(&h->state, size);
}

void hash_add(hash *h, const void *bytes, size_t length)
{
    if (length)
        (void)blake2b_update(&h->state, bytes, length);
}

void hash_add_string(hash *h, const char *text)
{
    hash_add(h, text, strlen(text) + 1);
}

void hash_end(hash *h, unsigned char *digest)
{
    (void)blake2b_final(&h->state, digest, h->size);
}

uint64_t hash64(const void *bytes, size_t length)
{
    unsigned char digest[8];
    hash h;
    hash_start(&h, sizeof digest);
    hash_add(&h, bytes, length);
    hash_end(&h, digest);
    uint64_t number = 0;
    for (size_t i = sizeof digest; i-- > 0;)
        number = number << 8 | digest[i];
    return number;
}

void hex_of(const unsigned char *bytes, size_t length, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}
