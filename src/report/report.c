/* report.c: the library's verb report: tables, manifest and figures to one HTML file. */
#include "qkscope/report.h"

#include "base/file.h"
#include "base/text.h"
#include "qkscope/version.h"
#include "report/attachments.h"
#include "report/columns.h"
#include "report/contents.h"
#include "report/pack.h"
#include "report/template.h"

static const size_t DATA_MAX = (size_t)1 << 30;

static qks_status data_pack(text *t, const contents *c, const char *folder, qks_report_facts *facts,
                            qks_error *error)
{
    text_add(t, "{\"version\":");
    pack_string(t, qks_version());
    text_add(t, ",\"revision\":");
    pack_string(t, qks_revision());
    text_addf(t, ",\"training\":%s,", c->training ? "true" : "false");
    text_add(t, "\"manifest\":");
    qks_status status = manifest_pack(t, folder, error);
    if (status != QKS_OK)
        return status;
    columns_pack(t, c);
    text_add(t, ",\"figures\":");
    status = figures_pack(t, folder, &facts->figures, error);
    text_add(t, "}");
    return status == QKS_OK ? text_status(t, "the page's data", error) : status;
}

static qks_status page_write(const char *path, const text *data, size_t *bytes, qks_error *error)
{
    const page_part parts[] = {
        template_before(), {text_string(data), data->length}, template_after()};
    file_writer *w = NULL;
    qks_status status = file_create(&w, path, error);
    if (status != QKS_OK)
        return status;
    *bytes = 0;
    for (size_t i = 0; status == QKS_OK && i < sizeof parts / sizeof *parts; i++) {
        status = file_write(w, parts[i].bytes, parts[i].length, error);
        *bytes += parts[i].length;
    }
    if (status == QKS_OK)
        return file_commit(w, error);
    file_discard(w);
    return status;
}

qks_status qks_report(const char *folder, const char *out, qks_report_facts *facts,
                      qks_error *error)
{
    qks_report_facts made = {0};
    contents c;
    text data = text_new(DATA_MAX);
    qks_status status = contents_read(&c, folder, error);
    const char *path = out ? out : arena_format(&c.memory, "%s/report.html", folder);
    if (status == QKS_OK && !path)
        status = out_of_memory(error, "file name");
    if (status == QKS_OK)
        status = data_pack(&data, &c, folder, &made, error);
    if (status == QKS_OK)
        status = page_write(path, &data, &made.bytes, error);
    made.models = c.models.length;
    made.heads = c.heads.length;
    made.findings = c.n_findings;
    if (status == QKS_OK && facts)
        *facts = made;
    text_free(&data);
    contents_free(&c);
    return status;
}
