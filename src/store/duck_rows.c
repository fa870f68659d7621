/* duck_rows.c: qkscope_rows(), the function inside a statement that sees rows in place (duck.h). */
#include "store/duck.h"

#include <string.h>

static duck_seat *seat_of(const duck_seats *all, duckdb_data_chunk input)
{
    if (duckdb_data_chunk_get_column_count(input) == 0)
        return NULL;
    duckdb_vector numbers = duckdb_data_chunk_get_vector(input, 0);
    duckdb_logical_type type = duckdb_vector_get_column_type(numbers);
    bool integer = duckdb_get_type_id(type) == DUCKDB_TYPE_INTEGER;
    duckdb_destroy_logical_type(&type);
    if (!integer || duck_is_null(duckdb_vector_get_validity(numbers), 0))
        return NULL;
    int32_t number = *(const int32_t *)duckdb_vector_get_data(numbers);
    if (number < 0 || number >= all->count || !all->seats[number].see)
        return NULL;
    return &all->seats[number];
}

static void rows_function(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    size_t rows = duckdb_data_chunk_get_size(input);
    memset(duckdb_vector_get_data(output), 0, rows * sizeof(bool));
    if (rows == 0)
        return;
    duck_seat *seat = seat_of(duckdb_scalar_function_get_extra_info(info), input);
    if (!seat) {
        duckdb_scalar_function_set_error(info, "qkscope_rows() is qkscope's own, not for SQL");
        return;
    }
    seat->status = seat->see(seat->context, input, rows, &seat->failure);
    if (seat->status != QKS_OK)
        duckdb_scalar_function_set_error(info, "stopped");
}

static void describe(duckdb_scalar_function function, duck_seats *seats)
{
    duckdb_logical_type any = duckdb_create_logical_type(DUCKDB_TYPE_ANY);
    duckdb_logical_type nothing = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);
    duckdb_scalar_function_set_name(function, "qkscope_rows");
    duckdb_scalar_function_set_varargs(function, any);
    duckdb_scalar_function_set_return_type(function, nothing);
    duckdb_scalar_function_set_special_handling(function); /* nulls are ours to see */
    duckdb_scalar_function_set_volatile(function);
    duckdb_scalar_function_set_extra_info(function, seats, NULL);
    duckdb_scalar_function_set_function(function, rows_function);
    duckdb_destroy_logical_type(&nothing);
    duckdb_destroy_logical_type(&any);
}

qks_status duck_add_rows(duckdb_connection connection, duck_seats *seats, qks_error *error)
{
    duckdb_scalar_function function = duckdb_create_scalar_function();
    if (!function)
        return out_of_memory(error, "DuckDB function");
    describe(function, seats);
    duckdb_state state = duckdb_register_scalar_function(connection, function);
    duckdb_destroy_scalar_function(&function);
    if (state == DuckDBError)
        return qks_fail(error, QKS_INTERNAL, "DuckDB refused the function qkscope_rows()");
    return QKS_OK;
}

qks_status duck_see_rows(duckdb_connection connection, duck_seat *seat, const char *sql,
                         const char *doing, duck_see *see, void *context, qks_error *error)
{
    if (seat->see)
        return qks_fail(error, QKS_INTERNAL, "%s: this thread is reading another file", doing);
    *seat = (duck_seat){.see = see, .context = context};
    duck_stream q = {0};
    qks_status status = duck_stream_open(&q, connection, sql, doing, error);
    while (status == QKS_OK && (status = duck_stream_next(&q, error)) == QKS_OK && q.chunk)
        continue;
    duck_stream_close(&q);
    if (seat->status != QKS_OK) { /* DuckDB only knows that it was stopped */
        status = seat->status;
        if (error)
            *error = seat->failure;
    }
    seat->see = NULL;
    return status;
}
