/* inspect.c: the library's verb inspect: what a file or folder is and what is in it. */
#include "base/file.h"
#include "model/describe.h"
#include "qkscope/analyze.h"
#include "store/dataset.h"
#include "study/source.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Facts are gathered as one JSON object, in order, and printed as JSON or as lines. */
static void fact_number(json_t *facts, const char *name, int64_t value)
{
    json_object_set_new(facts, name, json_integer(value));
}

static void fact_text(json_t *facts, const char *name, const char *value)
{
    if (value)
        json_object_set_new(facts, name, json_string(value));
}

static void fact_shape(json_t *facts, int layers, int q_heads, int kv_heads)
{
    if (layers) {
        fact_number(facts, "layers", layers);
        fact_number(facts, "query heads", q_heads);
        fact_number(facts, "key heads", kv_heads);
    }
}

/* ---- kinds ---- */

static qks_status inspect_dataset(const char *path, json_t *facts, qks_error *error)
{
    dataset d;
    store *s = NULL;
    qks_status status = store_open(&s, 1, error);
    if (status != QKS_OK)
        return status;
    status = dataset_open(&d, s, path, error);
    if (status == QKS_OK) {
        int64_t heads[2] = {0}, rows[2] = {0};
        for (size_t i = 0; i < d.n_heads; i++) {
            heads[d.heads[i].kind == 'k']++;
            rows[d.heads[i].kind == 'k'] += d.heads[i].rows;
        }
        fact_text(facts, "kind", "captured dataset");
        fact_text(facts, "root", d.root);
        fact_text(facts, "model", d.card.model);
        fact_shape(facts, d.card.layers, d.card.q_heads, d.card.kv_heads);
        fact_text(facts, "sampler", d.card.sampler);
        fact_number(facts, "dimension", d.heads[0].dimension);
        fact_number(facts, "captured query heads", heads[0]);
        fact_number(facts, "captured key heads", heads[1]);
        fact_number(facts, "queries", rows[0]);
        fact_number(facts, "keys", rows[1]);
        fact_number(facts, "documents", (int64_t)d.n_documents);
        fact_number(facts, "last position", d.last_position);
        fact_number(facts, "buckets", d.last_bucket + 1);
        dataset_close(&d);
    }
    store_close(s);
    return status;
}

/* Every record is read, so that its checksum is checked. */
static qks_status check_records(const unit *u, qks_error *error)
{
    side s;
    int *places = NULL;
    qks_status status = side_open(&s, u->info.d, (int)u->info.n_groups, u->info.n_buckets,
                                  u->info.pairs, error);
    if (status != QKS_OK)
        return status;
    status = side_sample_open(&s, u->info.samples, error);
    if (status == QKS_OK)
        status = memory_zeroed(&places, u->info.n_groups, sizeof *places, error);
    for (size_t g = 0; status == QKS_OK && g < u->info.n_groups; g++)
        places[g] = (int)g;
    for (size_t i = 0; status == QKS_OK && i < u->info.n_sides; i++) {
        side_clear(&s);
        status = unit_read(u, i, &s, places, error);
    }
    free(places);
    side_close(&s);
    return status;
}

static qks_status inspect_unit(const char *path, json_t *facts, qks_error *error)
{
    unit u;
    qks_status status = unit_open(&u, path, error);
    if (status != QKS_OK)
        return status;
    status = check_records(&u, error);
    const unit_info *info = &u.info;
    int64_t queries = 0, documents = 0, tokens = 0;
    for (size_t i = 0; i < info->n_sides; i++)
        queries += info->sides[i].kind == 'q';
    for (size_t g = 0; g < info->n_groups; g++) {
        documents += info->groups[g].documents;
        tokens += info->groups[g].tokens;
    }
    fact_text(facts, "kind", "unit file");
    fact_number(facts, "format version", UNIT_VERSION);
    fact_text(facts, "model", info->model);
    fact_shape(facts, info->layers, info->q_heads, info->kv_heads);
    fact_number(facts, "dimension", info->d);
    fact_number(facts, "query heads kept", queries);
    fact_number(facts, "key heads kept", (int64_t)info->n_sides - queries);
    fact_number(facts, "document groups", (int64_t)info->n_groups);
    fact_number(facts, "documents", documents);
    if (tokens)
        fact_number(facts, "tokens", tokens);
    fact_number(facts, "context", info->context);
    fact_number(facts, "buckets", info->n_buckets);
    fact_number(facts, "key pairs per bucket", (int64_t)info->pairs);
    fact_number(facts, "vectors sampled per head", (int64_t)info->samples);
    if (info->provenance)
        json_object_set_new(facts, "provenance", json_loads(info->provenance, 0, NULL));
    unit_close(&u);
    return status;
}

static qks_status inspect_checkpoint(const char *path, json_t *facts, qks_error *error)
{
    fact_text(facts, "kind", "checkpoint");
    return checkpoint_describe(path, facts, error);
}

static qks_status inspect_table(const char *path, json_t *facts, qks_error *error)
{
    store *s = NULL;
    int64_t rows = 0;
    name_list columns = {0};
    arena a = {0};
    qks_status status = store_open(&s, 1, error);
    if (status == QKS_OK)
        status = table_describe(s, path, &a, &columns, &rows, error);
    if (status == QKS_OK) {
        json_t *names = json_array();
        for (size_t i = 0; i < columns.length; i++)
            json_array_append_new(names, json_string(columns.data[i]));
        fact_text(facts, "kind", "table");
        fact_number(facts, "rows", rows);
        json_object_set_new(facts, "columns", names);
    }
    free(columns.data);
    arena_free(&a);
    store_close(s);
    return status;
}

/* ---- telling them apart ---- */

static bool holds(const char *folder, const char *name)
{
    arena a = {0};
    const char *path = arena_format(&a, "%s/%s", folder, name);
    bool there = path && (is_file(path) || is_folder(path));
    arena_free(&a);
    return there;
}

static qks_status gather(const char *path, json_t *facts, qks_error *error)
{
    if (is_folder(path))
        return holds(path, "config.json") ? inspect_checkpoint(path, facts, error)
                                          : inspect_dataset(path, facts, error);
    if (!is_file(path))
        return qks_fail(error, QKS_MISSING, "there is no '%s'", path);
    if (unit_is(path))
        return inspect_unit(path, facts, error);
    if (ends_with(path, ".gguf"))
        return inspect_checkpoint(path, facts, error);
    static const char *const tables[] = {".csv", ".parquet", ".jsonl"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (ends_with(path, tables[i]))
            return inspect_table(path, facts, error);
    return qks_fail(error, QKS_UNSUPPORTED,
                    "'%s' is nothing qkscope knows: no unit file, and neither .gguf, .csv, "
                    ".parquet nor .jsonl",
                    path);
}

static void print_line(const char *name, const json_t *value, FILE *out)
{
    char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
    (void)fprintf(out, "%-22s %s\n", name, text ? text : json_string_value(value));
    free(text);
}

qks_status qks_inspect(const char *path, bool json, FILE *out, qks_error *error)
{
    json_t *facts = json_object();
    if (!facts)
        return out_of_memory(error, "facts");
    fact_text(facts, "path", path);
    qks_status status = gather(path, facts, error);
    const char *name = NULL;
    json_t *value = NULL;
    if (status == QKS_OK && json) {
        (void)json_dumpf(facts, out, JSON_INDENT(1));
        (void)fputc('\n', out);
    } else if (status == QKS_OK) {
        json_object_foreach(facts, name, value)
            print_line(name, value, out);
    }
    json_decref(facts);
    return status;
}
