/* pre_tokenizer_json.c: the pre-tokenizer of a tokenizer.json. One type can be several steps. */
#include "text/part_json.h"

#include "text/unicode.h"

#include <string.h>

static qks_status add_pre(tokenizer *t, pre_step step, qks_error *error)
{
    qks_status status = array_push(&t->pre, step, error);
    if (status != QKS_OK)
        pattern_free(step.pattern);
    return status;
}

static qks_status read_behavior(json_place p, member_need need, split_behavior *behavior,
                                qks_error *error)
{
    static const char *const BEHAVIORS[] = {
        [SPLIT_REMOVED] = "Removed",
        [SPLIT_ISOLATED] = "Isolated",
        [SPLIT_MERGED_WITH_PREVIOUS] = "MergedWithPrevious",
        [SPLIT_MERGED_WITH_NEXT] = "MergedWithNext",
        [SPLIT_CONTIGUOUS] = "Contiguous",
        NULL,
    };
    size_t index = (size_t)*behavior;
    qks_status status = member_word(p, "behavior", need, BEHAVIORS, &index, error);
    *behavior = (split_behavior)index;
    return status;
}

static qks_status read_byte_level(tokenizer *t, json_place p, qks_error *error)
{
    bool prefix_space = false, trim = false, use_regex = true;
    qks_status status = member_flag(p, "add_prefix_space", MEMBER_REQUIRED, &prefix_space, error);
    if (status == QKS_OK)
        status = member_flag(p, "trim_offsets", MEMBER_REQUIRED, &trim, error);
    if (status == QKS_OK)
        status = member_flag(p, "use_regex", MEMBER_OPTIONAL, &use_regex, error);
    if (status == QKS_OK && prefix_space)
        status = add_pre(t, (pre_step){.kind = PRE_PREFIX_SPACE}, error);
    if (status == QKS_OK && use_regex)
        status = add_split(&t->pre, GPT2_EXPRESSION, SPLIT_ISOLATED, error);
    return status == QKS_OK ? add_pre(t, (pre_step){.kind = PRE_BYTES}, error) : status;
}

static qks_status read_split(tokenizer *t, json_place p, qks_error *error)
{
    pre_step step = {.kind = PRE_SPLIT};
    qks_status status = read_behavior(p, MEMBER_REQUIRED, &step.behavior, error);
    if (status == QKS_OK)
        status = member_flag(p, "invert", MEMBER_REQUIRED, &step.invert, error);
    if (status == QKS_OK)
        status = read_pattern(t, p, &step.pattern, error);
    return status == QKS_OK ? add_pre(t, step, error) : status;
}

static qks_status read_digits(tokenizer *t, json_place p, qks_error *error)
{
    bool individual = false;
    qks_status status = member_flag(p, "individual_digits", MEMBER_REQUIRED, &individual, error);
    if (status != QKS_OK)
        return status;
    return add_pre(t,
                   (pre_step){.kind = PRE_SPLIT_CLASS,
                              .class = CLASS_NUMERIC,
                              .behavior = individual ? SPLIT_ISOLATED : SPLIT_CONTIGUOUS},
                   error);
}

static qks_status read_punctuation(tokenizer *t, json_place p, qks_error *error)
{
    pre_step step = {
        .kind = PRE_SPLIT_CLASS, .class = CLASS_PUNCTUATION, .behavior = SPLIT_ISOLATED};
    qks_status status = read_behavior(p, MEMBER_OPTIONAL, &step.behavior, error);
    return status == QKS_OK ? add_pre(t, step, error) : status;
}

static qks_status read_whitespace_split(tokenizer *t, json_place p, qks_error *error)
{
    (void)p;
    return add_pre(
        t,
        (pre_step){.kind = PRE_SPLIT_CLASS, .class = CLASS_WHITE_SPACE, .behavior = SPLIT_REMOVED},
        error);
}

static qks_status read_whitespace(tokenizer *t, json_place p, qks_error *error)
{
    (void)p;
    return add_pre(t, (pre_step){.kind = PRE_WORDS}, error);
}

static qks_status read_bert(tokenizer *t, json_place p, qks_error *error)
{
    qks_status status = read_whitespace_split(t, p, error);
    return status == QKS_OK ? read_punctuation(t, (json_place){NULL, p.where}, error) : status;
}

static qks_status read_fixed_length(tokenizer *t, json_place p, qks_error *error)
{
    pre_step step = {.kind = PRE_FIXED_LENGTH, .count = 5};
    const json_t *length = json_object_get(p.object, "length");
    if (length && (!json_is_integer(length) || json_integer_value(length) < 1))
        return qks_fail(error, QKS_INVALID, "'length' of %s must be a number above 0", p.where);
    if (length)
        step.count = (size_t)json_integer_value(length);
    return add_pre(t, step, error);
}

/* A string of exactly one character. */
static qks_status read_character(tokenizer *t, json_place p, const char *name, const char **mark,
                                 qks_error *error)
{
    size_t length = 0;
    qks_status status = member_string(p, name, MEMBER_REQUIRED, mark, &length, error);
    if (status != QKS_OK)
        return status;
    if (length == 0 || utf8_size(**mark) != length || !**mark)
        return qks_fail(error, QKS_INVALID, "'%s' of %s must be one character", name, p.where);
    return keep_string(t, mark, length, error);
}

static qks_status add_character_split(tokenizer *t, const char *character, split_behavior behavior,
                                      qks_error *error)
{
    pre_step step = {.kind = PRE_SPLIT, .behavior = behavior};
    qks_status status = pattern_plain(&step.pattern, character, strlen(character), error);
    return status == QKS_OK ? add_pre(t, step, error) : status;
}

static qks_status read_delimiter(tokenizer *t, json_place p, qks_error *error)
{
    const char *delimiter = NULL;
    qks_status status = read_character(t, p, "delimiter", &delimiter, error);
    return status == QKS_OK ? add_character_split(t, delimiter, SPLIT_REMOVED, error) : status;
}

static qks_status read_metaspace(tokenizer *t, json_place p, qks_error *error)
{
    static const char *const SCHEMES[] = {
        [MARK_ALWAYS] = "always", [MARK_FIRST] = "first", [MARK_NEVER] = "never", NULL};
    pre_step step = {.kind = PRE_METASPACE};
    bool prefix_space = true, split = true;
    size_t scheme = MARK_ALWAYS;
    qks_status status = read_character(t, p, "replacement", &step.mark, error);
    if (status == QKS_OK)
        status = member_word(p, "prepend_scheme", MEMBER_OPTIONAL, SCHEMES, &scheme, error);
    if (status == QKS_OK) /* older files */
        status = member_flag(p, "add_prefix_space", MEMBER_NULLABLE, &prefix_space, error);
    if (status == QKS_OK)
        status = member_flag(p, "split", MEMBER_NULLABLE, &split, error);
    if (status == QKS_OK && !prefix_space && scheme != MARK_NEVER)
        status = qks_fail(error, QKS_INVALID,
                          "add_prefix_space of %s is false, but its prepend_scheme is not 'never'",
                          p.where);
    if (status != QKS_OK)
        return status;
    step.first = (mark_first)scheme;
    status = add_pre(t, step, error);
    if (status == QKS_OK && split)
        status = add_character_split(t, step.mark, SPLIT_MERGED_WITH_NEXT, error);
    return status;
}

qks_status read_pre_tokenizer(tokenizer *t, json_place p, qks_error *error)
{
    static const part_type TYPES[] = {{"ByteLevel", read_byte_level},
                                      {"Split", read_split},
                                      {"Digits", read_digits},
                                      {"Metaspace", read_metaspace},
                                      {"Punctuation", read_punctuation},
                                      {"Whitespace", read_whitespace},
                                      {"WhitespaceSplit", read_whitespace_split},
                                      {"BertPreTokenizer", read_bert},
                                      {"CharDelimiterSplit", read_delimiter},
                                      {"FixedLength", read_fixed_length},
                                      {NULL, NULL}};
    static const part_kind KIND = {"pre-tokenizer", "pretokenizers", TYPES,
                                   "ByteLevel, Split, Digits, Metaspace, Punctuation, Whitespace, "
                                   "WhitespaceSplit, BertPreTokenizer, CharDelimiterSplit, "
                                   "FixedLength, Sequence"};
    return read_part(&KIND, t, p, error);
}
