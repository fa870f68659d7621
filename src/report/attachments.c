/* attachments.c: manifest and figures. The page shows a figure as an image with the SVG inside its
 * address, so that nothing in the SVG can run or load. */
#include "report/attachments.h"

#include "base/file.h"
#include "report/pack.h"

#include <jansson.h>
#include <stdlib.h>

static const size_t MANIFEST_MAX = (size_t)16 << 20;
static const size_t SVG_MAX = (size_t)64 << 20;
static const size_t README_MAX = (size_t)1 << 20;

qks_status manifest_pack(text *t, const char *folder, qks_error *error)
{
    arena names = {0};
    char *bytes = NULL, *compact = NULL;
    size_t length = 0;
    const char *path = arena_format(&names, "%s/manifest.json", folder);
    qks_status status = path ? QKS_OK : out_of_memory(error, "file name");
    if (status == QKS_OK && !is_file(path)) {
        text_add(t, "null");
        arena_free(&names);
        return QKS_OK;
    }
    if (status == QKS_OK)
        status = file_get(path, MANIFEST_MAX, &bytes, &length, error);
    if (status == QKS_OK) {
        json_error_t fault;
        json_t *manifest = json_loadb(bytes, length, 0, &fault);
        compact = manifest ? json_dumps(manifest, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
        json_decref(manifest);
        if (!compact)
            status = qks_fail(error, QKS_INVALID, "'%s', line %d: %s", path, fault.line,
                              fault.text);
    }
    if (status == QKS_OK)
        pack_json(t, compact);
    free(compact);
    free(bytes);
    arena_free(&names);
    return status;
}

static qks_status figure_pack(text *t, const char *name, const char *svg_path,
                              const char *readme_path, qks_error *error)
{
    char *svg = NULL, *readme = NULL;
    size_t svg_length = 0, readme_length = 0;
    qks_status status = file_get(svg_path, SVG_MAX, &svg, &svg_length, error);
    if (status == QKS_OK && is_file(readme_path))
        status = file_get(readme_path, README_MAX, &readme, &readme_length, error);
    if (status == QKS_OK) {
        text_add(t, "{\"name\":");
        pack_string(t, name);
        text_add(t, ",\"readme\":");
        pack_bytes(t, readme ? readme : "", readme_length);
        text_add(t, ",\"svg\":");
        pack_base64(t, svg, svg_length);
        text_add(t, "}");
    }
    free(svg);
    free(readme);
    return status;
}

qks_status figures_pack(text *t, const char *folder, size_t *count, qks_error *error)
{
    arena a = {0};
    name_list names = {0};
    *count = 0;
    text_add(t, "[");
    const char *figures = arena_format(&a, "%s/figures", folder);
    qks_status status = figures ? QKS_OK : out_of_memory(error, "folder name");
    if (status == QKS_OK && is_folder(figures))
        status = folder_list(&a, figures, &names, error);
    for (size_t i = 0; status == QKS_OK && i < names.length; i++) {
        const char *svg = arena_format(&a, "%s/%s/figure.svg", figures, names.data[i]);
        const char *readme = arena_format(&a, "%s/%s/README.md", figures, names.data[i]);
        if (!svg || !readme)
            status = out_of_memory(error, "file name");
        if (status != QKS_OK || !is_file(svg))
            continue;
        text_add(t, *count ? "," : "");
        status = figure_pack(t, names.data[i], svg, readme, error);
        (*count)++;
    }
    text_add(t, "]");
    free(names.data);
    arena_free(&a);
    return status;
}
