/* operators.h: what the cpu backend computes with qkscope's own operators inside the ggml graph:
 * matrix products by OpenBLAS, and gelu in float32, which ggml takes from a table of float16.
 * (Attention has a file of its own.) Each is split over ggml's threads; OpenBLAS runs one thread
 * inside each. */
#ifndef QKS_ENGINE_OPERATORS_H
#define QKS_ENGINE_OPERATORS_H

#include "engine/layer.h"

#include <ggml.h>

/* x [columns, n] -> [rows, n]: the weight's matrix times each column of x. */
struct ggml_tensor *multiply_on_host(struct ggml_context *g, const layer_weight *w,
                                     struct ggml_tensor *x);

/* gelu (its form with tanh) of the gate times up; both [width, n]. */
struct ggml_tensor *gated_gelu_on_host(struct ggml_context *g, struct ggml_tensor *gate,
                                       struct ggml_tensor *up);

#endif
