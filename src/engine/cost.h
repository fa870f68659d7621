/* cost.h: the arithmetic that engine_run does for a document, counted from the architecture. */
#ifndef QKS_ENGINE_COST_H
#define QKS_ENGINE_COST_H

#include "model/architecture.h"

/* Floating-point operations for a document of `n` tokens: products and attention, each key that a
 * query sees counted once. `wanted`: as in engine_task. */
double engine_cost(const architecture *a, const bool *wanted, int64_t n);

#endif
