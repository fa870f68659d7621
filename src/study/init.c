/* init.c: the library's verb init: a commented study file for a folder of checkpoints. */
#include "qkscope/init.h"

#include "base/file.h"
#include "base/text.h"
#include "study/checkpoints.h"
#include "study/study.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct writing {
    const qks_init_options *o;
    found_models found;
    char folder[PATH_MAX], out[PATH_MAX]; /* whole paths: of the checkpoints; of the study file */
    char base[PATH_MAX];                  /* folder of the study file */
    const char *text, *tokenizer;         /* whole paths; tokenizer NULL: none is needed */
    size_t models, without_tokenizer;
    bool training;
    arena memory;
} writing;

/* ---- paths ---- */

static qks_status whole_path(const char *path, char out[PATH_MAX], qks_error *error)
{
    return realpath(path, out) ? QKS_OK : qks_fail(error, QKS_MISSING, "there is no '%s'", path);
}

/* The study file need not be there yet, its folder must. */
static qks_status place_output(writing *w, const char *folder, qks_error *error)
{
    qks_status status = whole_path(folder, w->folder, error);
    if (status != QKS_OK)
        return status;
    const char *path = w->o->out ? w->o->out : arena_format(&w->memory, "%s/study.yaml", w->folder);
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *parent = !slash ? "." : arena_copy(&w->memory, path, (size_t)(slash - path) + 1);
    if (!path || !parent)
        return out_of_memory(error, "path");
    status = whole_path(parent, w->base, error);
    if (status != QKS_OK)
        return status;
    int length = snprintf(w->out, sizeof w->out, "%s/%s", w->base, slash ? slash + 1 : path);
    if (length < 0 || (size_t)length >= sizeof w->out)
        return qks_fail(error, QKS_USAGE, "the path '%s' is too long", path);
    if (is_file(w->out) || is_folder(w->out))
        return qks_fail(error, QKS_USAGE,
                        "'%s' is there already and stays as it is; give another file with --out",
                        path);
    return QKS_OK;
}

/* As the study file names it: from its own folder if it is below that, else whole. */
static const char *as_seen(const writing *w, const char *path)
{
    size_t length = strlen(w->base);
    if (strcmp(path, w->base) == 0)
        return ".";
    return strncmp(path, w->base, length) == 0 && path[length] == '/' ? path + length + 1 : path;
}

/* ---- text and tokenizer ---- */

static bool is_corpus(const char *name)
{
    static const char *const endings[] = {".jsonl", ".parquet", ".csv", ".txt", ".jsonl.gz"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (name[0] != '.' && ends_with(name, endings[i]))
            return true;
    }
    return false;
}

static qks_status find_text(writing *w, qks_error *error)
{
    char whole[PATH_MAX];
    if (w->o->text) {
        qks_status status = whole_path(w->o->text, whole, error);
        w->text = status == QKS_OK ? arena_string(&w->memory, whole) : NULL;
        return status != QKS_OK || w->text ? status : out_of_memory(error, "path");
    }
    name_list names = {0};
    size_t count = 0;
    const char *last = NULL;
    qks_status status = folder_list(&w->memory, w->folder, &names, error);
    for (size_t i = 0; status == QKS_OK && i < names.length; i++)
        if (is_corpus(names.data[i])) {
            last = names.data[i];
            count++;
        }
    free(names.data);
    if (status == QKS_OK && count != 1)
        return qks_fail(error, QKS_USAGE,
                        "which text? '%s' holds %zu corpora (.jsonl, .parquet, .csv, .txt); give "
                        "--text CORPUS",
                        w->folder, count);
    if (status == QKS_OK)
        w->text = arena_format(&w->memory, "%s/%s", w->folder, last);
    return status != QKS_OK || w->text ? status : out_of_memory(error, "path");
}

static const char *tokenizer_in(writing *w, const char *folder)
{
    const char *path = arena_format(&w->memory, "%s/tokenizer.json", folder);
    return path && is_file(path) ? path : NULL;
}

/* For checkpoints that have none: one beside them or above, else another checkpoint's. */
static qks_status find_tokenizer(writing *w, qks_error *error)
{
    const char *given = w->o->tokenizer;
    if (w->without_tokenizer == 0 || (given && strcmp(given, "none") == 0))
        return QKS_OK;
    if (given) {
        char *whole = realpath(given, NULL); /* else a name of the hub */
        w->tokenizer = arena_string(&w->memory, whole ? whole : given);
        free(whole);
        return w->tokenizer ? QKS_OK : out_of_memory(error, "path");
    }
    const char *above = path_folder(&w->memory, w->folder);
    w->tokenizer = tokenizer_in(w, w->folder);
    if (!w->tokenizer && above)
        w->tokenizer = tokenizer_in(w, above);
    for (size_t i = 0; !w->tokenizer && i < w->found.list.length; i++)
        w->tokenizer = tokenizer_in(w, w->found.list.data[i].path);
    if (!w->tokenizer)
        return qks_fail(error, QKS_USAGE,
                        "%zu checkpoints in '%s' have no tokenizer.json, nor is there one beside "
                        "them; give --tokenizer PATH (or 'none', if the text's rows are token ids)",
                        w->without_tokenizer, w->folder);
    return QKS_OK;
}

/* ---- the models ---- */

static qks_status take_kind(writing *w, qks_error *error)
{
    const char *kind = w->o->kind;
    if (kind && strcmp(kind, "training") != 0 && strcmp(kind, "models") != 0)
        return qks_fail(error, QKS_USAGE, "a study's kind is training or models, not '%s'", kind);
    w->training = kind ? strcmp(kind, "training") == 0 : checkpoints_are_training(&w->found);
    checkpoints_sort(&w->found, w->training);
    return QKS_OK;
}

static qks_status find_models(writing *w, qks_error *error)
{
    qks_status status = checkpoints_find(&w->found, w->folder, error);
    const found_model *failed = NULL;
    for (size_t i = 0; status == QKS_OK && i < w->found.list.length; i++) {
        const found_model *m = &w->found.list.data[i];
        failed = m->failure ? m : failed;
        w->models += !m->failure;
        w->without_tokenizer += !m->failure && !m->has_tokenizer;
    }
    if (status == QKS_OK && w->models == 0 && failed)
        return qks_fail(error, QKS_INVALID, "no checkpoint in '%s' can be read; one of them: %s",
                        w->folder, failed->failure);
    if (status == QKS_OK && w->models == 0)
        return qks_fail(error, QKS_MISSING,
                        "there is no checkpoint in '%s' or three levels below: no folder with "
                        "config.json and .safetensors, no .gguf file",
                        w->folder);
    return status == QKS_OK ? take_kind(w, error) : status;
}

/* ---- the file ---- */

/* JSON strings are YAML strings; plain words need no quotes. */
static void add_string(text *t, const char *value)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@";
    bool letter = (value[0] >= 'a' && value[0] <= 'z') || (value[0] >= 'A' && value[0] <= 'Z');
    static const char *const words[] = {"true", "false", "yes", "no", "on",
                                        "off",  "null",  "y",   "n",  "none"};
    bool quoted = !letter || value[strspn(value, plain)] != '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        quoted = quoted || strcasecmp(value, words[i]) == 0;
    json_t *string = quoted ? json_string(value) : NULL;
    char *escaped = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    text_add(t, escaped ? escaped : value);
    free(escaped);
    json_decref(string);
}

static void add_member(text *t, const char *name, const char *value)
{
    if (!value)
        return;
    text_addf(t, ", %s: ", name);
    add_string(t, value);
}

/* Into a comment: nothing in it may end the line. */
static void add_words(text *t, const char *words)
{
    for (; *words; words++)
        text_addf(t, "%c", (unsigned char)*words < ' ' ? ' ' : *words);
}

static void add_model(const writing *w, const found_model *m, text *t)
{
    if (m->failure) {
        text_add(t, "  # left out: ");
        add_words(t, as_seen(w, m->path));
        text_add(t, ": ");
        add_words(t, m->failure);
        text_add(t, "\n");
        return;
    }
    char phase[SLUG_SIZE];
    (void)snprintf(phase, sizeof phase, "%.*s", (int)m->step.phase_length, m->label);
    text_add(t, "  - {label: ");
    add_string(t, m->label);
    if (w->training && *phase)
        add_member(t, "phase", phase);
    if (!w->training)
        add_member(t, "family", m->type);
    add_member(t, "model", m->hub ? m->hub : as_seen(w, m->path));
    add_member(t, "revision", m->revision);
    if (w->tokenizer && !m->has_tokenizer && w->without_tokenizer < w->models)
        add_member(t, "tokenizer", as_seen(w, w->tokenizer));
    text_add(t, "}");
    if (m->context)
        text_addf(t, " # %d layers, %d query and %d key heads, %" PRId64 " positions", m->layers,
                  m->q_heads, m->kv_heads, m->context);
    text_add(t, "\n");
}

static void add_name(const writing *w, text *t)
{
    const char *folder = path_name(w->folder);
    text_add(t, "name: ");
    add_string(t, *folder ? folder : "study");
    text_add(t, "\n");
}

static void add_head(const writing *w, text *t)
{
    text_add(t, "# A study of qkscope, begun by 'qkscope init'. Every key is in docs/study.md.\n"
                "#   qkscope check FILE    what a run would do, and how long\n"
                "#   qkscope run FILE      do it; run it again to go on\n");
    add_name(w, t);
    text_addf(t, "kind: %s # guessed from names and shapes; the other is: %s\n",
              w->training ? "training" : "models", w->training ? "models" : "training");
    text_add(t, "\n# What the models read: one document a row. Further keys: limit: 500 (rows at "
                "most).\ntext: {path: ");
    add_string(t, as_seen(w, w->text));
    add_member(t, "column", w->o->column);
    add_member(t, "id", w->o->id);
    text_add(t, "}\n\n"
                "# heads: all, or a number drawn by seed; sampler: all, uniform or log_uniform\n"
                "# positions; groups: of documents, for error bars.\n"
                "capture: {heads: all, seed: 0, sampler: all, groups: 20}\n\n");
    if (w->tokenizer && w->without_tokenizer == w->models) {
        text_add(t, "# For every model that does not say otherwise.\ndefaults: {tokenizer: ");
        add_string(t, as_seen(w, w->tokenizer));
        text_add(t, "}\n\n");
    }
}

static void add_models(const writing *w, text *t)
{
    text_add(t,
             w->training
                 ? "# In the order of training, as their names tell it: look it over. phase: for "
                   "the lines\n# between phases in figures. "
                 : "# family: for the colours in figures. ");
    text_add(t, "Further keys: max_length: 4096 (tokens per\n# document; default: the model's "
                "positions), rope_theta, rope_scaling, revision.\nmodels:\n");
    for (size_t i = 0; i < w->found.list.length; i++)
        add_model(w, &w->found.list.data[i], t);
    if (w->training)
        text_add(t,
                 "\n# Which models the phase portraits show: portraits: [label, label]; default: "
                 "six of them.\n");
    text_add(t, "\nfigures: all # none, or a list of names\n");
}

static qks_status write_file(const writing *w, qks_error *error)
{
    text t = text_new(STUDY_MAX);
    add_head(w, &t);
    add_models(w, &t);
    qks_status status = text_status(&t, "study file", error);
    if (status == QKS_OK)
        status = file_put(w->out, t.data, t.length, error);
    text_free(&t);
    return status;
}

qks_status qks_init(const char *folder, const qks_init_options *options, qks_init_report *report,
                    qks_error *error)
{
    static const qks_init_options defaults = {0};
    writing w = {.o = options ? options : &defaults};
    qks_status status = place_output(&w, folder, error);
    if (status == QKS_OK)
        status = find_models(&w, error);
    if (status == QKS_OK)
        status = find_text(&w, error);
    if (status == QKS_OK)
        status = find_tokenizer(&w, error);
    if (status == QKS_OK)
        status = write_file(&w, error);
    if (status == QKS_OK && report) {
        *report = (qks_init_report){.models = w.models,
                                    .left_out = w.found.list.length - w.models,
                                    .training = w.training,
                                    .path = strdup(w.out)};
        status = report->path ? QKS_OK : out_of_memory(error, "path");
    }
    checkpoints_free(&w.found);
    arena_free(&w.memory);
    return status;
}
