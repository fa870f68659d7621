/* Composed figures before gnuplot sees them: grids that adapt, room for every name, and no name
 * outside of quotes. */
#include "study_testing.h"

#include "figures/names.h"

typedef struct drawn {
    arena memory;
    canvas canvas;
} drawn;

static void draw(drawn *d, const figure *f, made_study *s)
{
    *d = (drawn){0};
    d->canvas = canvas_new(&d->memory);
    f->draw(study_view(s), &d->canvas);
    qks_error error;
    assert_ok(text_status(&d->canvas.script, f->name, &error), &error);
    assert_ok(text_status(&d->canvas.data, f->name, &error), &error);
}

static void draw_end(drawn *d)
{
    canvas_free(&d->canvas);
    arena_free(&d->memory);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

/* ---- grids ---- */

static void portraits_make_a_grid(void **state)
{
    (void)state;
    static const struct {
        size_t count, columns, rows;
    } cases[] = {{1, 1, 1}, {2, 2, 1}, {3, 3, 1},  {4, 2, 2},  {5, 3, 2},
                 {6, 3, 2}, {9, 3, 3}, {10, 4, 3}, {12, 4, 3}, {13, 4, 4}};
    double one_width = 0, one_height = 0;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        made_study *s = study_begin(true, 13);
        const char *names[13];
        for (size_t m = 0; m < 13; m++)
            names[m] = s->names[m];
        s->tables.portraits = names;
        s->tables.n_portraits = cases[i].count;
        drawn d;
        draw(&d, &PHASE_PORTRAITS, s);
        assert_int_equal(count_of(d.canvas.script.data, "\nplot "), cases[i].count);
        if (cases[i].count == 3) { /* panels and gaps, from the figures of 3x1 and 3x2 */
            one_width = d.canvas.width;
            one_height = d.canvas.height;
        }
        if (cases[i].columns == 3)
            assert_near(d.canvas.width, one_width, 0.5);
        if (cases[i].columns == 4)
            assert_true(d.canvas.width > one_width + 200);
        if (cases[i].columns == 3 && cases[i].rows > 1)
            assert_near(d.canvas.height, one_height + 310 * ((double)cases[i].rows - 1), 10);
        draw_end(&d);
        study_end(s);
    }
}

static void default_portraits_are_six_from_first_to_last(void **state)
{
    (void)state;
    made_study *s = study_begin(true, 30);
    const view *v = study_view(s);
    assert_int_equal(v->n_portraits, 6);
    assert_int_equal(v->portraits[0], 0);
    assert_int_equal(v->portraits[5], 29);
    for (size_t i = 1; i < 6; i++)
        assert_true(v->portraits[i] > v->portraits[i - 1]);
    study_end(s);
}

static void published_portraits_come_first(void **state)
{
    (void)state;
    static const char *const known[] = {"LC2-20K", "S1-40K",  "x", "S1-1.2M",
                                        "S3-4.7M", "S1-3.4M", "y", "LC1-20K"};
    made_study *s = study_begin(true, COUNT_OF(known));
    for (size_t i = 0; i < COUNT_OF(known); i++)
        (void)snprintf(s->names[i], sizeof s->names[i], "%s", known[i]);
    const view *v = study_view(s);
    static const size_t expected[] = {1, 3, 5, 4, 7, 0};
    assert_int_equal(v->n_portraits, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(v->portraits[i], expected[i]);
    study_end(s);
}

static void a_portrait_that_is_no_checkpoint_is_refused(void **state)
{
    (void)state;
    made_study *s = study_begin(true, 2);
    const char *names[] = {"m0", "nobody"};
    s->tables.portraits = names;
    s->tables.n_portraits = 2;
    qks_error error;
    assert_fails(view_open(&s->view, &s->tables, &s->facts, &error), QKS_USAGE, &error,
                 "'nobody' is no checkpoint");
    study_end(s);
}

/* ---- room for names ---- */

static const char *const LONG_NAMES[] = {
    "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
    "HuggingFaceTB/SmolLM3-3B-checkpoints@stage1-step-40000", "short"};

static void long_names_get_room(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 10, 30, 40};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        made_study *s = study_begin(true, counts[i]);
        char names[MODELS_MOST][100];
        for (size_t m = 0; m < counts[i]; m++) {
            (void)snprintf(names[m], sizeof names[m], "%s%zu", LONG_NAMES[m % 3], m);
            s->trajectory[m].model = names[m];
            for (size_t h = 0; h < HEADS_EACH; h++)
                s->heads[m * HEADS_EACH + h].model = s->qk[(m * HEADS_EACH + h) * 2].model =
                    s->qk[(m * HEADS_EACH + h) * 2 + 1].model = names[m];
            for (size_t bin = 0; bin < DEPTH_BINS; bin++)
                s->depth[m * DEPTH_BINS + bin].model = names[m];
        }
        drawn d;
        draw(&d, &TRAINING_HEATMAP_RQ, s); /* names left of the rows */
        for (size_t m = 0; m < counts[i]; m++)
            assert_true(type_width(s->view.models[m].label, TYPE_BODY) < d.canvas.left - 8);
        assert_true((d.canvas.bottom - d.canvas.top) / (double)counts[i] >= type_height(TYPE_BODY));
        draw_end(&d);
        view_free(&s->view);
        draw(&d, &POSITION_SIGNAL, s); /* names turned below their tics */
        double slot = (d.canvas.right - d.canvas.left) / (double)counts[i], longest = 0;
        for (size_t m = 0; m < counts[i]; m++)
            longest = fmax(longest, type_width(s->view.models[m].label, TYPE_BODY));
        bool turned = strstr(d.canvas.script.data, "rotate by 45") != NULL;
        assert_true(turned || longest < slot);
        for (size_t m = 0; turned && m < counts[i]; m++) {
            double reach = 0.71 * type_width(s->view.models[m].label, TYPE_BODY);
            assert_true(d.canvas.left + slot * ((double)m + 0.5) - reach > 0);
            assert_true(d.canvas.bottom + reach < d.canvas.height);
        }
        draw_end(&d);
        study_end(s);
    }
}

/* Names of phases that would touch stand in rows above one another. */
static void phase_names_do_not_touch(void **state)
{
    (void)state;
    made_study *s = study_begin(true, 4);
    static const char *const phases[] = {"a phase with a name that is long", "another of the kind",
                                         "a third one, as long as that", "last"};
    for (size_t m = 0; m < 4; m++)
        s->trajectory[m].group = phases[m];
    drawn d;
    draw(&d, &POSITION_SIGNAL, s);
    for (size_t m = 0; m < 4; m++)
        assert_int_equal(count_of(d.canvas.script.data, phases[m]), 1);
    assert_true(phases_room(&s->view, d.canvas.right - d.canvas.left) > 30);
    draw_end(&d);
    study_end(s);
}

/* ---- what is missing ---- */

static void an_empty_bin_is_blank_and_noted(void **state)
{
    (void)state;
    for (int empty = 0; empty < 2; empty++) {
        made_study *s = study_begin(false, 2);
        if (empty) {
            s->depth[3].n_heads = 0;
            s->depth[3].r_q = NAN;
        }
        drawn d;
        draw(&d, &MODELS_HEATMAP_RQ, s);
        assert_int_equal(count_of(d.canvas.data.data, "\n0,3,,,0,1,0,\"0.3\",\"m0\"\n"), empty);
        assert_int_equal(count_of(d.canvas.script.data, "no heads in this bin"), empty);
        assert_int_equal(count_of(d.canvas.script.data, "fs pattern"), empty);
        draw_end(&d);
        study_end(s);
    }
}

static void cells_beyond_two_errors_are_outlined(void **state)
{
    (void)state;
    made_study *s = study_begin(true, 2);
    for (size_t i = 0; i < s->tables.n_depth; i++)
        s->depth[i].se_r_k = 0.03;
    s->depth[DEPTH_BINS + 7].r_k = 0.25;
    drawn d;
    draw(&d, &CHANGE_MAP, s);
    assert_int_equal(count_of(d.canvas.data.data, ",0,1,\"0."), 1); /* not empty, marked */
    assert_non_null(strstr(d.canvas.data.data, "\n0,7,-0.25,"));
    assert_non_null(strstr(d.canvas.script.data, "outlined: beyond 2 standard errors"));
    draw_end(&d);
    study_end(s);
}

static void layers_without_rope_are_hollow(void **state)
{
    (void)state;
    for (int known = 0; known < 2; known++) {
        made_study *s = study_begin(false, 2);
        s->tables.n_heads = known ? s->tables.n_heads : 0;
        drawn d;
        draw(&d, &RQ_RK_SCATTER, s);
        assert_int_equal(count_of(d.canvas.script.data, "hollow: no RoPE"), known);
        assert_int_equal(count_of(d.canvas.data.data, "0.8,0.5,1,1,"), known ? 6 : 0);
        draw_end(&d);
        study_end(s);
    }
}

static void errors_give_a_narrow_band(void **state)
{
    (void)state;
    for (int known = 0; known < 2; known++) {
        made_study *s = study_begin(true, 3);
        for (size_t m = 0; known && m < 3; m++)
            s->trajectory[m].se_r_q = s->trajectory[m].se_r_k = 0.01;
        drawn d;
        draw(&d, &POSITION_SIGNAL, s);
        assert_int_equal(count_of(d.canvas.script.data, "with filledcurves"), known ? 4 : 2);
        assert_int_equal(count_of(d.canvas.script.data, "± 1.96 standard errors"), known);
        draw_end(&d);
        study_end(s);
    }
}

static void what_cannot_be_drawn_says_why(void **state)
{
    (void)state;
    made_study *s = study_begin(true, 1);
    drawn d;
    draw(&d, &CHANGE_MAP, s);
    assert_string_equal(d.canvas.left_out, "there is one checkpoint, and a change needs two");
    draw_end(&d);
    view_free(&s->view);
    draw(&d, &COLLAGE, s);
    assert_non_null(strstr(d.canvas.left_out, "no table collage"));
    draw_end(&d);
    study_end(s);
}

/* ---- names from strangers ---- */

/* The script without its comments and without what stands in quotes. */
static void bare_script(const char *script, char *bare)
{
    char quote = 0;
    for (; *script; script++) {
        if (quote && *script == quote)
            quote = 0;
        else if (!quote && (*script == '\'' || *script == '"'))
            quote = *script;
        else if (!quote && *script == '#')
            script += strcspn(script, "\n") - 1;
        else if (!quote)
            *bare++ = *script;
        else if (*script == '\n')
            fail_msg("a string goes over a line's end");
    }
    assert_int_equal(quote, 0);
    *bare = '\0';
}

static void names_are_never_outside_of_quotes(void **state)
{
    (void)state;
    static const char *const names[] = {
        "PWN' ; system 'PWN",       "''PWN''''; system PWN; '''", "\"PWN\" `PWN` $(PWN)",
        "PWN\n system 'PWN'\n PWN", "PWN } PWN { PWN # PWN",      "\\PWN\\",
    };
    const size_t count = COUNT_OF(names);
    static qks_collage_row points[12];
    for (size_t i = 0; i < COUNT_OF(points); i++)
        points[i] = (qks_collage_row){.model = names[i % count],
                                      .layer = 1,
                                      .head = 1,
                                      .side = i < 6 ? "q" : "k",
                                      .position = (int64_t)i};
    for (int f = 0; f < FIGURES; f++) {
        const figure *drawn_figure = FIGURE_LIST[f];
        made_study *s = study_begin(drawn_figure->study == TRAINING_STUDY, count);
        for (size_t m = 0; m < count; m++) {
            s->trajectory[m].model = s->trajectory[m].group = names[m];
            for (size_t h = 0; h < HEADS_EACH; h++)
                s->qk[(m * HEADS_EACH + h) * 2].model = s->qk[(m * HEADS_EACH + h) * 2 + 1]
                                                            .model = names[m];
        }
        s->tables.n_heads = s->tables.n_depth = 0;
        s->tables.collage = points;
        s->tables.n_collage = COUNT_OF(points);
        drawn d;
        draw(&d, drawn_figure, s);
        char *bare = malloc(d.canvas.script.length + 1);
        assert_non_null(bare);
        bare_script(d.canvas.script.data, bare);
        assert_null(strstr(bare, "PWN"));
        free(bare);
        draw_end(&d);
        study_end(s);
    }
}

/* ---- the choice ---- */

static void figures_are_chosen_by_number_or_name(void **state)
{
    (void)state;
    figures_plan plan;
    qks_error error;
    assert_ok(figures_choose(&plan, NULL, true, &error), &error);
    for (int i = 0; i < FIGURES; i++)
        assert_int_equal(plan.wanted[i], i >= 6);
    assert_ok(figures_choose(&plan, "layer_heatmap_rq,5, 01", false, &error), &error);
    for (int i = 0; i < FIGURES; i++)
        assert_int_equal(plan.wanted[i], i == 0 || i == 2 || i == 4);
    assert_ok(figures_choose(&plan, "layer_heatmap_rq", true, &error), &error);
    assert_true(plan.wanted[9]);
    assert_fails(figures_choose(&plan, "7", false, &error), QKS_USAGE, &error,
                 "figure 7, position_signal, is of a study of training");
    assert_fails(figures_choose(&plan, "7,nothing", true, &error), QKS_USAGE, &error,
                 "there is no figure 'nothing'");
    assert_fails(figures_choose(&plan, "", true, &error), QKS_USAGE, &error, "no figure ''");
}

static void formats_are_a_list(void **state)
{
    (void)state;
    char formats[FORMATS_SIZE];
    qks_error error;
    assert_ok(figures_formats(NULL, formats, &error), &error);
    assert_string_equal(formats, "png svg pdf");
    assert_ok(figures_formats("pdf,png,pdf", formats, &error), &error);
    assert_string_equal(formats, "png pdf");
    assert_fails(figures_formats("png,gif", formats, &error), QKS_USAGE, &error,
                 "'gif' is no format");
    assert_fails(figures_formats("", formats, &error), QKS_USAGE, &error, "'' is no format");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(portraits_make_a_grid),
        cmocka_unit_test(default_portraits_are_six_from_first_to_last),
        cmocka_unit_test(published_portraits_come_first),
        cmocka_unit_test(a_portrait_that_is_no_checkpoint_is_refused),
        cmocka_unit_test(long_names_get_room),
        cmocka_unit_test(phase_names_do_not_touch),
        cmocka_unit_test(an_empty_bin_is_blank_and_noted),
        cmocka_unit_test(cells_beyond_two_errors_are_outlined),
        cmocka_unit_test(layers_without_rope_are_hollow),
        cmocka_unit_test(errors_give_a_narrow_band),
        cmocka_unit_test(what_cannot_be_drawn_says_why),
        cmocka_unit_test(names_are_never_outside_of_quotes),
        cmocka_unit_test(figures_are_chosen_by_number_or_name),
        cmocka_unit_test(formats_are_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
