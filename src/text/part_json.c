/* part_json.c: types and sequences of parts. */
#include "text/part_json.h"

#include "text/unicode.h"

enum { DEPTH_MAX = 32 };

static qks_status read_nested(const part_kind *kind, tokenizer *t, json_place p, int depth,
                              qks_error *error)
{
    const char *type = NULL;
    size_t length = 0;
    if (depth > DEPTH_MAX)
        return qks_fail(error, QKS_UNSUPPORTED, "the %s is nested more than %d deep", kind->what,
                        DEPTH_MAX);
    qks_status status = member_string(p, "type", MEMBER_REQUIRED, &type, &length, error);
    if (status != QKS_OK)
        return status;
    if (is_the_word(type, length, "Sequence")) {
        const json_t *elements = NULL;
        status = member_array(p, kind->elements, &elements, error);
        for (size_t i = 0; status == QKS_OK && i < json_array_size(elements); i++) {
            json_place element;
            status = element_object(p, kind->elements, elements, i, &t->memory, &element, error);
            if (status == QKS_OK)
                status = read_nested(kind, t, element, depth + 1, error);
        }
        return status;
    }
    for (const part_type *known = kind->types; known->name; known++)
        if (is_the_word(type, length, known->name))
            return known->read ? known->read(t, p, error) : QKS_OK;
    char name[SHOWN_SIZE];
    return qks_fail(error, QKS_UNSUPPORTED, "%s type %s is not supported (%s); %s are", kind->what,
                    shown(type, length, name), p.where, kind->known);
}

qks_status read_part(const part_kind *kind, tokenizer *t, json_place p, qks_error *error)
{
    return read_nested(kind, t, p, 0, error);
}

qks_status keep_string(tokenizer *t, const char **bytes, size_t length, qks_error *error)
{
    *bytes = arena_copy(&t->memory, *bytes, length);
    return *bytes ? QKS_OK : out_of_memory(error, "tokenizer");
}

qks_status read_pattern(tokenizer *t, json_place p, pattern **out, qks_error *error)
{
    json_place what;
    qks_status status = member_object(p, "pattern", &t->memory, &what, error);
    if (status != QKS_OK)
        return status;
    const char *string = NULL, *regex = NULL;
    size_t length = 0;
    status = member_string(what, "String", MEMBER_OPTIONAL, &string, &length, error);
    if (status == QKS_OK)
        status = member_string(what, "Regex", MEMBER_OPTIONAL, &regex, &length, error);
    if (status == QKS_OK && (!string == !regex || json_object_size(what.object) != 1))
        status = qks_fail(error, QKS_INVALID, "%s must be one of String and Regex", what.where);
    if (status == QKS_OK)
        status = string ? pattern_plain(out, string, length, error)
                        : pattern_compile(out, regex, length, error);
    return status == QKS_OK ? QKS_OK : qks_prefix(error, status, "%s", p.where);
}
