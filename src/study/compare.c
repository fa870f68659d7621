/* compare.c: the library's verb compare: matches rows by name, judges each cell, sums up. */
#include "study/comparison.h"

#include "study/published.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define Z_MOST 2.0
#define AGREE_LEAST 0.9 /* of the cells; by chance alone 1 in 20 is beyond |z| = 2 */
#define ROUNDING 1e-9   /* 0.50 - 0.48 is a little more than 0.02 */

static const char AGREES[] = "agrees", DIFFERS[] = "differs";

/* ---- names ---- */

static bool same_model(const cell_row *ours, const cell_row *theirs)
{
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++)
            if (ours->names[i] && theirs->names[k] && strcmp(ours->names[i], theirs->names[k]) == 0)
                return true;
    return false;
}

static const char *some_name(const cell_table *t)
{
    for (size_t i = 0; i < t->n_rows; i++)
        for (size_t k = 0; k < 3; k++)
            if (t->rows[i].names[k])
                return t->rows[i].names[k];
    return "?";
}

/* ---- cells ---- */

static bool is_close(double difference)
{
    return fabs(difference) <= CLOSE + ROUNDING;
}

/* A number rounded to half units of h is off by a uniform error of variance h^2 / 3. */
static qks_compare_row judge(const char *row, const quantity *q, double ours, double se,
                             double published)
{
    double difference = ours - published;
    double z = difference / sqrt(se * se + q->half_unit * q->half_unit / 3);
    bool agrees = isnan(z) ? is_close(difference) : fabs(z) <= Z_MOST;
    return (qks_compare_row){row,        q->name, ours, published,
                             difference, se,      z,    agrees ? AGREES : DIFFERS};
}

static qks_status compare_rows(qks_comparison *c, const cell_table *columns, const cell_row *ours,
                               const cell_row *theirs, qks_error *error)
{
    qks_status status = QKS_OK;
    const char *name = arena_string(&c->memory, ours->names[0]);
    if (!name)
        return out_of_memory(error, "comparison");
    for (size_t i = 0; status == QKS_OK && i < columns->n_columns; i++)
        if (!isnan(ours->cells[i]) && !isnan(theirs->cells[i])) {
            qks_compare_row cell = judge(name, &columns->columns[i], ours->cells[i], ours->ses[i],
                                         theirs->cells[i]);
            status = array_push(&c->rows, cell, error);
        }
    return status;
}

static qks_status compare_tables(qks_comparison *c, const cell_table *ours,
                                 const cell_table *theirs, qks_error *error)
{
    qks_status status = QKS_OK;
    size_t common = 0;
    for (size_t i = 0; i < theirs->n_rows; i++)
        for (size_t k = 0; status == QKS_OK && k < ours->n_rows; k++)
            if (ours->whole || same_model(&ours->rows[k], &theirs->rows[i])) {
                common++;
                status = compare_rows(c, ours, &ours->rows[k], &theirs->rows[i], error);
            }
    if (status == QKS_OK && common == 0)
        return qks_fail(error, QKS_INVALID,
                        "cannot be said: '%s' and '%s' have no row in common (here '%s', there "
                        "'%s'); rows go by label or revision",
                        c->run, c->table, some_name(ours), some_name(theirs));
    if (status == QKS_OK && c->rows.length == 0)
        return qks_fail(error, QKS_INVALID,
                        "cannot be said: the rows that '%s' and '%s' have in common share no "
                        "number",
                        c->run, c->table);
    return status;
}

static void sum_up(qks_comparison *c)
{
    qks_compare_facts *f = &c->facts;
    size_t near = 0, within = 0;
    double sum = 0;
    *f = (qks_compare_facts){.rows = c->rows.data, .cells = c->rows.length};
    for (size_t i = 0; i < f->cells; i++) {
        const qks_compare_row *cell = &c->rows.data[i];
        double size = fabs(cell->difference);
        sum += size;
        f->max_difference = fmax(f->max_difference, size);
        near += is_close(cell->difference);
        f->cells_with_se += !isnan(cell->z);
        within += !isnan(cell->z) && fabs(cell->z) <= Z_MOST;
        f->cells_agree += cell->verdict == AGREES;
    }
    double cells = (double)f->cells;
    f->mean_difference = sum / cells;
    f->share_near = (double)near / cells;
    f->share_within_2_se = f->cells_with_se ? (double)within / (double)f->cells_with_se : NAN;
    f->verdict = (double)f->cells_agree >= AGREE_LEAST * cells ? AGREES : DIFFERS;
}

/* ---- the verb ---- */

static qks_status compare(qks_comparison *c, const char *quantity, qks_error *error)
{
    store *s = NULL;
    arena a = {0};
    cell_table theirs, ours;
    qks_status status = store_open(&s, 1, error);
    if (status == QKS_OK)
        status = published_read(&theirs, s, c->table, quantity, &a, error);
    if (status == QKS_OK)
        status = ours_read(&ours, &theirs, s, c->run, &a, error);
    if (status == QKS_OK)
        status = compare_tables(c, &ours, &theirs, error);
    if (status == QKS_OK)
        sum_up(c);
    store_close(s);
    arena_free(&a);
    return status;
}

qks_status qks_compare(const char *run, const char *table, const char *quantity,
                       qks_comparison **out, qks_error *error)
{
    *out = NULL;
    qks_comparison *c = NULL;
    if (quantity && strcmp(quantity, "r_q") != 0 && strcmp(quantity, "r_k") != 0)
        return qks_fail(error, QKS_USAGE, "a quantity is r_q or r_k, not '%s'", quantity);
    qks_status status = memory_zeroed(&c, 1, sizeof *c, error);
    if (status != QKS_OK)
        return status;
    c->run = arena_string(&c->memory, run);
    c->table = arena_string(&c->memory, table);
    status = c->run && c->table ? compare(c, quantity, error) : out_of_memory(error, "comparison");
    if (status == QKS_OK)
        *out = c;
    else
        qks_comparison_free(c);
    return status;
}

const qks_compare_facts *qks_comparison_facts(const qks_comparison *c)
{
    return &c->facts;
}

void qks_comparison_free(qks_comparison *c)
{
    if (!c)
        return;
    free(c->rows.data);
    arena_free(&c->memory);
    free(c);
}
