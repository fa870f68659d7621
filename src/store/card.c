/* card.c: the dataset card's keys, out of and into README.md. */
#include "store/card.h"

#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { CARD_MAX = 16 << 20 };

typedef enum card_kind { CARD_TEXT, CARD_INT, CARD_INT64 } card_kind;

typedef struct card_key {
    const char *name;
    card_kind kind;
    size_t offset;
} card_key;

/* The reference's names, in the order they are written; `context` is read as another name of
 * max_length. */
static const card_key KEYS[] = {
    {"model", CARD_TEXT, offsetof(dataset_card, model)},
    {"sampling_strategy", CARD_TEXT, offsetof(dataset_card, sampler)},
    {"sampling_bucket_size", CARD_INT64, offsetof(dataset_card, bucket_size)},
    {"max_length", CARD_INT64, offsetof(dataset_card, context)},
    {"head_sampling_num_layers", CARD_INT, offsetof(dataset_card, layers)},
    {"head_sampling_num_query_heads", CARD_INT, offsetof(dataset_card, q_heads)},
    {"head_sampling_num_key_heads", CARD_INT, offsetof(dataset_card, kv_heads)},
    {"context", CARD_INT64, offsetof(dataset_card, context)},
};
enum { N_KEYS = sizeof KEYS / sizeof *KEYS, N_WRITTEN = N_KEYS - 1 };

/* ---- reading ---- */
static const card_key *key_named(const char *name, size_t length)
{
    for (size_t i = 0; i < N_KEYS; i++)
        if (strlen(KEYS[i].name) == length && memcmp(KEYS[i].name, name, length) == 0)
            return &KEYS[i];
    return NULL;
}

static qks_status take_value(dataset_card *card, const card_key *key, const char *value,
                             size_t length, arena *a, qks_error *error)
{
    char *place = (char *)card + key->offset;
    char *copy = arena_copy(a, value, length);
    if (!copy)
        return out_of_memory(error, "dataset card");
    if (key->kind == CARD_TEXT) {
        memcpy(place, &copy, sizeof copy);
        return QKS_OK;
    }
    char *end = NULL;
    errno = 0;
    long long number = strtoll(copy, &end, 10);
    long long most = key->kind == CARD_INT ? INT_MAX : LLONG_MAX;
    if (errno || end == copy || *end || number < 1 || number > most)
        return QKS_OK; /* "None" and the like: not said */
    if (key->kind == CARD_INT)
        *(int *)(void *)place = (int)number;
    else
        *(int64_t *)(void *)place = number;
    return QKS_OK;
}

/* "- `key`: `value`", the backticks optional. */
static qks_status take_line(dataset_card *card, const char *line, size_t length, arena *a,
                            qks_error *error)
{
    const char *end = line + length;
    while (end > line && strchr(" \t\r`", end[-1]))
        end--;
    const char *name = line;
    while (name < end && strchr(" \t-*`", *name))
        name++;
    const char *after = name;
    while (after < end && *after != ':' && *after != '`')
        after++;
    const card_key *key = key_named(name, (size_t)(after - name));
    const char *value = after;
    while (value < end && strchr(" \t:`", *value))
        value++;
    if (!key || value == end)
        return QKS_OK;
    return take_value(card, key, value, (size_t)(end - value), a, error);
}

qks_status card_read(dataset_card *card, const char *root, arena *a, qks_error *error)
{
    *card = (dataset_card){0};
    const char *path = arena_format(a, "%s/README.md", root);
    if (!path)
        return out_of_memory(error, "dataset card");
    if (!is_file(path))
        return QKS_OK;
    char *bytes = NULL;
    size_t length = 0;
    qks_status status = file_get(path, CARD_MAX, &bytes, &length, error);
    for (const char *line = bytes; status == QKS_OK && line < bytes + length;) {
        size_t size = strcspn(line, "\n");
        status = take_line(card, line, size, a, error);
        line += size + 1;
    }
    free(bytes);
    return status;
}

/* ---- writing ---- */
/* Backticks and line breaks would end the value early. */
static void print_plain(text *out, const char *value)
{
    for (const char *c = value; *c; c++)
        text_append(out, strchr("`\r\n", *c) ? " " : c, 1);
}

static void print_key(text *out, const dataset_card *card, const card_key *key)
{
    const char *place = (const char *)card + key->offset;
    const char *string = NULL;
    long long number = 0;
    if (key->kind == CARD_TEXT)
        memcpy(&string, place, sizeof string);
    else
        number = key->kind == CARD_INT ? *(const int *)(const void *)place
                                       : *(const int64_t *)(const void *)place;
    if (!string && number == 0)
        return;
    text_addf(out, "- `%s`: `", key->name);
    if (string)
        print_plain(out, string);
    else
        text_addf(out, "%lld", number);
    text_add(out, "`\n");
}

void card_print(text *out, const dataset_card *card, int dimension, size_t heads, int64_t rows)
{
    text_add(out, "# Captured queries and keys\n\n");
    for (size_t i = 0; i < N_WRITTEN; i++)
        print_key(out, card, &KEYS[i]);
    text_addf(out,
              "\nWritten by qkscope: %zu heads, %lld vectors of %d numbers in\n"
              "`l{layer}h{head}{q|k}/data.parquet`, with columns bucket, example_id, position,\n"
              "vector, sliding_window (null: full attention) and, where kept, token_str.\n",
              heads, (long long)rows, dimension);
}
