/* hub.c: where a model is. Layout of the Hugging Face cache: models--org--name/refs/<revision>
 * holds the commit, snapshots/<commit>/ the files. Nothing is ever downloaded. */
#include "base/file.h"
#include "model/weights.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 96, REVISION_MAX = 255, COMMIT_LENGTH = 40, COMMIT_SHORTEST = 4 };

typedef struct hub_name {
    const char *repository; /* "org/name" */
    const char *revision;
} hub_name;

static const char *cache_folder(arena *a)
{
    static const struct {
        const char *variable, *below;
    } places[] = {{"HF_HUB_CACHE", ""},
                  {"HUGGINGFACE_HUB_CACHE", ""}, /* its older name */
                  {"HF_HOME", "/hub"},
                  {"XDG_CACHE_HOME", "/huggingface/hub"},
                  {"HOME", "/.cache/huggingface/hub"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *value = getenv(places[i].variable);
        if (value && *value)
            return arena_format(a, "%s%s", value, places[i].below);
    }
    return arena_string(a, "/.cache/huggingface/hub");
}

/* The Hub's own rule: letters, digits, '-', '_', '.', no "--", no "..", no '.' or '-' at an end. */
static bool is_name_part(const char *part, size_t length)
{
    if (length == 0 || length > NAME_MAX_LENGTH)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = part[i];
        bool mark = c == '-' || c == '.';
        bool at_end = i == 0 || i + 1 == length;
        if ((!isalnum((unsigned char)c) && c != '_' && !mark) || (mark && at_end) ||
            (mark && part[i + 1] == c))
            return false;
    }
    return true;
}

static bool is_revision(const char *revision)
{
    size_t length = strlen(revision);
    if (length == 0 || length > REVISION_MAX || *revision == '/' || strstr(revision, ".."))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)revision[i]) && !strchr("-_./", revision[i]))
            return false;
    return true;
}

/* org/name[@revision]; false if it is not of that form. */
static bool parse(const char *model, arena *a, hub_name *out)
{
    const char *at = strchr(model, '@');
    size_t length = at ? (size_t)(at - model) : strlen(model);
    const char *slash = memchr(model, '/', length);
    if (!slash || !is_name_part(model, (size_t)(slash - model)) ||
        !is_name_part(slash + 1, length - (size_t)(slash + 1 - model)) ||
        (at && !is_revision(at + 1)))
        return false;
    out->repository = arena_copy(a, model, length);
    out->revision = at ? at + 1 : "main";
    return true;
}

/* refs/<revision> holds the commit. NULL: there is no such file, or it holds something else. */
static const char *commit_of_ref(arena *a, const char *folder, const char *revision)
{
    const char *path = arena_format(a, "%s/refs/%s", folder, revision);
    char *bytes = NULL;
    size_t length = 0;
    if (!path || !is_file(path) || file_get(path, 4096, &bytes, &length, NULL) != QKS_OK)
        return NULL;
    size_t used = strspn(bytes, "0123456789abcdef");
    bool fine = used == COMMIT_LENGTH && strspn(bytes + used, " \n\r\t") == length - used;
    const char *commit = fine ? arena_copy(a, bytes, used) : NULL;
    free(bytes);
    return commit;
}

/* A commit, whole or its beginning, among the snapshots; NULL: none, or more than one. */
static const char *commit_of_hash(arena *a, const char *folder, const char *revision)
{
    size_t length = strlen(revision);
    if (length < COMMIT_SHORTEST || strspn(revision, "0123456789abcdef") != length)
        return NULL;
    const char *path = arena_format(a, "%s/snapshots", folder), *found = NULL;
    name_list names = {0};
    if (!path || !is_folder(path) || folder_list(a, path, &names, NULL) != QKS_OK)
        return NULL;
    size_t matches = 0;
    for (size_t i = 0; i < names.length; i++)
        if (strncmp(names.data[i], revision, length) == 0) {
            found = names.data[i];
            matches++;
        }
    free(names.data);
    return matches == 1 ? found : NULL;
}

static qks_status find_in_cache(const hub_name *n, arena *a, const char **path, qks_error *error)
{
    const char *cache = cache_folder(a), *slash = strchr(n->repository, '/');
    const char *folder = cache
                             ? arena_format(a, "%s/models--%.*s--%s", cache,
                                            (int)(slash - n->repository), n->repository, slash + 1)
                             : NULL;
    if (!folder)
        return out_of_memory(error, "cache folder");
    const char *commit = commit_of_ref(a, folder, n->revision);
    if (!commit)
        commit = commit_of_hash(a, folder, n->revision);
    *path = arena_format(a, "%s/snapshots/%s", folder, commit ? commit : "");
    if (!*path)
        return out_of_memory(error, "cache folder");
    if (commit && is_folder(*path))
        return QKS_OK;
    bool main = strcmp(n->revision, "main") == 0;
    return qks_fail(error, QKS_MISSING,
                    "'%s%s%s' is neither a folder nor in the Hugging Face cache '%s'; fetch it "
                    "with: hf download %s%s%s",
                    n->repository, main ? "" : "@", main ? "" : n->revision, cache, n->repository,
                    main ? "" : " --revision ", main ? "" : n->revision);
}

qks_status model_find(const char *model, arena *a, const char **path, qks_error *error)
{
    hub_name name = {0};
    if (is_folder(model) || is_file(model)) {
        *path = arena_string(a, model);
        return *path ? QKS_OK : out_of_memory(error, "path");
    }
    if (!parse(model, a, &name))
        return qks_fail(error, QKS_MISSING,
                        "there is no model '%.200s': no such folder or file, and no name like "
                        "org/name or org/name@revision",
                        model);
    if (!name.repository)
        return out_of_memory(error, "model name");
    return find_in_cache(&name, a, path, error);
}
