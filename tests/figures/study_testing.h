/* study_testing.h: small studies made by hand, for the tests of figures: tables in, a view out.
 * Every head has two PCs; what a test is about it puts into the tables before opening the view. */
#ifndef QKS_FIGURES_STUDY_TESTING_H
#define QKS_FIGURES_STUDY_TESTING_H

#include "testing.h"

#include "figures/figures.h"

enum { MODELS_MOST = 40, HEADS_EACH = 12, LAYERS = 12, FINDINGS_MOST = 400 };

typedef struct made_study {
    figure_tables tables;
    figure_facts facts;
    qks_qk_row qk[MODELS_MOST * HEADS_EACH * 2];
    qks_head_row heads[MODELS_MOST * HEADS_EACH];
    qks_depth_row depth[MODELS_MOST * DEPTH_BINS];
    qks_trajectory_row trajectory[MODELS_MOST];
    qks_finding_row findings[FINDINGS_MOST];
    char names[MODELS_MOST][24];
    view view;
} made_study;

/* `count` models m0, m1, ...; every fourth layer without RoPE. Caller ends with study_end. */
static inline made_study *study_begin(bool training, size_t count)
{
    made_study *s = calloc(1, sizeof *s);
    if (!s || count > MODELS_MOST) {
        fail_msg("no room for a study of %zu models", count);
        abort(); /* not reached */
    }
    for (size_t m = 0; m < count; m++) {
        (void)snprintf(s->names[m], sizeof s->names[m], "m%zu", m);
        s->trajectory[m] = (qks_trajectory_row){.order = (int64_t)m,
                                                .model = s->names[m],
                                                .group = "one",
                                                .n_heads = HEADS_EACH,
                                                .mean_r_q = 0.5,
                                                .sd_r_q = 0.1,
                                                .se_r_q = NAN,
                                                .mean_r_k = 0.4,
                                                .sd_r_k = 0.2,
                                                .se_r_k = NAN,
                                                .mean_explained_variance = 0.3,
                                                .sd_explained_variance = 0.05,
                                                .share = {0.2, 0.2, 0.2, 0.2, 0.2}};
        for (size_t h = 0; h < HEADS_EACH; h++) {
            qks_head_row *head = &s->heads[m * HEADS_EACH + h];
            *head = (qks_head_row){
                .model = s->names[m], .layer = (int64_t)h, .head = 1, .rope = h % 4 != 3};
            for (int pc = 0; pc < 2; pc++)
                s->qk[(m * HEADS_EACH + h) * 2 + (size_t)pc] = (qks_qk_row){
                    .model = s->names[m],
                    .layer = (int64_t)h,
                    .head = 1,
                    .pc = pc,
                    .explained_variance = pc ? 0.1 : 0.4,
                    .r_q = pc ? 0.1 : 0.8,
                    .r_k = pc ? 0.05 : 0.5};
        }
        for (int bin = 0; bin < DEPTH_BINS; bin++)
            s->depth[m * DEPTH_BINS + (size_t)bin] = (qks_depth_row){.model = s->names[m],
                                                                     .bin = bin,
                                                                     .n_heads = 1,
                                                                     .r_q = 0.8,
                                                                     .r_k = 0.5,
                                                                     .se_r_q = NAN,
                                                                     .se_r_k = NAN};
    }
    s->tables = (figure_tables){.training = training,
                                .qk = s->qk,
                                .n_qk = count * HEADS_EACH * 2,
                                .heads = s->heads,
                                .n_heads = count * HEADS_EACH,
                                .depth = s->depth,
                                .n_depth = count * DEPTH_BINS,
                                .trajectory = s->trajectory,
                                .n_trajectory = count,
                                .findings = s->findings};
    return s;
}

static inline void study_finding(made_study *s, const char *subject, const char *quantity,
                                 double value, double se)
{
    if (s->tables.n_findings == FINDINGS_MOST)
        fail_msg("no room for a finding");
    s->findings[s->tables.n_findings++] = (qks_finding_row){
        .subject = subject, .quantity = quantity, .value = value, .se = se, .sentence = ""};
}

static inline const view *study_view(made_study *s)
{
    qks_error error;
    assert_ok(view_open(&s->view, &s->tables, &s->facts, &error), &error);
    return &s->view;
}

static inline void study_end(made_study *s)
{
    view_free(&s->view);
    free(s);
}

#endif
