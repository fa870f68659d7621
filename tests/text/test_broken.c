/* test_broken.c: tokenizers that are refused, each with a message that names the file and the
 * fault: those of data/tokenizers_broken, and edits of a good one. */
#include "testing.h"

#include "base/text.h"
#include "text/tokens.h"

/* Opening the file, or else encoding the text, fails; what it says is in `error`. */
static bool refuses(const char *path, const char *text, qks_error *error)
{
    tokenizer *t = NULL;
    encoder *e = NULL;
    const int32_t *ids = NULL;
    size_t count = 0;
    qks_status status = tokenizer_open(&t, path, error);
    if (status == QKS_OK)
        status = encoder_open(&e, t, error);
    if (status == QKS_OK)
        status = encoder_run(e, text, strlen(text), true, &ids, &count, error);
    encoder_close(e);
    tokenizer_close(t);
    return status != QKS_OK;
}

static void test_fixtures(void **state)
{
    (void)state;
    static const struct {
        const char *name, *says;
    } cases[] = {
        {"merge-right-missing", "names 'nowhere', which is no token"},
        {"regex-nested-repeats", "retry-limit-in-match over"},
        {"truncated", "is not JSON: line 1"},
        {"unigram", "model type Unigram is not supported; BPE is"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *folder = path_of("data/tokenizers_broken", cases[i].name);
        json_t *facts = load_json(path_of(folder, "case.json"));
        qks_error error;
        if (!refuses(folder, text_member(facts, "text"), &error))
            fail_msg("%s is not refused", cases[i].name);
        check_message_(&error, cases[i].says, cases[i].name, __FILE__, __LINE__);
        check_message_(&error, folder, cases[i].name, __FILE__, __LINE__);
        json_decref(facts);
    }
}

/* A good file, in which single quotes stand for double ones. */
static const char GOOD[] =
    "{'version':'1.0','truncation':null,'padding':null,"
    "'added_tokens':[{'id':7,'content':'<t>','single_word':false,'lstrip':false,'rstrip':false,"
    "'normalized':false,'special':true}],"
    "'normalizer':{'type':'Sequence','normalizers':[{'type':'NFC'},"
    "{'type':'Replace','pattern':{'Regex':'x+'},'content':'x'}]},"
    "'pre_tokenizer':{'type':'Sequence','pretokenizers':[{'type':'Split','pattern':{'String':'-'},"
    "'behavior':'Isolated','invert':false},{'type':'Digits','individual_digits':true},"
    "{'type':'ByteLevel','add_prefix_space':false,'trim_offsets':true,'use_regex':false}]},"
    "'post_processor':{'type':'TemplateProcessing','single':[{'SpecialToken':{'id':'<t>',"
    "'type_id':0}},{'Sequence':{'id':'A','type_id':0}}],'pair':[],'special_tokens':{'<t>':"
    "{'id':'<t>','ids':[7],'tokens':['<t>']}}},"
    "'decoder':{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':true,'use_regex':true},"
    "'model':{'type':'BPE','dropout':null,'unk_token':null,'continuing_subword_prefix':null,"
    "'end_of_word_suffix':null,'fuse_unk':false,'byte_fallback':false,'ignore_merges':false,"
    "'vocab':{'a':0,'b':1,'c':2,'ab':3,'abc':4,'x':5,'-':6},'merges':['a b','ab c']}}";

/* Write GOOD with `from` replaced by `to`; returns the path. */
static const char *write_edited(const char *folder, const char *from, const char *to)
{
    const char *at = strstr(GOOD, from), *path = path_of(folder, "tokenizer.json");
    if (!at)
        fail_msg("the good file has no %s", from);
    char *json = NULL;
    int length = asprintf(&json, "%.*s%s%s", (int)(at - GOOD), GOOD, to, at + strlen(from));
    for (int i = 0; i < length; i++)
        json[i] = json[i] == '\'' ? '"' : json[i];
    qks_error error;
    assert_ok(file_put(path, json, (size_t)length, &error), &error);
    free(json);
    return path;
}

static void test_good(void **state)
{
    check_ids(write_edited(*state, "", ""), "abcxx-<t>", 9, true, "7 4 5 6 7");
}

static void test_edits(void **state)
{
    static const struct {
        const char *from, *to, *says;
    } cases[] = {
        /* the file */
        {"'version':'1.0'", "'version':'2.0'", "'version' of the file is '2.0'"},
        {"'version':'1.0'", "'version':1", "'version' of the file is a number"},
        {"'truncation':null", "'truncation':5", "'truncation' of the file is a number"},
        {"'padding':null", "'paddling':null", "'paddling' is not supported"},
        {"'padding':null", "'version':'1.0'", "duplicate object key"},
        {"'model':", "'modem':", "'modem' is not supported"},
        /* the model */
        {"'type':'BPE'", "'type':'WordPiece'", "model type WordPiece is not supported; BPE is"},
        {"'type':'BPE'", "'type':null", "'type' of the model is null"},
        {"'dropout':null", "'dropout':0.1", "dropout is 0.1"},
        {"'dropout':null", "'dropout':'x'", "dropout is no number"},
        {"'unk_token':null", "'unk_token':3", "'unk_token' of the model is a number"},
        {"'fuse_unk':false", "'fuse_unk':1", "'fuse_unk' of the model is a number"},
        {"{'a':0,'b':1,'c':2,'ab':3,'abc':4,'x':5,'-':6}", "{}", "the vocabulary is empty"},
        {"{'a':0,'b':1,'c':2,'ab':3,'abc':4,'x':5,'-':6}", "['a']", "no vocab, or it is no object"},
        {"'c':2", "'c':-2", "token 'c' has the id -2"},
        {"'c':2", "'c':2147483647", "token 'c' has the id 2147483647"},
        {"'c':2", "'c':99999999999999999999", "too big integer"},
        {"'c':2", "'c':2.0", "the id of token 'c' is no whole number"},
        {"'c':2", "'c':'2'", "the id of token 'c' is no whole number"},
        {"'c':2", "'c':1", "token 'c' has the id 1, as has another token"},
        {"'c':2", "'b':2", "duplicate object key"},
        {"'c':2", "'c\\u0000':2", "is not JSON"},
        {"'c':2", "'\\ud800':2", "is not JSON"},
        {"['a b','ab c']", "['a b','ab z']", "names 'z', which is no token"},
        {"['a b','ab c']", "['a b','z c']", "names 'z', which is no token"},
        {"['a b','ab c']", "['a c']", "names 'ac', which is no token"},
        {"['a b','ab c']", "['a b','abc']", "merge 2 is no pair"},
        {"['a b','ab c']", "['a b c']", "merge 1 is no pair"},
        {"['a b','ab c']", "['a b',['ab','c']]", "merge 2 is no pair"},
        {"['a b','ab c']", "[['a','b','c']]", "merge 1 is no pair"},
        {"['a b','ab c']", "[['a',1]]", "merge 1 is no pair"},
        {"['a b','ab c']", "[5]", "merge 1 is no pair"},
        {"['a b','ab c']", "{}", "'merges' of the model is an object"},
        {"'merges':", "'marges':", "the model has no 'merges'"},
        /* added tokens */
        {"'id':7,'content'", "'content'", "the file.added_tokens[0] has no 'id'"},
        {"'id':7,'content'", "'id':-7,'content'", "'id' of the file.added_tokens[0] is -7"},
        {"'content':'<t>'", "'content':5", "'content' of the file.added_tokens[0] is a number"},
        {"'lstrip':false,", "", "the file.added_tokens[0] has no 'lstrip'"},
        {"'special':true}]", "'special':true},5]", "added_tokens[1] is a number"},
        {"'a':0,", "'a':7,", "the added token '<t>' gets the id 7"},
        /* normalizers */
        {"{'type':'NFC'}", "{'type':'Precompiled'}",
         "normalizer type Precompiled is not supported "
         "(normalizer.normalizers[0])"},
        {"{'type':'NFC'}", "{'type':'Prepend','prepend':''}", "prepends nothing"},
        {"{'type':'NFC'}", "'NFC'", "normalizer.normalizers[0] is a string"},
        {"{'type':'NFC'}", "{}", "normalizer.normalizers[0] has no 'type'"},
        {"{'Regex':'x+'}", "{'Regex':'x+','String':'x'}", "must be one of String and Regex"},
        {"{'Regex':'x+'}", "{'Regex':'(x'}", "bad regular expression '(x'"},
        {"{'Regex':'x+'}", "'x'", "'pattern' of normalizer.normalizers[1] is a string"},
        {"'content':'x'", "'content':null", "'content' of normalizer.normalizers[1] is null"},
        /* pre-tokenizers */
        {"'type':'Digits'", "'type':'UnicodeScripts'", "pre-tokenizer type UnicodeScripts is not"},
        {"'Isolated'", "'Isolate'", "'behavior' of pre_tokenizer.pretokenizers[0] is 'Isolate'"},
        {"'invert':false", "'invert':null", "'invert' of pre_tokenizer.pretokenizers[0] is null"},
        {"'individual_digits':true", "'individual':true", "has no 'individual_digits'"},
        {"{'type':'Digits','individual_digits':true}", "{'type':'Metaspace','replacement':'ab'}",
         "'replacement' of pre_tokenizer.pretokenizers[1] must be one character"},
        {"{'type':'Digits','individual_digits':true}",
         "{'type':'Metaspace','replacement':'_','add_prefix_space':false}",
         "its prepend_scheme is not 'never'"},
        {"{'type':'Digits','individual_digits':true}", "{'type':'FixedLength','length':0}",
         "must be a number above 0"},
        /* post-processors and decoders */
        {"'type':'TemplateProcessing'", "'type':'Foo'", "post-processor type Foo is not supported"},
        {"{'SpecialToken':{'id':'<t>',", "{'SpecialToken':{'id':'<u>',", "has no '<u>'"},
        {"{'Sequence':{'id':'A'", "{'Sequence':{'id':'B'", "a single text has no B"},
        {",{'Sequence':{'id':'A','type_id':0}}", "", "single has no place for the text"},
        {"'ids':[7]", "'ids':[-7]", "ids[0] is no id"},
        {"'ids':[7]", "'ids':7", "'ids' of post_processor.special_tokens.<t> is a number"},
        {"'pair':[]", "'pair':7", "'pair' of post_processor is a number"},
        {"'decoder':{'type':'ByteLevel'", "'decoder':{'type':'Foo'", "decoder type Foo is not"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *path = write_edited(*state, cases[i].from, cases[i].to);
        qks_error error;
        if (!refuses(path, "abcxx-<t>", &error))
            fail_msg("not refused: %s", cases[i].to);
        check_message_(&error, cases[i].says, cases[i].to, __FILE__, __LINE__);
        check_message_(&error, path, cases[i].to, __FILE__, __LINE__);
        assert_null(strchr(error.message, '\n'));
    }
}

/* Two post-processors that add tokens: what the second does would depend on the first. */
static void test_two_templates(void **state)
{
    qks_error error;
    const recipe r = {.vocab = "{\"a\": 0}",
                      .post_processor = "{\"type\": \"Sequence\", \"processors\": [{\"type\": "
                                        "\"RobertaProcessing\", \"sep\": [\"a\", 0], \"cls\": "
                                        "[\"b\", 1]}, {\"type\": \"BertProcessing\", \"sep\": "
                                        "[\"a\", 0], \"cls\": [\"b\", 1]}]}"};
    assert_true(refuses(write_recipe(*state, &r), "a", &error));
    check_message_(&error, "more than one post-processor that adds tokens", "two", __FILE__,
                   __LINE__);
}

/* Sequences in sequences, as deep as the file likes. */
static void test_depth(void **state)
{
    enum { DEPTHS = 3 };
    static const struct {
        int depth;
        const char *says;
    } cases[DEPTHS] = {{20, NULL}, {100, "nested more than"}, {100000, "maximum parsing depth"}};
    for (size_t i = 0; i < DEPTHS; i++) {
        text part = text_new(100 << 20);
        for (int d = 0; d < cases[i].depth; d++)
            text_add(&part, "{'type':'Sequence','normalizers':[");
        text_add(&part, "{'type':'NFC'}");
        for (int d = 0; d < cases[i].depth; d++)
            text_add(&part, "]}");
        const char *path = write_edited(*state, "{'type':'NFC'}", text_string(&part));
        qks_error error = {0};
        assert_int_equal(refuses(path, "ab", &error), cases[i].says != NULL);
        if (cases[i].says)
            check_message_(&error, cases[i].says, "depth", __FILE__, __LINE__);
        text_free(&part);
    }
}

/* Every beginning of the file is refused, and so is every single byte gone wrong, or it loads. */
static void test_cut_and_garbled(void **state)
{
    const char *path = write_edited(*state, "", "");
    char *bytes = NULL;
    size_t length = 0;
    qks_error error;
    assert_ok(file_get(path, 1 << 20, &bytes, &length, &error), &error);
    for (size_t cut = 0; cut < length; cut += 7) {
        assert_ok(file_put(path, bytes, cut, &error), &error);
        assert_true(refuses(path, "ab", &error));
    }
    for (size_t at = 0; at < length; at += 3) {
        char old = bytes[at];
        bytes[at] = (char)(old ^ 0x81);
        assert_ok(file_put(path, bytes, length, &error), &error);
        assert_true(refuses(path, "ab", &error)); /* not ASCII and not UTF-8 */
        bytes[at] = old;
    }
    free(bytes);
}

int main(void)
{
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures), SCRATCH(test_good),  SCRATCH(test_edits),
        SCRATCH(test_two_templates),     SCRATCH(test_depth), SCRATCH(test_cut_and_garbled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
