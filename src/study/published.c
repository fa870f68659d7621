/* published.c: which columns a published table has, and its rows. Heatmaps have ten columns by
 * depth; the other two kinds have named quantities. */
#include "study/published.h"

#include "qkscope/tables.h"
#include "store/csv.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define TWO_DECIMALS 0.005
#define THREE_DECIMALS 0.0005

/* ---- columns ---- */

#define BIN(name, value, bin)                                                                      \
    {                                                                                              \
        name, TWO_DECIMALS, FROM_DEPTH, offsetof(qks_depth_row, value),                            \
            offsetof(qks_depth_row, se_##value), bin                                               \
    }
#define BINS(value)                                                                                \
    {                                                                                              \
        BIN("0.0", value, 0), BIN("0.1", value, 1), BIN("0.2", value, 2), BIN("0.3", value, 3),    \
            BIN("0.4", value, 4), BIN("0.5", value, 5), BIN("0.6", value, 6),                      \
            BIN("0.7", value, 7), BIN("0.8", value, 8), BIN("0.9", value, 9)                       \
    }
static const quantity DEPTH_R_Q[] = BINS(r_q);
static const quantity DEPTH_R_K[] = BINS(r_k);

#define MEAN(name, half_unit, member, se)                                                          \
    {                                                                                              \
        name, half_unit, FROM_TRAJECTORY, offsetof(qks_trajectory_row, member), se, 0              \
    }
#define SHARE(name, half_unit, class) MEAN(name, half_unit, share[class], 0)
#define SE_R_Q offsetof(qks_trajectory_row, se_r_q)
#define SE_R_K offsetof(qks_trajectory_row, se_r_k)
static const quantity TRAJECTORY[] = {
    MEAN("mean_rq", TWO_DECIMALS, mean_r_q, SE_R_Q),
    MEAN("mean_rk", TWO_DECIMALS, mean_r_k, SE_R_K),
    MEAN("mean_ev_pc0", TWO_DECIMALS, mean_explained_variance, 0),
    SHARE("position_dominated", TWO_DECIMALS, QKS_POSITION_DOMINATED),
    SHARE("q_positional", TWO_DECIMALS, QKS_Q_POSITIONAL),
    SHARE("k_positional", TWO_DECIMALS, QKS_K_POSITIONAL),
    SHARE("content_focused", TWO_DECIMALS, QKS_CONTENT_FOCUSED),
    SHARE("mixed", TWO_DECIMALS, QKS_MIXED),
};

#define PC(name, half_unit, member, pc)                                                            \
    {                                                                                              \
        name, half_unit, FROM_QK, offsetof(qks_qk_row, member), 0, pc                              \
    }
#define VARIANCE(name, pc) PC(name, THREE_DECIMALS, explained_variance, pc)
static const quantity SUMMARY[] = {
    MEAN("mean_rq_pc0", TWO_DECIMALS, mean_r_q, SE_R_Q),
    MEAN("mean_rk_pc0", TWO_DECIMALS, mean_r_k, SE_R_K),
    PC("mean_rq_pc1", TWO_DECIMALS, r_q, 1),
    PC("mean_rk_pc1", TWO_DECIMALS, r_k, 1),
    VARIANCE("ev_pc0", 0),
    VARIANCE("ev_pc1", 1),
    VARIANCE("ev_pc2", 2),
    VARIANCE("ev_pc3", 3),
    VARIANCE("ev_pc4", 4),
    VARIANCE("ev_pc5", 5),
    VARIANCE("ev_pc6", 6),
    VARIANCE("ev_pc7", 7),
    VARIANCE("ev_pc8", 8),
    VARIANCE("ev_pc9", 9),
    SHARE("fraction_mixed", THREE_DECIMALS, QKS_MIXED),
    SHARE("fraction_position_dominated", THREE_DECIMALS, QKS_POSITION_DOMINATED),
    SHARE("fraction_q_positional", THREE_DECIMALS, QKS_Q_POSITIONAL),
    SHARE("fraction_content_focused", THREE_DECIMALS, QKS_CONTENT_FOCUSED),
    SHARE("fraction_k_positional", THREE_DECIMALS, QKS_K_POSITIONAL),
    MEAN("q_variance_linear_in_position", TWO_DECIMALS, pos_share_q, 0),
    MEAN("k_variance_linear_in_position", TWO_DECIMALS, pos_share_k, 0),
};
_Static_assert(COUNT(SUMMARY) <= CELLS_MAX, "a row has room for every column");

/* ---- the kind of table ---- */

/* table_describe() leaves to DuckDB whether a CSV begins with names, and 0.0, 0.1, ... look like
 * numbers to it. */
static qks_status column_names(store *s, const char *path, arena *a, name_list *columns,
                               qks_error *error)
{
    int64_t rows = 0;
    if (!is_file(path))
        return qks_fail(error, QKS_MISSING, "there is no file '%s'", path);
    const char *dot = strrchr(path, '.');
    if (dot && strcmp(dot, ".csv") == 0)
        return csv_header(a, path, columns, error);
    return table_describe(s, path, a, columns, &rows, error);
}

static bool has(const name_list *columns, const char *name)
{
    for (size_t i = 0; i < columns->length; i++)
        if (strcmp(columns->data[i], name) == 0)
            return true;
    return false;
}

static qks_status choose_side(cell_table *t, const char *path, const char *wanted, qks_error *error)
{
    const char *name = path_name(path);
    bool q = wanted ? strcmp(wanted, "r_q") == 0 : strstr(name, "rq") || strstr(name, "r_q");
    bool k = wanted ? strcmp(wanted, "r_k") == 0 : strstr(name, "rk") || strstr(name, "r_k");
    if (q == k)
        return qks_fail(error, QKS_USAGE,
                        "is '%s' a table of r_q or of r_k? its name does not say; give --quantity "
                        "r_q or --quantity r_k",
                        path);
    t->columns = q ? DEPTH_R_Q : DEPTH_R_K;
    t->n_columns = COUNT(DEPTH_R_Q);
    return QKS_OK;
}

static qks_status choose_columns(cell_table *t, const name_list *columns, const char *path,
                                 const char *wanted, qks_error *error)
{
    bool named = has(columns, "model") || has(columns, "checkpoint") || has(columns, "label");
    if (named && has(columns, "0.0"))
        return choose_side(t, path, wanted, error);
    if (named && has(columns, "mean_rq")) {
        t->columns = TRAJECTORY;
        t->n_columns = COUNT(TRAJECTORY);
        return QKS_OK;
    }
    if (has(columns, "quantity") && has(columns, "value")) {
        t->columns = SUMMARY;
        t->n_columns = COUNT(SUMMARY);
        t->whole = true;
        return QKS_OK;
    }
    return qks_fail(error, QKS_INVALID,
                    "'%s' is no table to compare with: it has neither model or checkpoint with "
                    "0.0, 0.1, ... or mean_rq, nor quantity with value",
                    path);
}

/* ---- rows ---- */

static qks_status read_rows(cell_table *t, store *s, const char *path, arena *a, qks_error *error)
{
    static const char *const names[] = {"model", "checkpoint", "label"};
    field *fields = arena_alloc(a, COUNT(names) + t->n_columns, sizeof *fields);
    size_t n = 0;
    if (!fields)
        return out_of_memory(error, path);
    for (; n < COUNT(names); n++)
        fields[n] = (field){names[n], FIELD_TEXT,
                            offsetof(cell_row, names) + n * sizeof(const char *), false};
    for (size_t i = 0; i < t->n_columns; i++)
        fields[n++] = (field){t->columns[i].name, FIELD_REAL,
                              offsetof(cell_row, cells) + i * sizeof(double), false};
    const record type = {"published", sizeof(cell_row), n, fields};
    void *rows = NULL;
    qks_status status = table_read(s, &type, path, a, &rows, &t->n_rows, error);
    t->rows = rows;
    return status;
}

typedef struct named_value {
    const char *quantity;
    double value;
} named_value;

static qks_status read_values(cell_table *t, store *s, const char *path, arena *a, qks_error *error)
{
    static const field fields[] = {
        {"quantity", FIELD_TEXT, offsetof(named_value, quantity), true},
        {"value", FIELD_REAL, offsetof(named_value, value), true},
    };
    static const record type = {"published", sizeof(named_value), COUNT(fields), fields};
    void *rows = NULL;
    size_t count = 0;
    qks_status status = table_read(s, &type, path, a, &rows, &count, error);
    if (status != QKS_OK)
        return status;
    t->n_rows = 1;
    t->rows = arena_alloc(a, 1, sizeof *t->rows);
    if (!t->rows)
        return out_of_memory(error, path);
    const named_value *values = rows;
    for (size_t i = 0; i < t->n_columns; i++) {
        t->rows->cells[i] = NAN;
        for (size_t k = 0; k < count; k++)
            if (values[k].quantity && strcmp(values[k].quantity, t->columns[i].name) == 0)
                t->rows->cells[i] = values[k].value;
    }
    return QKS_OK;
}

/* Labels of checkpoints that are known by revision only, from the table beside that has both. */
static qks_status add_labels(cell_table *t, store *s, const char *path, arena *a, qks_error *error)
{
    const char *beside = arena_format(a, "%.*ssmollm3_trajectory.csv",
                                      (int)(path_name(path) - path), path);
    if (!beside)
        return out_of_memory(error, "file name");
    if (!is_file(beside))
        return QKS_OK;
    cell_table both = {0};
    qks_status status = read_rows(&both, s, beside, a, error);
    for (size_t i = 0; status == QKS_OK && i < t->n_rows; i++)
        for (size_t k = 0; k < both.n_rows; k++) {
            const char *revision = both.rows[k].names[1], **names = t->rows[i].names;
            if (!names[2] && names[1] && revision && strcmp(names[1], revision) == 0)
                names[2] = both.rows[k].names[2];
        }
    return status;
}

qks_status published_read(cell_table *t, store *s, const char *path, const char *wanted, arena *a,
                          qks_error *error)
{
    *t = (cell_table){0};
    name_list columns = {0};
    qks_status status = column_names(s, path, a, &columns, error);
    if (status == QKS_OK)
        status = choose_columns(t, &columns, path, wanted, error);
    free(columns.data);
    if (status != QKS_OK)
        return status;
    if (t->whole)
        return read_values(t, s, path, a, error);
    status = read_rows(t, s, path, a, error);
    return status == QKS_OK ? add_labels(t, s, path, a, error) : status;
}
