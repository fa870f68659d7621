/* hash.h: BLAKE2b (libb2), the one hash: unit keys, record checksums, the reference's example
 * ids. */
#ifndef QKS_BASE_HASH_H
#define QKS_BASE_HASH_H

#include <blake2.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hash {
    blake2b_state state;
    size_t size;
} hash;

enum { HASH_MAX = 64 };

void hash_start(hash *h, size_t size); /* size of the digest in bytes, 1 to 64 */
void hash_add(hash *h, const void *bytes, size_t length);
/* With its NUL, so that "ab", "c" is not "a", "bc". */
void hash_add_string(hash *h, const char *text);
void hash_end(hash *h, unsigned char *digest);

/* The 8-byte digest as a little-endian number. */
uint64_t hash64(const void *bytes, size_t length);

/* Lower-case hex; `out` has room for 2 * length + 1. */
void hex_of(const unsigned char *bytes, size_t length, char *out);

#endif
