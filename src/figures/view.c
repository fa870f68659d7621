/* view.c: tables to a view. Rows may come in any order; what does not go together is refused. */
#include "figures/view.h"

#include "figures/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_MOST = 28, GROUP_MOST = 32, PORTRAITS_DEFAULT = 6 };

/* spec/figures.md, figure 12 */
static const char *const KNOWN_PORTRAITS[PORTRAITS_DEFAULT] = {"S1-40K",  "S1-1.2M", "S1-3.4M",
                                                               "S3-4.7M", "LC1-20K", "LC2-20K"};

/* ---- models and their groups ---- */

static int by_order(const void *a, const void *b)
{
    const qks_trajectory_row *x = *(const qks_trajectory_row *const *)a;
    const qks_trajectory_row *y = *(const qks_trajectory_row *const *)b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The model called `name`; rows of one model mostly stand together, so the last one comes first. */
static size_t find_model(const view *v, const char *name, size_t guess)
{
    if (guess < v->n_models && strcmp(v->models[guess].name, name) == 0)
        return guess;
    for (size_t i = 0; i < v->n_models; i++)
        if (strcmp(v->models[i].name, name) == 0)
            return i;
    return v->n_models;
}

static qks_status add_model(view *v, const char *name, const qks_trajectory_row *row,
                            qks_error *error)
{
    if (!name)
        return qks_fail(error, QKS_INVALID, "a model without a name is in the table");
    if (find_model(v, name, v->n_models) < v->n_models)
        return qks_fail(error, QKS_INVALID, "'%.200s' is in the table twice", name);
    view_model *m = &v->models[v->n_models++];
    *m = (view_model){.row = row, .name = name, .label = name_line(&v->memory, name, LABEL_MOST)};
    for (int bin = 0; bin < DEPTH_BINS; bin++)
        m->cells[bin] = (view_cell){.r_q = NAN, .r_k = NAN, .se_r_q = NAN, .se_r_k = NAN};
    return m->label ? QKS_OK : out_of_memory(error, "figures");
}

static qks_status put_models(view *v, qks_error *error)
{
    const figure_tables *t = &v->tables;
    const qks_trajectory_row **rows = arena_alloc(&v->memory, t->n_trajectory, sizeof *rows);
    v->models = arena_alloc(&v->memory, t->n_trajectory, sizeof *v->models);
    if (!rows || !v->models)
        return out_of_memory(error, "figures");
    for (size_t i = 0; i < t->n_trajectory; i++)
        rows[i] = &t->trajectory[i];
    qsort(rows, t->n_trajectory, sizeof(const qks_trajectory_row *), by_order);
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < t->n_trajectory; i++) {
        status = add_model(v, rows[i]->model, rows[i], error);
        v->errors = v->errors || isfinite(rows[i]->se_r_q) || isfinite(rows[i]->se_r_k);
    }
    return status;
}

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* A phase is a run of checkpoints; a family may come back. Models without one are one each. */
static size_t find_group(const view *v, const char *name)
{
    size_t i = v->training && v->n_groups ? v->n_groups - 1 : 0;
    for (; i < v->n_groups; i++)
        if (same_name(v->groups[i].name, name) && (name || v->training))
            return i;
    return v->n_groups;
}

static qks_status put_groups(view *v, qks_error *error)
{
    v->groups = arena_alloc(&v->memory, v->n_models, sizeof *v->groups);
    if (!v->groups)
        return out_of_memory(error, "figures");
    for (size_t i = 0; i < v->n_models; i++) {
        view_model *m = &v->models[i];
        const char *name = m->row ? m->row->group : NULL;
        m->group = find_group(v, name);
        if (m->group == v->n_groups) {
            view_group g = {.name = name, .first = i};
            if (name || !v->training)
                g.label = name_line(&v->memory, name ? name : m->name, GROUP_MOST);
            if (!g.label && (name || !v->training))
                return out_of_memory(error, "figures");
            v->groups[v->n_groups++] = g;
        }
        v->groups[m->group].end = i + 1;
    }
    return QKS_OK;
}

/* ---- heads ---- */

static int by_place(const void *a, const void *b)
{
    const view_head *x = a, *y = b;
    if (x->model != y->model)
        return x->model < y->model ? -1 : 1;
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return x->head < y->head ? -1 : x->head > y->head;
}

static void add_pc(view *v, const qks_qk_row *row)
{
    v->pcs_in_table = row->pc + 1 > v->pcs_in_table ? row->pc + 1 : v->pcs_in_table;
    if (row->pc < 0 || row->pc >= VIEW_PCS)
        return;
    view_pc *pc = &v->pcs[row->pc];
    pc->n_heads++;
    pc->explained_variance += row->explained_variance;
    pc->r_q += row->r_q;
    pc->r_k += row->r_k;
}

static void end_pcs(view *v)
{
    for (int i = 0; i < VIEW_PCS; i++) {
        double n = v->pcs[i].n_heads ? (double)v->pcs[i].n_heads : 1;
        v->pcs[i].explained_variance /= n;
        v->pcs[i].r_q /= n;
        v->pcs[i].r_k /= n;
        v->n_pcs = v->pcs[i].n_heads ? i + 1 : v->n_pcs;
    }
}

static qks_status put_heads(view *v, qks_error *error)
{
    const figure_tables *t = &v->tables;
    size_t model = 0, count = 0;
    view_head *heads = arena_alloc(&v->memory, t->n_qk, sizeof *heads);
    if (!heads)
        return out_of_memory(error, "figures");
    for (size_t i = 0; i < t->n_qk; i++) {
        const qks_qk_row *row = &t->qk[i];
        model = row->model ? find_model(v, row->model, model) : v->n_models;
        if (model == v->n_models)
            return qks_fail(error, QKS_INVALID,
                            "table qk has model '%.200s', which table trajectory does not have",
                            row->model ? row->model : "");
        add_pc(v, row);
        if (row->pc == 0)
            heads[count++] = (view_head){.layer = row->layer,
                                         .head = row->head,
                                         .r_q = row->r_q,
                                         .r_k = row->r_k,
                                         .rope = QKS_BLANK,
                                         .class = taxonomy_of(row->r_q, row->r_k),
                                         .model = model};
    }
    end_pcs(v);
    qsort(heads, count, sizeof *heads, by_place);
    for (size_t i = 0; i < count; i++) {
        view_model *m = &v->models[heads[i].model];
        m->heads = m->n_heads++ ? m->heads : &heads[i];
    }
    v->heads = heads;
    v->n_heads = count;
    for (size_t i = 0, guess = 0; i < t->n_heads; i++) {
        const qks_head_row *row = &t->heads[i];
        guess = row->model ? find_model(v, row->model, guess) : v->n_models;
        view_head key = {.model = guess, .layer = row->layer, .head = row->head};
        view_head *found = bsearch(&key, heads, count, sizeof *heads, by_place);
        if (found)
            found->rope = row->rope;
    }
    return QKS_OK;
}

/* ---- depth ---- */

static void put_cells(view *v)
{
    const figure_tables *t = &v->tables;
    for (size_t i = 0, guess = 0; i < t->n_depth; i++) {
        const qks_depth_row *row = &t->depth[i];
        guess = row->model ? find_model(v, row->model, guess) : v->n_models;
        if (guess == v->n_models || row->bin < 0 || row->bin >= DEPTH_BINS)
            continue;
        v->models[guess].cells[row->bin] = (view_cell){.n_heads = row->n_heads,
                                                       .r_q = row->r_q,
                                                       .r_k = row->r_k,
                                                       .se_r_q = row->se_r_q,
                                                       .se_r_k = row->se_r_k};
        v->errors = v->errors || isfinite(row->se_r_q) || isfinite(row->se_r_k);
    }
}

/* ---- portraits ---- */

static qks_status named_portraits(view *v, const char *const *names, size_t count, bool must,
                                  qks_error *error)
{
    v->n_portraits = 0;
    for (size_t i = 0; i < count; i++) {
        size_t model = find_model(v, names[i], v->n_models);
        if (model < v->n_models)
            v->portraits[v->n_portraits++] = model;
        else if (must)
            return qks_fail(error, QKS_USAGE, "portrait '%.200s' is no checkpoint of the study",
                            names[i]);
    }
    return QKS_OK;
}

/* As asked for; else the published ones if all are there; else up to six, evenly along the way. */
static qks_status put_portraits(view *v, qks_error *error)
{
    const figure_tables *t = &v->tables;
    size_t room = t->n_portraits > PORTRAITS_DEFAULT ? t->n_portraits : PORTRAITS_DEFAULT;
    v->portraits = arena_alloc(&v->memory, room, sizeof *v->portraits);
    if (!v->portraits)
        return out_of_memory(error, "figures");
    if (t->n_portraits) {
        qks_status status = named_portraits(v, t->portraits, t->n_portraits, !t->portraits_checked,
                                            error);
        if (status != QKS_OK || v->n_portraits > 0)
            return status;
    }
    (void)named_portraits(v, KNOWN_PORTRAITS, PORTRAITS_DEFAULT, false, NULL);
    if (v->n_portraits == PORTRAITS_DEFAULT)
        return QKS_OK;
    v->n_portraits = v->n_models < PORTRAITS_DEFAULT ? v->n_models : PORTRAITS_DEFAULT;
    for (size_t i = 0; i < v->n_portraits; i++)
        v->portraits[i] = v->n_portraits > 1 ? (i * (v->n_models - 1) + (v->n_portraits - 1) / 2) /
                                                   (v->n_portraits - 1)
                                             : 0;
    return QKS_OK;
}

/* ---- the whole ---- */

qks_status view_open(view *v, const figure_tables *tables, const figure_facts *facts,
                     qks_error *error)
{
    *v = (view){.tables = *tables, .facts = *facts, .training = tables->training};
    qks_status status = QKS_OK;
    if (tables->n_trajectory == 0 || tables->n_qk == 0)
        status = qks_fail(error, QKS_INVALID, "table %s has no rows, so there is nothing to draw",
                          tables->n_qk == 0 ? "qk" : "trajectory");
    if (status == QKS_OK)
        status = put_models(v, error);
    if (status == QKS_OK)
        status = put_groups(v, error);
    if (status == QKS_OK)
        status = put_heads(v, error);
    if (status == QKS_OK)
        status = put_portraits(v, error);
    if (status != QKS_OK)
        view_free(v);
    else
        put_cells(v);
    return status;
}

qks_status view_open_heatmap(view *v, const heatmap_row *rows, size_t count, bool training,
                             bool keys, const figure_facts *facts, qks_error *error)
{
    *v = (view){.facts = *facts, .training = training};
    qks_status status = QKS_OK;
    if (count == 0)
        return qks_fail(error, QKS_INVALID, "the heatmap has no rows");
    v->models = arena_alloc(&v->memory, count, sizeof *v->models);
    if (!v->models)
        return out_of_memory(error, "figures");
    for (size_t i = 0; status == QKS_OK && i < count; i++) {
        status = add_model(v, rows[i].model, NULL, error);
        for (int bin = 0; status == QKS_OK && bin < DEPTH_BINS; bin++) {
            view_cell *cell = &v->models[i].cells[bin];
            double value = rows[i].bins[bin];
            cell->n_heads = isnan(value) ? 0 : QKS_BLANK;
            *(keys ? &cell->r_k : &cell->r_q) = value;
        }
    }
    if (status == QKS_OK)
        status = put_groups(v, error);
    if (status != QKS_OK)
        view_free(v);
    return status;
}

void view_free(view *v)
{
    arena_free(&v->memory);
    *v = (view){0};
}

const char *view_noun(const view *v, size_t count)
{
    if (v->training)
        return count == 1 ? "checkpoint" : "checkpoints";
    return count == 1 ? "model" : "models";
}

const char *view_heads(const view *v, const int64_t *rope, arena *a)
{
    size_t total = 0, first = 0;
    bool even = v->n_models > 1;
    for (size_t i = 0; i < v->n_models; i++) {
        const view_model *m = &v->models[i];
        size_t count = 0;
        for (size_t h = 0; h < m->n_heads; h++)
            count += !rope || m->heads[h].rope == *rope;
        first = i ? first : count;
        even = even && count == first;
        total += count;
    }
    return arena_format(a, "%s head%s%s", count_words(a, even ? first : total),
                        (even ? first : total) == 1 ? "" : "s", even ? " each" : "");
}
