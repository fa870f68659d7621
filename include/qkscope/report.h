/* report.h: a page to explore a study: one HTML file that needs nothing else.
 *
 *     if (qks_report("runs/smollm3", NULL, NULL, &error) != QKS_OK)
 *         fprintf(stderr, "%s\n", error.message);
 */
#ifndef QKSCOPE_REPORT_H
#define QKSCOPE_REPORT_H

#include "qkscope/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is on the page, for a message. */
typedef struct qks_report_facts {
    size_t models, heads, findings, figures;
    size_t bytes; /* of the file */
} qks_report_facts;

/* Write the page of `folder`: a run's directory (tables/, figures/, manifest.json) or a folder of
 * tables. The tables qk and heads must be there, the rest may be missing. `out` is the file to
 * write, NULL: report.html in the folder. `facts` may be NULL. */
QKS_MUST_CHECK qks_status qks_report(const char *folder, const char *out, qks_report_facts *facts,
                                     qks_error *error);

#ifdef __cplusplus
}
#endif
#endif
