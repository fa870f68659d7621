/* columns.c: tables to columns. A column is an array; one of texts that repeat is {"names", "of"};
 * one of small numbers is {"decimals", "values"}, the values whole numbers. The records of
 * src/study/tables.c say what columns there are. */
#include "report/columns.h"

#include "report/pack.h"
#include "study/tables.h"

#include <math.h>
#include <string.h>

/* Distinct texts of a column beyond which it is written out in full. */
enum { NAMES_MAX = 256 };

/* Digits behind the point: correlations, and shares of variance, which may be small. */
enum { DECIMALS_R = 4, DECIMALS_SHARE = 5 };

typedef struct column {
    const field *field;
    const void *(*row)(const contents *c, size_t i); /* NULL: a blank */
    const contents *contents;
    size_t count;
} column;

/* ---- rows ---- */

static const void *model_row(const contents *c, size_t i)
{
    return c->models.data[i].row;
}

static const void *head_row(const contents *c, size_t i)
{
    return c->heads.data[i].row;
}

static const void *component_row(const contents *c, size_t i)
{
    return c->heads.data[i / c->components].pcs[i % c->components];
}

static const void *depth_row(const contents *c, size_t i)
{
    return &c->depth[i];
}

static const void *plasticity_row(const contents *c, size_t i)
{
    return &c->plasticity[i];
}

static const void *finding_row(const contents *c, size_t i)
{
    return &c->findings[i];
}

/* ---- cells ---- */

static const void *cell(const column *k, size_t i)
{
    const char *row = k->row(k->contents, i);
    return row ? row + k->field->offset : NULL;
}

static int64_t integer_at(const column *k, size_t i)
{
    const int64_t *value = cell(k, i);
    return value ? *value : QKS_BLANK;
}

static double real_at(const column *k, size_t i)
{
    const double *value = cell(k, i);
    return value ? *value : NAN;
}

static const char *text_at(const column *k, size_t i)
{
    const char *const *value = cell(k, i);
    return value ? *value : NULL;
}

static bool is_blank(const column *k, size_t i)
{
    switch (k->field->kind) {
    case FIELD_INTEGER:
        return integer_at(k, i) == QKS_BLANK;
    case FIELD_REAL:
        return isnan(real_at(k, i));
    default:
        return text_at(k, i) == NULL;
    }
}

static bool is_all_blank(const column *k)
{
    for (size_t i = 0; i < k->count; i++)
        if (!is_blank(k, i))
            return false;
    return true;
}

/* ---- columns ---- */

static void separate(text *t, size_t i)
{
    if (i)
        text_append(t, ",", 1);
}

/* "name": with a comma before it where another member stands already. */
static void member(text *t, const char *name)
{
    if (t->length && t->data[t->length - 1] != '{')
        text_add(t, ",");
    pack_string(t, name);
    text_add(t, ":");
}

/* Of texts that repeat: each once, and per row which. False: too many, nothing is written. */
static bool pack_names(text *t, const column *k)
{
    const char *names[NAMES_MAX];
    size_t n = 0, length = t->length;
    text_add(t, "{\"of\":[");
    for (size_t i = 0; i < k->count; i++) {
        const char *value = text_at(k, i);
        size_t which = 0;
        while (value && which < n && strcmp(names[which], value) != 0)
            which++;
        if (value && which == NAMES_MAX) {
            t->length = length;
            return false;
        }
        if (value && which == n)
            names[n++] = value;
        separate(t, i);
        pack_integer(t, value ? (int64_t)which : QKS_BLANK);
    }
    text_add(t, "],\"names\":[");
    for (size_t i = 0; i < n; i++) {
        separate(t, i);
        pack_string(t, names[i]);
    }
    text_add(t, "]}");
    return true;
}

static void pack_column(text *t, const column *k)
{
    if (k->field->kind == FIELD_TEXT && pack_names(t, k))
        return;
    text_add(t, "[");
    for (size_t i = 0; i < k->count; i++) {
        separate(t, i);
        if (k->field->kind == FIELD_INTEGER)
            pack_integer(t, integer_at(k, i));
        else if (k->field->kind == FIELD_REAL)
            pack_real(t, real_at(k, i));
        else
            pack_string(t, text_at(k, i));
    }
    text_add(t, "]");
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; names && *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* Every column of the record but `left_out`, as members. */
static void pack_record(text *t, const contents *c, const record *type,
                        const void *(*row)(const contents *c, size_t i), size_t count,
                        const char *const *left_out)
{
    for (size_t f = 0; f < type->n_fields; f++) {
        column k = {.field = &type->fields[f], .row = row, .contents = c, .count = count};
        if (is_one_of(k.field->name, left_out) || is_all_blank(&k))
            continue;
        member(t, k.field->name);
        pack_column(t, &k);
    }
}

/* ---- tables ---- */

static void pack_models(text *t, const contents *c)
{
    static const char *const left_out[] = {"order", "model", "phase", "family", NULL};
    member(t, "models");
    text_add(t, "{\"name\":[");
    for (size_t i = 0; i < c->models.length; i++) {
        separate(t, i);
        pack_string(t, c->models.data[i].name);
    }
    text_add(t, "],\"group\":[");
    for (size_t i = 0; i < c->models.length; i++) {
        separate(t, i);
        pack_string(t, c->models.data[i].group);
    }
    text_add(t, "]");
    pack_record(t, c, &TRAJECTORY_TABLE, model_row, c->models.length, left_out);
    text_add(t, "}");
}

static void pack_head_places(text *t, const contents *c)
{
    static const struct {
        const char *name;
        size_t offset;
    } places[] = {
        {"layer", offsetof(page_head, layer)},
        {"head", offsetof(page_head, head)},
        {"k_head", offsetof(page_head, k_head)},
        {"bin", offsetof(page_head, bin)},
    };
    text_add(t, "\"model\":[");
    for (size_t i = 0; i < c->heads.length; i++) {
        separate(t, i);
        pack_integer(t, (int64_t)c->heads.data[i].model);
    }
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        text_addf(t, "],\"%s\":[", places[p].name);
        for (size_t i = 0; i < c->heads.length; i++) {
            int64_t value = 0;
            memcpy(&value, (const char *)&c->heads.data[i] + places[p].offset, sizeof value);
            separate(t, i);
            pack_integer(t, value);
        }
    }
    text_add(t, "]");
}

static void pack_heads(text *t, const contents *c)
{
    static const char *const left_out[] = {"model", "layer", "head", "k_head", NULL};
    member(t, "heads");
    text_add(t, "{");
    pack_head_places(t, c);
    pack_record(t, c, &HEADS_TABLE, head_row, c->heads.length, left_out);
    text_add(t, "}");
}

/* [heads, components], without the columns that only a table shows. */
static void pack_components(text *t, const contents *c)
{
    static const struct {
        const char *name;
        int decimals;
    } shown[] = {
        {"explained_variance", DECIMALS_SHARE},
        {"r_q", DECIMALS_R},
        {"r_k", DECIMALS_R},
        {"se_explained_variance", DECIMALS_SHARE},
        {"se_r_q", DECIMALS_SHARE},
        {"se_r_k", DECIMALS_SHARE},
    };
    member(t, "components");
    pack_integer(t, (int64_t)c->components);
    member(t, "qk");
    text_add(t, "{");
    for (size_t f = 0; f < QK_TABLE.n_fields; f++)
        for (size_t s = 0; s < sizeof shown / sizeof *shown; s++) {
            column k = {.field = &QK_TABLE.fields[f],
                        .row = component_row,
                        .contents = c,
                        .count = c->heads.length * c->components};
            if (strcmp(k.field->name, shown[s].name) != 0 || is_all_blank(&k))
                continue;
            member(t, k.field->name);
            text_addf(t, "{\"decimals\":%d,\"values\":[", shown[s].decimals);
            for (size_t i = 0; i < k.count; i++) {
                separate(t, i);
                pack_scaled(t, real_at(&k, i), shown[s].decimals);
            }
            text_add(t, "]}");
        }
    text_add(t, "}");
}

static void pack_depth(text *t, const contents *c)
{
    static const char *const left_out[] = {"model", NULL};
    member(t, "depth");
    text_add(t, "{\"model\":[");
    for (size_t i = 0; i < c->n_depth; i++) {
        separate(t, i);
        pack_integer(t, contents_model(c, c->depth[i].model));
    }
    text_add(t, "]");
    pack_record(t, c, &DEPTH_TABLE, depth_row, c->n_depth, left_out);
    text_add(t, "}");
}

static void pack_plasticity(text *t, const contents *c)
{
    static const char *const left_out[] = {"model", "layer", "head", "k_head", NULL};
    member(t, "plasticity");
    text_add(t, "{\"head\":[");
    for (size_t i = 0; i < c->n_plasticity; i++) {
        const qks_plasticity_row *row = &c->plasticity[i];
        separate(t, i);
        pack_integer(t, contents_head(c, row->model, row->layer, row->head));
    }
    text_add(t, "]");
    pack_record(t, c, &PLASTICITY_TABLE, plasticity_row, c->n_plasticity, left_out);
    text_add(t, "}");
}

void columns_pack(text *t, const contents *c)
{
    pack_models(t, c);
    pack_heads(t, c);
    pack_components(t, c);
    pack_depth(t, c);
    pack_plasticity(t, c);
    member(t, "findings");
    text_add(t, "{");
    pack_record(t, c, &FINDINGS_TABLE, finding_row, c->n_findings, NULL);
    text_add(t, "}");
}
