/* A captured dataset: schemas and cards. Input: a byte for the number of columns; for each two
 * bytes (its name, its values); a byte for the number of rows; then the dataset's card. */
#include "fuzz.h"

#include "base/file.h"
#include "base/text.h"
#include "store/card.h"
#include "store/dataset.h"

#include <stdio.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *const COLUMNS[] = {
    "bucket",
    "example_id",
    "position",
    "vector",
    "sliding_window",
    "token_str",
    "Bucket",
    "\"vector\"",
    "vector.element",
    "x; DROP TABLE a;",
    "\xc3\xa9 \xf0\x9f\x99\x82",
    "list",
};
static const char *const VALUES[] = {
    "i::INT",
    "i::BIGINT",
    "i::DOUBLE",
    "i::SMALLINT",
    "(-i)::INT",
    "NULL::INT",
    "NULL",
    "i::VARCHAR",
    "(i % 2)::BOOL",
    "[i, 2.5, -1]::FLOAT[]",
    "[i, 2.5, -1]::FLOAT[3]",
    "[i, 2.5, -1]::DOUBLE[]",
    "[1e300, i]::DOUBLE[]",
    "['nan'::FLOAT, i]::FLOAT[]",
    "range(i)::FLOAT[]",
    "[]::FLOAT[]",
    "NULL::FLOAT[]",
    "[NULL, 1]::FLOAT[]",
    "[i]::INT[]",
    "[[i]]::FLOAT[][]",
    "['a']",
    "{'a': i}",
    "1000000000000 * i",
    "i::UBIGINT",
    "DATE '2020-01-01'",
    "i::DECIMAL(18, 3)",
};

static qks_status see(void *context, const dataset_rows *rows, qks_error *error)
{
    size_t *seen = context;
    (void)error;
    if ((rows->f32 != NULL) == (rows->f64 != NULL))
        fuzz_fail("rows of neither or of both types");
    *seen += rows->n;
    return QKS_OK;
}

static void write_head(store *s, const uint8_t **bytes, size_t *length)
{
    text sql = text_new(1 << 16);
    text_add(&sql, "COPY (SELECT ");
    size_t columns = (size_t)fuzz_number(bytes, length, 1) % 8;
    for (size_t i = 0; i <= columns; i++) {
        size_t name = (size_t)fuzz_number(bytes, length, 1) % COUNT_OF(COLUMNS);
        size_t value = (size_t)fuzz_number(bytes, length, 1) % COUNT_OF(VALUES);
        text_addf(&sql, "%s%s AS \"", i ? ", " : "", VALUES[value]);
        for (const char *c = COLUMNS[name]; *c; c++)
            text_addf(&sql, *c == '"' ? "\"\"" : "%c", *c);
        text_add(&sql, "\"");
    }
    text_addf(&sql, " FROM range(%u) r(i)) TO '%s' (FORMAT parquet)",
              (unsigned)(fuzz_number(bytes, length, 1) % 5), fuzz_path("set/l00h00q/data.parquet"));
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        fuzz_fail("/dev/null is missing");
    file_remove(fuzz_path("set/l00h00q/data.parquet"));
    (void)!store_sql(s, text_string(&sql), SQL_CSV, nowhere, NULL); /* two columns of one name */
    (void)fclose(nowhere);
    text_free(&sql);
}

static void read_set(store *s, const char *folder)
{
    dataset d;
    qks_error error;
    if (dataset_open(&d, s, folder, &error) != QKS_OK)
        return;
    for (size_t i = 0; i < d.n_heads; i++)
        for (int order = DATASET_AS_STORED; order <= DATASET_BY_CELL; order++) {
            dataset_scan_options how = {.order = (dataset_order)order};
            size_t seen = 0;
            if (dataset_scan(s, 0, &d.heads[i], &how, see, &seen, &error) == QKS_OK &&
                seen != (size_t)d.heads[i].rows)
                fuzz_fail("not all rows were seen");
        }
    dataset_close(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static store *s;
    qks_error error;
    if (!s && (store_open(&s, 1, &error) != QKS_OK ||
               folder_make(fuzz_path("set/l00h00q"), &error) != QKS_OK))
        fuzz_fail(error.message);
    write_head(s, &bytes, &length);
    (void)fuzz_write("set/README.md", bytes, length);
    read_set(s, fuzz_path("set"));
    return 0;
}
