/* findings.c: measured sentences. Three kinds: of one model, of the step from one checkpoint to the
 * next, of a whole training run. What is measured stands in tables; the code only runs over them.
 */
#include "analysis/findings.h"

#include "analysis/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A smaller |tau| is not called a trend. */
static const double STEADY_TAU = 0.5;
/* spec: heads whose keys drift against their queries */
static const double OPPOSED_R_K = -0.3;

/* ---- what is measured of a head ---- */

static double opposed(const head_view *v)
{
    return v->r_k < OPPOSED_R_K;
}

static double q_not_on_pc0(const head_view *v)
{
    return v->top_q != 0;
}

static double k_not_on_pc0(const head_view *v)
{
    return v->top_k != 0;
}

#define X(code, name)                                                                              \
    static double is_##code(const head_view *v)                                                    \
    {                                                                                              \
        return taxonomy_of(v->r_q, v->r_k) == (code);                                              \
    }
QKS_CLASS_LIST(X)
#undef X

typedef struct measure {
    const char *quantity, *words;
    head_measure *of;
    const char *spread; /* quantity name for the sd over heads; NULL: not reported */
    bool split;         /* also by depth and by RoPE */
    bool trend;         /* also along training */
} measure;

static const measure MEASURES[] = {
    {"mean_r_q", "mean r_q on PC0", measure_r_q, "sd_r_q", true, true},
    {"mean_r_k", "mean r_k on PC0", measure_r_k, "sd_r_k", true, true},
    {"mean_abs_r_k", "mean |r_k| on PC0", measure_abs_r_k, "sd_abs_r_k", true, true},
    {"mean_explained_variance", "mean explained variance of PC0", measure_explained_variance,
     "sd_explained_variance", true, true},
    {"share_opposed", "share of heads with r_k < -0.3", opposed, NULL, true, true},
#define X(code, name) {"share_" name, "share of " name " heads", is_##code, NULL, true, true},
    QKS_CLASS_LIST(X)
#undef X
        {"share_q_not_pc0",
         "share of heads whose queries carry position best on another PC than PC0", q_not_on_pc0,
         NULL, false, false},
    {"share_k_not_pc0", "share of heads whose keys carry position best on another PC than PC0",
     k_not_on_pc0, NULL, false, false},
};
enum { N_MEASURES = sizeof MEASURES / sizeof *MEASURES };

/* ---- which heads ---- */

static bool with_rope(const model_result *m, const head_result *h)
{
    (void)m;
    return h->row.rope == 1;
}

static bool without_rope(const model_result *m, const head_result *h)
{
    (void)m;
    return h->row.rope == 0;
}

static bool early(const model_result *m, const head_result *h)
{
    return depth_bin(h->row.layer, m->layers) <= 2;
}

static bool late(const model_result *m, const head_result *h)
{
    return depth_bin(h->row.layer, m->layers) >= 7;
}

static bool middle(const model_result *m, const head_result *h)
{
    return !early(m, h) && !late(m, h);
}

typedef struct subset {
    const char *suffix, *words;
    head_filter *filter;
} subset;

static const subset SUBSETS[] = {
    {"", "all layers", NULL},
    {"[rope]", "layers with RoPE", with_rope},
    {"[nope]", "layers without RoPE", without_rope},
    {"[early]", "early layers (depth up to 0.3)", early},
    {"[middle]", "middle layers (depth 0.3 to 0.7)", middle},
    {"[late]", "late layers (depth above 0.7)", late},
};
enum { N_SUBSETS = sizeof SUBSETS / sizeof *SUBSETS };

/* ---- words ---- */

typedef struct writer {
    finding_list *list;
    arena *memory;
    qks_error *error;
} writer;

/* An error of 0 (no replicate differs) gives no z, and needs no word. */
static const char *doubt(writer *w, double value, double se)
{
    double z = words_z(value, se);
    const char *text = isnan(se)  ? ", no error bar"
                       : isnan(z) ? ""
                                  : arena_format(w->memory, ", z = %.1f", z);
    return text ? text : "";
}

static const char *heads_of(writer *w, size_t count)
{
    const char *text = arena_format(w->memory, "%zu head%s", count, count == 1 ? "" : "s");
    return text ? text : "";
}

static qks_status say(writer *w, const char *subject, const char *quantity, double value, double se,
                      double z, const char *sentence)
{
    if (!subject || !quantity || !sentence)
        return out_of_memory(w->error, "findings");
    if (isnan(value))
        return QKS_OK;
    return array_push(w->list,
                      ((qks_finding_row){.subject = subject,
                                         .quantity = quantity,
                                         .value = value,
                                         .se = se,
                                         .z = z,
                                         .sentence = sentence}),
                      w->error);
}

/* ---- one model ---- */

static qks_status say_mean(writer *w, const model_result *m, const measure *what,
                           const subset *where)
{
    estimate e;
    qks_status status = estimate_mean(&e, m, what->of, where->filter, w->memory, w->error);
    if (status != QKS_OK || e.n_heads == 0)
        return status;
    status = say(w, m->model, arena_format(w->memory, "%s%s", what->quantity, where->suffix),
                 e.value, e.se, NAN,
                 arena_format(w->memory, "%s: the %s is %s (%s, %s).", m->model, what->words,
                              words_number(w->memory, e.value, e.se, false), heads_of(w, e.n_heads),
                              where->words));
    if (status != QKS_OK || !what->spread || isnan(e.sd))
        return status;
    return say(w, m->model, arena_format(w->memory, "%s%s", what->spread, where->suffix), e.sd,
               e.se_sd, NAN,
               arena_format(w->memory, "%s: over heads the %s has a standard deviation of %s (%s).",
                            m->model, what->words + strlen("mean "),
                            words_number(w->memory, e.sd, e.se_sd, false), where->words));
}

/* SE of x over the groups that have rows in any of the estimates. */
static qks_status joint_se(writer *w, const double *x, const estimate *e, size_t count, int groups,
                           double *se)
{
    bool *present = arena_alloc(w->memory, (size_t)groups, sizeof *present);
    if (!present)
        return out_of_memory(w->error, "findings");
    for (int g = 0; g < groups; g++)
        for (size_t i = 0; i < count; i++)
            present[g] = present[g] || e[i].present[g];
    *se = replicates_se(x, present, (size_t)groups);
    return QKS_OK;
}

static qks_status say_gradient(writer *w, const model_result *m, const measure *what)
{
    enum { EARLY, LATE, ENDS };
    estimate ends[ENDS];
    qks_status status = estimate_mean(&ends[EARLY], m, what->of, early, w->memory, w->error);
    if (status == QKS_OK)
        status = estimate_mean(&ends[LATE], m, what->of, late, w->memory, w->error);
    if (status != QKS_OK || ends[EARLY].n_heads == 0 || ends[LATE].n_heads == 0)
        return status;
    double value = ends[EARLY].value - ends[LATE].value, se = NAN;
    if (ends[EARLY].replicates && ends[LATE].replicates) {
        double *x = ends[EARLY].replicates;
        for (int g = 0; g < m->n_groups; g++)
            x[g] -= ends[LATE].replicates[g];
        status = joint_se(w, x, ends, ENDS, m->n_groups, &se);
        if (status != QKS_OK)
            return status;
    }
    static const char *const verbs[] = {"rises with depth", "does not change measurably with depth",
                                        "falls with depth"};
    return say(w, m->model, arena_format(w->memory, "depth_gradient_%s", what->quantity), value, se,
               words_z(value, se),
               arena_format(w->memory, "%s: the %s %s: early minus late is %s%s.", m->model,
                            what->words, verbs[words_direction(value, se) + 1],
                            words_number(w->memory, value, se, true), doubt(w, value, se)));
}

static qks_status of_model(writer *w, const model_result *m)
{
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < N_MEASURES; i++)
        for (size_t s = 0; status == QKS_OK && s < (MEASURES[i].split ? (size_t)N_SUBSETS : 1); s++)
            status = say_mean(w, m, &MEASURES[i], &SUBSETS[s]);
    for (size_t i = 0; status == QKS_OK && i < 2; i++)
        status = say_gradient(w, m, &MEASURES[i]);
    return status;
}

/* ---- from one checkpoint to the next ---- */

typedef struct head_pair {
    const head_result *before, *after;
} head_pair;

typedef struct step {
    const model_result *from, *to;
    head_pair *heads; /* in both */
    size_t n_heads;
    bool paired; /* their document groups are the same, so their errors go together */
} step;

/* A number of a step, without group g of the first and h of the second (-1: with all). */
typedef double step_measure(const step *s, const measure *what, int g, int h);

static const head_view *view_without(const head_result *h, int group)
{
    return group >= 0 && h->replicates ? &h->replicates[group] : &h->whole;
}

static double change(const step *s, const measure *what, int g, int h)
{
    double sum = 0;
    for (size_t i = 0; i < s->n_heads; i++)
        sum += what->of(view_without(s->heads[i].after, h)) -
               what->of(view_without(s->heads[i].before, g));
    return sum / (double)s->n_heads;
}

static double change_of_signs(const step *s, int g, int h, bool flipped)
{
    double sum = 0;
    for (size_t i = 0; i < s->n_heads; i++) {
        double before = view_without(s->heads[i].before, g)->r_k;
        double after = view_without(s->heads[i].after, h)->r_k;
        if ((before * after < 0) == flipped)
            sum += after - before;
    }
    return sum / (double)s->n_heads;
}

static double change_kept(const step *s, const measure *what, int g, int h)
{
    (void)what;
    return change_of_signs(s, g, h, false);
}

static double change_flipped(const step *s, const measure *what, int g, int h)
{
    (void)what;
    return change_of_signs(s, g, h, true);
}

static double share_flipped(const step *s, const measure *what, int g, int h)
{
    (void)what;
    double flips = 0;
    for (size_t i = 0; i < s->n_heads; i++)
        flips += view_without(s->heads[i].before, g)->r_k *
                     view_without(s->heads[i].after, h)->r_k <
                 0;
    return flips / (double)s->n_heads;
}

static bool group_present(const step *s, int g, bool in_from, bool in_to)
{
    for (size_t i = 0; i < s->n_heads; i++) {
        const head_view *before = s->heads[i].before->replicates;
        const head_view *after = s->heads[i].after->replicates;
        if ((in_from && before && before[g].present) || (in_to && after && after[g].present))
            return true;
    }
    return false;
}

/* The jackknife over the groups of one side, or of both at once where they are the same. */
static qks_status step_se(writer *w, const step *s, step_measure *of, const measure *what,
                          bool in_from, bool in_to, double *se)
{
    int groups = in_from ? s->from->n_groups : s->to->n_groups;
    size_t room = (size_t)groups + 1;
    double *x = arena_alloc(w->memory, room, sizeof *x);
    bool *present = arena_alloc(w->memory, room, sizeof *present);
    if (!x || !present)
        return out_of_memory(w->error, "findings");
    for (int g = 0; g < groups; g++) {
        present[g] = group_present(s, g, in_from, in_to);
        if (present[g])
            x[g] = of(s, what, in_from ? g : -1, in_to ? g : -1);
    }
    *se = replicates_se(x, present, (size_t)groups);
    return QKS_OK;
}

static qks_status step_estimate(writer *w, const step *s, step_measure *of, const measure *what,
                                double *value, double *se)
{
    *value = of(s, what, -1, -1);
    if (s->paired)
        return step_se(w, s, of, what, true, true, se);
    double before = NAN, after = NAN;
    qks_status status = step_se(w, s, of, what, true, false, &before);
    if (status == QKS_OK)
        status = step_se(w, s, of, what, false, true, &after);
    *se = sqrt(before * before + after * after);
    return status;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* "from S3-4.7M to LC1-4K (stage 3 to LC 4K->32K)" */
static const char *step_words(writer *w, const step *s)
{
    bool boundary = s->from->phase && s->to->phase && !same_text(s->from->phase, s->to->phase);
    const char *words = boundary
                            ? arena_format(w->memory, "From %s to %s (%s to %s)", s->from->model,
                                           s->to->model, s->from->phase, s->to->phase)
                            : arena_format(w->memory, "From %s to %s", s->from->model,
                                           s->to->model);
    return words ? words : "";
}

static qks_status say_change(writer *w, const step *s, const char *subject, const measure *what)
{
    double value = 0, se = NAN;
    qks_status status = step_estimate(w, s, change, what, &value, &se);
    if (status != QKS_OK)
        return status;
    static const char *const verbs[] = {"falls", "does not change measurably", "rises"};
    return say(w, subject, arena_format(w->memory, "change_%s", what->quantity), value, se,
               words_z(value, se),
               arena_format(w->memory, "%s the %s %s: %s%s.", step_words(w, s), what->words,
                            verbs[words_direction(value, se) + 1],
                            words_number(w->memory, value, se, true), doubt(w, value, se)));
}

/* spec: what a change of mean r_k is made of */
static qks_status say_parts(writer *w, const step *s, const char *subject)
{
    static const struct {
        const char *quantity, *words;
        step_measure *of;
        bool sign;
    } parts[] = {
        {"change_mean_r_k_kept_sign", "heads that keep the sign of r_k change the mean r_k by",
         change_kept, true},
        {"change_mean_r_k_flipped_sign", "heads whose r_k changes sign change the mean r_k by",
         change_flipped, true},
        {"share_sign_flips", "the share of heads whose r_k changes sign is", share_flipped, false},
    };
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < sizeof parts / sizeof *parts; i++) {
        double value = 0, se = NAN;
        status = step_estimate(w, s, parts[i].of, NULL, &value, &se);
        if (status == QKS_OK)
            status = say(
                w, subject, parts[i].quantity, value, se, parts[i].sign ? words_z(value, se) : NAN,
                arena_format(w->memory, "%s %s %s%s (%s).", step_words(w, s), parts[i].words,
                             words_number(w->memory, value, se, parts[i].sign),
                             parts[i].sign ? doubt(w, value, se) : "", heads_of(w, s->n_heads)));
    }
    return status;
}

static int compare_heads(const qks_head_row *a, const qks_head_row *b)
{
    if (a->layer != b->layer)
        return a->layer < b->layer ? -1 : 1;
    return a->head < b->head ? -1 : a->head > b->head;
}

static bool same_groups(const model_result *a, const model_result *b)
{
    return a->n_groups == b->n_groups && a->group_ids && b->group_ids &&
           memcmp(a->group_ids, b->group_ids, (size_t)a->n_groups * sizeof *a->group_ids) == 0;
}

static qks_status step_of(writer *w, step *s, const model_result *from, const model_result *to)
{
    size_t most = from->n_heads < to->n_heads ? from->n_heads : to->n_heads;
    *s = (step){.from = from, .to = to, .paired = same_groups(from, to)};
    s->heads = arena_alloc(w->memory, most + 1, sizeof *s->heads);
    if (!s->heads)
        return out_of_memory(w->error, "findings");
    for (size_t i = 0, j = 0; i < from->n_heads && j < to->n_heads;) {
        int order = compare_heads(&from->heads[i].row, &to->heads[j].row);
        if (order == 0)
            s->heads[s->n_heads++] = (head_pair){&from->heads[i], &to->heads[j]};
        i += order <= 0;
        j += order >= 0;
    }
    return QKS_OK;
}

static qks_status of_step(writer *w, const model_result *from, const model_result *to)
{
    step s;
    const char *subject = arena_format(w->memory, "%s -> %s", from->model, to->model);
    qks_status status = step_of(w, &s, from, to);
    if (status != QKS_OK || s.n_heads == 0)
        return status;
    for (size_t i = 0; status == QKS_OK && i < N_MEASURES; i++)
        if (MEASURES[i].trend)
            status = say_change(w, &s, subject, &MEASURES[i]);
    return status == QKS_OK ? say_parts(w, &s, subject) : status;
}

/* ---- a training run ---- */

/* Kendall's tau (b, so that ties do not count) of values in their order. */
static double kendall(const double *x, size_t n)
{
    double score = 0, untied = 0, pairs = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            score += (x[j] > x[i]) - (x[j] < x[i]);
            untied += x[j] != x[i];
            pairs++;
        }
    return untied > 0 ? score / sqrt(untied * pairs) : 0;
}

/* tau without each document group, if the checkpoints share their groups. */
static qks_status tau_se(writer *w, const model_result *models, const estimate *e, size_t count,
                         double *se)
{
    int groups = models[0].n_groups;
    for (size_t i = 0; i < count; i++)
        if (!e[i].replicates || !same_groups(&models[0], &models[i]))
            return QKS_OK;
    double *x = arena_alloc(w->memory, count, sizeof *x);
    double *taus = arena_alloc(w->memory, (size_t)groups, sizeof *taus);
    if (!x || !taus)
        return out_of_memory(w->error, "findings");
    for (int g = 0; g < groups; g++) {
        for (size_t i = 0; i < count; i++)
            x[i] = e[i].replicates[g];
        taus[g] = kendall(x, count);
    }
    return joint_se(w, taus, e, count, groups, se);
}

static const char *trend_verb(double tau, double se)
{
    int way = fabs(tau) > STEADY_TAU ? words_direction(tau, se) : 0;
    return way > 0 ? "tends to rise" : way < 0 ? "tends to fall" : "has no steady trend";
}

static qks_status say_trend(writer *w, const model_result *models, size_t count,
                            const measure *what)
{
    estimate *e = arena_alloc(w->memory, count, sizeof *e);
    double *x = arena_alloc(w->memory, count, sizeof *x);
    if (!e || !x)
        return out_of_memory(w->error, "findings");
    size_t peak = 0, lowest = 0;
    for (size_t i = 0; i < count; i++) {
        qks_status status = estimate_mean(&e[i], &models[i], what->of, NULL, w->memory, w->error);
        if (status != QKS_OK || e[i].n_heads == 0)
            return status;
        x[i] = e[i].value;
        peak = x[i] > x[peak] ? i : peak;
        lowest = x[i] < x[lowest] ? i : lowest;
    }
    double tau = kendall(x, count), se = NAN;
    qks_status status = tau_se(w, models, e, count, &se);
    if (status == QKS_OK)
        status = say(w, "training", arena_format(w->memory, "trend_%s", what->quantity), tau, se,
                     words_z(tau, se),
                     arena_format(w->memory,
                                  "Along training the %s %s: Kendall's tau over %zu checkpoints is "
                                  "%s%s.",
                                  what->words, trend_verb(tau, se), count,
                                  words_number(w->memory, tau, se, true), doubt(w, tau, se)));
    if (status != QKS_OK || x[peak] == x[lowest])
        return status;
    return say(w, "training", arena_format(w->memory, "peak_%s", what->quantity), e[peak].value,
               e[peak].se, NAN,
               arena_format(w->memory, "The %s peaks at %s: %s.", what->words, models[peak].model,
                            words_number(w->memory, e[peak].value, e[peak].se, false)));
}

qks_status findings_of(const model_result *models, size_t count, bool training, finding_list *list,
                       arena *a, qks_error *error)
{
    writer w = {.list = list, .memory = a, .error = error};
    qks_status status = QKS_OK;
    for (size_t i = 0; training && count > 1 && status == QKS_OK && i < N_MEASURES; i++)
        if (MEASURES[i].trend)
            status = say_trend(&w, models, count, &MEASURES[i]);
    for (size_t i = 1; training && status == QKS_OK && i < count; i++)
        status = of_step(&w, &models[i - 1], &models[i]);
    if (training && count > 2 && status == QKS_OK)
        status = of_step(&w, &models[0], &models[count - 1]);
    for (size_t i = 0; status == QKS_OK && i < count; i++)
        status = of_model(&w, &models[i]);
    return status;
}
