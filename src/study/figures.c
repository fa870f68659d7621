/* figures.c: the library's verb figures: finds the tables in what was given, makes those that a
 * bare qk table lacks, and hands them to the figures room. */
#include "qkscope/figures.h"

#include "base/file.h"
#include "base/parallel.h"
#include "figures/figures.h"
#include "qkscope/version.h"
#include "store/csv.h"
#include "study/results.h"
#include "study/study.h"

#include <inttypes.h>
#include <jansson.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { MANIFEST_MAX = 1 << 26 };

typedef struct input {
    const char *path;
    const char *tables; /* folder of the tables, or NULL */
    const char *run;    /* folder where the manifest would be */
    const char *out;
    const qks_figures_options *options;
    store *store;
    study study; /* portraits of a study file */
    bool has_study;
    results results; /* of a bare qk table */
    table_rows rows;
    figure_tables found;
    figure_facts facts;
    arena memory;
} input;

static bool is_yaml(const char *path)
{
    return ends_with(path, ".yaml") || ends_with(path, ".yml");
}

/* ---- tables in a folder ---- */

/* FOLDER/<name>.parquet, else .csv, else NULL. */
static const char *table_path(input *in, const char *name)
{
    static const char *const endings[] = {"parquet", "csv"};
    for (int i = 0; in->tables && i < 2; i++) {
        const char *path = arena_format(&in->memory, "%s/%s.%s", in->tables, name, endings[i]);
        if (path && is_file(path))
            return path;
    }
    return NULL;
}

/* A CSV file's columns as its first line says, not as DuckDB guesses: 0.0 may be a name. */
static qks_status columns_of(input *in, const char *path, name_list *columns, qks_error *error)
{
    int64_t rows = 0;
    if (ends_with(path, ".csv"))
        return csv_header(&in->memory, path, columns, error);
    return table_describe(in->store, path, &in->memory, columns, &rows, error);
}

/* Reads a table if it is there; `rows` stays NULL if not. */
static qks_status take_table(input *in, const record *type, const void *rows, size_t *count,
                             qks_error *error)
{
    const char *path = table_path(in, type->name);
    void *read = NULL;
    if (!path)
        return QKS_OK;
    qks_status status = table_read(in->store, type, path, &in->memory, &read, count, error);
    if (status == QKS_OK)
        *(void **)rows = read;
    return status;
}

/* The third column of the trajectory says what the study is of. */
static qks_status take_trajectory(input *in, qks_error *error)
{
    name_list columns = {0};
    const char *path = table_path(in, TRAJECTORY_TABLE.name);
    qks_status status = path ? columns_of(in, path, &columns, error)
                             : out_of_memory(error, TRAJECTORY_TABLE.name);
    for (size_t i = 0; status == QKS_OK && i < columns.length; i++)
        in->found.training = in->found.training || strcmp(columns.data[i], "phase") == 0;
    free(columns.data);
    if (status == QKS_OK)
        status = take_table(in, in->found.training ? &TRAJECTORY_TABLE : &MODELS_TABLE,
                            &in->found.trajectory, &in->found.n_trajectory, error);
    return status;
}

static qks_status take_folder(input *in, qks_error *error)
{
    figure_tables *t = &in->found;
    qks_status status = take_trajectory(in, error);
    if (status == QKS_OK)
        status = take_table(in, &QK_TABLE, &t->qk, &t->n_qk, error);
    if (status == QKS_OK)
        status = take_table(in, &HEADS_TABLE, &t->heads, &t->n_heads, error);
    if (status == QKS_OK)
        status = take_table(in, &DEPTH_TABLE, &t->depth, &t->n_depth, error);
    if (status == QKS_OK)
        status = take_table(in, &FINDINGS_TABLE, &t->findings, &t->n_findings, error);
    if (status == QKS_OK)
        status = take_table(in, &COLLAGE_TABLE, &t->collage, &t->n_collage, error);
    return status;
}

/* ---- a bare qk table ---- */

static qks_status take_qk(input *in, const char *path, qks_error *error)
{
    const char *study_path = in->options->study;
    void *rows = NULL, *study = NULL;
    size_t count = 0, n_study = 0;
    model_shape shape = {0};
    qks_status status = table_read(in->store, &QK_TABLE, path, &in->memory, &rows, &count, error);
    if (status == QKS_OK && study_path && !is_yaml(study_path))
        status = table_read(in->store, &STUDY_TABLE, study_path, &in->memory, &study, &n_study,
                            error);
    if (status == QKS_OK && in->options->shape)
        status = shape_parse(&shape, in->options->shape, error);
    if (status == QKS_OK)
        status = analyze_table(&in->results, rows, count, study, n_study, shape.layers, error);
    if (status == QKS_OK && study)
        status = results_order(&in->results, study, n_study, error);
    if (status == QKS_OK)
        status = results_rows(&in->results, &in->rows, error);
    if (status != QKS_OK)
        return qks_prefix(error, status, "'%s'", path);
    in->facts.source = arena_format(&in->memory, "%s (all but qk computed from it)", in->path);
    in->found = (figure_tables){
        .training = in->results.training,
        .qk = in->rows.qk.data,
        .n_qk = in->rows.qk.length,
        .heads = in->rows.heads.data,
        .n_heads = in->rows.heads.length,
        .depth = in->rows.depth.data,
        .n_depth = in->rows.depth.length,
        .trajectory = in->rows.trajectory.data,
        .n_trajectory = in->rows.trajectory.length,
        .findings = in->rows.findings.data,
        .n_findings = in->rows.findings.length,
    };
    return take_table(in, &COLLAGE_TABLE, &in->found.collage, &in->found.n_collage, error);
}

static qks_status take_tables(input *in, qks_error *error)
{
    const char *qk = is_folder(in->path) ? table_path(in, QK_TABLE.name) : in->path;
    if (!qk)
        return qks_fail(error, QKS_MISSING, "there is no table qk (qk.parquet or qk.csv) in '%s'",
                        in->tables);
    bool study_table = in->options->study && !is_yaml(in->options->study);
    if (!study_table && !in->options->shape && table_path(in, QK_TABLE.name) &&
        table_path(in, TRAJECTORY_TABLE.name) && table_path(in, DEPTH_TABLE.name))
        return take_folder(in, error);
    return take_qk(in, qk, error);
}

/* ---- a published heatmap ---- */

#define BIN(n)                                                                                     \
    {                                                                                              \
        "0." #n, FIELD_REAL, offsetof(heatmap_row, bins) + (n) * sizeof(double), true              \
    }
#define HEATMAP_FIELDS(first)                                                                      \
    {                                                                                              \
        {first, FIELD_TEXT, offsetof(heatmap_row, model), true}, BIN(0), BIN(1), BIN(2), BIN(3),   \
            BIN(4), BIN(5), BIN(6), BIN(7), BIN(8), BIN(9)                                         \
    }
enum { HEATMAP_COLUMNS = DEPTH_BINS + 1 };
static const field models_heatmap[HEATMAP_COLUMNS] = HEATMAP_FIELDS("model");
static const field training_heatmap[HEATMAP_COLUMNS] = HEATMAP_FIELDS("checkpoint");
static const record MODELS_HEATMAP = {"heatmap", sizeof(heatmap_row), HEATMAP_COLUMNS,
                                      models_heatmap};
static const record TRAINING_HEATMAP = {"heatmap", sizeof(heatmap_row), HEATMAP_COLUMNS,
                                        training_heatmap};

static qks_status is_heatmap(input *in, bool *heatmap, bool *training, qks_error *error)
{
    name_list columns = {0};
    qks_status status = columns_of(in, in->path, &columns, error);
    *heatmap = status == QKS_OK && columns.length == HEATMAP_COLUMNS;
    for (int i = 1; *heatmap && i < HEATMAP_COLUMNS; i++)
        *heatmap = strcmp(columns.data[i], models_heatmap[i].name) == 0;
    if (*heatmap) {
        *training = strcmp(columns.data[0], "checkpoint") == 0;
        *heatmap = *training || strcmp(columns.data[0], "model") == 0;
    }
    bool qk = *heatmap;
    for (size_t i = 0; !qk && i < columns.length; i++)
        qk = strcmp(columns.data[i], "pc") == 0;
    free(columns.data);
    if (status == QKS_OK && !qk)
        return qks_fail(error, QKS_INVALID,
                        "'%s' is neither a qk table nor a heatmap: it has neither pc, r_q, r_k nor "
                        "model or checkpoint with 0.0, 0.1, ..., 0.9",
                        in->path);
    return status;
}

/* r_q or r_k: as asked for, else by the file's name. */
static qks_status heatmap_side(const input *in, bool training, figures_plan *plan, bool *keys,
                               qks_error *error)
{
    const char *name = path_name(in->path);
    int rq = training ? TRAINING_HEATMAP_RQ.number : MODELS_HEATMAP_RQ.number;
    int rk = training ? TRAINING_HEATMAP_RK.number : MODELS_HEATMAP_RK.number;
    bool queries = strstr(name, "rq") || strstr(name, "r_q");
    *keys = strstr(name, "rk") || strstr(name, "r_k");
    if (in->options->only) {
        qks_status status = figures_choose(plan, in->options->only, training, error);
        if (status != QKS_OK)
            return status;
        queries = plan->wanted[rq - 1];
        *keys = plan->wanted[rk - 1];
    }
    if (queries == *keys)
        return qks_fail(error, QKS_USAGE,
                        "'%s' is a table of cells; say what they are with --only layer_heatmap_rq "
                        "or --only layer_heatmap_rk",
                        in->path);
    return figures_choose(plan, *keys ? TRAINING_HEATMAP_RK.name : TRAINING_HEATMAP_RQ.name,
                          training, error);
}

static qks_status take_heatmap(input *in, bool training, view *v, figures_plan *plan,
                               qks_error *error)
{
    void *rows = NULL;
    size_t count = 0;
    bool keys = false;
    qks_status status = heatmap_side(in, training, plan, &keys, error);
    if (status == QKS_OK)
        status = table_read(in->store, training ? &TRAINING_HEATMAP : &MODELS_HEATMAP, in->path,
                            &in->memory, &rows, &count, error);
    if (status == QKS_OK)
        status = view_open_heatmap(v, rows, count, training, keys, &in->facts, error);
    return status;
}

/* ---- what else is known ---- */

static const char *json_text(input *in, const json_t *object, const char *name)
{
    const char *value = json_string_value(json_object_get(object, name));
    return value ? arena_string(&in->memory, value) : NULL;
}

/* "heads 300, seed 0": whatever plain settings there are. */
static const char *capture_words(input *in, json_t *capture)
{
    const char *name = NULL, *words = NULL;
    json_t *value = NULL;
    json_object_foreach(capture, name, value) {
        char *plain = json_is_object(value) || json_is_array(value)
                          ? NULL
                          : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        const char *shown = json_is_string(value) ? json_string_value(value) : plain;
        if (shown)
            words = arena_format(&in->memory, "%s%s%s %s", words ? words : "", words ? ", " : "",
                                 name, shown);
        free(plain);
    }
    return words;
}

/* The manifest only adds to what is told; without one, or with a broken one, less is told. */
static void take_manifest(input *in)
{
    const char *path = arena_format(&in->memory, "%s/manifest.json", in->run);
    char *bytes = NULL;
    size_t length = 0;
    if (!path || file_get(path, MANIFEST_MAX, &bytes, &length, NULL) != QKS_OK)
        return;
    json_t *manifest = json_loadb(bytes, length, 0, NULL);
    const json_t *text_facts = json_object_get(manifest, "text");
    const char *program = json_text(in, manifest, "program");
    const char *version = json_text(in, manifest, "version");
    in->facts.study = json_text(in, json_object_get(manifest, "study"), "name");
    in->facts.text = json_text(in, text_facts, "path");
    in->facts.documents = json_integer_value(json_object_get(text_facts, "documents"));
    in->facts.tokens = json_integer_value(json_object_get(text_facts, "tokens"));
    in->facts.capture = capture_words(in, json_object_get(manifest, "capture"));
    if (program)
        in->facts.program = arena_format(&in->memory, "%s%s%s", program, version ? " " : "",
                                         version ? version : "");
    json_decref(manifest);
    free(bytes);
}

/* Portraits: as the caller says, as a study file given says, as the run's own says. */
static qks_status take_portraits(input *in, qks_figures_report *report, qks_error *error)
{
    const qks_figures_options *o = in->options;
    in->found.portraits = o->portraits;
    in->found.n_portraits = o->n_portraits;
    bool given = o->study && is_yaml(o->study);
    const char *path = given ? o->study
                             : arena_format(&in->memory, "%s/study.resolved.yaml", in->run);
    if (o->n_portraits || !path || (!given && !is_file(path)))
        return QKS_OK;
    text faults = text_new(1 << 20);
    qks_status status = study_read(&in->study, path, &faults, error);
    if (status != QKS_OK && given && faults.length)
        status = qks_fail(error, status, "%.*s", (int)strcspn(text_string(&faults), "\n"),
                          text_string(&faults));
    in->has_study = status == QKS_OK;
    if (status != QKS_OK && !given) { /* its text may have moved; that is no reason not to draw */
        (void)snprintf(report->notes, sizeof report->notes,
                       "the run's study.resolved.yaml cannot be read, so its portraits are not "
                       "known\n");
        status = QKS_OK;
    }
    text_free(&faults);
    if (in->has_study) {
        in->found.portraits = (const char *const *)in->study.portraits.data;
        in->found.n_portraits = in->study.portraits.length;
        in->found.portraits_checked = !given;
    }
    return status;
}

/* ---- the verb ---- */

static qks_status find_input(input *in, const char *out, qks_error *error)
{
    const char *inner = arena_format(&in->memory, "%s/tables", in->path);
    if (!inner)
        return out_of_memory(error, "file name");
    if (is_folder(in->path)) {
        in->run = in->path;
        in->tables = is_folder(inner) ? inner : in->path;
    } else if (is_file(in->path)) {
        in->run = in->tables = path_folder(&in->memory, in->path);
        if (!in->run)
            return out_of_memory(error, "file name");
    } else {
        return qks_fail(error, QKS_MISSING, "there is no file or folder '%s'", in->path);
    }
    in->out = out ? out : arena_format(&in->memory, "%s/figures", in->run);
    in->facts.source = in->path;
    in->facts.drawn = arena_format(&in->memory, "qkscope %s", qks_version());
    return in->out && in->facts.drawn ? QKS_OK : out_of_memory(error, "file name");
}

static qks_status open_view(input *in, view *v, figures_plan *plan, qks_figures_report *report,
                            qks_error *error)
{
    bool heatmap = false, training = false;
    qks_status status = is_folder(in->path) ? QKS_OK : is_heatmap(in, &heatmap, &training, error);
    if (status != QKS_OK)
        return status;
    if (heatmap)
        return take_heatmap(in, training, v, plan, error);
    status = take_tables(in, error);
    if (status == QKS_OK)
        status = take_portraits(in, report, error);
    if (status != QKS_OK)
        return status;
    take_manifest(in);
    status = figures_choose(plan, in->options->only, in->found.training, error);
    return status == QKS_OK ? view_open(v, &in->found, &in->facts, error) : status;
}

static void input_close(input *in)
{
    results_free(&in->results);
    table_rows_free(&in->rows);
    if (in->has_study)
        study_close(&in->study);
    store_close(in->store);
    arena_free(&in->memory);
}

static qks_status draw(input *in, const char *out, qks_figures_report *report, qks_error *error)
{
    char formats[FORMATS_SIZE];
    view v = {0};
    figures_plan plan = {.formats = formats, .threads = parallel_threads(in->options->threads)};
    qks_status status = figures_formats(in->options->formats, formats, error);
    if (status == QKS_OK)
        status = find_input(in, out, error);
    if (status == QKS_OK)
        status = store_open(&in->store, 1, error);
    if (status == QKS_OK)
        status = open_view(in, &v, &plan, report, error);
    if (status == QKS_OK)
        status = figures_draw(&v, &plan, in->out, report, error);
    if (in->out)
        (void)snprintf(report->folder, sizeof report->folder, "%s", in->out);
    view_free(&v);
    return status;
}

qks_status qks_figures(const char *path, const char *out, const qks_figures_options *options,
                       qks_figures_report *report, qks_error *error)
{
    static const qks_figures_options defaults = {0};
    qks_figures_report unused = {0};
    input in = {.path = path, .options = options ? options : &defaults};
    report = report ? report : &unused;
    *report = (qks_figures_report){0};
    /* Scripts and data have decimal points, whatever the caller's locale. */
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    qks_status status = plain ? draw(&in, out, report, error) : out_of_memory(error, "locale");
    if (plain) {
        (void)uselocale(before);
        freelocale(plain);
    }
    input_close(&in);
    return status;
}
