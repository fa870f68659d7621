/* findings.h: what a person would read off the figures, computed (spec: method.md, "Findings"),
 * each with its jackknife standard error and a sentence that says no more than the number supports.
 */
#ifndef QKS_ANALYSIS_FINDINGS_H
#define QKS_ANALYSIS_FINDINGS_H

#include "analysis/model.h"
#include "base/memory.h"
#include "qkscope/status.h"
#include "qkscope/tables.h"

#include <stdbool.h>
#include <stddef.h>

typedef ARRAY_OF(qks_finding_row) finding_list;

/* Models in study order; `training`: they are checkpoints of one run. Strings are in the arena, the
 * list's data is the caller's to free. */
QKS_MUST_CHECK qks_status findings_of(const model_result *models, size_t count, bool training,
                                      finding_list *list, arena *a, qks_error *error);

#endif
