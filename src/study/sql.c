/* sql.c: the library's verb sql: a folder of tables as views. */
#include "base/file.h"
#include "qkscope/analyze.h"
#include "store/store.h"

_Static_assert((int)QKS_SQL_JSON == (int)SQL_JSON && (int)QKS_SQL_CSV == (int)SQL_CSV, "one order");

qks_status qks_sql(const char *folder, const char *sql, qks_sql_format format, FILE *out,
                   qks_error *error)
{
    arena a = {0};
    store *s = NULL;
    if (!is_folder(folder))
        return qks_fail(error, QKS_MISSING, "'%s' is no folder of tables", folder);
    const char *tables = arena_format(&a, "%s/tables", folder);
    qks_status status = tables ? store_open(&s, 1, error) : out_of_memory(error, "folder name");
    if (status == QKS_OK)
        status = store_attach_folder(s, is_folder(tables) ? tables : folder, error);
    if (status == QKS_OK)
        status = store_sql(s, sql, (sql_format)format, out, error);
    store_close(s);
    arena_free(&a);
    return status;
}
