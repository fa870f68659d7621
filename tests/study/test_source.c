/* Unit files as one source: their groups in order, what options may still change, and which files
 * do not belong together. */
#include "study/source.h"
#include "testing.h"

enum { D = 2 };

static side_id SIDES[] = {{0, 0, 'k'}, {0, 0, 'q'}, {0, 1, 'q'}};
static const int ROPE[] = {1, 0};

typedef struct part { /* a unit file of one or two groups */
    const char *model;
    int64_t groups[2]; /* ids; 0: no second group */
    int buckets;
    int64_t bucket_size, context;
    size_t pairs, sides;
    int kv_heads;
    bool rope;
} part;

static const part PLAIN = {.model = "m",
                           .groups = {5, 0},
                           .buckets = 2,
                           .bucket_size = 10,
                           .pairs = 3,
                           .sides = 3,
                           .kv_heads = 1};

/* Group g has g vectors (g, i) at positions i in bucket 0; keys have all pairs of them. */
static void fill(const unit_info *info, side *s)
{
    qks_error error;
    for (size_t g = 0; g < info->n_groups; g++) {
        int64_t id = info->groups[g].id;
        for (int32_t i = 0; i < id; i++) {
            float x[] = {(float)id, (float)i};
            assert_ok(qks_moments_add_f32(s->groups[g], 1, x, &i, &error), &error);
            side_count(s, 0, i, x[0]);
            if (s->pairs && i > 0)
                pair_reservoir_offer(&s->pairs[0], 0.01 * (double)(10 * id + i), x);
        }
    }
}

static const char *write_part(const char *folder, const char *name, part p)
{
    const char *path = path_of(folder, name);
    unit_group groups[2] = {{p.groups[0], 1, 0}, {p.groups[1], 2, 0}};
    unit_info info = {.model = p.model,
                      .layers = 2,
                      .q_heads = 2,
                      .kv_heads = p.kv_heads,
                      .d = D,
                      .context = p.context,
                      .bucket_size = p.bucket_size,
                      .n_buckets = p.buckets,
                      .pairs = p.pairs,
                      .rope = p.rope ? ROPE : NULL,
                      .sides = SIDES,
                      .n_sides = p.sides,
                      .groups = groups,
                      .n_groups = p.groups[1] ? 2 : 1};
    qks_error error;
    unit_writer *w = NULL;
    assert_ok(unit_create(&w, path, &info, &error), &error);
    for (size_t i = 0; i < info.n_sides; i++) {
        side s;
        assert_ok(side_open(&s, D, (int)info.n_groups, info.n_buckets,
                            SIDES[i].kind == 'k' ? info.pairs : 0, &error),
                  &error);
        fill(&info, &s);
        assert_ok(unit_put(w, &s, &error), &error);
        side_close(&s);
    }
    assert_ok(unit_commit(w, &error), &error);
    return path;
}

typedef struct opened {
    source **list;
    size_t count;
} opened;

static qks_status open_them(opened *o, const char *const *paths, size_t count,
                            source_options options, qks_error *error)
{
    *o = (opened){0};
    return sources_open(&o->list, &o->count, NULL, paths, count, &options, error);
}

static void test_groups_in_order_of_id(void **state)
{
    part first = PLAIN, second = PLAIN;
    first.groups[0] = 2, first.groups[1] = 6;
    first.context = 100;
    second.buckets = 4, second.context = 300;
    const char *paths[] = {write_part(*state, "a", first), write_part(*state, "b", second)};
    qks_error error;
    opened o;
    assert_ok(open_them(&o, paths, 2, (source_options){0}, &error), &error);
    assert_int_equal(o.count, 1);
    const unit_info *info = source_info(o.list[0]);
    assert_int_equal(info->n_groups, 3);
    static const int64_t ids[] = {2, 5, 6};
    side q, k;
    assert_ok(source_side(o.list[0], 'q', &q, &error), &error);
    assert_ok(source_side(o.list[0], 'k', &k, &error), &error);
    for (int again = 0; again < 2; again++) { /* what was loaded before is cleared */
        assert_ok(source_load(o.list[0], 0, 1, &q, &error), &error);
        assert_ok(source_load(o.list[0], 0, 0, &k, &error), &error);
        for (int g = 0; g < 3; g++) {
            assert_int_equal(info->groups[g].id, ids[g]);
            assert_int_equal(q.groups[g]->n, ids[g]);
            assert_near(q.groups[g]->mean[0], (double)ids[g], 1e-12);
        }
        assert_true(q.buckets[0].n == 13 && q.buckets[0].last_position == 5);
        assert_null(q.pairs);
        /* of the pairs, those of smallest priority: one of group 2, two of group 5 */
        assert_int_equal(k.pairs[0].count, 3);
        assert_true(k.pairs[0].difference[0] == 2 && k.pairs[0].difference[4] == 5);
    }
    side_close(&q);
    side_close(&k);
    assert_true(info->context == 300 && info->n_buckets == 4); /* the longer documents' */
    sources_close(o.list, o.count);
}

static void test_one_source_per_model(void **state)
{
    part other = PLAIN;
    other.model = "n";
    const char *paths[] = {write_part(*state, "a", PLAIN), write_part(*state, "b", other)};
    qks_error error;
    opened o;
    assert_ok(open_them(&o, paths, 2, (source_options){0}, &error), &error);
    assert_int_equal(o.count, 2);
    assert_string_equal(source_info(o.list[0])->model, "m");
    assert_string_equal(source_info(o.list[1])->model, "n");
    sources_close(o.list, o.count);
    assert_fails(open_them(&o, paths, 2, (source_options){.model = "x"}, &error), QKS_USAGE, &error,
                 "one model name for 2 models");
    assert_ok(open_them(&o, paths, 1, (source_options){.model = "x"}, &error), &error);
    assert_string_equal(source_info(o.list[0])->model, "x");
    sources_close(o.list, o.count);
}

static void test_options(void **state)
{
    static const model_shape same = {2, 2, 1, ROPE}, other = {3, 2, 1, NULL};
    static const struct {
        source_options options;
        const char *fault; /* NULL: taken */
        size_t pairs;
        int64_t context;
    } cases[] = {
        {{.context = 0}, NULL, 3, 50},
        {{.context = 77}, NULL, 3, 77},
        {{.pairs = PAIRS_NONE}, NULL, 0, 50},
        {{.pairs = 2}, NULL, 2, 50},
        {{.pairs = 500}, NULL, 500, 50},
        {{.pairs = PAIRS_ALL}, NULL, 3, 50}, /* refused when they are asked for */
        {{.bucket = 10}, NULL, 3, 50},
        {{.bucket = 11}, "position buckets already", 0, 0},
        {{.groups = 2}, NULL, 3, 50},
        {{.groups = 3}, "2 document groups already", 0, 0},
        {{.groups = 1}, "2 document groups already", 0, 0},
        {{.groups = GROUPS_PER_DOCUMENT}, "2 document groups already", 0, 0},
        {{.shape = &same}, NULL, 3, 50},
        {{.shape = &other}, "of a model of shape 2/2/1", 0, 0},
    };
    part p = PLAIN;
    p.groups[1] = 6; /* a group of two documents */
    p.context = 50;
    const char *path = write_part(*state, "a", p);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        qks_error error;
        opened o;
        if (cases[i].fault) {
            assert_fails(open_them(&o, &path, 1, cases[i].options, &error), QKS_INVALID, &error,
                         cases[i].fault);
            continue;
        }
        assert_ok(open_them(&o, &path, 1, cases[i].options, &error), &error);
        const unit_info *info = source_info(o.list[0]);
        assert_true(info->pairs == cases[i].pairs && info->context == cases[i].context);
        assert_true(cases[i].options.shape ? info->rope == ROPE : !info->rope);
        side k;
        assert_ok(source_side(o.list[0], 'k', &k, &error), &error);
        assert_ok(source_load(o.list[0], 0, 0, &k, &error), &error);
        if (cases[i].pairs) /* as many as were asked for, of the 3 that there are */
            assert_int_equal(k.pairs[0].count, cases[i].pairs < 3 ? cases[i].pairs : 3);
        side_close(&k);
        assert_fails(source_pairs(o.list[0], 0, 0, NULL, NULL, &error), QKS_UNSUPPORTED, &error,
                     "a sample of key pairs, not all");
        sources_close(o.list, o.count);
    }
    /* one document per group is what --groups document asks for */
    qks_error error;
    opened o;
    path = write_part(*state, "a", PLAIN);
    assert_ok(open_them(&o, &path, 1, (source_options){.groups = GROUPS_PER_DOCUMENT}, &error),
              &error);
    sources_close(o.list, o.count);
}

static void test_parts_that_do_not_fit(void **state)
{
    part heads = PLAIN, size = PLAIN, pairs = PLAIN, rope = PLAIN, shape = PLAIN, twice = PLAIN;
    heads.groups[0] = size.groups[0] = pairs.groups[0] = rope.groups[0] = shape.groups[0] = 6;
    heads.sides = 2;
    size.bucket_size = 20;
    pairs.pairs = 4;
    rope.rope = true;
    shape.kv_heads = 2;
    const struct {
        part part;
        const char *fault;
    } cases[] = {
        {heads, "differ in the captured heads"},   {size, "differ in the position buckets"},
        {pairs, "differ in the position buckets"}, {rope, "differ in which layers have RoPE"},
        {shape, "differ in the model's shape"},    {twice, "group 5 of model 'm' is in two"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *paths[] = {write_part(*state, "a", PLAIN),
                               write_part(*state, "b", cases[i].part)};
        qks_error error;
        opened o;
        assert_fails(open_them(&o, paths, 2, (source_options){0}, &error), QKS_INVALID, &error,
                     cases[i].fault);
    }
    const char *paths[] = {path_of(*state, "a"), path_of(*state, "none")};
    qks_error error;
    opened o;
    assert_fails(open_them(&o, paths, 2, (source_options){0}, &error), QKS_MISSING, &error, "none");
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_groups_in_order_of_id),
        IN_SCRATCH(test_one_source_per_model),
        IN_SCRATCH(test_options),
        IN_SCRATCH(test_parts_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
