/* sql_print.h: the rows of an answer, all text by now, for terminals, spreadsheets and programs. */
#ifndef QKS_STORE_SQL_PRINT_H
#define QKS_STORE_SQL_PRINT_H

#include "qkscope/status.h"
#include "store/duck.h"
#include "store/store.h"

#include <stdio.h>

typedef enum sql_kind { SQL_TEXT, SQL_NUMBER, SQL_BOOLEAN } sql_kind;

typedef struct sql_answer {
    duckdb_connection connection; /* whose table qkscope_cells (c0 VARCHAR, ...) holds the rows */
    size_t n_columns;
    const char **names; /* [n_columns] */
    sql_kind *kinds;    /* [n_columns], before the columns became text */
} sql_answer;

QKS_MUST_CHECK qks_status sql_print(const sql_answer *answer, sql_format format, FILE *out,
                                    qks_error *error);

#endif
