/* part_json.h: how the parts of a tokenizer.json around its model are read: each kind of part
 * (normalizer, pre-tokenizer ...) is a table of types, and a Sequence is flattened into its
 * elements. A part of a type that is not in the table is refused by its name. */
#ifndef QKS_TEXT_PART_JSON_H
#define QKS_TEXT_PART_JSON_H

#include "text/json_members.h"
#include "text/tokenizer_private.h"

/* How one kind of part is read. */
typedef qks_status part_read(tokenizer *t, json_place p, qks_error *error);
typedef struct part_type {
    const char *name;
    part_read *read;
} part_type;
typedef struct part_kind {
    const char *what;     /* "normalizer" */
    const char *elements; /* of a Sequence: "normalizers" */
    const part_type *types;
    const char *known; /* the types, for the message */
} part_kind;

QKS_MUST_CHECK qks_status read_part(const part_kind *kind, tokenizer *t, json_place p,
                                    qks_error *error);

/* The kinds. */
QKS_MUST_CHECK qks_status read_normalizer(tokenizer *t, json_place p, qks_error *error);
QKS_MUST_CHECK qks_status read_pre_tokenizer(tokenizer *t, json_place p, qks_error *error);
QKS_MUST_CHECK qks_status read_post_processor(tokenizer *t, json_place p, qks_error *error);
/* A decoder has no part in encoding; it is only checked. */
QKS_MUST_CHECK qks_status check_decoder(tokenizer *t, json_place p, qks_error *error);

/* In place of a string its copy, which lasts as long as the tokenizer. */
QKS_MUST_CHECK qks_status keep_string(tokenizer *t, const char **bytes, size_t length,
                                      qks_error *error);
/* The member "pattern": {"String": "..."} or {"Regex": "..."}. */
QKS_MUST_CHECK qks_status read_pattern(tokenizer *t, json_place p, pattern **out, qks_error *error);

#endif
