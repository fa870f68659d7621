/* record.h: a table is an array of plain structs plus a description of their columns. The same
 * description writes CSV and Parquet, reads them back, and documents the columns. */
#ifndef QKS_STORE_RECORD_H
#define QKS_STORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the tables' meaning: goes up when an older qkscope would misread one. Parquet files carry it.
 */
enum { TABLE_FORMAT = 1 };

typedef enum field_kind {
    FIELD_INTEGER, /* int64_t;      blank = INT64_MIN */
    FIELD_REAL,    /* double;       blank = NaN */
    FIELD_TEXT,    /* const char *; blank = NULL */
} field_kind;

typedef struct field {
    const char *name;
    field_kind kind;
    size_t offset; /* of the member in the row's struct */
    bool required; /* reading a file without this column is an error; else it is blank */
} field;

typedef struct record {
    const char *name; /* of the table, and of its files */
    size_t size;      /* of the row's struct */
    size_t n_fields;
    const field *fields; /* in the order of the columns */
} record;

#endif
