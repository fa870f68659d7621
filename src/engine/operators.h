/* operators.h: what the cpu backend computes with qkscope's own operators inside the ggml graph:
 * matrix products by OpenBLAS, and gates in place (ggml takes its gelu from a table of float16).
 * (Attention has a file of its own.) Each is split over ggml's threads; OpenBLAS runs one thread
 * inside each. */
#ifndef QKS_ENGINE_OPERATORS_H
#define QKS_ENGINE_OPERATORS_H

#include "engine/layer.h"
#include "model/architecture.h"

#include <ggml.h>

/* x [columns, n] -> [rows, n]: the weight's matrix times each column of x. */
struct ggml_tensor *multiply_on_host(struct ggml_context *g, const layer_weight *w,
                                     struct ggml_tensor *x);

/* silu, or gelu in its form with tanh, of the gate times up, in the gate's place; both [width, n].
 */
struct ggml_tensor *gated_on_host(struct ggml_context *g, activation kind, struct ggml_tensor *gate,
                                  struct ggml_tensor *up);

#endif
