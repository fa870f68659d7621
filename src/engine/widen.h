/* widen.h: stored numbers of any type as float32, on the host. */
#ifndef QKS_ENGINE_WIDEN_H
#define QKS_ENGINE_WIDEN_H

#include "model/weights.h"

/* A number of columns that whole blocks of every quantisation fill. */
enum { WIDEN_COLUMNS = 512 };

/* Can it be widened? Refused with the tensor's name and type if not. */
QKS_MUST_CHECK qks_status widen_check(const weight *t, qks_error *error);

/* The numbers of one row as it is stored, from `column` on (a multiple of WIDEN_COLUMNS). */
void widen_part(const weight *t, int64_t row, int64_t column, int64_t n, float *to);

#endif
