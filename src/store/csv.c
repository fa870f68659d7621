/* csv.c: a CSV file's header, read here because DuckDB's guessing fails on short or ragged files
 * and renames repeated columns. */
#include "store/csv.h"

#include "store/duck.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_MAX = 1 << 20, BUFFER_LEAST = 1 << 20, SCAN_BLOCK = 1 << 20 };

/* One cell from *at on into `cell`; *at is then at the comma or the end of the line. False when a
 * quote stays open. */
static bool take_name(const char **at, const char *end, text *cell)
{
    text_clear(cell);
    bool quoted = *at < end && **at == '"';
    if (!quoted) {
        size_t length = 0;
        while (*at + length < end && !strchr(",\r\n", (*at)[length]))
            length++;
        text_append(cell, *at, length);
        *at += length;
        return true;
    }
    for (const char *c = *at + 1; c < end; c++) {
        if (*c == '"' && c + 1 < end && c[1] == '"')
            c++;
        else if (*c == '"') {
            *at = c + 1;
            return *at == end || strchr(",\r\n", **at);
        }
        text_append(cell, c, 1);
    }
    return false;
}

static qks_status take_names(arena *a, const char *path, const char *bytes, size_t length,
                             name_list *names, qks_error *error)
{
    const char *at = bytes, *end = bytes + length;
    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    if (at == end || *at == '\n' || *at == '\r')
        return qks_fail(error, QKS_INVALID, "'%s' has no header line", path);
    text cell = text_new(HEADER_MAX);
    qks_status status = QKS_OK;
    for (bool more = true; status == QKS_OK && more;) {
        if (!take_name(&at, end, &cell)) {
            status = qks_fail(error, QKS_INVALID, "'%s': the header's quotes do not match", path);
            break;
        }
        char *name = arena_copy(a, text_string(&cell), cell.length);
        status = name ? array_push(names, name, error) : out_of_memory(error, "column names");
        more = at < end && *at == ',';
        at += more;
    }
    text_free(&cell);
    return status;
}

qks_status csv_header(arena *a, const char *path, name_list *names, qks_error *error)
{
    file_reader r;
    qks_status status = file_open(&r, path, error);
    if (status != QKS_OK)
        return status;
    size_t length = r.size < HEADER_MAX ? (size_t)r.size : HEADER_MAX;
    char *bytes = NULL;
    status = memory_zeroed(&bytes, length + 1, 1, error);
    if (status == QKS_OK)
        status = file_read_at(&r, 0, bytes, length, error);
    if (status == QKS_OK)
        status = take_names(a, path, bytes, length, names, error);
    free(bytes);
    file_close(&r);
    return status;
}

/* ---- lines ---- */
typedef struct line_scan {
    bool quotes, within; /* do quotes count, and are we within them? */
    size_t line, longest;
} line_scan;

static void scan_block(line_scan *s, const char *block, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        s->line++;
        s->within ^= s->quotes && block[i] == '"';
        if (block[i] != '\n' || s->within)
            continue;
        s->longest = s->line > s->longest ? s->line : s->longest;
        s->line = 0;
    }
}

qks_status longest_line(const char *path, bool quotes, size_t *longest, qks_error *error)
{
    file_reader r;
    line_scan s = {.quotes = quotes};
    char *block = NULL;
    qks_status status = file_open(&r, path, error);
    if (status != QKS_OK)
        return status;
    status = memory_zeroed(&block, SCAN_BLOCK, 1, error);
    for (uint64_t at = 0; status == QKS_OK && at < r.size; at += SCAN_BLOCK) {
        size_t n = r.size - at < SCAN_BLOCK ? (size_t)(r.size - at) : SCAN_BLOCK;
        status = file_read_at(&r, at, block, n, error);
        if (status == QKS_OK)
            scan_block(&s, block, n);
    }
    *longest = s.line > s.longest ? s.line : s.longest;
    if (status == QKS_OK && s.within)
        status = qks_fail(error, QKS_INVALID,
                          "'%s' ends within quotes: it is cut off, or a quote is missing", path);
    free(block);
    file_close(&r);
    return status;
}

/* ---- the file for DuckDB ---- */
void csv_source(text *sql, const char *path, size_t columns, size_t longest)
{
    text_add(sql, "read_csv(");
    duck_path(sql, path);
    text_add(sql, ", auto_detect = false, header = true, delim = ',', quote = '\"', "
                  "escape = '\"', hive_partitioning = false, parallel = false, ");
    text_addf(sql, "max_line_size = %zu, buffer_size = %zu, columns = {", longest + 1,
              4 * (longest + BUFFER_LEAST));
    for (size_t i = 0; i < columns; i++)
        text_addf(sql, "%s'c%zu': 'VARCHAR'", i ? ", " : "", i);
    text_add(sql, "})");
}
