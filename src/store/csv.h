/* csv.h: CSV files as DuckDB should read them: comma, double quotes, a header, nothing guessed. */
#ifndef QKS_STORE_CSV_H
#define QKS_STORE_CSV_H

#include "base/file.h"
#include "base/text.h"
#include "qkscope/status.h"

/* The column names of the first line, into the arena. */
QKS_MUST_CHECK qks_status csv_header(arena *a, const char *path, name_list *names,
                                     qks_error *error);

/* Bytes of the longest line, which DuckDB wants to know. With `quotes`, line ends within them do
 * not count, and a file that ends within them is refused: DuckDB would drop its last row. */
QKS_MUST_CHECK qks_status longest_line(const char *path, bool quotes, size_t *longest,
                                       qks_error *error);

/* The file as a table expression with VARCHAR columns c0, c1, ... Read without DuckDB's cutting of
 * files for threads, which loses rows when long records meet its buffers' ends (it says so in the
 * end, but then rows were handed out). */
void csv_source(text *sql, const char *path, size_t columns, size_t longest);

#endif
