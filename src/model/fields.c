/* fields.c: bounded reads of JSON. */
#include "model/fields.h"

#include "base/file.h"

#include <math.h>
#include <stdlib.h>

enum { JSON_MAX = 16 << 20 };

qks_status json_object_read(const char *path, json_t **object, qks_error *error)
{
    char *bytes = NULL;
    size_t length = 0;
    json_error_t fault;
    qks_status status = file_get(path, JSON_MAX, &bytes, &length, error);
    if (status != QKS_OK)
        return status;
    json_t *read = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &fault);
    free(bytes);
    if (!read && json_error_code(&fault) == json_error_out_of_memory)
        return out_of_memory(error, path);
    if (!read)
        return qks_fail(error, QKS_INVALID, "'%s' is not JSON: line %d: %s", path, fault.line,
                        fault.text);
    if (!json_is_object(read)) {
        json_decref(read);
        return qks_fail(error, QKS_INVALID, "'%s' is JSON, but no object", path);
    }
    *object = read;
    return QKS_OK;
}

static const json_t *find(const fields *f, const char *key)
{
    const json_t *value = json_object_get(f->object, key);
    return json_is_null(value) ? NULL : value;
}

bool field_present(const fields *f, const char *key)
{
    return find(f, key) != NULL;
}

static qks_status absent(const fields *f, const char *key, bool required, qks_error *error)
{
    return required ? qks_fail(error, QKS_INVALID, "'%s': %s%s is missing", f->path, f->prefix, key)
                    : QKS_OK;
}

static qks_status wrong(const fields *f, const char *key, const char *wanted, qks_error *error)
{
    char *shown = json_dumps(find(f, key), JSON_ENCODE_ANY | JSON_COMPACT);
    qks_status status = qks_fail(error, QKS_INVALID, "'%s': %s%s is %.60s; it must be %s", f->path,
                                 f->prefix, key, shown ? shown : "unreadable", wanted);
    free(shown);
    return status;
}

qks_status field_whole(const fields *f, const char *key, bool required, int64_t low, int64_t high,
                       int64_t *value, qks_error *error)
{
    const json_t *found = find(f, key);
    if (!found)
        return absent(f, key, required, error);
    double number = json_number_value(found); /* 4096.0 is taken as 4096 */
    bool whole = json_is_integer(found) || (json_is_real(found) && number == floor(number));
    if (!whole || number < (double)low || number > (double)high) {
        char wanted[96];
        (void)snprintf(wanted, sizeof wanted, "a whole number from %lld to %lld", (long long)low,
                       (long long)high);
        return wrong(f, key, wanted, error);
    }
    *value = json_is_integer(found) ? json_integer_value(found) : (int64_t)number;
    return QKS_OK;
}

qks_status field_number(const fields *f, const char *key, bool required, double low, double high,
                        double *value, qks_error *error)
{
    const json_t *found = find(f, key);
    if (!found)
        return absent(f, key, required, error);
    double number = json_number_value(found);
    if (!json_is_number(found) || !(number >= low && number <= high)) {
        char wanted[96];
        (void)snprintf(wanted, sizeof wanted, "a number from %g to %g", low, high);
        return wrong(f, key, wanted, error);
    }
    *value = number;
    return QKS_OK;
}

qks_status field_flag(const fields *f, const char *key, bool *value, qks_error *error)
{
    const json_t *found = find(f, key);
    if (!found)
        return QKS_OK;
    if (!json_is_boolean(found))
        return wrong(f, key, "true or false", error);
    *value = json_is_true(found);
    return QKS_OK;
}

qks_status field_string(const fields *f, const char *key, bool required, const char **value,
                        qks_error *error)
{
    const json_t *found = find(f, key);
    if (!found)
        return absent(f, key, required, error);
    if (!json_is_string(found))
        return wrong(f, key, "a string", error);
    *value = json_string_value(found);
    return QKS_OK;
}

qks_status field_object(const fields *f, const char *key, const json_t **value, qks_error *error)
{
    *value = find(f, key);
    return !*value || json_is_object(*value) ? QKS_OK : wrong(f, key, "an object", error);
}

qks_status field_array(const fields *f, const char *key, size_t low, size_t high,
                       const json_t **value, qks_error *error)
{
    *value = find(f, key);
    if (!*value)
        return QKS_OK;
    if (!json_is_array(*value))
        return wrong(f, key, "a list", error);
    size_t length = json_array_size(*value);
    if (length < low || length > high)
        return qks_fail(error, QKS_INVALID, "'%s': %s%s has %zu entries; it must have %zu%s",
                        f->path, f->prefix, key, length, length < low ? low : high,
                        low == high    ? ""
                        : length < low ? " or more"
                                       : " or fewer");
    return QKS_OK;
}
