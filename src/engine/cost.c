/* cost.c: operations of a forward pass, counted. */
#include "engine/cost.h"

/* Pairs of query and key: each query sees itself and at most window - 1 before it. */
static double pairs_seen(const layer_facts *layer, double n)
{
    double window = layer->kind == LAYER_SLIDING && layer->window < n ? layer->window : n;
    return window * (window + 1) / 2 + (n - window) * window;
}

double engine_cost(const architecture *a, const bool *wanted, int64_t n)
{
    double tokens = (double)n, queries = (double)a->q_heads * a->head_dim;
    double keys = (double)a->kv_heads * a->head_dim, hidden = a->hidden, rest = 0;
    double q_k = tokens * hidden * (queries + keys);
    double others = tokens * hidden * (keys + queries + 3 * (double)a->intermediate);
    double sum = 0;
    for (int i = 0; i < a->n_layers; i++) {
        if (a->layers[i].kind == LAYER_SKIPPED)
            continue;
        if (!wanted || wanted[i]) { /* what the layers before leave undone is needed here */
            sum += rest + q_k;
            rest = 0;
        } else {
            rest += q_k;
        }
        rest += others + 2 * queries * pairs_seen(&a->layers[i], tokens);
    }
    return 2 * sum;
}
