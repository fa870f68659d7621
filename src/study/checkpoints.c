/* checkpoints.c: looking for checkpoints in a folder: Hugging Face directories, .gguf files, and
 * the revisions in a repository of the Hugging Face cache. */
#include "study/checkpoints.h"

#include "base/file.h"
#include "model/weights.h"

#include <stdlib.h>
#include <string.h>

enum { LEVELS = 3, REF_MAX = 4096, COMMIT_LENGTH = 40 };

static const char REPOSITORY[] = "models--";

static bool holds(arena *a, const char *folder, const char *name)
{
    const char *path = arena_format(a, "%s/%s", folder, name);
    return path && (is_file(path) || is_folder(path));
}

/* ---- one of them ---- */

static void read_facts(found_models *f, found_model *m)
{
    weights *w = NULL;
    architecture a;
    qks_error error;
    if (weights_open(&w, &a, m->path, NULL, &error) != QKS_OK) {
        const char *why = arena_string(&f->memory, error.message);
        m->failure = why ? why : "out of memory";
        return;
    }
    m->type = arena_string(&f->memory, a.type);
    m->layers = a.n_layers;
    m->q_heads = a.q_heads;
    m->kv_heads = a.kv_heads;
    m->hidden = a.hidden;
    m->context = a.max_positions;
    m->has_tokenizer = ends_with(m->path, ".gguf") || holds(&f->memory, m->path, "tokenizer.json");
    weights_close(w);
    architecture_close(&a);
}

static qks_status add(found_models *f, found_model m, qks_error *error)
{
    if (!m.label || !m.path)
        return out_of_memory(error, "checkpoints");
    m.step = step_of(m.label);
    read_facts(f, &m);
    return array_push(&f->list, m, error);
}

/* ---- a repository of the cache: refs/<revision> holds the commit of snapshots/<commit> ---- */

static const char *hub_name(arena *a, const char *folder)
{
    const char *name = path_name(folder) + strlen(REPOSITORY), *dashes = strstr(name, "--");
    return dashes ? arena_format(a, "%.*s/%s", (int)(dashes - name), name, dashes + 2) : NULL;
}

static qks_status add_revision(found_models *f, const char *folder, const char *hub,
                               const char *revision, qks_error *error)
{
    arena *a = &f->memory;
    bool main = strcmp(revision, "main") == 0;
    const char *ref = arena_format(a, "%s/refs/%s", folder, revision), *seen = NULL;
    char *commit = NULL;
    size_t length = 0;
    qks_status status = ref ? file_get(ref, REF_MAX, &commit, &length, error)
                            : out_of_memory(error, "checkpoints");
    if (status != QKS_OK)
        return status;
    const char *path = arena_format(a, "%s/snapshots/%.*s", folder, COMMIT_LENGTH, commit);
    const char *whole = main ? hub : arena_format(a, "%s@%s", hub, revision);
    free(commit);
    if (!path || !whole)
        return out_of_memory(error, "checkpoints");
    if (!holds(a, path, "config.json"))
        return QKS_OK; /* only its tokenizer was fetched, say */
    bool known = model_find(whole, a, &seen, NULL) == QKS_OK;
    return add(f,
               (found_model){.label = main ? path_name(hub) : arena_string(a, revision),
                             .path = path,
                             .hub = known ? hub : NULL,
                             .revision = known && !main ? arena_string(a, revision) : NULL},
               error);
}

static qks_status add_repository(found_models *f, const char *folder, qks_error *error)
{
    name_list refs = {0};
    const char *path = arena_format(&f->memory, "%s/refs", folder);
    const char *hub = hub_name(&f->memory, folder);
    qks_status status = path ? folder_list(&f->memory, path, &refs, error)
                             : out_of_memory(error, "checkpoints");
    for (size_t i = 0; hub && status == QKS_OK && i < refs.length; i++) {
        const char *ref = arena_format(&f->memory, "%s/%s", path, refs.data[i]);
        if (ref && is_file(ref))
            status = add_revision(f, folder, hub, refs.data[i], error);
    }
    free(refs.data);
    return status;
}

/* ---- folders ---- */

static qks_status look_in(found_models *f, const char *folder, const char *below, int levels,
                          qks_error *error);

static bool has_weights(const name_list *names)
{
    bool config = false, tensors = false;
    for (size_t i = 0; i < names->length; i++) {
        config = config || strcmp(names->data[i], "config.json") == 0;
        tensors = tensors || ends_with(names->data[i], ".safetensors");
    }
    return config && tensors;
}

static qks_status look_at(found_models *f, const char *folder, const char *below, const char *name,
                          int levels, qks_error *error)
{
    arena *a = &f->memory;
    const char *path = arena_format(a, "%s/%s", folder, name);
    const char *label = arena_format(a, "%s%s%s", below, *below ? "/" : "", name);
    if (!path || !label)
        return out_of_memory(error, "checkpoints");
    if (ends_with(name, ".gguf") && is_file(path))
        return add(f,
                   (found_model){.label = arena_copy(a, label, strlen(label) - strlen(".gguf")),
                                 .path = path},
                   error);
    return levels > 0 && name[0] != '.' && is_folder(path)
               ? look_in(f, path, label, levels - 1, error)
               : QKS_OK;
}

/* `below`: the folder as seen from where the search began, "" there. */
static qks_status look_in(found_models *f, const char *folder, const char *below, int levels,
                          qks_error *error)
{
    arena *a = &f->memory;
    name_list names = {0};
    qks_status status = folder_list(a, folder, &names, error);
    if (status == QKS_OK && has_weights(&names)) {
        status = add(f, (found_model){.label = *below ? below : path_name(folder), .path = folder},
                     error);
    } else if (status == QKS_OK &&
               strncmp(path_name(folder), REPOSITORY, strlen(REPOSITORY)) == 0 &&
               holds(a, folder, "refs") && holds(a, folder, "snapshots")) {
        status = add_repository(f, folder, error);
    } else {
        for (size_t i = 0; status == QKS_OK && i < names.length; i++)
            status = look_at(f, folder, below, names.data[i], levels, error);
    }
    free(names.data);
    return status;
}

qks_status checkpoints_find(found_models *out, const char *folder, qks_error *error)
{
    *out = (found_models){0};
    char *whole = realpath(folder, NULL);
    if (!whole || !is_folder(whole)) {
        free(whole);
        return qks_fail(error, QKS_MISSING, "there is no folder '%s'", folder);
    }
    const char *path = arena_string(&out->memory, whole);
    free(whole);
    qks_status status = path ? look_in(out, path, "", LEVELS, error)
                             : out_of_memory(error, "checkpoints");
    if (status != QKS_OK)
        checkpoints_free(out);
    return status;
}

void checkpoints_free(found_models *f)
{
    free(f->list.data);
    arena_free(&f->memory);
    *f = (found_models){0};
}

/* ---- order ---- */

static bool same_shape(const found_model *a, const found_model *b)
{
    return strcmp(a->type, b->type) == 0 && a->layers == b->layers && a->q_heads == b->q_heads &&
           a->kv_heads == b->kv_heads && a->hidden == b->hidden;
}

static int by_training(const void *a, const void *b)
{
    const found_model *x = a, *y = b;
    int phases = phase_order(x->label, x->step.phase_length, y->label, y->step.phase_length);
    if (phases || x->step.step == y->step.step)
        return phases;
    return x->step.step < y->step.step ? -1 : 1;
}

static int by_name(const void *a, const void *b)
{
    const found_model *x = a, *y = b;
    return natural_order(x->label, strlen(x->label), y->label, strlen(y->label));
}

bool checkpoints_are_training(const found_models *f)
{
    const found_model *first = NULL;
    bool steps_differ = false;
    for (size_t i = 0; i < f->list.length; i++) {
        const found_model *m = &f->list.data[i];
        if (m->failure)
            continue;
        if (!m->step.known || (first && !same_shape(first, m)))
            return false;
        steps_differ = steps_differ || (first && first->step.step != m->step.step);
        first = first ? first : m;
        for (size_t j = 0; j < i; j++)
            if (!f->list.data[j].failure && by_training(m, &f->list.data[j]) == 0)
                return false;
    }
    return steps_differ;
}

void checkpoints_sort(found_models *f, bool training)
{
    qsort(f->list.data, f->list.length, sizeof *f->list.data, training ? by_training : by_name);
}
