/* Sentences of the explanations, on tables made to have a finding, its opposite, and none. */
#include "study_testing.h"

#include "figures/readme.h"

/* What a figure's explanation says of the study. */
static char *explained(made_study *s, const figure *f)
{
    text out = text_new(1 << 20);
    readme_print(f, study_view(s), NULL, &out);
    qks_error error;
    assert_ok(text_status(&out, "README", &error), &error);
    return out.data;
}

static void assert_says(const char *readme, const char *part, bool yes)
{
    if ((strstr(readme, part) != NULL) == yes)
        return;
    print_error("it should %ssay '%s':\n%s\n", yes ? "" : "not ", part, readme);
    fail();
}

/* One difference, four ways to be told. */
typedef struct told {
    double value, se;
    const char *words; /* that appear */
    const char *not_words;
} told;

/* ---- from one checkpoint to the next ---- */

static void a_step_rises_falls_or_does_neither(void **state)
{
    (void)state;
    static const told cases[] = {
        {0.14, 0.01, "Mean r_q rises from 0.67 at m0 to 0.81 at m1: +0.14 ± 0.01.", "falls"},
        {-0.14, 0.01, "Mean r_q falls from 0.67 at m0 to 0.53 at m1: -0.14 ± 0.01.", "rises"},
        {0.14, 0.08,
         "Mean r_q does not change measurably from m0 to m1: 0.67 and 0.81, a change of "
         "+0.14 ± 0.08.",
         "rises from"},
        {0.14, NAN, "Mean r_q rises from 0.67 at m0 to 0.81 at m1: +0.14.", "falls"},
        {0.004, NAN, "Mean r_q hardly changes from m0 to m1: 0.670 and 0.674", "rises from"},
        {0.004, 0.001, "Mean r_q rises from 0.670 at m0 to 0.674 at m1: +0.004 ± 0.001.", "falls"},
        {0, 0, "Mean r_q is 0.67 at m0 and at m1, whatever group of documents is left out.",
         "change"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        made_study *s = study_begin(true, 2);
        study_finding(s, "m0", "mean_r_q", 0.67, cases[i].se);
        study_finding(s, "m1", "mean_r_q", 0.67 + cases[i].value, cases[i].se);
        study_finding(s, "m0 -> m1", "change_mean_r_q", cases[i].value, cases[i].se);
        char *readme = explained(s, &POSITION_SIGNAL);
        assert_says(readme, cases[i].words, true);
        assert_says(readme, cases[i].not_words, false);
        assert_says(readme, "no standard errors for some of this", isnan(cases[i].se));
        free(readme);
        study_end(s);
    }
}

static void a_phase_boundary_is_told_with_its_parts(void **state)
{
    (void)state;
    static const told cases[] = {
        {-0.08, 0.01,
         "Mean r_k falls at the start of long context (m1 to m2): -0.08 ± 0.01, of which "
         "-0.09 ± 0.01 from heads whose sign flips and +0.01 ± 0.01 from heads that keep "
         "it.",
         "does not change measurably"},
        {0.08, 0.01,
         "Mean r_k rises at the start of long context (m1 to m2): +0.08 ± 0.01, of which",
         "does not change measurably"},
        {-0.08, 0.05, "At 1 of 1 phase boundaries mean r_k does not change measurably.",
         "at the start of"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        made_study *s = study_begin(true, 3);
        s->trajectory[2].group = "long context";
        study_finding(s, "m1 -> m2", "change_mean_r_k", cases[i].value, cases[i].se);
        study_finding(s, "m1 -> m2", "change_mean_r_k_flipped_sign", cases[i].value - 0.01, 0.01);
        study_finding(s, "m1 -> m2", "change_mean_r_k_kept_sign", 0.01, 0.01);
        char *readme = explained(s, &POSITION_SIGNAL);
        assert_says(readme, cases[i].words, true);
        assert_says(readme, cases[i].not_words, false);
        free(readme);
        study_end(s);
    }
}

/* m1 -> m2 is at a boundary, m2 -> m3 within a phase. */
static void the_largest_step_within_a_phase_is_told(void **state)
{
    (void)state;
    static const told cases[] = {
        {-0.06, 0.01,
         "The largest later step of mean r_k within a phase is a fall (m2 to m3): -0.06 ± 0.01.",
         "is a rise"},
        {0.06, 0.01, "within a phase is a rise (m2 to m3): +0.06 ± 0.01.", "is a fall"},
        {0.06, 0.04, "Mean r_k rises at the start of long context", "within a phase"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        made_study *s = study_begin(true, 4);
        s->trajectory[2].group = s->trajectory[3].group = "long context";
        study_finding(s, "m0 -> m1", "change_mean_r_k", 0.3, 0.01);
        study_finding(s, "m1 -> m2", "change_mean_r_k", 0.2, 0.01);
        study_finding(s, "m2 -> m3", "change_mean_r_k", cases[i].value, cases[i].se);
        char *readme = explained(s, &POSITION_SIGNAL);
        assert_says(readme, cases[i].words, true);
        assert_says(readme, cases[i].not_words, false);
        free(readme);
        study_end(s);
    }
}

static void a_trend_is_steady_or_none(void **state)
{
    (void)state;
    static const told cases[] = {
        {0.8, 0.1, "tends to rise along training: Kendall's tau over 3 checkpoints is +0.80 ± 0.10",
         "tends to fall"},
        {-0.8, 0.1, "tends to fall along training", "tends to rise"},
        {0.4, 0.01, "has no steady trend along training", "tends to"},
        {0.8, 0.6, "has no steady trend along training", "tends to"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        made_study *s = study_begin(true, 3);
        study_finding(s, "training", "trend_mean_explained_variance", cases[i].value, cases[i].se);
        for (size_t m = 0; m < 3; m++)
            study_finding(s, s->names[m], "mean_explained_variance", m == 1 ? 0.4 : 0.3, 0.01);
        char *readme = explained(s, &VARIANCE_EVOLUTION);
        assert_says(readme, cases[i].words, true);
        assert_says(readme, cases[i].not_words, false);
        assert_says(readme, "is highest at m1: 0.40 ± 0.01.", true);
        free(readme);
        study_end(s);
    }
}

static void a_peak_stands_out_or_is_said_not_to(void **state)
{
    (void)state;
    static const told cases[] = {
        {0.1, 0.01, "is highest at m1: 0.50 ± 0.01.", "but not"},
        {0.01, 0.01, "is highest at m1: 0.41 ± 0.01, but not measurably above m2 (0.40 ± 0.01).",
         "0.41 ± 0.01."},
        {0.005, NAN, "is highest at m1: 0.41, but hardly above m2 (0.40).", "0.41."},
        {-0.1, 0.01, "is highest at m2: 0.40 ± 0.01", "highest at m1"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        made_study *s = study_begin(true, 3);
        const double values[] = {0.3, 0.4 + cases[i].value, 0.4};
        for (size_t m = 0; m < 3; m++)
            study_finding(s, s->names[m], "mean_explained_variance", values[m], cases[i].se);
        char *readme = explained(s, &VARIANCE_EVOLUTION);
        assert_says(readme, cases[i].words, true);
        assert_says(readme, cases[i].not_words, false);
        free(readme);
        study_end(s);
    }
}

/* The first of the classes is ahead of the next by so much. */
static void the_largest_class_is_one_or_two(void **state)
{
    (void)state;
    static const told cases[] = {
        {0.2, 0.02, "At m0 the largest class is mixed, with a share of 0.50 ± 0.02.",
         "classes are"},
        {0.02, 0.02,
         "At m0 the largest classes are mixed and content-focused, with shares of 0.32 ± 0.02 and "
         "0.30 ± 0.02.",
         "largest class is"},
        {-0.2, 0.02, "At m0 the largest class is content-focused, with a share of 0.30 ± 0.02.",
         "classes are"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        made_study *s = study_begin(true, 1);
        double *share = s->trajectory[0].share;
        share[QKS_CONTENT_FOCUSED] = 0.3;
        share[QKS_MIXED] = 0.3 + cases[i].value;
        study_finding(s, "m0", "share_mixed", share[QKS_MIXED], cases[i].se);
        study_finding(s, "m0", "share_content-focused", 0.3, cases[i].se);
        share[QKS_POSITION_DOMINATED] = share[QKS_Q_POSITIONAL] = share[QKS_K_POSITIONAL] = 0.05;
        char *readme = explained(s, &TAXONOMY_EVOLUTION);
        assert_says(readme, cases[i].words, true);
        assert_says(readme, cases[i].not_words, false);
        free(readme);
        study_end(s);
    }
}

static void portraits_compare_the_first_with_the_last(void **state)
{
    (void)state;
    static const told cases[] = {
        {0.2, 0.02, "The share of heads with r_k < -0.3 rises from 0.30 at m0 to 0.50 at m2",
         "r_k < -0.3 falls"},
        {-0.2, 0.02, "The share of heads with r_k < -0.3 falls from 0.30 at m0 to 0.10 at m2",
         "r_k < -0.3 rises"},
        {0.02, 0.02, "The share of heads with r_k < -0.3 does not change measurably from m0 to m2",
         "r_k < -0.3 rises"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        made_study *s = study_begin(true, 3);
        study_finding(s, "m0", "share_opposed", 0.3, 0.01);
        study_finding(s, "m2", "share_opposed", 0.3 + cases[i].value, 0.01);
        study_finding(s, "m0 -> m2", "change_share_opposed", cases[i].value, cases[i].se);
        study_finding(s, "m0 -> m2", "share_sign_flips", 0.25, 0.02);
        study_finding(s, "m0 -> m2", "change_mean_r_k_flipped_sign", -0.11, 0.03);
        char *readme = explained(s, &PHASE_PORTRAITS);
        assert_says(readme, cases[i].words, true);
        assert_says(readme, cases[i].not_words, false);
        assert_says(readme,
                    "Between m0 and m2 the share of heads whose r_k changes sign is 0.25 ± 0.02; "
                    "they change the mean by -0.11 ± 0.03.",
                    true);
        free(readme);
        study_end(s);
    }
}

static void classes_that_move_are_told_and_the_rest_is_listed(void **state)
{
    (void)state;
    made_study *s = study_begin(true, 3);
    for (size_t m = 0; m < 3; m++) {
        study_finding(s, s->names[m], "share_position-dominated", 0.3 + 0.1 * (double)m, 0.01);
        study_finding(s, s->names[m], "share_content-focused", 0.2 - 0.05 * (double)m, 0.01);
        study_finding(s, s->names[m], "share_mixed", 0.3, 0.01);
    }
    study_finding(s, "m0 -> m2", "change_share_position-dominated", 0.2, 0.02);
    study_finding(s, "m0 -> m2", "change_share_content-focused", -0.1, 0.02);
    study_finding(s, "m0 -> m2", "change_share_mixed", 0.01, 0.02);
    s->trajectory[2].share[QKS_POSITION_DOMINATED] = 0.5;
    char *readme = explained(s, &TAXONOMY_EVOLUTION);
    assert_says(readme,
                "The share of position-dominated heads rises from 0.30 at m0 to 0.50 at m2: "
                "+0.20 ± 0.02.",
                true);
    assert_says(readme, "The share of content-focused heads falls from 0.20 at m0 to 0.10", true);
    assert_says(readme, "no measurable change in the share of: mixed (+0.01 ± 0.02)", true);
    assert_says(readme,
                "At m2 the largest class is position-dominated, with a share of 0.50 ± 0.01", true);
    free(readme);
    study_end(s);
}

/* ---- depth ---- */

static void gradients_are_counted_by_what_they_support(void **state)
{
    (void)state;
    made_study *s = study_begin(false, 4);
    static const double values[] = {0.2, -0.2, 0.02, 0.3};
    for (size_t m = 0; m < 4; m++)
        study_finding(s, s->names[m], "depth_gradient_mean_r_k", values[m], 0.02);
    char *readme = explained(s, &MODELS_HEATMAP_RK);
    assert_says(
        readme,
        "From early to late layers mean r_k rises in 1 of 4 models, falls in 2 and does not "
        "change measurably in 1.",
        true);
    assert_says(readme, "It is steepest in m3: early minus late is +0.30 ± 0.02.", true);
    free(readme);
    study_end(s);
}

static void changes_by_depth_are_marked_beyond_two_errors(void **state)
{
    (void)state;
    made_study *s = study_begin(true, 2);
    for (size_t i = 0; i < s->tables.n_depth; i++)
        s->depth[i].se_r_k = 0.03;
    s->depth[DEPTH_BINS + 4].r_k += 0.08; /* the error of a change is 0.042 */
    s->depth[DEPTH_BINS + 7].r_k -= 0.3;
    char *readme = explained(s, &CHANGE_MAP);
    assert_says(readme, "The largest change is -0.30 ± 0.04, at depth 0.7 from m0 to m1.", true);
    assert_says(readme, "1 of 10 cells change by more than 2 standard errors", true);
    free(readme);
    study_end(s);
}

/* The cell that changes most is told only if it does so measurably; else another that does. */
static void the_largest_measurable_change_by_depth_is_told(void **state)
{
    (void)state;
    static const struct {
        double change, se; /* at depth 0.2; at 0.6 it is +0.1 with small errors */
        bool quiet;        /* nothing changes at 0.6 */
        const char *words;
    } cases[] = {
        {0.3, 0.03, false, "the largest change is a rise at depth 0.2: +0.30 ± 0.04."},
        {-0.3, 0.03, false, "the largest change is a fall at depth 0.2: -0.30 ± 0.04."},
        {-0.3, 0.2, false, "the largest change is a rise at depth 0.6: +0.10 ± 0.01."},
        {-0.3, 0.2, true,
         "From m0 to m1 no depth changes measurably; the largest change is -0.30 ± 0.28 (depth "
         "0.2)."},
        {0.001, NAN, true, "no depth changes by as much as 0.01; the largest change is +0.00"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        made_study *s = study_begin(true, 2);
        for (size_t row = 0; row < s->tables.n_depth; row++)
            s->depth[row].se_r_k = isnan(cases[i].se)      ? NAN
                                   : row % DEPTH_BINS == 2 ? cases[i].se
                                                           : 0.01;
        s->depth[DEPTH_BINS + 2].r_k += cases[i].change;
        s->depth[DEPTH_BINS + 6].r_k += cases[i].quiet ? 0 : 0.1;
        char *readme = explained(s, &TRAINING_HEATMAP_RK);
        assert_says(readme, cases[i].words, true);
        free(readme);
        study_end(s);
    }
}

static void the_ends_of_a_heatmap_are_told(void **state)
{
    (void)state;
    made_study *s = study_begin(false, 2);
    s->depth[4].r_q = 0.91;
    s->depth[4].se_r_q = 0.02;
    s->depth[DEPTH_BINS + 9].r_q = 0.12;
    char *readme = explained(s, &MODELS_HEATMAP_RQ);
    assert_says(readme,
                "The highest cell is 0.91 ± 0.02 (m0, depth 0.4), the lowest 0.12 (m1, depth "
                "0.9).",
                true);
    free(readme);
    study_end(s);
}

/* ---- models ---- */

static void the_component_that_carries_position_is_named(void **state)
{
    (void)state;
    for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
        made_study *s = study_begin(false, 1);
        for (size_t i = 0; i < s->tables.n_qk; i++)
            s->qk[i].r_k = (s->qk[i].pc == 1) == (elsewhere == 1) ? 0.6 : 0.1;
        study_finding(s, "m0", "mean_r_q", 0.8, 0.01);
        study_finding(s, "m0", "mean_r_k", elsewhere ? 0.1 : 0.6, 0.01);
        char *readme = explained(s, &PC_ROLES);
        assert_says(readme, "the queries follow position best on PC0: mean r_q is 0.80 ± 0.01",
                    true);
        assert_says(readme, "the keys follow position best on PC0", !elsewhere);
        assert_says(readme,
                    "the keys follow position best on PC1: mean r_k is 0.60 in size there, but "
                    "0.10 ± 0.01 on PC0.",
                    elsewhere);
        free(readme);
        study_end(s);
    }
}

static void families_differ_or_not(void **state)
{
    (void)state;
    static const told cases[] = {
        {0.2, 0.02, "Mean r_k is highest in B (0.60 ± 0.02) and lowest in A (0.40 ± 0.02).",
         "the families"},
        {-0.2, 0.02, "Mean r_k is highest in A (0.40 ± 0.02) and lowest in B (0.20 ± 0.02).",
         "the families"},
        {0.02, 0.02,
         "In mean r_k the families do not differ measurably: 0.42 ± 0.02 in B, 0.40 ± 0.02 in A.",
         "Mean r_k is highest in"},
        {0.004, NAN, "In mean r_k the families hardly differ: 0.40 in B, 0.40 in A.",
         "Mean r_k is highest in"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        made_study *s = study_begin(false, 4);
        for (size_t m = 0; m < 4; m++) {
            s->trajectory[m].group = m < 2 ? "A" : "B";
            study_finding(s, s->names[m], "mean_r_k", m < 2 ? 0.4 : 0.4 + cases[i].value,
                          cases[i].se);
        }
        char *readme = explained(s, &RQ_RK_SCATTER);
        assert_says(readme, cases[i].words, true);
        assert_says(readme, cases[i].not_words, false);
        assert_says(readme, "as if they went together", !isnan(cases[i].se));
        free(readme);
        study_end(s);
    }
}

static void the_scatter_tells_means_and_shares_of_all_heads(void **state)
{
    (void)state;
    made_study *s = study_begin(false, 2);
    for (size_t m = 0; m < 2; m++) {
        study_finding(s, s->names[m], "mean_r_q", 0.5 + 0.2 * (double)m, 0.01);
        study_finding(s, s->names[m], "mean_r_k", 0.2, 0.01);
        study_finding(s, s->names[m], "share_mixed", 0.3, 0.03);
        study_finding(s, s->names[m], "share_opposed", 0.1 * (double)m, 0.02);
    }
    char *readme = explained(s, &RQ_RK_SCATTER);
    assert_says(readme, "Over all heads mean r_q is 0.60 ± 0.01 and mean r_k 0.20 ± 0.01.", true);
    assert_says(readme, "Shares of the classes: mixed 0.30 ± 0.03.", true);
    assert_says(readme, "keys drift against their queries (r_k < -0.3) is 0.05 ± 0.02.", true);
    free(readme);
    study_end(s);
}

static void variance_of_the_components_is_told(void **state)
{
    (void)state;
    made_study *s = study_begin(false, 1);
    study_finding(s, "m0", "mean_explained_variance", 0.4, 0.02);
    char *readme = explained(s, &EXPLAINED_VARIANCE);
    assert_says(readme,
                "PC0 explains a share of 0.40 ± 0.02 of the variance, 4.0 times as much as "
                "PC1 (0.100).",
                true);
    assert_says(readme, "The first 2 components together explain 0.50 of it.", true);
    free(readme);
    view_free(&s->view);
    s->tables.n_qk = 1; /* one head with PC0 alone */
    readme = explained(s, &EXPLAINED_VARIANCE);
    assert_says(readme, "PC0 explains a share of 0.40 ± 0.02 of the variance.", true);
    assert_says(readme, "times as much", false);
    assert_says(readme, "together", false);
    free(readme);
    study_end(s);
}

static void collage_tells_each_heads_numbers(void **state)
{
    (void)state;
    made_study *s = study_begin(false, 1);
    static const qks_collage_row points[] = {
        {.model = "m0", .layer = 2, .head = 1, .side = "q", .position = 0},
        {.model = "m0", .layer = 5, .head = 9, .side = "k", .position = 1},
    };
    s->tables.collage = points;
    s->tables.n_collage = COUNT_OF(points);
    s->qk[4].se_explained_variance = 0.01;
    s->qk[4].se_r_q = 0.02;
    s->qk[4].se_r_k = NAN;
    char *readme = explained(s, &COLLAGE);
    assert_says(readme,
                "m0, layer 2, head 1: PC0 explains a share of 0.40 ± 0.01 of the variance, with "
                "r_q 0.80 ± 0.02 and r_k 0.50.",
                true);
    assert_says(readme, "head 9", false); /* not in table qk, so nothing is known of it */
    free(readme);
    study_end(s);
}

/* ---- RoPE ---- */

static void layers_with_and_without_rope_are_compared(void **state)
{
    (void)state;
    static const told cases[] = {
        {0.3, 0.02,
         "that share is higher in layers without RoPE (0.40 ± 0.02) than in layers with it "
         "(0.10 ± 0.02).",
         "do not differ"},
        {-0.06, 0.02, "that share is lower in layers without RoPE", "do not differ"},
        {0.03, 0.02, "layers with and without RoPE do not differ measurably",
         "than in layers with"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        made_study *s = study_begin(true, 1);
        study_finding(s, "m0", "share_opposed[rope]", 0.1, cases[i].se);
        study_finding(s, "m0", "share_opposed[nope]", 0.1 + cases[i].value, cases[i].se);
        char *readme = explained(s, &SIGN_SPLIT);
        assert_says(readme, cases[i].words, true);
        assert_says(readme, "In layers with RoPE 9 of 9 heads have r_k > 0.3 at m0.", true);
        assert_says(readme, cases[i].not_words, false);
        free(readme);
        study_end(s);
    }
}

/* ---- the rest of an explanation ---- */

static void nothing_is_said_without_findings(void **state)
{
    (void)state;
    made_study *s = study_begin(true, 2);
    char *readme = explained(s, &POSITION_SIGNAL);
    assert_says(readme, "The tables hold no finding about this figure.", true);
    assert_says(readme, "rises", false);
    free(readme);
    study_end(s);
}

static void production_tells_what_is_known(void **state)
{
    (void)state;
    made_study *s = study_begin(true, 2);
    s->facts = (figure_facts){.source = "run/",
                              .study = "smollm3 <b>",
                              .text = "longbench.parquet",
                              .capture = "heads 300, seed 0",
                              .program = "qkscope 0.1.0",
                              .documents = 500,
                              .tokens = 62914560};
    char *readme = explained(s, &POSITION_SIGNAL);
    assert_says(readme, "- Study: smollm3 \\<b\\> (training).", true);
    assert_says(readme,
                "- Measured: 2 checkpoints, 24 heads in all (12 each), 2 principal components "
                "per head.",
                true);
    assert_says(readme,
                "- Text: longbench.parquet, 500 documents, 62,914,560 tokens over all "
                "checkpoints.",
                true);
    assert_says(readme, "- Settings: heads 300, seed 0.", true);
    assert_says(readme, "- Errors (±): none, since the tables have no standard errors.", true);
    free(readme);
    study_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_rises_falls_or_does_neither),
        cmocka_unit_test(a_phase_boundary_is_told_with_its_parts),
        cmocka_unit_test(the_largest_step_within_a_phase_is_told),
        cmocka_unit_test(a_trend_is_steady_or_none),
        cmocka_unit_test(a_peak_stands_out_or_is_said_not_to),
        cmocka_unit_test(the_largest_class_is_one_or_two),
        cmocka_unit_test(portraits_compare_the_first_with_the_last),
        cmocka_unit_test(classes_that_move_are_told_and_the_rest_is_listed),
        cmocka_unit_test(gradients_are_counted_by_what_they_support),
        cmocka_unit_test(changes_by_depth_are_marked_beyond_two_errors),
        cmocka_unit_test(the_largest_measurable_change_by_depth_is_told),
        cmocka_unit_test(the_ends_of_a_heatmap_are_told),
        cmocka_unit_test(the_component_that_carries_position_is_named),
        cmocka_unit_test(families_differ_or_not),
        cmocka_unit_test(the_scatter_tells_means_and_shares_of_all_heads),
        cmocka_unit_test(variance_of_the_components_is_told),
        cmocka_unit_test(collage_tells_each_heads_numbers),
        cmocka_unit_test(layers_with_and_without_rope_are_compared),
        cmocka_unit_test(nothing_is_said_without_findings),
        cmocka_unit_test(production_tells_what_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
