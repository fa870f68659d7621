/* graph.c: the block of architecture.h, line by line. Shapes are ggml's: the fastest dimension
 * first, so [hidden, n] is n tokens of `hidden` numbers each. */
#include "engine/graph.h"

#include <math.h>

/* Scores held at once by attention on devices without our operator, in floats. */
enum { SCORES_MAX = 1 << 25 };

typedef struct builder {
    struct ggml_context *g;
    const graph_request *want;
    const architecture *a;
    graph *out;
} builder;

static const layer_weight *weight_of(const builder *b, weight_role role)
{
    return &b->want->layer->weight[role];
}

/* ggml's product, summed in float32 also where a device would rather take less */
static struct ggml_tensor *product(const builder *b, struct ggml_tensor *w, struct ggml_tensor *x)
{
    struct ggml_tensor *y = ggml_mul_mat(b->g, w, x);
    (void)ggml_prec_set_acc(y, GGML_PREC_F32);
    return y;
}

/* W x, plus the bias if there is one */
static struct ggml_tensor *linear(const builder *b, weight_role role, weight_role bias,
                                  struct ggml_tensor *x)
{
    const layer_weight *w = weight_of(b, role);
    struct ggml_tensor *y = w->stored ? multiply_on_host(b->g, w, x) : product(b, w->tensor, x);
    struct ggml_tensor *add = weight_of(b, bias)->tensor;
    return add ? ggml_add(b->g, y, add) : y;
}

/* RMS norm over the fastest dimension; as it is where the model has no such norm */
static struct ggml_tensor *norm(const builder *b, weight_role role, struct ggml_tensor *x)
{
    struct ggml_tensor *w = weight_of(b, role)->tensor;
    if (!w)
        return x;
    return ggml_mul(b->g, ggml_rms_norm(b->g, x, b->a->norm_epsilon), w);
}

/* [heads * d, n] -> [d, heads, n] */
static struct ggml_tensor *by_head(const builder *b, struct ggml_tensor *x, int heads)
{
    return ggml_reshape_3d(b->g, x, b->a->head_dim, heads, b->want->n);
}

static struct ggml_tensor *by_token(const builder *b, struct ggml_tensor *x)
{
    return ggml_reshape_2d(b->g, x, x->ne[0] * x->ne[1], x->ne[2]);
}

/* ggml turns pair p by position * base^(-2p/n) / factor[p]; with base 1 and factor 1/frequency that
 * is position * frequency, whatever scaling made the frequency. What is given out before the
 * rotation stays as it is. */
static struct ggml_tensor *turn(const builder *b, struct ggml_tensor *x)
{
    const rope *r = b->a->layers[b->want->layer->number].rope;
    if (!r)
        return x;
    if (b->want->host)
        return turned_on_host(b->g, r, x, b->out->positions, !b->want->pre_rope);
    return ggml_rope_ext(b->g, x, b->out->positions,
                         b->want->store->frequencies[b->want->layer->number], r->dimensions,
                         r->interleaved ? GGML_ROPE_TYPE_NORMAL : GGML_ROPE_TYPE_NEOX, 0, 1.0F,
                         1.0F, 0.0F, r->factor, 0.0F, 0.0F);
}

static struct ggml_tensor *input(const builder *b, enum ggml_type type, int64_t n0, int64_t n1,
                                 int64_t n2)
{
    struct ggml_tensor *t = ggml_new_tensor_3d(b->g, type, n0, n1, n2);
    ggml_set_input(t);
    return t;
}

/* The sum of x and y; on the host it replaces the hidden states in their own memory, which nothing
 * later in the graph reads. */
static struct ggml_tensor *add_to_hidden(const builder *b, struct ggml_tensor *x,
                                         struct ggml_tensor *y)
{
    struct ggml_tensor *sum = ggml_add(b->g, x, y);
    if (b->want->host)
        sum->data = b->want->hidden;
    return sum;
}

/* A result that the host reads: it keeps its memory to the end, and gets its place in the graph. */
static struct ggml_tensor *output(const builder *b, struct ggml_tensor *t)
{
    ggml_set_output(t->view_src ? t->view_src : t);
    ggml_build_forward_expand(b->out->nodes, t);
    return t;
}

/* ---- attention on any device ---- */

/* Keys or values `first_key ...` of the store as [d, keys, kv_heads]. */
static struct ggml_tensor *stored(const builder *b, struct ggml_tensor *t, int64_t n_keys)
{
    return ggml_view_3d(b->g, t, t->ne[0], n_keys, t->ne[2], t->nb[1], t->nb[2],
                        (size_t)b->out->first_key * t->nb[1]);
}

/* A slice of queries [d, n, q_heads] against all keys: the full matrix of scores, masked. */
static struct ggml_tensor *attend(const builder *b, struct ggml_tensor *q, struct ggml_tensor *k,
                                  struct ggml_tensor *v, int64_t first, int64_t n)
{
    struct ggml_tensor *part = ggml_cont(
        b->g,
        ggml_view_3d(b->g, q, q->ne[0], n, q->ne[2], q->nb[1], q->nb[2], (size_t)first * q->nb[1]));
    struct ggml_tensor *mask = ggml_cont(b->g, ggml_view_2d(b->g, b->out->mask, b->out->mask->ne[0],
                                                            n, b->out->mask->nb[1],
                                                            (size_t)first * b->out->mask->nb[1]));
    struct ggml_tensor *scores = product(b, k, part); /* [keys, n, q_heads] */
    scores = ggml_soft_max_ext(b->g, scores, mask, b->a->score_scale, 0.0F);
    struct ggml_tensor *sums = product(b, v, scores);             /* [d, n, q_heads] */
    return ggml_cont(b->g, ggml_permute(b->g, sums, 0, 2, 1, 3)); /* [d, q_heads, n] */
}

static struct ggml_tensor *attention_anywhere(const builder *b, struct ggml_tensor *q)
{
    const graph_request *want = b->want;
    int64_t window = b->a->layers[want->layer->number].kind == LAYER_SLIDING
                         ? b->a->layers[want->layer->number].window
                         : 0;
    b->out->first_key = window && want->place - window + 1 > 0 ? want->place - window + 1 : 0;
    int64_t n_keys = want->place + want->n - b->out->first_key;
    b->out->mask = input(b, GGML_TYPE_F32, n_keys, want->n, 1);
    struct ggml_tensor *k = ggml_cont(b->g, stored(b, want->store->keys, n_keys));
    struct ggml_tensor *v = ggml_cont(
        b->g, ggml_permute(b->g, stored(b, want->store->values, n_keys), 1, 0, 2, 3));
    struct ggml_tensor *queries = ggml_cont(b->g, ggml_permute(b->g, q, 0, 2, 1, 3));
    int64_t slice = SCORES_MAX / (n_keys * b->a->q_heads);
    slice = slice < 1 ? 1 : slice;
    int64_t least = (want->n + 15) / 16; /* keeps the number of nodes bounded */
    slice = slice < least ? least : slice;
    struct ggml_tensor *all = attend(b, queries, k, v, 0, want->n < slice ? want->n : slice);
    for (int64_t first = slice; first < want->n; first += slice) {
        int64_t n = want->n - first < slice ? want->n - first : slice;
        all = ggml_concat(b->g, all, attend(b, queries, k, v, first, n), 2);
    }
    return by_token(b, all);
}

static struct ggml_tensor *attention_of(const builder *b, struct ggml_tensor *q)
{
    const graph_request *want = b->want;
    if (!want->host)
        return attention_anywhere(b, q);
    const layer_facts *facts = &b->a->layers[want->layer->number];
    attention_facts *f = want->attention;
    f->q_heads = b->a->q_heads;
    f->kv_heads = b->a->kv_heads;
    f->head_dim = b->a->head_dim;
    f->window = facts->kind == LAYER_SLIDING ? facts->window : 0;
    f->scale = b->a->score_scale;
    atomic_store(&f->next, 0);
    return attention_on_host(b->g, f, by_token(b, q), want->store->keys, want->store->values);
}

/* ---- the block ---- */

/* Keys or values [d, kv_heads, n] of the chunk to their place in the store. */
static void keep(const builder *b, struct ggml_tensor *store, struct ggml_tensor *chunk)
{
    struct ggml_tensor *place = ggml_view_3d(b->g, store, store->ne[0], b->want->n, store->ne[2],
                                             store->nb[1], store->nb[2],
                                             (size_t)b->want->place * store->nb[1]);
    chunk = ggml_permute(b->g, chunk, 0, 2, 1, 3);
    ggml_build_forward_expand(b->out->nodes, ggml_cpy(b->g, chunk, place));
}

static struct ggml_tensor *feed_forward(const builder *b, struct ggml_tensor *x)
{
    struct ggml_tensor *gate = linear(b, WEIGHT_GATE, WEIGHT_GATE_BIAS, x);
    struct ggml_tensor *up = linear(b, WEIGHT_UP, WEIGHT_UP_BIAS, x);
    struct ggml_tensor *both = NULL;
    switch (b->a->activation) {
    case ACTIVATION_SILU:
        both = b->want->host ? gated_on_host(b->g, b->a->activation, gate, up)
                             : ggml_swiglu_split(b->g, gate, up);
        break;
    case ACTIVATION_GELU:
        both = ggml_geglu_erf_split(b->g, gate, up);
        break;
    case ACTIVATION_GELU_TANH:
        both = b->want->host ? gated_on_host(b->g, b->a->activation, gate, up)
                             : ggml_geglu_split(b->g, gate, up);
        break;
    }
    return linear(b, WEIGHT_DOWN, WEIGHT_DOWN_BIAS, both);
}

graph graph_build(struct ggml_context *context, const graph_request *want)
{
    graph out = {.nodes = ggml_new_graph_custom(context, GRAPH_NODES, false)};
    const architecture *a = want->a;
    builder b = {context, want, a, &out};
    out.x = input(&b, GGML_TYPE_F32, a->hidden, want->n, 1);
    if (want->host)
        out.x->data = want->hidden;
    bool turned = !(want->pre_rope && want->only_q_k);
    if (turned && a->layers[want->layer->number].rope)
        out.positions = input(&b, GGML_TYPE_I32, want->n, 1, 1);
    struct ggml_tensor *h = norm(&b, WEIGHT_ATTENTION_NORM, out.x);
    struct ggml_tensor *q = by_head(&b, linear(&b, WEIGHT_Q, WEIGHT_Q_BIAS, h), a->q_heads);
    struct ggml_tensor *k = by_head(&b, linear(&b, WEIGHT_K, WEIGHT_K_BIAS, h), a->kv_heads);
    q = norm(&b, WEIGHT_Q_NORM, q);
    k = norm(&b, WEIGHT_K_NORM, k);
    if (want->pre_rope) {
        out.q = output(&b, q);
        out.k = output(&b, k);
    }
    if (turned) {
        q = turn(&b, q);
        k = turn(&b, k);
        if (a->query_beta != 0) {
            out.query_scale = input(&b, GGML_TYPE_F32, 1, 1, want->n);
            q = ggml_mul(context, q, out.query_scale);
        }
    }
    if (!want->pre_rope) {
        out.q = output(&b, q);
        out.k = output(&b, k);
    }
    if (want->only_q_k)
        return out;
    keep(&b, want->store->keys, k);
    keep(&b, want->store->values, by_head(&b, linear(&b, WEIGHT_V, WEIGHT_V_BIAS, h), a->kv_heads));
    struct ggml_tensor *attended = linear(&b, WEIGHT_O, WEIGHT_O_BIAS, attention_of(&b, q));
    struct ggml_tensor *x = add_to_hidden(&b, out.x,
                                          norm(&b, WEIGHT_POST_ATTENTION_NORM, attended));
    struct ggml_tensor *fed = feed_forward(&b, norm(&b, WEIGHT_FFN_NORM, x));
    out.out = output(&b, add_to_hidden(&b, x, norm(&b, WEIGHT_POST_FFN_NORM, fed)));
    return out;
}
