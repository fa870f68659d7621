/* fields.h: fields of a JSON object read with bounds. What is wrong is said with the file, the
 * field and what would be right. A field that is null counts as absent. */
#ifndef QKS_MODEL_FIELDS_H
#define QKS_MODEL_FIELDS_H

#include "qkscope/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct fields {
    const json_t *object;
    const char *path;   /* of the file, for messages */
    const char *prefix; /* of the fields' names in messages, such as "text_config."; or "" */
} fields;

/* The file's whole content as one JSON object of at most 16 MiB, no key twice. The caller ends with
 * json_decref(). */
QKS_MUST_CHECK qks_status json_object_read(const char *path, json_t **object, qks_error *error);

bool field_present(const fields *f, const char *key);

/* Each leaves *value alone when the field is absent and `required` is false. */
QKS_MUST_CHECK qks_status field_whole(const fields *f, const char *key, bool required, int64_t low,
                                      int64_t high, int64_t *value, qks_error *error);
QKS_MUST_CHECK qks_status field_number(const fields *f, const char *key, bool required, double low,
                                       double high, double *value, qks_error *error);
QKS_MUST_CHECK qks_status field_flag(const fields *f, const char *key, bool *value,
                                     qks_error *error);
QKS_MUST_CHECK qks_status field_string(const fields *f, const char *key, bool required,
                                       const char **value, qks_error *error);
/* *value NULL: absent. */
QKS_MUST_CHECK qks_status field_object(const fields *f, const char *key, const json_t **value,
                                       qks_error *error);
QKS_MUST_CHECK qks_status field_array(const fields *f, const char *key, size_t low, size_t high,
                                      const json_t **value, qks_error *error);

#endif
