/* json_members.c: every message says which member of which object is wrong, and how. */
#include "text/json_members.h"

#include "text/unicode.h"

#include <stdint.h>
#include <string.h>

static const char *type_name(const json_t *value)
{
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    default:
        return "null";
    }
}

/* The member, NULL if it is not there and need not be. */
static qks_status find(json_place p, const char *name, member_need need, const json_t **value,
                       qks_error *error)
{
    *value = json_object_get(p.object, name);
    if (!*value && need == MEMBER_REQUIRED)
        return qks_fail(error, QKS_INVALID, "%s has no '%s'", p.where, name);
    if (need == MEMBER_NULLABLE && json_is_null(*value))
        *value = NULL;
    return QKS_OK;
}

static qks_status wrong_type(json_place p, const char *name, const json_t *value,
                             const char *expected, qks_error *error)
{
    return qks_fail(error, QKS_INVALID, "'%s' of %s is %s; it must be %s", name, p.where,
                    type_name(value), expected);
}

qks_status member_flag(json_place p, const char *name, member_need need, bool *value,
                       qks_error *error)
{
    const json_t *found = NULL;
    qks_status status = find(p, name, need, &found, error);
    if (status != QKS_OK || !found)
        return status;
    if (!json_is_boolean(found))
        return wrong_type(p, name, found, "true or false", error);
    *value = json_is_true(found);
    return QKS_OK;
}

qks_status member_string(json_place p, const char *name, member_need need, const char **bytes,
                         size_t *length, qks_error *error)
{
    const json_t *found = NULL;
    qks_status status = find(p, name, need, &found, error);
    if (status != QKS_OK || !found)
        return status;
    if (!json_is_string(found))
        return wrong_type(p, name, found, "a string", error);
    *bytes = json_string_value(found);
    *length = json_string_length(found);
    return QKS_OK;
}

qks_status member_id(json_place p, const char *name, int32_t *id, qks_error *error)
{
    const json_t *found = NULL;
    qks_status status = find(p, name, MEMBER_REQUIRED, &found, error);
    if (status != QKS_OK)
        return status;
    if (!json_is_integer(found))
        return wrong_type(p, name, found, "a whole number", error);
    json_int_t value = json_integer_value(found);
    if (value < 0 || value >= INT32_MAX)
        return qks_fail(error, QKS_INVALID, "'%s' of %s is %lld; it must be from 0 to %d", name,
                        p.where, (long long)value, INT32_MAX - 1);
    *id = (int32_t)value;
    return QKS_OK;
}

qks_status member_array(json_place p, const char *name, const json_t **array, qks_error *error)
{
    qks_status status = find(p, name, MEMBER_REQUIRED, array, error);
    if (status == QKS_OK && !json_is_array(*array))
        status = wrong_type(p, name, *array, "an array", error);
    return status;
}

qks_status member_object(json_place p, const char *name, arena *a, json_place *member,
                         qks_error *error)
{
    const json_t *found = NULL;
    qks_status status = find(p, name, MEMBER_REQUIRED, &found, error);
    if (status != QKS_OK)
        return status;
    if (!json_is_object(found))
        return wrong_type(p, name, found, "an object", error);
    *member = (json_place){found, arena_format(a, "%s.%s", p.where, name)};
    return member->where ? QKS_OK : out_of_memory(error, "JSON");
}

qks_status element_object(json_place p, const char *name, const json_t *array, size_t index,
                          arena *a, json_place *element, qks_error *error)
{
    const json_t *found = json_array_get(array, index);
    if (!json_is_object(found))
        return qks_fail(error, QKS_INVALID, "%s.%s[%zu] is %s; it must be an object", p.where, name,
                        index, type_name(found));
    *element = (json_place){found, arena_format(a, "%s.%s[%zu]", p.where, name, index)};
    return element->where ? QKS_OK : out_of_memory(error, "JSON");
}

bool is_the_word(const char *bytes, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(bytes, word, length) == 0;
}

qks_status member_word(json_place p, const char *name, member_need need, const char *const *words,
                       size_t *index, qks_error *error)
{
    const char *word = NULL;
    size_t length = 0;
    qks_status status = member_string(p, name, need, &word, &length, error);
    if (status != QKS_OK || !word)
        return status;
    for (size_t i = 0; words[i]; i++)
        if (is_the_word(word, length, words[i])) {
            *index = i;
            return QKS_OK;
        }
    char value[SHOWN_SIZE];
    return qks_fail(error, QKS_UNSUPPORTED, "'%s' of %s is '%s', which is not supported", name,
                    p.where, shown(word, length, value));
}
