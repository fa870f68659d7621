/* test_contents.c: tables are joined by model, layer and head whatever their order; what
 * contradicts is refused; the columns that come out are those that went in. */
#include "testing.h"

#include "base/file.h"
#include "report/columns.h"
#include "report/contents.h"

static const char QK[] = "model,layer,head,k_head,pc,explained_variance,r_q,r_k\n"
                         "late,1,0,0,0,0.5,0.25,-0.75\n"
                         "early,1,0,0,1,0.125,0.5,0.5\n"
                         "early,1,0,0,0,0.5,0.75,0.5\n"
                         "early,0,2,1,0,0.5,0.125,0.0625\n"
                         "late,0,2,1,0,0.5,1,1\n"
                         "late,0,2,1,25,0.001,0,0\n";
static const char HEADS[] = "model,layer,head,k_head,class,rope\n"
                            "early,1,0,0,mixed,0\n"
                            "early,0,2,1,content-focused,1\n"
                            "late,0,2,1,position-dominated,1\n";
static const char TRAJECTORY[] = "order,model,phase,n_heads,mean_r_q,sd_r_q,mean_r_k,sd_r_k\n"
                                 "1,late,second,2,0.6,0.1,0.1,0.1\n"
                                 "0,early,first,2,0.4,0.1,0.3,0.1\n";
static const char DEPTH[] = "model,bin,label,n_heads,r_q,r_k\n"
                            "late,0,0.0,1,1,1\nlate,1,0.1,0,,\nlate,9,0.9,1,0.25,-0.75\n"
                            "early,0,0.0,1,0.125,0.0625\nearly,9,0.9,1,0.75,0.5\n";

static void put_table(const char *folder, const char *name, const char *content)
{
    qks_error error;
    if (content)
        assert_ok(file_put(path_of(folder, name), content, strlen(content), &error), &error);
}

typedef struct tables {
    const char *qk, *heads, *trajectory, *depth;
} tables;

static qks_status read_tables(contents *c, const char *folder, tables t, qks_error *error)
{
    put_table(folder, "qk.csv", t.qk);
    put_table(folder, "heads.csv", t.heads);
    put_table(folder, "trajectory.csv", t.trajectory);
    put_table(folder, "depth.csv", t.depth);
    return contents_read(c, folder, error);
}

static void test_tables_are_joined(void **state)
{
    contents c;
    qks_error error;
    assert_ok(read_tables(&c, *state, (tables){QK, HEADS, TRAJECTORY, DEPTH}, &error), &error);
    assert_true(c.training);
    assert_int_equal(c.models.length, 2);
    assert_string_equal(c.models.data[0].name, "early"); /* as the trajectory orders them */
    assert_string_equal(c.models.data[1].group, "second");
    assert_int_equal(c.heads.length, 4);
    assert_int_equal(c.components, 2); /* PC 25 is beyond the page */
    const page_head *h = c.heads.data;
    assert_int_equal(h[0].layer, 0);
    assert_int_equal(h[0].head, 2);
    assert_int_equal(h[0].k_head, 1);
    assert_string_equal(h[0].row->class_name, "content-focused");
    assert_null(h[0].pcs[1]);
    assert_true(h[1].pcs[1]->r_q == 0.5);
    assert_int_equal(h[1].row->rope, 0);
    assert_null(h[3].row);
    assert_int_equal(h[2].bin, 0);
    assert_int_equal(h[3].bin, 9);
    assert_int_equal(contents_head(&c, "late", 1, 0), 3);
    assert_int_equal(contents_head(&c, "late", 1, 1), -1);
    assert_int_equal(contents_head(&c, "later", 1, 0), -1);
    contents_free(&c);
}

static void test_columns(void **state)
{
    contents c;
    qks_error error;
    json_error_t fault;
    text t = text_new(1 << 16);
    assert_ok(read_tables(&c, *state, (tables){QK, HEADS, TRAJECTORY, DEPTH}, &error), &error);
    text_add(&t, "{");
    columns_pack(&t, &c);
    text_add(&t, "}");
    json_t *all = json_loads(text_string(&t), JSON_REJECT_DUPLICATES, &fault);
    if (!all)
        fail_msg("%s: %s", text_string(&t), fault.text);
    json_t *expected = json_loads(
        "{\"models\":{\"name\":[\"early\",\"late\"],\"group\":[\"first\",\"second\"],"
        "\"n_heads\":[2,2],\"mean_r_q\":[4e-1,6e-1],\"sd_r_q\":[1e-1,1e-1],"
        "\"mean_r_k\":[3e-1,1e-1],\"sd_r_k\":[1e-1,1e-1]},"
        "\"heads\":{\"model\":[0,0,1,1],\"layer\":[0,1,0,1],\"head\":[2,0,2,0],"
        "\"k_head\":[1,0,1,0],\"bin\":[0,9,0,9],\"class\":{\"of\":[0,1,2,null],\"names\":"
        "[\"content-focused\",\"mixed\",\"position-dominated\"]},\"rope\":[1,0,1,null]},"
        "\"components\":2,\"qk\":{"
        "\"explained_variance\":{\"decimals\":5,\"values\":"
        "[50000,null,50000,12500,50000,null,50000,null]},"
        "\"r_q\":{\"decimals\":4,\"values\":[1250,null,7500,5000,10000,null,2500,null]},"
        "\"r_k\":{\"decimals\":4,\"values\":[625,null,5000,5000,10000,null,-7500,null]}},"
        "\"depth\":{\"model\":[1,1,1,0,0],\"bin\":[0,1,9,0,9],\"label\":{\"of\":[0,1,2,0,2],"
        "\"names\":[\"0.0\",\"0.1\",\"0.9\"]},\"n_heads\":[1,0,1,1,1],"
        "\"r_q\":[1,null,25e-2,125e-3,75e-2],\"r_k\":[1,null,-75e-2,625e-4,5e-1]},"
        "\"plasticity\":{\"head\":[]},\"findings\":{}}",
        0, &fault);
    assert_non_null(expected);
    if (!json_equal(all, expected))
        fail_msg("%s", text_string(&t));
    json_decref(all);
    json_decref(expected);
    text_free(&t);
    contents_free(&c);
}

static void test_what_is_missing_may_be(void **state)
{
    contents c;
    qks_error error;
    assert_ok(read_tables(&c, *state, (tables){.qk = QK, .heads = HEADS}, &error), &error);
    assert_false(c.training);
    assert_string_equal(c.models.data[0].name, "late"); /* as they come */
    assert_int_equal(c.heads.data[0].bin, QKS_BLANK);
    contents_free(&c);
}

static void test_contradictions_are_refused(void **state)
{
#define HEAD "model,layer,head,k_head,pc,explained_variance,r_q,r_k\n"
    static const struct {
        tables t;
        qks_status status;
        const char *part;
    } cases[] = {
        {{NULL, HEADS, NULL, NULL}, QKS_MISSING, "no table qk"},
        {{QK, NULL, NULL, NULL}, QKS_MISSING, "no table heads"},
        {{HEAD "m,0,0,0,0,1,0,0\nm,0,0,0,0,1,0,0\n", HEADS, NULL, NULL},
         QKS_INVALID,
         "is there twice"},
        {{HEAD "m,0,-1,0,0,1,0,0\n", HEADS, NULL, NULL}, QKS_INVALID, "without layer, head or pc"},
        {{HEAD ",0,0,0,0,1,0,0\n", HEADS, NULL, NULL}, QKS_INVALID, "row 1: no model"},
        {{QK, "model,layer,head,k_head\nother,1,0,0\n", NULL, NULL}, QKS_INVALID, "not of one run"},
        {{QK, HEADS,
          "order,model,phase,n_heads,mean_r_q,sd_r_q,mean_r_k,sd_r_k\n"
          "0,early,a,1,0,0,0,0\n1,early,b,1,0,0,0,0\n",
          NULL},
         QKS_INVALID,
         "'early' twice"},
        {{QK, HEADS, TRAJECTORY, "model,bin,label,n_heads,r_q,r_k\nearly,0,0.0,3,0,0\n"},
         QKS_INVALID,
         "counts more heads"},
        {{QK, HEADS, TRAJECTORY, "model,bin,label,n_heads,r_q,r_k\nearly,0,0.0,1,0,0\n"},
         QKS_INVALID,
         "counts 1 heads of model 'early', table qk has 2"},
        {{QK, HEADS, TRAJECTORY, "model,bin,label,n_heads,r_q,r_k\nnobody,0,0.0,1,0,0\n"},
         QKS_INVALID,
         "'nobody'"},
        {{QK, HEADS, TRAJECTORY,
          "model,bin,label,n_heads,r_q,r_k\nearly,1,0.1,1,0,0\nearly,0,0.0,1,0,0\n"},
         QKS_INVALID,
         "not in order"},
        {{HEAD "m,0,0,0,0,1,0,0\nm,0,1,0,0,1,0,0\n", "model,layer,head,k_head\nm,0,0,0\n", NULL,
          "model,bin,label,n_heads,r_q,r_k\nm,0,0.0,1,0,0\nm,1,0.1,1,0,0\n"},
         QKS_INVALID,
         "cuts layer 0"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        contents c;
        qks_error error;
        const char *folder = path_of(*state, "case");
        assert_ok(folder_make(folder, &error), &error);
        assert_fails(read_tables(&c, folder, cases[i].t, &error), cases[i].status, &error,
                     cases[i].part);
        contents_free(&c);
        static const char *const files[] = {"qk.csv", "heads.csv", "trajectory.csv", "depth.csv"};
        for (size_t f = 0; f < COUNT_OF(files); f++)
            file_remove(path_of(folder, files[f]));
    }
}

#define scratch_test(function)                                                                     \
    cmocka_unit_test_setup_teardown(function, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(test_tables_are_joined),
        scratch_test(test_columns),
        scratch_test(test_what_is_missing_may_be),
        scratch_test(test_contradictions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
