/* normalizer_json.c: the normalizer of a tokenizer.json. */
#include "text/part_json.h"

static qks_status add_normalizer(tokenizer *t, normalizer_step step, qks_error *error)
{
    qks_status status = array_push(&t->normalizer, step, error);
    if (status != QKS_OK)
        pattern_free(step.pattern);
    return status;
}

static qks_status read_form(tokenizer *t, json_place p, qks_error *error)
{
    static const char *const FORMS[] = {
        [FORM_NFC] = "NFC", [FORM_NFD] = "NFD", [FORM_NFKC] = "NFKC", [FORM_NFKD] = "NFKD", NULL};
    size_t form = 0;
    qks_status status = member_word(p, "type", MEMBER_REQUIRED, FORMS, &form, error);
    if (status != QKS_OK)
        return status;
    return add_normalizer(t, (normalizer_step){.kind = NORMALIZE_FORM, .form = (normal_form)form},
                          error);
}

static qks_status read_replace(tokenizer *t, json_place p, qks_error *error)
{
    normalizer_step step = {.kind = NORMALIZE_REPLACE};
    qks_status status = member_string(p, "content", MEMBER_REQUIRED, &step.content, &step.length,
                                      error);
    if (status == QKS_OK)
        status = keep_string(t, &step.content, step.length, error);
    if (status == QKS_OK)
        status = read_pattern(t, p, &step.pattern, error);
    return status == QKS_OK ? add_normalizer(t, step, error) : status;
}

static qks_status read_prepend(tokenizer *t, json_place p, qks_error *error)
{
    normalizer_step step = {.kind = NORMALIZE_PREPEND};
    qks_status status = member_string(p, "prepend", MEMBER_REQUIRED, &step.content, &step.length,
                                      error);
    if (status == QKS_OK && step.length == 0)
        status = qks_fail(error, QKS_UNSUPPORTED, "%s prepends nothing; leave it out", p.where);
    if (status == QKS_OK)
        status = keep_string(t, &step.content, step.length, error);
    return status == QKS_OK ? add_normalizer(t, step, error) : status;
}

static qks_status read_strip(tokenizer *t, json_place p, qks_error *error)
{
    normalizer_step step = {.kind = NORMALIZE_STRIP};
    qks_status status = member_flag(p, "strip_left", MEMBER_REQUIRED, &step.left, error);
    if (status == QKS_OK)
        status = member_flag(p, "strip_right", MEMBER_REQUIRED, &step.right, error);
    return status == QKS_OK ? add_normalizer(t, step, error) : status;
}

static qks_status read_lowercase(tokenizer *t, json_place p, qks_error *error)
{
    (void)p;
    return add_normalizer(t, (normalizer_step){.kind = NORMALIZE_LOWERCASE}, error);
}

static qks_status read_strip_accents(tokenizer *t, json_place p, qks_error *error)
{
    (void)p;
    return add_normalizer(t, (normalizer_step){.kind = NORMALIZE_STRIP_ACCENTS}, error);
}

static qks_status read_nmt(tokenizer *t, json_place p, qks_error *error)
{
    (void)p;
    return add_normalizer(t, (normalizer_step){.kind = NORMALIZE_NMT}, error);
}

static qks_status read_byte_normalizer(tokenizer *t, json_place p, qks_error *error)
{
    (void)p;
    return add_normalizer(t, (normalizer_step){.kind = NORMALIZE_BYTES}, error);
}

qks_status read_normalizer(tokenizer *t, json_place p, qks_error *error)
{
    static const part_type TYPES[] = {{"NFC", read_form},
                                      {"NFD", read_form},
                                      {"NFKC", read_form},
                                      {"NFKD", read_form},
                                      {"Replace", read_replace},
                                      {"Prepend", read_prepend},
                                      {"Strip", read_strip},
                                      {"Lowercase", read_lowercase},
                                      {"StripAccents", read_strip_accents},
                                      {"Nmt", read_nmt},
                                      {"ByteLevel", read_byte_normalizer},
                                      {NULL, NULL}};
    static const part_kind KIND = {"normalizer", "normalizers", TYPES,
                                   "NFC, NFD, NFKC, NFKD, Replace, Prepend, Strip, Lowercase, "
                                   "StripAccents, Nmt, ByteLevel, Sequence"};
    return read_part(&KIND, t, p, error);
}
