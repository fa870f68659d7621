/* results.c: results from a bare qk table, their order in a study, and their tables. */
#include "study/results.h"
#include "base/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- from a qk table ---- */

typedef struct placed_row {
    size_t model; /* number, by first appearance in the table */
    const qks_qk_row *row;
} placed_row;

static int by_place(const void *a, const void *b)
{
    const placed_row *x = a, *y = b;
    int64_t keys[][2] = {{(int64_t)x->model, (int64_t)y->model},
                         {x->row->layer, y->row->layer},
                         {x->row->head, y->row->head},
                         {x->row->pc, y->row->pc}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* A head of which only the qk rows are known. */
static head_result head_of_rows(qks_qk_row *pcs, int count)
{
    head_result h = {.pcs = pcs, .n_pcs = count};
    h.row = (qks_head_row){.model = pcs->model,
                           .layer = pcs->layer,
                           .head = pcs->head,
                           .k_head = pcs->k_head,
                           .n_q = QKS_BLANK,
                           .n_k = QKS_BLANK,
                           .rope = QKS_BLANK,
                           .stable = QKS_BLANK};
    double *unknown[] = {&h.row.separation,
                         &h.row.fisher_ratio,
                         &h.row.bias_term,
                         &h.row.interaction,
                         &h.row.r_q_a,
                         &h.row.r_k_a,
                         &h.row.alpha_q,
                         &h.row.alpha_k,
                         &h.row.mu_q_a,
                         &h.row.mu_k_a,
                         &h.row.mu_q_b,
                         &h.row.mu_k_b,
                         &h.row.separation_strength,
                         &h.row.var_frac_a,
                         &h.row.var_frac_b,
                         &h.row.plane_var_fraction,
                         &h.row.bias_strength,
                         &h.row.se_bias_strength,
                         &h.whole.bias_strength};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        *unknown[i] = NAN;
    h.row.class_name = qks_class_name(taxonomy_of(pcs->r_q, pcs->r_k));
    h.whole.present = true;
    h.whole.explained_variance = pcs->explained_variance;
    h.whole.r_q = pcs->r_q;
    h.whole.r_k = pcs->r_k;
    for (int i = 0; i < count; i++) {
        h.row.pos_share_q += pcs[i].explained_variance * pcs[i].r_q * pcs[i].r_q;
        h.row.pos_share_k += pcs[i].explained_variance * pcs[i].r_k * pcs[i].r_k;
        h.whole.top_q = fabs(pcs[i].r_q) > fabs(pcs[h.whole.top_q].r_q) ? i : h.whole.top_q;
        h.whole.top_k = fabs(pcs[i].r_k) > fabs(pcs[h.whole.top_k].r_k) ? i : h.whole.top_k;
    }
    return h;
}

static const study_row *study_of(const study_row *study, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(study[i].model, name) == 0)
            return &study[i];
    return NULL;
}

/* Number every row's model, in the order in which the models appear. */
static void place_rows(results *r, placed_row *placed, const qks_qk_row *rows, size_t count)
{
    size_t model = 0; /* rows of a model mostly stand together */
    for (size_t i = 0; i < count; i++) {
        if (model >= r->count || strcmp(r->models[model].model, rows[i].model) != 0)
            for (model = 0; model < r->count; model++)
                if (strcmp(r->models[model].model, rows[i].model) == 0)
                    break;
        if (model == r->count) {
            r->models[model] = (model_result){.model = rows[i].model, .order = (int64_t)model};
            r->count++;
        }
        placed[i] = (placed_row){model, &rows[i]};
    }
}

/* Rows in order become heads, heads become models. */
static qks_status gather(results *r, const placed_row *placed, size_t count, qks_qk_row *rows,
                         head_result *heads, qks_error *error)
{
    for (size_t i = 0; i < count; i++)
        rows[i] = *placed[i].row;
    for (size_t i = 0, end; i < count; i = end, heads++) {
        const qks_qk_row *first = &rows[i];
        for (end = i; end < count && placed[end].model == placed[i].model &&
                      rows[end].layer == first->layer && rows[end].head == first->head;
             end++)
            if (rows[end].pc != (int64_t)(end - i))
                return qks_fail(error, QKS_INVALID,
                                "the qk table's rows of model '%s', layer %lld, head %lld are not "
                                "PC 0, 1, 2, ..., each once",
                                first->model, (long long)first->layer, (long long)first->head);
        *heads = head_of_rows(&rows[i], (int)(end - i));
        model_result *m = &r->models[placed[i].model];
        m->heads = m->n_heads++ ? m->heads : heads;
    }
    return QKS_OK;
}

static qks_status put_layers(results *r, const study_row *study, size_t n_study, int layers,
                             qks_error *error)
{
    for (size_t i = 0; i < r->count; i++) {
        model_result *m = &r->models[i];
        const study_row *said = study_of(study, n_study, m->model);
        m->layers = said ? (int)said->layers : layers;
        int64_t last = m->heads[m->n_heads - 1].row.layer;
        if (m->layers == 0)
            return qks_fail(error, QKS_INVALID,
                            "a qk table does not say how many layers model '%s' has (its heads "
                            "reach layer %lld); give --shape, --config or --study",
                            m->model, (long long)last);
        if (last >= m->layers)
            return qks_fail(error, QKS_INVALID,
                            "model '%s' has heads up to layer %lld, which do not fit %d layers",
                            m->model, (long long)last, m->layers);
    }
    return QKS_OK;
}

/* Names and numbers that every row needs. */
static qks_status check_rows(const qks_qk_row *rows, size_t count, qks_error *error)
{
    if (count == 0)
        return qks_fail(error, QKS_INVALID, "the qk table has no rows");
    for (size_t i = 0; i < count; i++) {
        const qks_qk_row *row = &rows[i];
        if (!row->model || row->layer < 0 || row->head < 0 || row->k_head < 0 || row->pc < 0)
            return qks_fail(error, QKS_INVALID,
                            "row %zu lacks its model, layer, head, k_head or pc", i + 1);
        if (!(row->explained_variance >= 0 && fabs(row->r_q) <= 1 && fabs(row->r_k) <= 1))
            return qks_fail(error, QKS_INVALID,
                            "row %zu: explained_variance, r_q or r_k is blank or out of range",
                            i + 1);
    }
    return QKS_OK;
}

qks_status analyze_table(results *r, const qks_qk_row *rows, size_t count, const study_row *study,
                         size_t n_study, int layers, qks_error *error)
{
    *r = (results){.n_arenas = 1};
    placed_row *placed = NULL;
    qks_status status = check_rows(rows, count, error);
    if (status == QKS_OK)
        status = memory_zeroed(&r->arenas, 1, sizeof *r->arenas, error);
    if (status == QKS_OK)
        status = memory_zeroed(&r->models, count, sizeof *r->models, error);
    if (status == QKS_OK)
        status = memory_zeroed(&placed, count, sizeof *placed, error);
    if (status == QKS_OK) {
        qks_qk_row *sorted = arena_alloc(r->arenas, count, sizeof *sorted);
        head_result *heads = arena_alloc(r->arenas, count, sizeof *heads);
        place_rows(r, placed, rows, count);
        qsort(placed, count, sizeof *placed, by_place);
        status = sorted && heads ? gather(r, placed, count, sorted, heads, error)
                                 : out_of_memory(error, "qk table");
    }
    free(placed);
    if (status == QKS_OK)
        status = put_layers(r, study, n_study, layers, error);
    if (status != QKS_OK)
        results_free(r);
    return status;
}

/* ---- order ---- */

static int by_order(const void *a, const void *b)
{
    int64_t x = ((const model_result *)a)->order, y = ((const model_result *)b)->order;
    return x < y ? -1 : x > y;
}

qks_status results_order(results *r, const study_row *study, size_t n_study, qks_error *error)
{
    for (size_t i = 0; i < r->count; i++) {
        model_result *m = &r->models[i];
        const study_row *said = study_of(study, n_study, m->model);
        if (!said)
            return qks_fail(error, QKS_INVALID, "the study does not name model '%s'", m->model);
        m->order = said->order == QKS_BLANK ? said - study : said->order;
        m->phase = said->phase;
        m->family = said->family;
        r->training = r->training || m->phase;
    }
    qsort(r->models, r->count, sizeof *r->models, by_order);
    return QKS_OK;
}

/* ---- tables ---- */

static qks_status add_model(table_rows *t, const model_result *m, bool training, qks_error *error)
{
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < m->n_heads; i++) {
        const head_result *h = &m->heads[i];
        status = array_push(&t->heads, h->row, error);
        for (int pc = 0; status == QKS_OK && pc < h->n_pcs; pc++)
            status = array_push(&t->qk, h->pcs[pc], error);
    }
    for (size_t i = 0; status == QKS_OK && i < m->n_plasticity; i++)
        status = array_push(&t->plasticity, m->plasticity[i], error);
    qks_depth_row depth[DEPTH_BINS];
    qks_trajectory_row whole;
    if (status == QKS_OK)
        status = depth_rows(m, depth, &t->memory, error);
    for (int bin = 0; status == QKS_OK && bin < DEPTH_BINS; bin++)
        status = array_push(&t->depth, depth[bin], error);
    if (status == QKS_OK)
        status = trajectory_row(m, training, &whole, &t->memory, error);
    return status == QKS_OK ? array_push(&t->trajectory, whole, error) : status;
}

static qks_status write_rows(const results *r, const table_rows *t, store *s, const char *folder,
                             qks_error *error)
{
    const struct {
        const record *type;
        const void *rows;
        size_t count;
    } tables[] = {
        {&QK_TABLE, t->qk.data, t->qk.length},
        {&HEADS_TABLE, t->heads.data, t->heads.length},
        {&DEPTH_TABLE, t->depth.data, t->depth.length},
        {r->training ? &TRAJECTORY_TABLE : &MODELS_TABLE, t->trajectory.data, t->trajectory.length},
        {&PLASTICITY_TABLE, t->plasticity.data, t->plasticity.length},
        {&FINDINGS_TABLE, t->findings.data, t->findings.length},
        {&COLLAGE_TABLE, r->collage.data, r->collage.length},
    };
    qks_status status = folder_make(folder, error);
    for (size_t i = 0; status == QKS_OK && i < sizeof tables / sizeof *tables; i++)
        status = table_write(s, tables[i].type, tables[i].rows, tables[i].count, folder, error);
    return status;
}

qks_status results_rows(const results *r, table_rows *t, qks_error *error)
{
    *t = (table_rows){0};
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < r->count; i++)
        status = add_model(t, &r->models[i], r->training, error);
    if (status == QKS_OK)
        status = findings_of(r->models, r->count, r->training, &t->findings, &t->memory, error);
    if (status != QKS_OK)
        table_rows_free(t);
    return status;
}

void table_rows_free(table_rows *t)
{
    free(t->qk.data);
    free(t->heads.data);
    free(t->depth.data);
    free(t->trajectory.data);
    free(t->plasticity.data);
    free(t->findings.data);
    arena_free(&t->memory);
    *t = (table_rows){0};
}

qks_status results_write(const results *r, store *s, const char *folder, qks_error *error)
{
    table_rows t;
    qks_status status = results_rows(r, &t, error);
    if (status == QKS_OK)
        status = write_rows(r, &t, s, folder, error);
    table_rows_free(&t);
    return status;
}
