/* ours.c: a run's numbers under the columns of a published table, and the names by which its models
 * may be known there. */
#include "study/published.h"

#include "study/tables.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANIFEST_MAX = 1 << 26 };

typedef struct run_tables {
    const char *run, *folder; /* folder: with the tables */
    const qks_trajectory_row *trajectory;
    const qks_depth_row *depth;
    const qks_qk_row *qk;
    size_t n_trajectory, n_depth, n_qk;
} run_tables;

/* ---- reading ---- */

static qks_status read_table(const run_tables *r, const record *type, store *s, arena *a,
                             void **rows, size_t *count, qks_error *error)
{
    const char *path = arena_format(a, "%s/%s.csv", r->folder, type->name);
    if (path && !is_file(path))
        path = arena_format(a, "%s/%s.parquet", r->folder, type->name);
    if (!path)
        return out_of_memory(error, "file name");
    if (!is_file(path))
        return qks_fail(error, QKS_MISSING,
                        "'%s' has no table '%s'; it is no run's directory, or its run is not done",
                        r->folder, type->name);
    qks_status status = table_read(s, type, path, a, rows, count, error);
    if (status == QKS_OK && *count == 0)
        status = qks_fail(error, QKS_INVALID, "'%s' has no rows", path);
    return status;
}

static bool needs(const cell_table *t, cell_source source)
{
    for (size_t i = 0; i < t->n_columns; i++)
        if (t->columns[i].source == source)
            return true;
    return false;
}

static qks_status read_tables(run_tables *r, const cell_table *t, store *s, arena *a,
                              qks_error *error)
{
    void *rows = NULL;
    qks_status status = read_table(r, &TRAJECTORY_TABLE, s, a, &rows, &r->n_trajectory, error);
    r->trajectory = rows;
    if (status == QKS_OK && needs(t, FROM_DEPTH)) {
        status = read_table(r, &DEPTH_TABLE, s, a, &rows, &r->n_depth, error);
        r->depth = rows;
    }
    if (status == QKS_OK && needs(t, FROM_QK)) {
        status = read_table(r, &QK_TABLE, s, a, &rows, &r->n_qk, error);
        r->qk = rows;
    }
    for (size_t i = 0; status == QKS_OK && i < r->n_trajectory; i++)
        if (!r->trajectory[i].model || r->trajectory[i].n_heads < 0)
            status = qks_fail(error, QKS_INVALID,
                              "table 'trajectory' in '%s', row %zu: no model, or no heads",
                              r->folder, i + 1);
    return status;
}

/* ---- names ---- */

/* The revision of a model's checkpoint: said beside it, or after its @. */
static const char *revision_of(const json_t *model)
{
    const char *said = json_string_value(json_object_get(model, "revision"));
    const char *checkpoint = json_string_value(json_object_get(model, "checkpoint"));
    const char *at = !said && checkpoint ? strrchr(checkpoint, '@') : NULL;
    return said ? said : at ? at + 1 : NULL;
}

static qks_status name_revisions(cell_table *t, const json_t *manifest, arena *a, qks_error *error)
{
    size_t i = 0;
    const json_t *model = NULL;
    json_array_foreach(json_object_get(manifest, "models"), i, model) {
        const char *label = json_string_value(json_object_get(model, "label"));
        const char *revision = revision_of(model);
        for (size_t k = 0; label && revision && k < t->n_rows; k++) {
            const char **names = t->rows[k].names;
            if (strcmp(names[0], label) != 0)
                continue;
            names[1] = arena_string(a, revision);
            if (!names[1])
                return out_of_memory(error, "manifest");
        }
    }
    return QKS_OK;
}

/* A folder of tables alone has no manifest; its models go by their labels then. */
static qks_status read_names(const run_tables *r, cell_table *t, arena *a, qks_error *error)
{
    bool inside = strcmp(r->run, r->folder) == 0; /* DIR is the folder `tables` of a run */
    const char *path = arena_format(a, "%s/%smanifest.json", r->run, inside ? "../" : "");
    if (!path)
        return out_of_memory(error, "file name");
    if (!is_file(path))
        return QKS_OK;
    char *bytes = NULL;
    size_t length = 0;
    qks_status status = file_get(path, MANIFEST_MAX, &bytes, &length, error);
    if (status != QKS_OK)
        return status;
    json_error_t fault;
    json_t *manifest = json_loadb(bytes, length, 0, &fault);
    if (manifest)
        status = name_revisions(t, manifest, a, error);
    else
        status = qks_fail(error, QKS_INVALID, "'%s', line %d: %s", path, fault.line, fault.text);
    json_decref(manifest);
    free(bytes);
    return status;
}

/* ---- numbers ---- */

static double member(const void *row, size_t offset)
{
    double value = NAN;
    memcpy(&value, (const char *)row + offset, sizeof value);
    return value;
}

static void take(cell_row *row, size_t column, const quantity *q, const void *from)
{
    row->cells[column] = member(from, q->offset);
    row->ses[column] = q->se_offset ? member(from, q->se_offset) : NAN;
}

static void fill_model(cell_row *row, const cell_table *t, const run_tables *r, size_t model)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        const quantity *q = &t->columns[i];
        row->cells[i] = row->ses[i] = NAN;
        if (q->source == FROM_TRAJECTORY)
            take(row, i, q, &r->trajectory[model]);
        for (size_t k = 0; q->source == FROM_DEPTH && k < r->n_depth; k++)
            if (r->depth[k].bin == q->place && r->depth[k].model &&
                strcmp(r->depth[k].model, row->names[0]) == 0)
                take(row, i, q, &r->depth[k]);
    }
}

/* The mean over the heads of all models. Their errors come from the same documents, so they may all
 * lean one way: the sum of the parts is the most that the error of the mean can be. */
static void mean_of_models(cell_row *row, size_t column, const quantity *q, const run_tables *r)
{
    double heads = 0, sum = 0, error = 0;
    for (size_t i = 0; i < r->n_trajectory; i++) {
        double n = (double)r->trajectory[i].n_heads;
        if (n <= 0)
            continue;
        heads += n;
        sum += n * member(&r->trajectory[i], q->offset);
        error += q->se_offset ? n * member(&r->trajectory[i], q->se_offset) : NAN;
    }
    row->cells[column] = sum / heads; /* NaN without heads */
    row->ses[column] = error / heads;
}

static void mean_of_heads(cell_row *row, size_t column, const quantity *q, const run_tables *r)
{
    double heads = 0, sum = 0;
    for (size_t i = 0; i < r->n_qk; i++)
        if (r->qk[i].pc == q->place) {
            heads += 1;
            sum += member(&r->qk[i], q->offset);
        }
    row->cells[column] = heads > 0 ? sum / heads : NAN;
    row->ses[column] = NAN;
}

static void fill_whole(cell_row *row, const cell_table *t, const run_tables *r)
{
    row->names[0] = "all models";
    for (size_t i = 0; i < t->n_columns; i++)
        if (t->columns[i].source == FROM_QK)
            mean_of_heads(row, i, &t->columns[i], r);
        else
            mean_of_models(row, i, &t->columns[i], r);
}

qks_status ours_read(cell_table *t, const cell_table *published, store *s, const char *run,
                     arena *a, qks_error *error)
{
    *t = *published;
    if (!is_folder(run))
        return qks_fail(error, QKS_MISSING, "'%s' is no folder; give a run's directory", run);
    const char *tables = arena_format(a, "%s/tables", run);
    if (!tables)
        return out_of_memory(error, "file name");
    run_tables r = {.run = run, .folder = is_folder(tables) ? tables : run};
    qks_status status = read_tables(&r, t, s, a, error);
    if (status != QKS_OK)
        return status;
    t->n_rows = t->whole ? 1 : r.n_trajectory;
    t->rows = arena_alloc(a, t->n_rows, sizeof *t->rows);
    if (!t->rows)
        return out_of_memory(error, "comparison");
    if (t->whole) {
        fill_whole(t->rows, t, &r);
        return QKS_OK;
    }
    for (size_t i = 0; i < t->n_rows; i++) {
        t->rows[i].names[0] = r.trajectory[i].model;
        fill_model(&t->rows[i], t, &r, i);
    }
    return read_names(&r, t, a, error);
}
