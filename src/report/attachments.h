/* attachments.h: what lies beside a run's tables and goes onto the page as it is: the manifest, and
 * each figure as SVG with its explanation. */
#ifndef QKS_REPORT_ATTACHMENTS_H
#define QKS_REPORT_ATTACHMENTS_H

#include "base/text.h"
#include "qkscope/status.h"

#include <stddef.h>

/* FOLDER/manifest.json, or null. */
QKS_MUST_CHECK qks_status manifest_pack(text *t, const char *folder, qks_error *error);

/* [{"name", "readme", "svg"}, ...] of FOLDER/figures/<name>/figure.svg in the order of the names;
 * svg is in base64. `*count`: how many. */
QKS_MUST_CHECK qks_status figures_pack(text *t, const char *folder, size_t *count,
                                       qks_error *error);

#endif
