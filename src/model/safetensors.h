/* safetensors.h: the tensors of a .safetensors file (8 bytes of header length, a JSON header, the
 * data), checked whole before any is used. */
#ifndef QKS_MODEL_SAFETENSORS_H
#define QKS_MODEL_SAFETENSORS_H

#include "model/mapping.h"
#include "model/tensor.h"

/* Append the tensors of a mapped file. Names live in the arena, data in the mapping; `path` must
 * outlive the table. Refused: a header that is too long, no JSON, or holds anything unknown or
 * twice; tensors of another size than their shape and type say, or that do not cover the data
 * exactly, without overlap or hole. */
QKS_MUST_CHECK qks_status safetensors_read(const mapping *m, const char *path, arena *a,
                                           tensor_table *out, qks_error *error);

#endif
