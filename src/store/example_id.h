/* example_id.h: a row's 64-bit example id from its id cell (spec/protocol.md, "example_id"). */
#ifndef QKS_STORE_EXAMPLE_ID_H
#define QKS_STORE_EXAMPLE_ID_H

#include <stddef.h>
#include <stdint.h>

/* The 8-byte BLAKE2b digest of a text as a signed number; "None" for a missing id. */
int64_t example_id_of_text(const char *bytes, size_t length);

/* A whole number in decimal, of any size: itself if it has 64 bits, else by its text. The bytes
 * are an optional sign and digits. */
int64_t example_id_of_digits(const char *bytes, size_t length);

/* 3.0 is 3; other numbers go by their text as Python prints it. */
int64_t example_id_of_real(double value);

/* Python's str() of a float: the shortest text that reads back the same. */
enum { REAL_TEXT_SIZE = 40 };
size_t python_text_of_real(double value, char out[REAL_TEXT_SIZE]);

#endif
