/* inspect.c: the library's verb inspect: what a file or folder is and what is in it. */
#include "base/file.h"
#include "model/describe.h"
#include "qkscope/analyze.h"
#include "store/dataset.h"
#include "study/source.h"
#include "text/tokenizer.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MANIFEST_MAX = 1 << 26 };

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

static void fact_moments(json_t *facts, const unit_info *info)
{
    int64_t queries = 0, documents = 0, tokens = 0;
    for (size_t i = 0; i < info->n_sides; i++)
        queries += info->sides[i].kind == 'q';
    for (size_t g = 0; g < info->n_groups; g++) {
        documents += info->groups[g].documents;
        tokens += info->groups[g].tokens;
    }
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
}

static qks_status inspect_unit(const char *path, json_t *facts, qks_error *error)
{
    unit u;
    qks_status status = unit_open(&u, path, error);
    if (status != QKS_OK)
        return status;
    status = check_records(&u, error);
    fact_text(facts, "kind", "unit file");
    fact_number(facts, "format version", UNIT_VERSION);
    fact_moments(facts, &u.info);
    unit_close(&u);
    return status;
}

/* A folder of capture's: its unit files together, every record of them read. */
static qks_status inspect_units(const char *path, json_t *facts, qks_error *error)
{
    store *s = NULL;
    source **sources = NULL;
    size_t count = 0;
    qks_status status = store_open(&s, 1, error);
    if (status == QKS_OK)
        status = sources_open(&sources, &count, s, &path, 1, &(source_options){0}, error);
    const unit_info *info = status == QKS_OK ? source_info(sources[0]) : NULL;
    for (size_t i = 0; status == QKS_OK && i < info->n_sides; i++) {
        side loaded = {0};
        status = source_side(sources[0], info->sides[i].kind, &loaded, error);
        if (status == QKS_OK)
            status = source_load(sources[0], 0, i, &loaded, error);
        side_close(&loaded);
    }
    if (status == QKS_OK) {
        fact_text(facts, "kind", "captured moments");
        fact_moments(facts, info);
    }
    sources_close(sources, count);
    store_close(s);
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

static qks_status inspect_tokenizer(const char *path, json_t *facts, qks_error *error)
{
    tokenizer *t = NULL;
    qks_status status = tokenizer_open(&t, path, error);
    if (status == QKS_OK) {
        fact_text(facts, "kind", "tokenizer");
        fact_number(facts, "ids", tokenizer_size(t));
    }
    tokenizer_close(t);
    return status;
}

/* Rows of every table in the folder, by the table's name. */
static qks_status fact_tables(const char *folder, json_t *facts, qks_error *error)
{
    arena a = {0};
    store *s = NULL;
    name_list names = {0};
    json_t *tables = json_object();
    qks_status status = store_open(&s, 1, error);
    if (status == QKS_OK)
        status = folder_list(&a, folder, &names, error);
    for (size_t i = 0; status == QKS_OK && i < names.length; i++) {
        if (!ends_with(names.data[i], ".csv"))
            continue;
        const char *path = arena_format(&a, "%s/%s", folder, names.data[i]);
        name_list columns = {0};
        int64_t rows = 0;
        status = path ? table_describe(s, path, &a, &columns, &rows, error)
                      : out_of_memory(error, "file name");
        json_object_setn_new_nocheck(tables, names.data[i], strlen(names.data[i]) - strlen(".csv"),
                                     json_integer(rows));
        free(columns.data);
    }
    json_object_set_new(facts, "rows of tables", tables);
    free(names.data);
    store_close(s);
    arena_free(&a);
    return status;
}

static qks_status inspect_tables(const char *path, json_t *facts, qks_error *error)
{
    fact_text(facts, "kind", "tables");
    return fact_tables(path, facts, error);
}

/* What the manifest says of the models: how many, units, and which failed. */
static void fact_models(json_t *facts, const json_t *models)
{
    json_t *model = NULL, *failed = json_array();
    json_int_t units = 0, done = 0;
    size_t i = 0;
    json_array_foreach(models, i, model) {
        const char *state = json_string_value(json_object_get(model, "status"));
        units += json_integer_value(json_object_get(model, "units"));
        done += json_integer_value(json_object_get(model, "units_done"));
        if (state && strcmp(state, "failed") == 0)
            json_array_append(failed, json_object_get(model, "label"));
    }
    fact_number(facts, "models", (int64_t)json_array_size(models));
    fact_number(facts, "units", units);
    fact_number(facts, "units done", done);
    if (json_array_size(failed))
        json_object_set(facts, "models failed", failed);
    json_decref(failed);
}

static qks_status inspect_run(const char *manifest_path, const char *tables, json_t *facts,
                              qks_error *error)
{
    char *bytes = NULL;
    size_t length = 0;
    qks_status status = file_get(manifest_path, MANIFEST_MAX, &bytes, &length, error);
    if (status != QKS_OK)
        return status;
    json_t *manifest = json_loadb(bytes, length, 0, NULL);
    free(bytes);
    if (!manifest)
        return qks_fail(error, QKS_INVALID, "'%s' is not JSON; run the study again", manifest_path);
    const json_t *study = json_object_get(manifest, "study"),
                 *text = json_object_get(manifest, "text");
    fact_text(facts, "kind", "run");
    fact_text(facts, "study", json_string_value(json_object_get(study, "name")));
    fact_text(facts, "study kind", json_string_value(json_object_get(study, "kind")));
    fact_models(facts, json_object_get(manifest, "models"));
    fact_text(facts, "text", json_string_value(json_object_get(text, "path")));
    fact_number(facts, "documents", json_integer_value(json_object_get(text, "documents")));
    fact_number(facts, "tokens", json_integer_value(json_object_get(text, "tokens")));
    fact_text(facts, "program version", json_string_value(json_object_get(manifest, "version")));
    json_decref(manifest);
    return tables ? fact_tables(tables, facts, error) : QKS_OK;
}

/* ---- telling them apart ---- */

/* The path of what a folder holds under a name, or NULL. */
static const char *held(arena *a, const char *folder, const char *name)
{
    const char *path = arena_format(a, "%s/%s", folder, name);
    return path && (is_file(path) || is_folder(path)) ? path : NULL;
}

static qks_status gather_folder(const char *path, arena *a, json_t *facts, qks_error *error)
{
    const char *manifest = held(a, path, "manifest.json"), *tables = held(a, path, "tables");
    if (held(a, path, "config.json"))
        return inspect_checkpoint(path, facts, error);
    if (manifest)
        return inspect_run(manifest, tables, facts, error);
    if (held(a, path, "units") && !held(a, path, "README.md")) /* a dataset has its card */
        return inspect_units(path, facts, error);
    if (held(a, path, "qk.csv"))
        return inspect_tables(path, facts, error);
    qks_status status = inspect_dataset(path, facts, error);
    return status != QKS_MISSING
               ? status
               : qks_fail(
                     error, QKS_MISSING,
                     "'%s' is no folder that qkscope knows: it has no config.json (a "
                     "checkpoint), manifest.json (a run), units, qk.csv (tables), nor captured "
                     "heads (folders l00h00q, l00h00k, ...)",
                     path);
}

static qks_status gather_file(const char *path, json_t *facts, qks_error *error)
{
    static const struct {
        const char *ending;
        qks_status (*inspect)(const char *path, json_t *facts, qks_error *error);
    } kinds[] = {
        {".gguf", inspect_checkpoint},         {".csv", inspect_table},
        {".parquet", inspect_table},           {".jsonl", inspect_table},
        {"tokenizer.json", inspect_tokenizer},
    };
    if (unit_is(path))
        return inspect_unit(path, facts, error);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ends_with(path, kinds[i].ending))
            return kinds[i].inspect(path, facts, error);
    return qks_fail(error, QKS_UNSUPPORTED,
                    "'%s' is nothing qkscope knows: no unit file, no tokenizer.json, and neither "
                    ".gguf, .csv, .parquet nor .jsonl (a study file: 'qkscope check')",
                    path);
}

static qks_status gather(const char *path, json_t *facts, qks_error *error)
{
    arena a = {0};
    qks_status status = is_folder(path) ? gather_folder(path, &a, facts, error)
                        : is_file(path) ? gather_file(path, facts, error)
                                        : qks_fail(error, QKS_MISSING, "there is no '%s'", path);
    arena_free(&a);
    return status;
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
