/* Findings: models built to have a finding, and to have none, and what the sentence then says. */
#include "analysis/findings.h"
#include "heads.h"

static const double NEAR = 1e-12;

enum { HEADS = 10, GROUPS = 5, MOST_MODELS = 4 };

typedef struct study {
    arena memory;
    model_result models[MOST_MODELS];
    size_t count;
    finding_list findings;
} study;

/* A checkpoint of one layer whose heads all have r_q 0.5 and r_k. */
static model_result *add_model(study *s, const char *name, double r_k)
{
    model_result *m = &s->models[s->count];
    *m = make_model(&s->memory, name, 1, HEADS);
    m->order = (int64_t)s->count++;
    for (int i = 0; i < HEADS; i++)
        m->heads[i] = plain_head(0, i, 0.5, r_k);
    return m;
}

/* Replicates in which group g's r_k is off by `size` times g - 2: the standard error of the mean
 * is sqrt(4/5 * 10) size. */
static const double SE_OF_SIZE = 2.8284271247461903;

static void shake(study *s, model_result *m, double size)
{
    give_replicates(m, &s->memory, GROUPS);
    for (size_t i = 0; i < m->n_heads; i++)
        for (int g = 0; g < GROUPS; g++)
            m->heads[i].replicates[g].r_k += size * (g - 2);
}

static void run(study *s, bool training)
{
    qks_error error;
    s->findings.length = 0;
    assert_ok(findings_of(s->models, s->count, training, &s->findings, &s->memory, &error), &error);
    for (size_t i = 0; i < s->findings.length; i++) {
        const qks_finding_row *f = &s->findings.data[i];
        assert_true(isfinite(f->value) && !isinf(f->se) && !isinf(f->z));
        assert_non_null(f->sentence);
        assert_true(f->sentence[strlen(f->sentence) - 1] == '.');
        if (strstr(f->sentence, "nan") || strstr(f->sentence, "inf"))
            fail_msg("%s", f->sentence);
        for (size_t j = 0; j < i; j++) /* each is said once */
            assert_true(strcmp(f->subject, s->findings.data[j].subject) != 0 ||
                        strcmp(f->quantity, s->findings.data[j].quantity) != 0);
    }
}

static void end(study *s)
{
    free(s->findings.data);
    arena_free(&s->memory);
}

static const qks_finding_row *find(const study *s, const char *subject, const char *quantity)
{
    for (size_t i = 0; i < s->findings.length; i++)
        if (strcmp(s->findings.data[i].subject, subject) == 0 &&
            strcmp(s->findings.data[i].quantity, quantity) == 0)
            return &s->findings.data[i];
    return NULL;
}

static const qks_finding_row *found(const study *s, const char *subject, const char *quantity)
{
    const qks_finding_row *f = find(s, subject, quantity);
    if (!f)
        fail_msg("no finding %s of %s", quantity, subject);
    return f;
}

static void assert_says(const qks_finding_row *f, const char *part)
{
    if (!strstr(f->sentence, part))
        fail_msg("'%s' does not say '%s'", f->sentence, part);
}

static void assert_silent(const qks_finding_row *f, const char *part)
{
    if (strstr(f->sentence, part))
        fail_msg("'%s' says '%s'", f->sentence, part);
}

/* ---- steps ---- */

static void test_change_with_error_bars(void **state)
{
    (void)state;
    static const struct {
        double before, after, size; /* of the second's replicates; the first's do not move */
        const char *verb, *wrong;
    } cases[] = {
        {0.2, 0.5, 0.01, "rises: +0.30 ± 0.03", "falls"},
        {0.5, 0.2, 0.01, "falls: -0.30 ± 0.03", "rises"},
        {0.5, 0.51, 0.01, "does not change measurably: +0.01 ± 0.03", "rises"},
        {0.5, 0.49, 0.01, "does not change measurably: -0.01 ± 0.03", "falls"},
        {0.5, 0.5, 0.01, "does not change measurably: +0.00 ± 0.03", "rises"},
        /* two standard errors are the line */
        {0, 0.01 * 2.8284271247461903 * 2.01, 0.01, "rises", "measurably"},
        {0, 0.01 * 2.8284271247461903 * 1.99, 0.01, "does not change measurably", "rises"},
        {0.5, 0.5008, 0.0001, "rises: +0.0008 ± 0.0003", "falls"},
        {0.5, 0.5075, 0.001, "rises: +0.007 ± 0.003", "falls"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        study s = {.count = 0};
        shake(&s, add_model(&s, "A", cases[i].before), 0);
        shake(&s, add_model(&s, "B", cases[i].after), cases[i].size);
        run(&s, true);
        const qks_finding_row *f = found(&s, "A -> B", "change_mean_r_k");
        assert_near(f->value, cases[i].after - cases[i].before, NEAR);
        assert_near(f->se, cases[i].size * SE_OF_SIZE, NEAR);
        assert_near(f->z, f->value / f->se, NEAR);
        assert_says(f, "From A to B the mean r_k on PC0 ");
        assert_says(f, cases[i].verb);
        assert_says(f, ", z = ");
        assert_silent(f, cases[i].wrong);
        end(&s);
    }
}

static void test_change_without_error_bars(void **state)
{
    (void)state;
    static const struct {
        double after;
        const char *verb;
    } cases[] = {{0.6, "rises: +0.10, no error bar."},
                 {0.4, "falls: -0.10, no error bar."},
                 {0.5, "does not change measurably: +0.00, no error bar."}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        study s = {.count = 0};
        add_model(&s, "A", 0.5);
        add_model(&s, "B", cases[i].after);
        run(&s, true);
        const qks_finding_row *f = found(&s, "A -> B", "change_mean_r_k");
        assert_true(isnan(f->se) && isnan(f->z));
        assert_says(f, cases[i].verb);
        end(&s);
    }
}

/* No replicate differs, as with shares: the error is 0, which is not "no error bar". */
static void test_change_without_doubt(void **state)
{
    (void)state;
    study s = {.count = 0};
    shake(&s, add_model(&s, "A", 0), 0);
    shake(&s, add_model(&s, "B", -0.5), 0);
    run(&s, true);
    const qks_finding_row *f = found(&s, "A -> B", "change_share_opposed");
    assert_true(f->value == 1 && f->se == 0 && isnan(f->z));
    assert_says(f, "rises: +1.00 ± 0.");
    f = found(&s, "A -> B", "change_mean_r_q");
    assert_says(f, "does not change measurably: +0.00 ± 0.");
    end(&s);
}

/* Checkpoints measured on the same documents move together: their errors cancel. On other
 * documents they add. */
static void test_paired_and_unpaired(void **state)
{
    (void)state;
    static const int64_t others[GROUPS] = {11, 12, 13, 14, 15};
    for (int paired = 0; paired < 2; paired++) {
        study s = {.count = 0};
        shake(&s, add_model(&s, "A", 0.3), 0.03);
        shake(&s, add_model(&s, "B", 0.4), 0.04);
        if (!paired)
            s.models[1].group_ids = others;
        run(&s, true);
        const qks_finding_row *f = found(&s, "A -> B", "change_mean_r_k");
        assert_near(f->se, (paired ? 0.01 : 0.05) * SE_OF_SIZE, NEAR);
        assert_says(f, paired ? "rises" : "does not change measurably");
        end(&s);
    }
}

/* One of two has no error bars: the change has none. */
static void test_error_bars_on_one_side(void **state)
{
    (void)state;
    study s = {.count = 0};
    shake(&s, add_model(&s, "A", 0.3), 0.03);
    add_model(&s, "B", 0.4);
    run(&s, true);
    assert_true(isnan(found(&s, "A -> B", "change_mean_r_k")->se));
    assert_says(found(&s, "A -> B", "change_mean_r_k"), "no error bar");
    end(&s);
}

/* spec: what a change of mean r_k is made of. Both lose 0.4 in the mean. */
static void test_flips_and_shrinking(void **state)
{
    (void)state;
    static const struct {
        double after[2]; /* even and odd heads; before, all are at 0.8 */
        double kept, flipped, flips, abs;
    } cases[] = {
        {{0.4, 0.4}, -0.4, 0, 0, -0.4},        /* all shrink */
        {{0.8, 0}, -0.4, 0, 0, -0.4},          /* to 0 is no flip */
        {{0.8, -0.8}, 0, -0.8, 0.5, 0},        /* half turn round, none shrinks */
        {{0.9, -0.1}, 0.05, -0.45, 0.5, -0.3}, /* some of both */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        study s = {.count = 0};
        add_model(&s, "A", 0.8);
        model_result *b = add_model(&s, "B", 0);
        for (int h = 0; h < HEADS; h++)
            b->heads[h].whole.r_k = cases[i].after[h % 2];
        give_replicates(&s.models[0], &s.memory, GROUPS);
        give_replicates(b, &s.memory, GROUPS);
        run(&s, true);
        const qks_finding_row *kept = found(&s, "A -> B", "change_mean_r_k_kept_sign");
        const qks_finding_row *flipped = found(&s, "A -> B", "change_mean_r_k_flipped_sign");
        const qks_finding_row *flips = found(&s, "A -> B", "share_sign_flips");
        assert_near(kept->value, cases[i].kept, NEAR);
        assert_near(flipped->value, cases[i].flipped, NEAR);
        assert_near(flips->value, cases[i].flips, NEAR);
        assert_near(found(&s, "A -> B", "change_mean_r_k")->value, kept->value + flipped->value,
                    NEAR);
        assert_near(found(&s, "A -> B", "change_mean_abs_r_k")->value, cases[i].abs, NEAR);
        assert_says(kept, "heads that keep the sign of r_k change the mean r_k by");
        assert_says(flipped, "heads whose r_k changes sign change the mean r_k by");
        assert_says(flips, "(10 heads)");
        end(&s);
    }
}

static void test_phase_boundaries_are_named(void **state)
{
    (void)state;
    study s = {.count = 0};
    add_model(&s, "A", 0.1)->phase = "stage 1";
    add_model(&s, "B", 0.2)->phase = "stage 1";
    add_model(&s, "C", 0.3)->phase = "stage 2";
    run(&s, true);
    assert_says(found(&s, "A -> B", "change_mean_r_k"), "From A to B the mean");
    assert_says(found(&s, "B -> C", "change_mean_r_k"),
                "From B to C (stage 1 to stage 2) the mean");
    assert_says(found(&s, "A -> C", "change_mean_r_k"),
                "From A to C (stage 1 to stage 2) the mean");
    end(&s);
}

/* Only heads that both checkpoints have are compared. */
static void test_heads_in_common(void **state)
{
    (void)state;
    study s = {.count = 0};
    add_model(&s, "A", 0.1);
    model_result *b = add_model(&s, "B", 0.3);
    for (int i = 0; i < HEADS; i++)
        b->heads[i].row.head = i < 3 ? i : 100 + i;
    b->heads[9].whole.r_k = -1;
    run(&s, true);
    assert_near(found(&s, "A -> B", "change_mean_r_k")->value, 0.2, NEAR);
    assert_says(found(&s, "A -> B", "share_sign_flips"), "(3 heads)");
    for (int i = 0; i < HEADS; i++)
        b->heads[i].row.head = 50 + i;
    run(&s, true);
    assert_null(find(&s, "A -> B", "change_mean_r_k"));
    end(&s);
}

/* ---- trends ---- */

static void test_trends(void **state)
{
    (void)state;
    static const struct {
        double r_k[MOST_MODELS];
        double tau;
        const char *verb, *peak;
    } cases[] = {
        {{0.1, 0.2, 0.3, 0.4}, 1, "tends to rise", "peaks at D: 0.40"},
        {{0.4, 0.3, 0.2, 0.1}, -1, "tends to fall", "peaks at A: 0.40"},
        {{0.1, 0.4, 0.2, 0.3}, 1.0 / 3, "has no steady trend", "peaks at B: 0.40"},
        {{0.3, 0.2, 0.4, 0.1}, -1.0 / 3, "has no steady trend", "peaks at C: 0.40"},
        {{0.1, 0.2, 0.2, 0.4},
         0.91287092917527685,
         "tends to rise",
         "peaks at D"}, /* a tie: 5 / sqrt(5 * 6) */
        {{0.2, 0.2, 0.2, 0.2}, 0, "has no steady trend", NULL},
    };
    static const char *const names[] = {"A", "B", "C", "D"};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        study s = {.count = 0};
        for (int m = 0; m < MOST_MODELS; m++)
            add_model(&s, names[m], cases[i].r_k[m]);
        run(&s, true);
        const qks_finding_row *f = found(&s, "training", "trend_mean_r_k");
        const qks_finding_row *peak = find(&s, "training", "peak_mean_r_k");
        assert_near(f->value, cases[i].tau, NEAR);
        assert_says(f, "Along training the mean r_k on PC0 ");
        assert_says(f, cases[i].verb);
        assert_says(f, "over 4 checkpoints");
        assert_says(f, "no error bar");
        if (cases[i].peak)
            assert_says(found(&s, "training", "peak_mean_r_k"), cases[i].peak);
        else
            assert_null(peak); /* the same everywhere is no peak */
        end(&s);
    }
}

/* Two checkpoints always have |tau| = 1; it is a trend only if leaving out documents keeps it. */
static void test_doubtful_trend(void **state)
{
    (void)state;
    static const struct {
        double size;
        const char *verb;
    } cases[] = {{0.001, "tends to rise"}, {0.1, "has no steady trend"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        study s = {.count = 0};
        shake(&s, add_model(&s, "A", 0.3), 0);
        shake(&s, add_model(&s, "B", 0.31), cases[i].size);
        run(&s, true);
        const qks_finding_row *f = found(&s, "training", "trend_mean_r_k");
        assert_true(f->value == 1);
        assert_says(f, cases[i].verb);
        assert_silent(f, "no error bar");
        end(&s);
    }
}

/* Opposed heads: 3 and 7 of 10, but 5 and 5 without the first group, which is a tie. */
static void test_tied_replicates(void **state)
{
    (void)state;
    static const int opposed[] = {3, 7};
    study s = {0};
    for (size_t i = 0; i < COUNT_OF(opposed); i++) {
        model_result *m = add_model(&s, i ? "B" : "A", 0.5);
        for (int h = 0; h < opposed[i]; h++)
            m->heads[h] = plain_head(0, h, 0.5, -0.5);
        give_replicates(m, &s.memory, GROUPS);
        for (int h = 0; h < HEADS; h++)
            m->heads[h].replicates[0].r_k = h < 5 ? -0.5 : 0.5;
    }
    run(&s, true);
    const qks_finding_row *f = found(&s, "training", "trend_share_opposed");
    assert_near(f->value, 1, 0);
    assert_near(f->se, 0.8, NEAR); /* of 0, 1, 1, 1, 1 */
    end(&s);
}

static void test_no_training(void **state)
{
    (void)state;
    study s = {.count = 0};
    add_model(&s, "A", 0.3);
    run(&s, true); /* one checkpoint is no training */
    assert_null(find(&s, "training", "trend_mean_r_k"));
    add_model(&s, "B", 0.4);
    run(&s, false); /* neither are two models */
    assert_null(find(&s, "training", "trend_mean_r_k"));
    assert_null(find(&s, "A -> B", "change_mean_r_k"));
    assert_near(found(&s, "B", "mean_r_k")->value, 0.4, NEAR);
    end(&s);
}

/* ---- one model ---- */

static void test_means_and_shares(void **state)
{
    (void)state;
    study s = {.count = 0};
    model_result *m = add_model(&s, "A", 0);
    static const double r[][2] = {{0.9, 0.9},   {0.9, -0.9}, {0.9, 0.1},  {0.1, 0.9}, {0.1, 0.1},
                                  {0.5, -0.31}, {0.5, -0.3}, {0.5, 0.31}, {0.5, 0},   {0.6, 0}};
    for (int i = 0; i < HEADS; i++) {
        m->heads[i].whole.r_q = r[i][0];
        m->heads[i].whole.r_k = r[i][1];
        m->heads[i].whole.top_q = i == 0 ? 3 : 0;
        m->heads[i].whole.top_k = i < 3;
    }
    run(&s, false);
    static const struct {
        const char *quantity;
        double value;
    } expected[] = {
        {"mean_r_q", 0.55},
        {"mean_r_k", 0.08},
        {"mean_abs_r_k", 0.382},
        {"mean_explained_variance", 0.5},
        {"share_opposed", 0.2},
        {"share_position-dominated", 0.2},
        {"share_Q-positional", 0.1},
        {"share_K-positional", 0.1},
        {"share_content-focused", 0.1},
        {"share_mixed", 0.5},
        {"share_q_not_pc0", 0.1},
        {"share_k_not_pc0", 0.3},
        {"sd_explained_variance", 0},
    };
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        assert_near(found(&s, "A", expected[i].quantity)->value, expected[i].value, NEAR);
    double sum = 0;
    for (int i = 0; i < HEADS; i++)
        sum += (r[i][1] - 0.08) * (r[i][1] - 0.08);
    assert_near(found(&s, "A", "sd_r_k")->value, sqrt(sum / (HEADS - 1)), NEAR);
    assert_says(found(&s, "A", "mean_r_q"),
                "A: the mean r_q on PC0 is 0.55 (10 heads, all layers).");
    assert_says(found(&s, "A", "sd_r_k"), "over heads the r_k on PC0 has a standard deviation of");
    assert_says(found(&s, "A", "share_k_not_pc0"), "keys carry position best on another PC");
    end(&s);
}

static void test_subsets(void **state)
{
    (void)state;
    study s = {.count = 0};
    model_result *m = add_model(&s, "A", 0);
    m->layers = 11; /* layers 1 to 10 are bins 0 to 9 */
    for (int i = 0; i < HEADS; i++) {
        m->heads[i].row.layer = i + 1;
        m->heads[i].row.rope = i % 5 ? 1 : 0;
        m->heads[i].whole.r_k = 0.01 * i;
    }
    run(&s, false);
    static const struct {
        const char *quantity;
        double value;
        const char *words;
    } expected[] = {
        {"mean_r_k[early]", 0.01, "(3 heads, early layers"},
        {"mean_r_k[middle]", 0.045, "(4 heads, middle layers"},
        {"mean_r_k[late]", 0.08, "(3 heads, late layers"},
        {"mean_r_k[rope]", 0.05, "(8 heads, layers with RoPE)"},
        {"mean_r_k[nope]", 0.025, "(2 heads, layers without RoPE)"},
    };
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_near(found(&s, "A", expected[i].quantity)->value, expected[i].value, NEAR);
        assert_says(found(&s, "A", expected[i].quantity), expected[i].words);
    }
    for (int i = 0; i < HEADS; i++)
        m->heads[i].row.rope = QKS_BLANK;
    m->n_heads = 1;
    run(&s, false);
    assert_null(find(&s, "A", "mean_r_k[rope]")); /* not known: not said */
    assert_null(find(&s, "A", "mean_r_k[late]"));
    assert_null(find(&s, "A", "sd_r_k"));
    assert_says(found(&s, "A", "mean_r_k"), "(1 head, all layers)");
    end(&s);
}

static void test_depth_gradient(void **state)
{
    (void)state;
    static const struct {
        double early, late, size;
        const char *verb;
    } cases[] = {
        {0.6, 0.2, 0.01, "falls with depth: early minus late is +0.40 ± 0.03, z = "},
        {0.2, 0.6, 0.01, "rises with depth: early minus late is -0.40 ± 0.03, z = "},
        {0.6, 0.6, 0.01, "does not change measurably with depth: early minus late is +0.00 ± 0.03"},
        {0.6, 0.61, 0.01, "does not change measurably with depth"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        study s = {.count = 0};
        model_result *m = add_model(&s, "A", 0);
        m->layers = 11;
        for (int h = 0; h < HEADS; h++) {
            m->heads[h].row.layer = h + 1;
            m->heads[h].whole.r_k = h < 5 ? cases[i].early : cases[i].late;
        }
        shake(&s, m, 0);
        for (int g = 0; g < GROUPS; g++)
            for (int h = 0; h < 3; h++) /* only early heads move */
                m->heads[h].replicates[g].r_k += cases[i].size * (g - 2);
        run(&s, false);
        const qks_finding_row *f = found(&s, "A", "depth_gradient_mean_r_k");
        assert_near(f->value, cases[i].early - cases[i].late, NEAR);
        assert_near(f->se, cases[i].size * SE_OF_SIZE, NEAR);
        assert_says(f, cases[i].verb);
        end(&s);
    }
}

/* Documents with rows in late layers only count for the gradient too. */
static void test_gradient_over_all_groups(void **state)
{
    (void)state;
    study s = {.count = 0};
    model_result *m = add_model(&s, "A", 0.5);
    m->layers = 11;
    for (int h = 0; h < HEADS; h++)
        m->heads[h].row.layer = h + 1;
    shake(&s, m, 0);
    for (int g = 0; g < GROUPS; g++)
        for (int h = 0; h < HEADS; h++) {
            bool here = (h < 5) == (g < 3);
            m->heads[h].replicates[g].present = here;
            m->heads[h].replicates[g].r_k += here ? (h < 5 ? 0.1 : -0.1) * (g - 2) : 0;
        }
    run(&s, false);
    assert_near(found(&s, "A", "depth_gradient_mean_r_k")->se, 0.1 * SE_OF_SIZE, NEAR);
    end(&s);
}

static void test_nothing(void **state)
{
    (void)state;
    study s = {.count = 0};
    run(&s, true);
    assert_int_equal(s.findings.length, 0);
    add_model(&s, "A", 0)->n_heads = 0;
    add_model(&s, "B", 0)->n_heads = 0;
    run(&s, true);
    assert_int_equal(s.findings.length, 0);
    end(&s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_change_with_error_bars),
        cmocka_unit_test(test_change_without_error_bars),
        cmocka_unit_test(test_change_without_doubt),
        cmocka_unit_test(test_paired_and_unpaired),
        cmocka_unit_test(test_error_bars_on_one_side),
        cmocka_unit_test(test_flips_and_shrinking),
        cmocka_unit_test(test_phase_boundaries_are_named),
        cmocka_unit_test(test_heads_in_common),
        cmocka_unit_test(test_trends),
        cmocka_unit_test(test_doubtful_trend),
        cmocka_unit_test(test_tied_replicates),
        cmocka_unit_test(test_no_training),
        cmocka_unit_test(test_means_and_shares),
        cmocka_unit_test(test_subsets),
        cmocka_unit_test(test_depth_gradient),
        cmocka_unit_test(test_gradient_over_all_groups),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
