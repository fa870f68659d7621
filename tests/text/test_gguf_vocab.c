/* test_gguf_vocab.c: GGUF vocabularies that are wrong, cut, or not known; good ones are in
 * test_goldens.c. The files are edits of data/tokenizers_gguf, which have no tensors. */
#include "testing.h"

#include "base/file.h"
#include "text/tokens.h"

typedef struct bytes {
    char *data;
    size_t length;
} bytes;

static bytes load(const char *name)
{
    bytes b = {0};
    qks_error error;
    assert_ok(file_get(path_of(path_of("data/tokenizers_gguf", name), "vocab.gguf"), 1 << 20,
                       &b.data, &b.length, &error),
              &error);
    return b;
}

/* The first place where the key or value stands, behind its length. */
static char *find(bytes b, const char *what)
{
    char *at = memmem(b.data, b.length, what, strlen(what));
    assert_non_null(at);
    return at;
}

static qks_status open_bytes(const char *folder, bytes b, qks_error *error)
{
    const char *path = path_of(folder, "vocab.gguf");
    tokenizer *t = NULL;
    assert_ok(file_put(path, b.data, b.length, error), error);
    qks_status status = tokenizer_open(&t, path, error);
    tokenizer_close(t);
    return status;
}

/* Every cut is refused: the header says how much there should be. */
static void test_cut(void **state)
{
    static const char *const names[] = {"smollm", "llama-spm"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        bytes b = load(names[i]), cut = b;
        for (cut.length = 0; cut.length < b.length; cut.length += cut.length < 2000 ? 61 : 4999) {
            qks_error error;
            if (open_bytes(*state, cut, &error) == QKS_OK)
                fail_msg("%s cut to %zu bytes is not refused", names[i], cut.length);
        }
        free(b.data);
    }
}

static void test_names(void **state)
{
    static const struct {
        const char *file, *from, *to, *says;
    } cases[] = {
        {"smollm", "tokenizer.ggml.model", "tokenizer.ggml.modem", "no vocabulary"},
        {"smollm", "gpt2", "bert", "vocabulary type bert (tokenizer.ggml.model) is not supported"},
        {"smollm", "tokenizer.ggml.pre", "tokenizer.ggml.prx", "no tokenizer.ggml.pre"},
        {"smollm", "tokenizer.ggml.merges", "tokenizer.ggml.murges", "no tokenizer.ggml.merges"},
        {"smollm", "tokenizer.ggml.tokens", "tokenizer.ggml.tokans", "no tokenizer.ggml.tokens"},
        {"smollm", "<|im_end|>", "<|im_and|>", NULL},
        {"smollm", "<|im_end|>", "<|im_\xFF\xFF\xFF|>", "is not UTF-8"},
        {"smollm", "<reponame>", "<filename>", "token '<filename>' is there twice"},
        {"llama-spm", "tokenizer.ggml.scores", "tokenizer.ggml.scoras",
         "1071 tokens, but 0 scores"},
        {"llama-spm", "tokenizer.ggml.bos_token_id", "tokenizer.ggml.bas_token_id",
         "bos_token_id is missing or no token"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bytes b = load(cases[i].file);
        memcpy(find(b, cases[i].from), cases[i].to, strlen(cases[i].to));
        qks_error error = {0};
        qks_status status = open_bytes(*state, b, &error);
        if (!cases[i].says) {
            check_status_(status, QKS_OK, &error, cases[i].from, __FILE__, __LINE__);
        } else {
            assert_int_not_equal(status, QKS_OK);
            check_message_(&error, cases[i].says, cases[i].from, __FILE__, __LINE__);
            check_message_(&error, "vocab.gguf", cases[i].from, __FILE__, __LINE__);
        }
        free(b.data);
    }
}

static void test_unknown_pre(void **state)
{
    bytes b = load("smollm");
    qks_error error;
    memcpy(find(b, "tokenizer.ggml.pre") + strlen("tokenizer.ggml.pre") + 12, "bigllm", 6);
    assert_fails(open_bytes(*state, b, &error), QKS_UNSUPPORTED, &error,
                 "pre-tokenizer 'bigllm' (tokenizer.ggml.pre) is not supported");
    free(b.data);
}

/* The file with another tokenizer.ggml.pre. */
static bytes with_pre(bytes b, const char *name)
{
    enum { TYPE_SIZE = 4, LENGTH_SIZE = 8 };
    char *at = find(b, "tokenizer.ggml.pre") + strlen("tokenizer.ggml.pre") + TYPE_SIZE;
    uint64_t old = 0, new = strlen(name);
    memcpy(&old, at, sizeof old);
    size_t before = (size_t)(at - b.data), rest = before + LENGTH_SIZE + (size_t)old;
    bytes out = {calloc(1, b.length + new), before + LENGTH_SIZE + new + b.length - rest};
    assert_non_null(out.data);
    memcpy(out.data, b.data, before);
    memcpy(out.data + before, &new, sizeof new);
    for (size_t i = 0; i < new; i++)
        out.data[before + LENGTH_SIZE + i] = name[i];
    memcpy(out.data + before + LENGTH_SIZE + new, b.data + rest, b.length - rest);
    return out;
}

static char *ids_with_pre(const char *folder, bytes b, const char *name)
{
    static const char TEXT[] = "It'S 1234567 words,\n\n  e\u0301 and 12 more.";
    bytes named = with_pre(b, name);
    const char *path = path_of(folder, "vocab.gguf");
    tokenizer *t = NULL;
    encoder *e = NULL;
    const int32_t *ids = NULL;
    size_t count = 0;
    qks_error error;
    assert_ok(file_put(path, named.data, named.length, &error), &error);
    assert_ok(tokenizer_open(&t, path, &error), &error);
    assert_ok(encoder_open(&e, t, &error), &error);
    assert_ok(encoder_run(e, TEXT, strlen(TEXT), false, &ids, &count, &error), &error);
    char *shown = ids_text(ids, count);
    encoder_close(e);
    tokenizer_close(t);
    free(named.data);
    return shown;
}

/* Names of the same rule, and of another. */
static void test_names_of_rules(void **state)
{
    static const struct {
        const char *name, *other;
        bool same;
    } cases[] = {
        {"smaug-bpe", "llama-bpe", true}, {"deepseek-r1-qwen", "qwen2", true},
        {"smollm", "starcoder", true},    {"smaug-bpe", "qwen2", false},
        {"smaug-bpe", "smollm", false},
    };
    bytes b = load("smollm");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *one = ids_with_pre(*state, b, cases[i].name);
        char *other = ids_with_pre(*state, b, cases[i].other);
        if ((strcmp(one, other) == 0) != cases[i].same)
            fail_msg("%s: %s\n%s: %s", cases[i].name, one, cases[i].other, other);
        free(one);
        free(other);
    }
    free(b.data);
}

/* Numbers that promise more than the file holds, and types that do not exist. */
static void test_absurd_numbers(void **state)
{
    static const struct {
        const char *key; /* NULL: the header */
        size_t offset;   /* behind the key */
        uint64_t value;
        size_t size;
        const char *says;
    } cases[] = {
        {NULL, 4, 1, 4, "GGUF version 1 is not supported"},
        {NULL, 4, 0x03000000, 4, "is not supported"}, /* big-endian */
        {NULL, 16, UINT64_MAX, 8, "the file ends"},
        {NULL, 16, 1000, 8, "the file ends"},
        {NULL, 24, UINT64_MAX, 8, "is too long"},
        {"tokenizer.ggml.tokens", 0, 99, 4, "unknown type 99"},
        {"tokenizer.ggml.tokens", 0, 4, 4, "must be an array of strings"},
        {"tokenizer.ggml.tokens", 4, 9, 4, "array of arrays"},
        {"tokenizer.ggml.tokens", 4, 5, 4, "must be an array of strings"},
        {"tokenizer.ggml.tokens", 8, UINT64_MAX, 8, "the file ends"},
        {"tokenizer.ggml.tokens", 8, UINT64_C(1) << 61, 8, "the file ends"},
        {"tokenizer.ggml.tokens", 16, UINT64_C(1) << 40, 8, "is too long"},
        {"tokenizer.ggml.scores", 4, 8, 4, "must be a number"},
        {"tokenizer.ggml.scores", 16, 0x7FC00000, 4, "the score of token 0 is not finite"},
        {"tokenizer.ggml.add_bos_token", 0, 8, 4, "must be a number"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bytes b = load("llama-spm");
        char *at = cases[i].key ? find(b, cases[i].key) + strlen(cases[i].key) : b.data;
        memcpy(at + cases[i].offset, &cases[i].value, cases[i].size);
        qks_error error = {0};
        assert_int_not_equal(open_bytes(*state, b, &error), QKS_OK);
        char what[20];
        (void)snprintf(what, sizeof what, "case %zu", i);
        if (cases[i].says)
            check_message_(&error, cases[i].says, what, __FILE__, __LINE__);
        free(b.data);
    }
}

/* Any byte gone wrong: refused or read, but never a crash. */
static void test_garbled(void **state)
{
    bytes b = load("llama-spm");
    size_t refused = 0;
    for (size_t at = 4; at < b.length; at += at < 1200 ? 3 : 499) {
        char old = b.data[at];
        qks_error error;
        b.data[at] = (char)(old ^ 0xFF);
        refused += open_bytes(*state, b, &error) != QKS_OK;
        b.data[at] = old;
    }
    assert_true(refused > 100);
    free(b.data);
}

int main(void)
{
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        SCRATCH(test_cut),
        SCRATCH(test_names),
        SCRATCH(test_unknown_pre),
        SCRATCH(test_names_of_rules),
        SCRATCH(test_absurd_numbers),
        SCRATCH(test_garbled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
