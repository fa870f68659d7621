/* contents.c: reads the tables and joins them. Tables that contradict each other are refused: they
 * come from different runs, and a page made of them would be wrong in a way nobody sees. */
#include "report/contents.h"

#include "base/file.h"
#include "store/store.h"
#include "study/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS_MAX = 4096 };

typedef struct table {
    void *rows;
    size_t count;
} table;

typedef struct reading {
    contents *c;
    store *store;
    const char *folder; /* of the tables */
    table qk, heads, trajectory;
} reading;

/* One run's tables agree; what to do if they do not. */
#define ANALYZE_AGAIN "the tables are not of one run; write them again with 'qkscope analyze'"

/* ---- tables ---- */

/* The table's file; NULL and QKS_OK: there is none. */
static qks_status find_table(const reading *r, const char *name, const char **path,
                             qks_error *error)
{
    static const char *const endings[] = {"parquet", "csv"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        *path = arena_format(&r->c->memory, "%s/%s.%s", r->folder, name, endings[i]);
        if (!*path)
            return out_of_memory(error, "file name");
        if (is_file(*path))
            return QKS_OK;
    }
    *path = NULL;
    return QKS_OK;
}

static qks_status read_table(const reading *r, const record *type, bool required, table *t,
                             qks_error *error)
{
    const char *path = NULL;
    qks_status status = find_table(r, type->name, &path, error);
    if (status != QKS_OK)
        return status;
    if (path)
        return table_read(r->store, type, path, &r->c->memory, &t->rows, &t->count, error);
    if (required)
        return qks_fail(error, QKS_MISSING,
                        "'%s' has no table %s (%s.parquet or %s.csv); 'qkscope analyze' writes it",
                        r->folder, type->name, type->name, type->name);
    return QKS_OK;
}

/* The column that groups models has the name `phase` in a training study, else `family`. */
static qks_status read_trajectory(reading *r, qks_error *error)
{
    const char *path = NULL;
    name_list columns = {0};
    int64_t rows = 0;
    qks_status status = find_table(r, TRAJECTORY_TABLE.name, &path, error);
    if (status != QKS_OK || !path)
        return status;
    status = table_describe(r->store, path, &r->c->memory, &columns, &rows, error);
    for (size_t i = 0; status == QKS_OK && i < columns.length; i++)
        r->c->training = r->c->training || strcmp(columns.data[i], "phase") == 0;
    free(columns.data);
    if (status != QKS_OK)
        return status;
    return read_table(r, r->c->training ? &TRAJECTORY_TABLE : &MODELS_TABLE, true, &r->trajectory,
                      error);
}

static qks_status read_tables(reading *r, qks_error *error)
{
    contents *c = r->c;
    table depth = {0}, plasticity = {0}, findings = {0};
    qks_status status = read_table(r, &QK_TABLE, true, &r->qk, error);
    if (status == QKS_OK)
        status = read_table(r, &HEADS_TABLE, true, &r->heads, error);
    if (status == QKS_OK)
        status = read_trajectory(r, error);
    if (status == QKS_OK)
        status = read_table(r, &DEPTH_TABLE, false, &depth, error);
    if (status == QKS_OK)
        status = read_table(r, &PLASTICITY_TABLE, false, &plasticity, error);
    if (status == QKS_OK)
        status = read_table(r, &FINDINGS_TABLE, false, &findings, error);
    c->depth = depth.rows, c->n_depth = depth.count;
    c->plasticity = plasticity.rows, c->n_plasticity = plasticity.count;
    c->findings = findings.rows, c->n_findings = findings.count;
    return status;
}

/* ---- models ---- */

ptrdiff_t contents_model(const contents *c, const char *name)
{
    for (size_t i = 0; name && i < c->models.length; i++)
        if (strcmp(c->models.data[i].name, name) == 0)
            return (ptrdiff_t)i;
    return -1;
}

static int by_order(const void *a, const void *b)
{
    const qks_trajectory_row *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

static qks_status add_model(contents *c, page_model m, qks_error *error)
{
    if (c->models.length == MODELS_MAX)
        return qks_fail(error, QKS_UNSUPPORTED, "a page shows at most %d models", MODELS_MAX);
    return array_push(&c->models, m, error);
}

/* In the trajectory's order; models that are not in it follow as they come in qk. */
static qks_status take_models(const reading *r, qks_error *error)
{
    contents *c = r->c;
    qks_trajectory_row *rows = r->trajectory.rows;
    const qks_qk_row *qk = r->qk.rows;
    qks_status status = QKS_OK;
    if (r->trajectory.count)
        qsort(rows, r->trajectory.count, sizeof *rows, by_order);
    for (size_t i = 0; status == QKS_OK && i < r->trajectory.count; i++) {
        if (!rows[i].model || contents_model(c, rows[i].model) >= 0)
            return qks_fail(error, QKS_INVALID, "table trajectory names model '%s' twice",
                            rows[i].model ? rows[i].model : "");
        status = add_model(
            c, (page_model){.name = rows[i].model, .group = rows[i].group, .row = &rows[i]}, error);
    }
    for (size_t i = 0; status == QKS_OK && i < r->qk.count; i++) {
        if (!qk[i].model)
            return qks_fail(error, QKS_INVALID, "table qk, row %zu: no model", i + 1);
        if ((i == 0 || qk[i].model != qk[i - 1].model) && contents_model(c, qk[i].model) < 0)
            status = add_model(c, (page_model){.name = qk[i].model}, error);
    }
    return status;
}

/* ---- heads ---- */

typedef struct component {
    size_t model;
    const qks_qk_row *row;
} component;

static int by_place(const void *a, const void *b)
{
    const component *x = a, *y = b;
    if (x->model != y->model)
        return x->model < y->model ? -1 : 1;
    if (x->row->layer != y->row->layer)
        return x->row->layer < y->row->layer ? -1 : 1;
    if (x->row->head != y->row->head)
        return x->row->head < y->row->head ? -1 : 1;
    return (x->row->pc > y->row->pc) - (x->row->pc < y->row->pc);
}

static bool same_head(const page_head *h, const component *p)
{
    return h->model == p->model && h->layer == p->row->layer && h->head == p->row->head;
}

static qks_status add_head(contents *c, const component *p, qks_error *error)
{
    page_model *m = &c->models.data[p->model];
    m->first_head = m->n_heads ? m->first_head : c->heads.length;
    m->n_heads++;
    return array_push(&c->heads,
                      ((page_head){.model = p->model,
                                   .layer = p->row->layer,
                                   .head = p->row->head,
                                   .k_head = p->row->k_head,
                                   .bin = QKS_BLANK}),
                      error);
}

static qks_status add_component(contents *c, const component *p, qks_error *error)
{
    const qks_qk_row *row = p->row;
    if (row->layer < 0 || row->head < 0 || row->pc < 0)
        return qks_fail(error, QKS_INVALID,
                        "table qk: model '%s' has a row without layer, head or pc", row->model);
    qks_status status = QKS_OK;
    if (c->heads.length == 0 || !same_head(&c->heads.data[c->heads.length - 1], p))
        status = add_head(c, p, error);
    if (status != QKS_OK || row->pc >= PAGE_COMPONENTS)
        return status;
    page_head *h = &c->heads.data[c->heads.length - 1];
    if (h->pcs[row->pc])
        return qks_fail(error, QKS_INVALID,
                        "table qk: model '%s', layer %" PRId64 ", head %" PRId64 ", pc %" PRId64
                        " is there twice",
                        row->model, row->layer, row->head, row->pc);
    h->pcs[row->pc] = row;
    c->components = c->components > (size_t)row->pc ? c->components : (size_t)row->pc + 1;
    return QKS_OK;
}

static qks_status take_heads(const reading *r, qks_error *error)
{
    contents *c = r->c;
    const qks_qk_row *rows = r->qk.rows;
    component *components = NULL;
    qks_status status = memory_zeroed(&components, r->qk.count, sizeof *components, error);
    for (size_t i = 0; status == QKS_OK && i < r->qk.count; i++) {
        bool same = i > 0 && rows[i].model == rows[i - 1].model;
        components[i] = (component){
            same ? components[i - 1].model : (size_t)contents_model(c, rows[i].model), &rows[i]};
    }
    if (status == QKS_OK)
        qsort(components, r->qk.count, sizeof *components, by_place);
    for (size_t i = 0; status == QKS_OK && i < r->qk.count; i++)
        status = add_component(c, &components[i], error);
    free(components);
    return status;
}

ptrdiff_t contents_head(const contents *c, const char *model, int64_t layer, int64_t head)
{
    ptrdiff_t m = contents_model(c, model);
    if (m < 0)
        return -1;
    size_t from = c->models.data[m].first_head, to = from + c->models.data[m].n_heads;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const page_head *h = &c->heads.data[middle];
        if (h->layer == layer && h->head == head)
            return (ptrdiff_t)middle;
        if (h->layer < layer || (h->layer == layer && h->head < head))
            from = middle + 1;
        else
            to = middle;
    }
    return -1;
}

static qks_status join_heads(const reading *r, qks_error *error)
{
    const qks_head_row *rows = r->heads.rows;
    for (size_t i = 0; i < r->heads.count; i++) {
        ptrdiff_t h = contents_head(r->c, rows[i].model, rows[i].layer, rows[i].head);
        if (h < 0)
            return qks_fail(error, QKS_INVALID,
                            "table heads has model '%s', layer %" PRId64 ", head %" PRId64
                            ", table qk does not: " ANALYZE_AGAIN,
                            rows[i].model ? rows[i].model : "", rows[i].layer, rows[i].head);
        r->c->heads.data[h].row = &rows[i];
    }
    return QKS_OK;
}

/* ---- depth ---- */

/* Bins are runs of layers, so the number of heads in each says which heads are in it. */
static qks_status take_bin(contents *c, const qks_depth_row *row, size_t *taken, qks_error *error)
{
    ptrdiff_t number = contents_model(c, row->model);
    if (number < 0)
        return qks_fail(error, QKS_INVALID, "table depth has model '%s', table qk does not: %s",
                        row->model ? row->model : "", ANALYZE_AGAIN);
    const page_model *m = &c->models.data[number];
    size_t from = taken[number];
    if (row->n_heads < 0 || (size_t)row->n_heads > m->n_heads - from)
        return qks_fail(error, QKS_INVALID,
                        "table depth counts more heads of model '%s' than the %zu in table qk: %s",
                        m->name, m->n_heads, ANALYZE_AGAIN);
    taken[number] += (size_t)row->n_heads;
    for (size_t i = from; i < taken[number]; i++) {
        page_head *h = &c->heads.data[m->first_head + i];
        if (i == from && i > 0 && h[-1].layer == h->layer)
            return qks_fail(error, QKS_INVALID,
                            "table depth cuts layer %" PRId64 " of '%s' in two: %s", h->layer,
                            m->name, ANALYZE_AGAIN);
        h->bin = row->bin;
    }
    return QKS_OK;
}

static qks_status join_depth(contents *c, qks_error *error)
{
    size_t *taken = arena_alloc(&c->memory, c->models.length + 1, sizeof *taken);
    if (!taken)
        return out_of_memory(error, "depth bins");
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < c->n_depth; i++) {
        const qks_depth_row *row = &c->depth[i];
        bool follows = i > 0 && row->model && c->depth[i - 1].model &&
                       strcmp(row->model, c->depth[i - 1].model) == 0;
        if (row->bin < 0 || (follows && row->bin <= c->depth[i - 1].bin))
            return qks_fail(error, QKS_INVALID, "table depth: the bins of '%s' are not in order",
                            row->model ? row->model : "");
        status = take_bin(c, row, taken, error);
    }
    for (size_t i = 0; status == QKS_OK && i < c->models.length; i++)
        if (taken[i] > 0 && taken[i] < c->models.data[i].n_heads)
            status = qks_fail(error, QKS_INVALID,
                              "table depth counts %zu heads of model '%s', table qk has %zu: %s",
                              taken[i], c->models.data[i].name, c->models.data[i].n_heads,
                              ANALYZE_AGAIN);
    return status;
}

/* ---- all ---- */

static qks_status check_folder(const char *folder, qks_error *error)
{
    if (is_folder(folder))
        return QKS_OK;
    if (is_file(folder))
        return qks_fail(error, QKS_INVALID,
                        "'%s' is a file; a page is made of a folder of tables, which 'qkscope "
                        "analyze %s --out DIR' makes",
                        folder, folder);
    return qks_fail(error, QKS_MISSING, "there is no folder '%s'", folder);
}

qks_status contents_read(contents *c, const char *folder, qks_error *error)
{
    *c = (contents){0};
    reading r = {.c = c, .folder = arena_format(&c->memory, "%s/tables", folder)};
    if (!r.folder)
        return out_of_memory(error, "folder name");
    if (!is_folder(r.folder))
        r.folder = folder;
    qks_status status = check_folder(folder, error);
    if (status == QKS_OK)
        status = store_open(&r.store, 1, error);
    if (status == QKS_OK)
        status = read_tables(&r, error);
    if (status == QKS_OK)
        status = take_models(&r, error);
    if (status == QKS_OK)
        status = take_heads(&r, error);
    if (status == QKS_OK)
        status = join_heads(&r, error);
    if (status == QKS_OK)
        status = join_depth(c, error);
    store_close(r.store);
    return status;
}

void contents_free(contents *c)
{
    free(c->models.data);
    free(c->heads.data);
    arena_free(&c->memory);
    *c = (contents){0};
}
