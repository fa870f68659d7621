/* heads.h: for the tests of means and findings: models whose heads' numbers are simply written
 * down. Everything is in one arena. */
#ifndef QKS_TESTS_HEADS_H
#define QKS_TESTS_HEADS_H

#include "analysis/model.h"
#include "testing.h"

/* A head of layer and number with r_q, r_k; explained variance 0.5 and bias 0. */
static inline head_result plain_head(int64_t layer, int64_t head, double r_q, double r_k)
{
    return (head_result){
        .row = {.model = "m", .layer = layer, .head = head, .rope = QKS_BLANK},
        .whole = {.present = true, .explained_variance = 0.5, .r_q = r_q, .r_k = r_k}};
}

static inline model_result make_model(arena *a, const char *name, int layers, size_t n_heads)
{
    model_result m = {.model = name, .layers = layers, .n_heads = n_heads};
    m.heads = arena_alloc(a, n_heads, sizeof *m.heads);
    assert_non_null(m.heads);
    return m;
}

/* `groups` replicates per head, at first all equal to the whole sample. */
static inline void give_replicates(model_result *m, arena *a, int groups)
{
    int64_t *ids = arena_alloc(a, (size_t)groups, sizeof *ids);
    assert_non_null(ids);
    for (int g = 0; g < groups; g++)
        ids[g] = g + 1;
    m->group_ids = ids;
    m->n_groups = groups;
    for (size_t i = 0; i < m->n_heads; i++) {
        head_result *h = &m->heads[i];
        h->n_groups = groups;
        h->replicates = arena_alloc(a, (size_t)groups, sizeof *h->replicates);
        assert_non_null(h->replicates);
        for (int g = 0; g < groups; g++)
            h->replicates[g] = h->whole;
    }
}

#endif
