/* numbers.h: one head's numbers for a caller of the library, who frees them. */
#ifndef QKS_ANALYSIS_NUMBERS_H
#define QKS_ANALYSIS_NUMBERS_H

#include "capture/moments.h"
#include "qkscope/head.h"

/* `id` gives model, layer, head, k_head and rope. */
QKS_MUST_CHECK qks_status numbers_of(const qks_head_row *id, moments *const *q, moments *const *k,
                                     int groups, int components, qks_head_numbers **out,
                                     qks_error *error);

#endif
