/* study_yaml.c: values of a YAML file, each checked where it stands. */
#include "study/study_yaml.h"

#include "qkscope/names.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCALING_MAX = 1 << 16,
    KEYS_MAX = 32,    /* of a mapping */
    FAULTS_MAX = 100, /* shown; the rest is counted */
};

void fault_at(reader *r, size_t line, size_t column, const char *message)
{
    if (r->count < FAULTS_MAX)
        text_addf(r->faults, "%s:%zu:%zu: %s\n", r->s->path, line, column, message);
    else if (r->count == FAULTS_MAX)
        text_addf(r->faults, "%s: more faults than %d; the rest is not shown\n", r->s->path,
                  FAULTS_MAX);
    r->count++;
}

void fault(reader *r, const yaml_node_t *at, const char *format, ...)
{
    char message[512];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(message, sizeof message, format, values);
    va_end(values);
    for (char *c = message; *c; c++) /* a value's line breaks are no lines of the message */
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? ' ' : *c;
    fault_at(r, at ? at->start_mark.line + 1 : 1, at ? at->start_mark.column + 1 : 1, message);
}

static bool has_nul(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE &&
           memchr(node->data.scalar.value, '\0', node->data.scalar.length);
}

/* NULL: no scalar, or one that C would read only a part of. */
const char *scalar(const yaml_node_t *node)
{
    bool fine = node->type == YAML_SCALAR_NODE && !has_nul(node);
    return fine ? (const char *)node->data.scalar.value : NULL;
}

static bool is_null(const yaml_node_t *node)
{
    const char *value = scalar(node);
    return value && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (*value == '\0' || strcmp(value, "~") == 0 || strcmp(value, "null") == 0);
}

void take_text(reader *r, const yaml_node_t *node, void *place)
{
    const char *value = scalar(node);
    if (has_nul(node))
        fault(r, node, "a text may not hold the character NUL");
    else if (!value || is_null(node))
        fault(r, node, "a text is wanted here");
    else
        *(const char **)place = arena_string(&r->s->memory, value);
}

static bool whole_number(const char *value, int64_t *number)
{
    char *end = NULL;
    errno = 0;
    long long parsed = strtoll(value, &end, 10);
    *number = parsed;
    return !errno && end != value && *end == '\0';
}

void take_count(reader *r, const yaml_node_t *node, void *place)
{
    const char *value = scalar(node);
    int64_t number = 0;
    if (!value || !whole_number(value, &number) || number < 1 || number > INT32_MAX)
        fault(r, node, "a whole number from 1 to %d is wanted here%s%.60s%s", INT32_MAX,
              value ? ", not '" : "", value ? value : "", value ? "'" : "");
    else
        *(int64_t *)place = number;
}

void take_seed(reader *r, const yaml_node_t *node, void *place)
{
    const char *value = scalar(node);
    int64_t number = 0;
    if (!value || !whole_number(value, &number) || number < 0)
        fault(r, node, "a whole number of at least 0 is wanted here");
    else
        *(int64_t *)place = number;
}

void take_real(reader *r, const yaml_node_t *node, void *place)
{
    const char *value = scalar(node);
    char *end = NULL;
    double number = value ? strtod(value, &end) : 0;
    if (!value || end == value || *end || !(number > 0 && number < 1e30))
        fault(r, node, "a positive number is wanted here");
    else
        *(double *)place = number;
}

static bool truth(const yaml_node_t *node, bool *value)
{
    const char *word = scalar(node);
    *value = word && strcmp(word, "true") == 0;
    return word && (*value || strcmp(word, "false") == 0);
}

void take_bool(reader *r, const yaml_node_t *node, void *place)
{
    if (!truth(node, place))
        fault(r, node, "true or false is wanted here");
}

void take_maybe(reader *r, const yaml_node_t *node, void *place) /* -1 until it is said */
{
    bool value = false;
    if (!truth(node, &value))
        fault(r, node, "true or false is wanted here");
    else
        *(int64_t *)place = value;
}

/* A count, or a word that stands for a special one. */
void take_or(reader *r, const yaml_node_t *node, void *place, const char *word, int64_t means)
{
    const char *value = scalar(node);
    if (value && strcmp(value, word) == 0)
        *(int64_t *)place = means;
    else
        take_count(r, node, place);
}

void take_list(reader *r, const yaml_node_t *node, void *place)
{
    string_list *list = place;
    if (node->type != YAML_SEQUENCE_NODE) {
        fault(r, node, "a list is wanted here");
        return;
    }
    for (yaml_node_item_t *i = node->data.sequence.items.start; i < node->data.sequence.items.top;
         i++) {
        const char *value = NULL;
        take_text(r, yaml_document_get_node(r->document, *i), (void *)&value);
        if (value && array_push(list, value, NULL) != QKS_OK)
            fault(r, node, "the list is too long for the memory");
    }
}

/* A YAML value as JSON, for rope_scaling. */
static json_t *json_of(reader *r, const yaml_node_t *node, int depth)
{
    if (depth > YAML_DEPTH_MAX)
        return NULL;
    if (node->type == YAML_MAPPING_NODE) {
        json_t *object = json_object();
        for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top;
             p++) {
            const char *key = scalar(yaml_document_get_node(r->document, p->key));
            json_t *value = json_of(r, yaml_document_get_node(r->document, p->value), depth + 1);
            if (!key || json_object_set_new(object, key, value) != 0) {
                json_decref(object);
                return NULL;
            }
        }
        return object;
    }
    if (node->type == YAML_SEQUENCE_NODE) {
        json_t *list = json_array();
        for (yaml_node_item_t *i = node->data.sequence.items.start;
             i < node->data.sequence.items.top; i++)
            if (json_array_append_new(
                    list, json_of(r, yaml_document_get_node(r->document, *i), depth + 1)) != 0) {
                json_decref(list);
                return NULL;
            }
        return list;
    }
    const char *value = scalar(node);
    if (!value)
        return NULL;
    bool plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE, flag = false;
    int64_t number = 0;
    char *end = NULL;
    if (is_null(node))
        return json_null();
    if (plain && truth(node, &flag))
        return json_boolean(flag);
    if (plain && whole_number(value, &number))
        return json_integer(number);
    double real = plain ? strtod(value, &end) : 0;
    return plain && end != value && *end == '\0' && isfinite(real) ? json_real(real)
                                                                   : json_string(value);
}

void take_scaling(reader *r, const yaml_node_t *node, void *place)
{
    json_t *value = node->type == YAML_MAPPING_NODE || is_null(node) ? json_of(r, node, 0) : NULL;
    char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS)
                         : NULL;
    if (!dumped || strlen(dumped) > SCALING_MAX)
        fault(r, node, "rope_scaling is a mapping as in config.json, or null");
    else
        *(const char **)place = arena_string(&r->s->memory, dumped);
    free(dumped);
    json_decref(value);
}

static void unknown_key(reader *r, const yaml_node_t *at, const char *name, const key *keys)
{
    const char *names[KEYS_MAX + 1] = {NULL};
    for (size_t i = 0; keys[i].name; i++)
        names[i] = keys[i].name;
    const char *near = qks_nearest(name, names);
    if (near)
        fault(r, at, "there is no key '%.60s' here; did you mean '%s'?", name, near);
    else
        fault(r, at, "there is no key '%.60s' here", name);
}

void take_mapping(reader *r, const yaml_node_t *node, const key *keys, void *base)
{
    bool seen[KEYS_MAX] = {false};
    if (node->type != YAML_MAPPING_NODE) {
        fault(r, node, "a mapping (key: value) is wanted here");
        return;
    }
    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top;
         p++) {
        const yaml_node_t *name = yaml_document_get_node(r->document, p->key);
        const char *word = scalar(name);
        size_t i = 0;
        while (word && keys[i].name && strcmp(keys[i].name, word) != 0)
            i++;
        if (!word)
            fault(r, name, "a key must be a plain word");
        else if (!keys[i].name)
            unknown_key(r, name, word, keys);
        else if (seen[i])
            fault(r, name, "key '%s' is here twice", word);
        else
            keys[i].take(r, yaml_document_get_node(r->document, p->value),
                         (char *)base + keys[i].offset);
        if (word && keys[i].name)
            seen[i] = true;
    }
    for (size_t i = 0; keys[i].name; i++)
        if (keys[i].required && !seen[i])
            fault(r, node, "key '%s' is missing", keys[i].name);
}
