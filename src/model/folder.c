/* folder.c: a checkpoint as on the Hugging Face Hub: config.json beside safetensors files. */
#include "base/file.h"
#include "model/checkpoint.h"
#include "model/fields.h"
#include "model/safetensors.h"

#include <stdlib.h>
#include <string.h>

enum { CONFIG_MAX = 16 << 20, SHARDS_MAX = 4096 };

static const char single_name[] = "model.safetensors";
static const char index_name[] = "model.safetensors.index.json";

/* The first file in the folder whose name ends so, or NULL. */
static const char *find_ending(const name_list *names, const char *const *endings, size_t count)
{
    for (size_t i = 0; i < names->length; i++)
        for (size_t e = 0; e < count; e++)
            if (ends_with(names->data[i], endings[e]))
                return names->data[i];
    return NULL;
}

/* Neither weights file is there: what is there instead decides what helps. */
static qks_status no_weights(checkpoint *c, const char *folder, qks_error *error)
{
    static const char *const pickles[] = {".bin", ".pt", ".pth", ".ckpt"};
    static const char *const gguf[] = {".gguf"};
    name_list names = {0};
    qks_status status = folder_list(&c->memory, folder, &names, error);
    if (status != QKS_OK)
        return status;
    const char *pickle = find_ending(&names, pickles, sizeof pickles / sizeof *pickles);
    const char *other = find_ending(&names, gguf, 1);
    if (other)
        status = qks_fail(error, QKS_MISSING,
                          "'%s' has no %s, but a GGUF file: give '%s/%s' as the model", folder,
                          single_name, folder, other);
    else if (pickle)
        status = qks_fail(error, QKS_UNSUPPORTED,
                          "'%s' has only pickled weights (%s), which qkscope never opens because "
                          "they can run code; download the model's safetensors files, or let "
                          "transformers write them: from_pretrained(...).save_pretrained(DIR)",
                          folder, pickle);
    else
        status = qks_fail(error, QKS_MISSING, "'%s' has neither %s nor %s", folder, single_name,
                          index_name);
    free(names.data);
    return status;
}

static qks_status read_file(checkpoint *c, const char *path, qks_error *error)
{
    size_t file = 0;
    qks_status status = checkpoint_map(c, path, &file, error);
    if (status != QKS_OK)
        return status;
    const checkpoint_file *opened = &c->files.data[file];
    return safetensors_read(&opened->mapping, opened->path, &c->memory, &c->tensors, error);
}

/* ---- shards ---- */

static bool is_plain_name(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/') && ends_with(name, ".safetensors");
}

static bool is_open(const checkpoint *c, const char *name)
{
    for (size_t i = 0; i < c->files.length; i++)
        if (strcmp(path_name(c->files.data[i].path), name) == 0)
            return true;
    return false;
}

static qks_status open_shard(checkpoint *c, const char *folder, const char *tensor_name,
                             const json_t *value, qks_error *error)
{
    const char *name = json_string_value(value);
    if (!name || !is_plain_name(name))
        return qks_fail(
            error, QKS_INVALID,
            "'%s': weight_map puts tensor '%.200s' into '%.100s', which is no name of a "
            "safetensors file in the folder",
            c->name, tensor_name, name ? name : "no string");
    if (is_open(c, name))
        return QKS_OK;
    if (c->files.length == SHARDS_MAX)
        return qks_fail(error, QKS_INVALID, "'%s' names more than %d files", c->name, SHARDS_MAX);
    const char *path = arena_format(&c->memory, "%s/%s", folder, name);
    if (!path)
        return out_of_memory(error, "file name");
    if (!is_file(path))
        return qks_fail(error, QKS_MISSING,
                        "'%s' names the file '%.200s', which is not there; download it", c->name,
                        name);
    return read_file(c, path, error);
}

/* Every tensor of the index is in the file it names, and the files hold no others. */
static qks_status check_index(const checkpoint *c, const json_t *map, qks_error *error)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)map, name, value) {
        const tensor *t = tensor_table_find(&c->tensors, name);
        if (!t || strcmp(path_name(t->file), json_string_value(value)) != 0)
            return qks_fail(error, QKS_INVALID, "'%s': tensor '%.200s' is not in '%.200s'", c->name,
                            name, json_string_value(value));
    }
    for (size_t i = 0; i < c->tensors.length; i++)
        if (!json_object_get(map, c->tensors.data[i].name))
            return qks_fail(error, QKS_INVALID, "'%s': tensor '%.200s' of '%s' is not in the index",
                            c->name, c->tensors.data[i].name, c->tensors.data[i].file);
    return QKS_OK;
}

static qks_status read_map(checkpoint *c, const char *folder, const json_t *index, qks_error *error)
{
    fields f = {index, c->name, ""};
    const json_t *map = NULL;
    qks_status status = field_object(&f, "weight_map", &map, error);
    if (status == QKS_OK && json_object_size(map) == 0)
        status = qks_fail(error, QKS_INVALID, "'%s': weight_map is missing or empty", c->name);
    const char *name;
    json_t *value;
    if (status == QKS_OK)
        json_object_foreach((json_t *)(uintptr_t)map, name, value) {
            status = open_shard(c, folder, name, value, error);
            if (status != QKS_OK)
                return status;
        }
    if (status == QKS_OK)
        status = tensor_table_sort(&c->tensors, error);
    return status == QKS_OK ? check_index(c, map, error) : status;
}

static qks_status read_shards(checkpoint *c, const char *folder, qks_error *error)
{
    json_t *index = NULL;
    qks_status status = json_object_read(c->name, &index, error);
    if (status != QKS_OK)
        return status;
    status = read_map(c, folder, index, error);
    json_decref(index);
    return status;
}

/* ---- the folder ---- */

static qks_status keep_config(checkpoint *c, const char *path, qks_error *error)
{
    char *bytes = NULL;
    qks_status status = file_get(path, CONFIG_MAX, &bytes, &c->settings_length, error);
    if (status != QKS_OK)
        return status;
    c->settings = arena_copy(&c->memory, bytes, c->settings_length);
    free(bytes);
    return c->settings ? QKS_OK : out_of_memory(error, path);
}

qks_status folder_read(checkpoint *c, architecture *a, const char *path,
                       const rope_override *override, qks_error *error)
{
    c->format = FORMAT_FOLDER;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    path = arena_copy(&c->memory, path, length);
    if (!path)
        return out_of_memory(error, "file names");
    const char *config = arena_format(&c->memory, "%s/config.json", path);
    const char *single = arena_format(&c->memory, "%s/%s", path, single_name);
    const char *index = arena_format(&c->memory, "%s/%s", path, index_name);
    if (!config || !single || !index)
        return out_of_memory(error, "file names");
    if (!is_file(config) && !is_file(single) && !is_file(index))
        return no_weights(c, path, error);
    qks_status status = keep_config(c, config, error);
    if (status == QKS_OK)
        status = architecture_read(a, config, override, error);
    if (status != QKS_OK)
        return status;
    c->name = is_file(single) ? single : index;
    if (!is_file(c->name))
        return no_weights(c, path, error);
    if (c->name == index)
        return read_shards(c, path, error);
    status = read_file(c, single, error);
    return status == QKS_OK ? tensor_table_sort(&c->tensors, error) : status;
}
