/* export.c: all moments of what was captured as one safetensors file, for numpy. One side at a time
 * is in memory. The names are written down in docs/formats.md. */
#include "study/captured.h"

#include "base/file.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_UNIT = 8, NAME_SIZE = 48 };

typedef struct table_of_contents {
    json_t *entries;
    uint64_t offset; /* of the next tensor */
} table_of_contents;

/* ---- the header ---- */

/* Numbers of 8 bytes, so every tensor begins at a multiple of 8. */
static void announce(table_of_contents *t, const char *name, const char *type, int rank,
                     const size_t *shape)
{
    uint64_t begin = t->offset, bytes = 8;
    json_t *sizes = json_array();
    for (int i = 0; i < rank; i++) {
        bytes *= shape[i];
        (void)json_array_append_new(sizes, json_integer((json_int_t)shape[i]));
    }
    t->offset += bytes;
    (void)json_object_set_new(t->entries, name,
                              json_pack("{s:s, s:o, s:[I, I]}", "dtype", type, "shape", sizes,
                                        "data_offsets", (json_int_t)begin, (json_int_t)t->offset));
}

static json_t *metadata(const unit_info *info)
{
    json_t *facts = json_object();
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"layers", info->layers},      {"query_heads", info->q_heads},
        {"key_heads", info->kv_heads}, {"dimension", info->d},
        {"context", info->context},    {"bucket_size", info->bucket_size},
    };
    (void)json_object_set_new(facts, "format", json_string("qkscope moments 1"));
    (void)json_object_set_new(facts, "model", json_string(info->model));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        (void)json_object_set_new(facts, numbers[i].name,
                                  json_sprintf("%" PRId64, numbers[i].value));
    return facts;
}

static char *make_header(const unit_info *info)
{
    size_t groups = info->n_groups, z = (size_t)info->d + 1;
    table_of_contents t = {.entries = json_object()};
    (void)json_object_set_new(t.entries, "__metadata__", metadata(info));
    announce(&t, "groups", "I64", 2, (size_t[]){groups, 3});
    for (size_t i = 0; i < info->n_sides; i++) {
        const side_id *id = &info->sides[i];
        char name[NAME_SIZE];
        (void)snprintf(name, sizeof name, "l%02dh%02d%c.n", id->layer, id->head, id->kind);
        announce(&t, name, "I64", 1, (size_t[]){groups});
        (void)snprintf(name, sizeof name, "l%02dh%02d%c.mean", id->layer, id->head, id->kind);
        announce(&t, name, "F64", 2, (size_t[]){groups, z});
        (void)snprintf(name, sizeof name, "l%02dh%02d%c.scatter", id->layer, id->head, id->kind);
        announce(&t, name, "F64", 3, (size_t[]){groups, z, z});
    }
    char *text = json_dumps(t.entries, JSON_COMPACT);
    json_decref(t.entries);
    return text;
}

/* Its length as 8 bytes, then the header, filled up with spaces. */
static qks_status write_header(file_writer *w, const unit_info *info, qks_error *error)
{
    static const char spaces[HEADER_UNIT + 1] = "        ";
    char *header = make_header(info);
    if (!header)
        return out_of_memory(error, "header");
    size_t length = strlen(header), fill = (HEADER_UNIT - length % HEADER_UNIT) % HEADER_UNIT;
    uint64_t announced = length + fill; /* little-endian, as all machines are that DuckDB runs on */
    qks_status status = file_write(w, &announced, sizeof announced, error);
    if (status == QKS_OK)
        status = file_write(w, header, length, error);
    if (status == QKS_OK)
        status = file_write(w, spaces, fill, error);
    free(header);
    return status;
}

/* ---- the tensors ---- */

static qks_status write_groups(file_writer *w, const unit_info *info, qks_error *error)
{
    qks_status status = QKS_OK;
    for (size_t g = 0; status == QKS_OK && g < info->n_groups; g++) {
        const unit_group *from = &info->groups[g];
        int64_t row[3] = {from->id, from->documents, from->tokens};
        status = file_write(w, row, sizeof row, error);
    }
    return status;
}

/* What rounding took from the mean is put back, as far as one double holds it. */
static qks_status write_side(file_writer *w, const side *s, double *row, qks_error *error)
{
    int z = s->d + 1;
    qks_status status = QKS_OK;
    for (int g = 0; status == QKS_OK && g < s->n_groups; g++)
        status = file_write(w, &s->groups[g]->n, sizeof s->groups[g]->n, error);
    for (int g = 0; status == QKS_OK && g < s->n_groups; g++) {
        for (int i = 0; i < z; i++)
            row[i] = s->groups[g]->mean[i] + s->groups[g]->rest[i];
        status = file_write(w, row, (size_t)z * sizeof *row, error);
    }
    for (int g = 0; g < s->n_groups; g++)
        for (int i = 0; status == QKS_OK && i < z; i++) {
            for (int j = 0; j < z; j++)
                row[j] = moments_scatter(s->groups[g], i, j);
            status = file_write(w, row, (size_t)z * sizeof *row, error);
        }
    return status;
}

static qks_status write_sides(file_writer *w, const source *s, qks_error *error)
{
    const unit_info *info = source_info(s);
    side room = {0};
    double *row = NULL;
    qks_status status = source_side(s, 'q', &room, error);
    if (status == QKS_OK)
        status = memory_zeroed(&row, (size_t)info->d + 1, sizeof *row, error);
    for (size_t i = 0; status == QKS_OK && i < info->n_sides; i++) {
        status = source_load(s, 0, i, &room, error);
        if (status == QKS_OK)
            status = write_side(w, &room, row, error);
    }
    free(row);
    side_close(&room);
    return status;
}

qks_status qks_captured_export(const qks_captured *c, const char *file, qks_error *error)
{
    const source *s = c->sources[0];
    file_writer *w = NULL;
    qks_status status = file_create(&w, file, error);
    if (status != QKS_OK)
        return status;
    status = write_header(w, source_info(s), error);
    if (status == QKS_OK)
        status = write_groups(w, source_info(s), error);
    if (status == QKS_OK)
        status = write_sides(w, s, error);
    if (status == QKS_OK)
        return file_commit(w, error);
    file_discard(w);
    return status;
}
