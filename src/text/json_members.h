/* json_members.h: members of a JSON object with their types checked. `where` names the object in
 * messages: "pre_tokenizer.pretokenizers[1]". */
#ifndef QKS_TEXT_JSON_MEMBERS_H
#define QKS_TEXT_JSON_MEMBERS_H

#include "base/memory.h"
#include "qkscope/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct json_place {
    const json_t *object;
    const char *where;
} json_place;

typedef enum member_need {
    MEMBER_REQUIRED,
    MEMBER_OPTIONAL, /* missing: the value stays as it is */
    MEMBER_NULLABLE, /* missing or null: the same */
} member_need;

QKS_MUST_CHECK qks_status member_flag(json_place p, const char *name, member_need need, bool *value,
                                      qks_error *error);
/* Is a string, which may hold NUL, this word? */
bool is_the_word(const char *bytes, size_t length, const char *word);

/* The bytes are the document's. */
QKS_MUST_CHECK qks_status member_string(json_place p, const char *name, member_need need,
                                        const char **bytes, size_t *length, qks_error *error);
/* A whole number from 0 to INT32_MAX - 1, as ids and the like are. */
QKS_MUST_CHECK qks_status member_id(json_place p, const char *name, int32_t *id, qks_error *error);
QKS_MUST_CHECK qks_status member_array(json_place p, const char *name, const json_t **array,
                                       qks_error *error);
/* A member that is an object; its `where` is in the arena. */
QKS_MUST_CHECK qks_status member_object(json_place p, const char *name, arena *a,
                                        json_place *member, qks_error *error);
/* Element `index` of the array `name`, which must be an object. */
QKS_MUST_CHECK qks_status element_object(json_place p, const char *name, const json_t *array,
                                         size_t index, arena *a, json_place *element,
                                         qks_error *error);

/* One of the words (ends with NULL): its place in the list. */
QKS_MUST_CHECK qks_status member_word(json_place p, const char *name, member_need need,
                                      const char *const *words, size_t *index, qks_error *error);

#endif
