/* post_processor_json.c: the post-processor of a tokenizer.json, and a look at its decoder. */
#include "text/part_json.h"

/* ---- post-processors ---- */
static qks_status only_once(const tokenizer *t, json_place p, qks_error *error)
{
    if (t->template.length == 0)
        return QKS_OK;
    return qks_fail(error, QKS_UNSUPPORTED,
                    "%s: more than one post-processor that adds tokens is not supported", p.where);
}

/* Put in the ids that the special token `name` stands for. */
static qks_status read_special(tokenizer *t, json_place tokens, const char *name, bool counts,
                               qks_error *error)
{
    json_place token;
    const json_t *ids = NULL, *names = NULL;
    const char *id_name = NULL;
    size_t length = 0;
    qks_status status = member_object(tokens, name, &t->memory, &token, error);
    if (status == QKS_OK)
        status = member_string(token, "id", MEMBER_REQUIRED, &id_name, &length, error);
    if (status == QKS_OK)
        status = member_array(token, "ids", &ids, error);
    if (status == QKS_OK)
        status = member_array(token, "tokens", &names, error);
    for (size_t i = 0; status == QKS_OK && i < json_array_size(ids); i++) {
        const json_t *id = json_array_get(ids, i);
        if (!json_is_integer(id) || json_integer_value(id) < 0 ||
            json_integer_value(id) >= INT32_MAX)
            status = qks_fail(error, QKS_INVALID, "%s.ids[%zu] is no id", token.where, i);
        else if (counts)
            status = array_push(&t->template, (int32_t)json_integer_value(id), error);
    }
    return status;
}

/* One piece of a template: {"SpecialToken": {"id": "<s>"}} or {"Sequence": {"id": "A"}}. `single`:
 * the template is of one text, which has no B, and it counts. */
static qks_status read_piece(tokenizer *t, json_place piece, json_place tokens, bool single,
                             qks_error *error)
{
    static const char *const TEXTS[] = {"A", "B", NULL};
    json_place inner;
    size_t which = 0, length = 0;
    int32_t ignored = 0;
    bool sequence = json_object_get(piece.object, "Sequence") != NULL;
    qks_status status = member_object(piece, sequence ? "Sequence" : "SpecialToken", &t->memory,
                                      &inner, error);
    if (status == QKS_OK && json_object_size(piece.object) != 1)
        status = qks_fail(error, QKS_INVALID, "%s must have one member", piece.where);
    if (status == QKS_OK)
        status = member_id(inner, "type_id", &ignored, error);
    if (status != QKS_OK)
        return status;
    if (!sequence) {
        const char *name = NULL;
        status = member_string(inner, "id", MEMBER_REQUIRED, &name, &length, error);
        return status == QKS_OK ? read_special(t, tokens, name, single, error) : status;
    }
    status = member_word(inner, "id", MEMBER_REQUIRED, TEXTS, &which, error);
    if (status == QKS_OK && single && which != 0)
        status = qks_fail(error, QKS_INVALID, "%s: a single text has no B", inner.where);
    if (status == QKS_OK && single)
        status = array_push(&t->template, (int32_t)THE_TEXT, error);
    return status;
}

static qks_status read_pieces(tokenizer *t, json_place p, const char *name, json_place tokens,
                              bool single, qks_error *error)
{
    const json_t *pieces = NULL;
    qks_status status = member_array(p, name, &pieces, error);
    for (size_t i = 0; status == QKS_OK && i < json_array_size(pieces); i++) {
        json_place piece;
        status = element_object(p, name, pieces, i, &t->memory, &piece, error);
        if (status == QKS_OK)
            status = read_piece(t, piece, tokens, single, error);
    }
    return status;
}

static qks_status read_template(tokenizer *t, json_place p, qks_error *error)
{
    json_place tokens;
    qks_status status = only_once(t, p, error);
    if (status == QKS_OK)
        status = member_object(p, "special_tokens", &t->memory, &tokens, error);
    if (status == QKS_OK)
        status = read_pieces(t, p, "single", tokens, true, error);
    if (status == QKS_OK)
        status = read_pieces(t, p, "pair", tokens, false, error);
    bool has_text = false;
    for (size_t i = 0; i < t->template.length; i++)
        has_text |= t->template.data[i] == THE_TEXT;
    if (status == QKS_OK && !has_text)
        status = qks_fail(error, QKS_INVALID, "%s.single has no place for the text", p.where);
    return status;
}

/* ["</s>", 2] */
static qks_status read_named_id(json_place p, const char *name, int32_t *id, qks_error *error)
{
    const json_t *pair = json_object_get(p.object, name);
    const json_t *number = json_array_get(pair, 1);
    if (json_array_size(pair) != 2 || !json_is_string(json_array_get(pair, 0)) ||
        !json_is_integer(number) || json_integer_value(number) < 0 ||
        json_integer_value(number) >= INT32_MAX)
        return qks_fail(error, QKS_INVALID, "'%s' of %s must be a token and its id", name, p.where);
    *id = (int32_t)json_integer_value(number);
    return QKS_OK;
}

static qks_status read_cls_and_sep(tokenizer *t, json_place p, qks_error *error)
{
    int32_t cls = 0, sep = 0;
    qks_status status = only_once(t, p, error);
    if (status == QKS_OK)
        status = read_named_id(p, "cls", &cls, error);
    if (status == QKS_OK)
        status = read_named_id(p, "sep", &sep, error);
    if (status == QKS_OK)
        status = array_push(&t->template, cls, error);
    if (status == QKS_OK)
        status = array_push(&t->template, (int32_t)THE_TEXT, error);
    return status == QKS_OK ? array_push(&t->template, sep, error) : status;
}

static qks_status read_byte_level_offsets(tokenizer *t, json_place p, qks_error *error)
{
    (void)t;
    bool ignored = false;
    qks_status status = member_flag(p, "add_prefix_space", MEMBER_REQUIRED, &ignored, error);
    if (status == QKS_OK)
        status = member_flag(p, "trim_offsets", MEMBER_REQUIRED, &ignored, error);
    return status == QKS_OK ? member_flag(p, "use_regex", MEMBER_OPTIONAL, &ignored, error)
                            : status;
}

qks_status read_post_processor(tokenizer *t, json_place p, qks_error *error)
{
    static const part_type TYPES[] = {{"TemplateProcessing", read_template},
                                      {"ByteLevel", read_byte_level_offsets}, /* adds nothing */
                                      {"RobertaProcessing", read_cls_and_sep},
                                      {"BertProcessing", read_cls_and_sep},
                                      {NULL, NULL}};
    static const part_kind KIND = {"post-processor", "processors", TYPES,
                                   "TemplateProcessing, ByteLevel, RobertaProcessing, "
                                   "BertProcessing, Sequence"};
    return read_part(&KIND, t, p, error);
}

/* ---- decoders ---- */
static qks_status check_replace(tokenizer *t, json_place p, qks_error *error)
{
    const char *content = NULL;
    size_t length = 0;
    pattern *what = NULL;
    qks_status status = member_string(p, "content", MEMBER_REQUIRED, &content, &length, error);
    if (status == QKS_OK)
        status = read_pattern(t, p, &what, error);
    pattern_free(what);
    return status;
}

qks_status check_decoder(tokenizer *t, json_place p, qks_error *error)
{
    static const part_type TYPES[] = {{"ByteLevel", read_byte_level_offsets},
                                      {"ByteFallback", NULL},
                                      {"Replace", check_replace},
                                      {"Fuse", NULL},
                                      {"Strip", NULL},
                                      {"Metaspace", NULL},
                                      {"BPEDecoder", NULL},
                                      {"WordPiece", NULL},
                                      {"CTC", NULL},
                                      {NULL, NULL}};
    static const part_kind KIND = {"decoder", "decoders", TYPES,
                                   "ByteLevel, ByteFallback, Replace, Fuse, Strip, Metaspace, "
                                   "BPEDecoder, WordPiece, CTC, Sequence"};
    return read_part(&KIND, t, p, error);
}
