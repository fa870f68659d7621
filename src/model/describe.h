/* describe.h: what a checkpoint is, for `qkscope inspect`. */
#ifndef QKS_MODEL_DESCRIBE_H
#define QKS_MODEL_DESCRIBE_H

#include "qkscope/status.h"

#include <jansson.h>

/* Adds facts to an object: type, sizes, types and bytes of the weights, ropes, windows. The
 * checkpoint is opened and checked as a capture would; its weights are not read. */
QKS_MUST_CHECK qks_status checkpoint_describe(const char *path, json_t *facts, qks_error *error);

#endif
