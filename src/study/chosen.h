/* chosen.h: which heads of a model a capture keeps. */
#ifndef QKS_STUDY_CHOSEN_H
#define QKS_STUDY_CHOSEN_H

#include "capture/unit.h"
#include "model/architecture.h"
#include "qkscope/capture.h"

#include <stdbool.h>

/* Fills info's sides: the queries of the heads, and the keys they meet; and marks the layers that
 * have any. All in `memory`. */
QKS_MUST_CHECK qks_status chosen_heads(const architecture *a, const qks_capture_options *o,
                                       arena *memory, unit_info *info, bool **layers,
                                       qks_error *error);

#endif
