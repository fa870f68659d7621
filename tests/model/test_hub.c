/* Where a model is: folders and files first, then the Hugging Face cache in its documented layout;
 * and the key of a checkpoint there. */
#include "testing.h"

#include "base/file.h"
#include "base/memory.h"
#include "model/weights.h"

#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define OTHER "0123ffffffffffffffffffffffffffffffffffff"
#define SHA "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define OTHER_SHA "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void clear_environment(void)
{
    static const char *const names[] = {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME",
                                        "XDG_CACHE_HOME", "HOME"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_int_equal(unsetenv(names[i]), 0);
}

static void make_folder(const char *path)
{
    qks_error error;
    assert_ok(folder_make(path, &error), &error);
}

static void put(const char *path, const char *content)
{
    qks_error error;
    assert_ok(file_put(path, content, strlen(content), &error), &error);
}

/* `cache` gets org/model: commit COMMIT as main and as the tag v1.0, OTHER as a branch. */
static void make_cache(const char *cache)
{
    const char *model = path_of(cache, "models--org--model");
    make_folder(path_of(model, "snapshots/" COMMIT));
    make_folder(path_of(model, "snapshots/" OTHER));
    make_folder(path_of(model, "refs/refs/pr"));
    put(path_of(model, "refs/main"), COMMIT);
    put(path_of(model, "refs/v1.0"), COMMIT "\n");
    put(path_of(model, "refs/stage1-step-40000"), OTHER);
    put(path_of(model, "refs/refs/pr/1"), OTHER);
    put(path_of(model, "refs/odd"), "../../../../etc");
    put(path_of(model, "refs/gone"), "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee");
}

static void test_cache(void **state)
{
    const struct {
        const char *model, *commit; /* NULL: not found */
    } rows[] = {
        {"org/model", COMMIT},          {"org/model@main", COMMIT},
        {"org/model@v1.0", COMMIT},     {"org/model@stage1-step-40000", OTHER},
        {"org/model@refs/pr/1", OTHER}, {"org/model@" COMMIT, COMMIT},
        {"org/model@012345", COMMIT},   {"org/model@0123", NULL}, /* both begin so */
        {"org/model@012", NULL},                                  /* too short */
        {"org/model@odd", NULL},        {"org/model@gone", NULL},
        {"org/model@none", NULL},       {"org/other", NULL},
    };
    clear_environment();
    make_cache(*state);
    assert_int_equal(setenv("HF_HUB_CACHE", *state, 1), 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        arena a = {0};
        qks_error error;
        const char *path = NULL;
        qks_status status = model_find(rows[i].model, &a, &path, &error);
        if (rows[i].commit) {
            assert_ok(status, &error);
            char expected[PATH_MAX];
            (void)snprintf(expected, sizeof expected, "%s/models--org--model/snapshots/%s",
                           (const char *)*state, rows[i].commit);
            assert_string_equal(path, expected);
        } else {
            assert_fails(status, QKS_MISSING, &error, "hf download org/");
        }
        arena_free(&a);
    }
}

static void test_messages(void **state)
{
    const struct {
        const char *model, *says;
    } rows[] = {
        {"org/none", "hf download org/none"},
        {"org/none@v2", "hf download org/none --revision v2"},
        {"none", "there is no model 'none'"},
        {"", "there is no model ''"},
        {"/none/such", "there is no model"},
        {"../none", "there is no model"},
        {"a/../b", "there is no model"},
        {"a/b/c", "there is no model"},
        {"a/..", "there is no model"},
        {"a/b@../../c", "there is no model"},
        {"a/b@/etc", "there is no model"},
        {"a/b@", "there is no model"},
        {"a/b@x;rm -rf", "there is no model"},
        {"a/b;rm", "there is no model"},
        {"-a/b", "there is no model"},
        {"a--b/c", "there is no model"},
        {"a/b.gguf", "hf download"}, /* of the form of a name on the Hub */
        {"./b.gguf", "there is no model"},
    };
    clear_environment();
    assert_int_equal(setenv("HF_HUB_CACHE", *state, 1), 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        arena a = {0};
        qks_error error;
        const char *path = NULL;
        assert_fails(model_find(rows[i].model, &a, &path, &error), QKS_MISSING, &error,
                     rows[i].says);
        arena_free(&a);
    }
}

/* The first variable that is set, in the order of huggingface_hub. */
static void test_environment(void **state)
{
    const struct {
        const char *variable, *below;
    } rows[] = {
        {"HOME", ".cache/huggingface/hub"},
        {"XDG_CACHE_HOME", "huggingface/hub"},
        {"HF_HOME", "hub"},
        {"HF_HUB_CACHE", ""},
    };
    clear_environment();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        arena a = {0};
        qks_error error;
        const char *path = NULL, *root = path_of(*state, rows[i].variable);
        const char *cache = *rows[i].below ? path_of(root, rows[i].below) : root;
        make_cache(cache);
        assert_int_equal(setenv(rows[i].variable, root, 1), 0);
        assert_ok(model_find("org/model", &a, &path, &error), &error);
        assert_int_equal(strncmp(path, cache, strlen(cache)), 0);
        arena_free(&a);
    }
}

static void test_local_wins(void **state)
{
    clear_environment();
    make_cache(*state);
    assert_int_equal(setenv("HF_HUB_CACHE", *state, 1), 0);
    arena a = {0};
    qks_error error;
    const char *path = NULL;
    assert_ok(model_find("data/models", &a, &path, &error), &error); /* of the form org/name */
    assert_string_equal(path, "data/models");
    assert_ok(model_find("data/gguf/gemma3.gguf", &a, &path, &error), &error);
    assert_string_equal(path, "data/gguf/gemma3.gguf");
    arena_free(&a);
}

/* ---- the key of a checkpoint in the cache: its files are named by their content ---- */

static void key_of(const char *path, char key[WEIGHTS_KEY_SIZE])
{
    architecture a;
    weights *w = NULL;
    qks_error error;
    assert_ok(weights_open(&w, &a, path, NULL, &error), &error);
    assert_ok(weights_key(w, key, &error), &error);
    weights_close(w);
    architecture_close(&a);
}

static void copy_file(const char *from, const char *to)
{
    char *bytes = NULL;
    size_t length = 0;
    qks_error error;
    assert_ok(file_get(from, 1 << 24, &bytes, &length, &error), &error);
    assert_ok(file_put(to, bytes, length, &error), &error);
    free(bytes);
}

static void link_weights(const char *model, const char *name)
{
    char target[PATH_MAX];
    const char *link = path_of(model, "snapshots/" COMMIT "/model.safetensors");
    copy_file("data/models/llama-gqa/model.safetensors", path_of(path_of(model, "blobs"), name));
    (void)snprintf(target, sizeof target, "../../blobs/%s", name);
    (void)remove(link);
    assert_int_equal(symlink(target, link), 0);
}

static void test_key(void **state)
{
    const char *model = path_of(*state, "models--org--model");
    const char *snapshot = path_of(model, "snapshots/" COMMIT);
    char content[WEIGHTS_KEY_SIZE], named[WEIGHTS_KEY_SIZE], other[WEIGHTS_KEY_SIZE];
    make_folder(snapshot);
    make_folder(path_of(model, "blobs"));
    copy_file("data/models/llama-gqa/config.json", path_of(snapshot, "config.json"));
    key_of("data/models/llama-gqa", content);
    link_weights(model, SHA);
    key_of(snapshot, named);
    assert_string_not_equal(named, content);
    link_weights(model, OTHER_SHA); /* another content by its name */
    key_of(snapshot, other);
    assert_string_not_equal(named, other);
    link_weights(model, "0123456789abcdef0123456789abcdef01234567"); /* a name that is no SHA-256 */
    key_of(snapshot, other);
    assert_string_equal(other, content);
}

#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH(test_cache),      SCRATCH(test_messages), SCRATCH(test_environment),
        SCRATCH(test_local_wins), SCRATCH(test_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
