/* operators.h: what the cpu backend computes with qkscope's own operators inside the ggml graph:
 * matrix products by OpenBLAS, the rotary embedding, and gates in place (ggml rounds its angles
 * twice and takes its gelu from a table of float16). (Attention has a file of its own.) Each is
 * split over ggml's threads; OpenBLAS runs one thread inside each. */
#ifndef QKS_ENGINE_OPERATORS_H
#define QKS_ENGINE_OPERATORS_H

#include "engine/layer.h"
#include "model/architecture.h"

#include <ggml.h>

/* x [columns, n] -> [rows, n]: the weight's matrix times each column of x. */
struct ggml_tensor *multiply_on_host(struct ggml_context *g, const layer_weight *w,
                                     struct ggml_tensor *x);

/* The rotary embedding of x [d, heads, n] at positions [n]: angles are products of float32, as the
 * models' own code has them. In x's place, or in a new tensor. */
struct ggml_tensor *turned_on_host(struct ggml_context *g, const rope *r, struct ggml_tensor *x,
                                   struct ggml_tensor *positions, bool in_place);

/* silu, or gelu in its form with tanh, of the gate times up, in the gate's place; both [width, n].
 */
struct ggml_tensor *gated_on_host(struct ggml_context *g, activation kind, struct ggml_tensor *gate,
                                  struct ggml_tensor *up);

#endif
