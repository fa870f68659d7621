/* tokens.h: what the tests of the text room have in common: small tokenizers written out in JSON,
 * and comparisons of ids. Include it after testing.h. */
#ifndef QKS_TEST_TOKENS_H
#define QKS_TEST_TOKENS_H

#include "base/file.h"
#include "text/tokenizer.h"

/* The parts of a tokenizer.json as JSON; NULL: null, or nothing. */
typedef struct recipe {
    const char *vocab;  /* {"a": 0, ...} */
    const char *merges; /* ["a b", ...] */
    const char *model;  /* more of the model: "\"fuse_unk\": true" */
    const char *added;  /* [...] */
    const char *normalizer, *pre_tokenizer, *post_processor;
} recipe;

/* An added token; the flags are true or false: single_word, lstrip, rstrip, normalized. */
#define ADDED(id, content, word, left, right, after)                                               \
    "{\"id\": " #id ", \"content\": \"" content "\", \"single_word\": " #word                      \
    ", \"lstrip\": " #left ", \"rstrip\": " #right ", \"normalized\": " #after                     \
    ", \"special\": false}"

/* Write a tokenizer.json and return its path. */
static inline const char *write_recipe(const char *folder, const recipe *r)
{
    const char *path = path_of(folder, "tokenizer.json");
    char *json = NULL;
    int length = asprintf(
        &json,
        "{\"version\": \"1.0\", \"added_tokens\": %s, \"normalizer\": %s, \"pre_tokenizer\": %s, "
        "\"post_processor\": %s, \"decoder\": null, \"model\": {\"type\": \"BPE\", %s%s"
        "\"vocab\": %s, \"merges\": %s}}",
        r->added ? r->added : "[]", r->normalizer ? r->normalizer : "null",
        r->pre_tokenizer ? r->pre_tokenizer : "null",
        r->post_processor ? r->post_processor : "null", r->model ? r->model : "",
        r->model ? ", " : "", r->vocab, r->merges ? r->merges : "[]");
    assert_true(length > 0);
    qks_error error;
    assert_ok(file_put(path, json, (size_t)length, &error), &error);
    free(json);
    return path;
}

/* Ids as text: "1 2 3". */
static inline char *ids_text(const int32_t *ids, size_t count)
{
    char *line = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&line, &size);
    assert_non_null(out);
    for (size_t i = 0; i < count; i++)
        (void)fprintf(out, i ? " %d" : "%d", ids[i]);
    assert_int_equal(fclose(out), 0);
    return line;
}

/* Does the text, a JSON string, get the ids of a JSON array? What it got is returned as text when
 * not, NULL otherwise. */
static inline char *other_ids(encoder *e, const json_t *text, const json_t *expected, bool special)
{
    const int32_t *ids = NULL;
    size_t count = 0;
    qks_error error;
    assert_ok(encoder_run(e, json_string_value(text), json_string_length(text), special, &ids,
                          &count, &error),
              &error);
    bool equal = count == json_array_size(expected);
    for (size_t i = 0; equal && i < count; i++)
        equal = ids[i] == json_integer_value(json_array_get(expected, i));
    return equal ? NULL : ids_text(ids, count);
}

/* The text gets exactly these ids, written "1 2 3". */
static inline void check_ids(const char *path, const char *text, size_t length, bool special,
                             const char *expected)
{
    tokenizer *t = NULL;
    encoder *e = NULL;
    qks_error error;
    const int32_t *ids = NULL;
    size_t count = 0;
    assert_ok(tokenizer_open(&t, path, &error), &error);
    assert_ok(encoder_open(&e, t, &error), &error);
    assert_ok(encoder_run(e, text, length, special, &ids, &count, &error), &error);
    char *actual = ids_text(ids, count);
    if (strcmp(actual, expected) != 0)
        fail_msg("'%s' got %s, expected %s", text, actual, expected);
    free(actual);
    encoder_close(e);
    tokenizer_close(t);
}

#endif
