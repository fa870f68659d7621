/* study.c: a study file to a study: tables of keys, and checks over the whole. */
#include "study/study.h"

#include "base/file.h"
#include "qkscope/names.h"
#include "study/source.h"
#include "study/study_yaml.h"

#include <stdlib.h>
#include <string.h>

enum {
    MODELS_MAX = 10000,
    NAME_LONGEST = 300,
};

/* ---- values ---- */

static void take_heads(reader *r, const yaml_node_t *node, void *place)
{
    take_or(r, node, place, "all", 0);
}

static void take_groups(reader *r, const yaml_node_t *node, void *place)
{
    take_or(r, node, place, "document", GROUPS_PER_DOCUMENT);
}

static void take_pairs(reader *r, const yaml_node_t *node, void *place)
{
    take_or(r, node, place, "none", PAIRS_NONE);
}

static void take_sampler(reader *r, const yaml_node_t *node, void *place)
{
    qks_sampler sampler = QKS_SAMPLE_ALL;
    const char *value = scalar(node);
    if (!value || qks_sampler_of_name(value, &sampler, NULL) != QKS_OK)
        fault(r, node, "a sampler is all, uniform or log_uniform");
    else
        *(int64_t *)place = sampler;
}

static void take_kind(reader *r, const yaml_node_t *node, void *place)
{
    const char *value = scalar(node);
    if (!value || (strcmp(value, "training") != 0 && strcmp(value, "models") != 0))
        fault(r, node, "kind is training or models");
    else
        *(bool *)place = strcmp(value, "training") == 0;
}

static void take_format(reader *r, const yaml_node_t *node, void *place)
{
    const char *word = scalar(node);
    (void)place;
    if (!word || strtol(word, NULL, 10) != STUDY_FORMAT)
        fault(r, node, "this qkscope reads study files of format %d, not '%.20s'", STUDY_FORMAT,
              word ? word : "?");
}

static void take_figures(reader *r, const yaml_node_t *node, void *place)
{
    const char *value = scalar(node);
    if (value && strcmp(value, "none") == 0)
        r->s->no_figures = true;
    else if (!value || strcmp(value, "all") != 0)
        take_list(r, node, place);
}

/* ---- keys ---- */

static const key TEXT_KEYS[] = {
    {"path", take_text, offsetof(study, text.path), true},
    {"column", take_text, offsetof(study, text.column), false},
    {"id", take_text, offsetof(study, text.id), false},
    {"limit", take_count, offsetof(study, text.limit), false},
    {NULL, NULL, 0, false},
};

static const key CAPTURE_KEYS[] = {
    {"heads", take_heads, offsetof(study, capture.heads), false},
    {"seed", take_seed, offsetof(study, capture.seed), false},
    {"sampler", take_sampler, offsetof(study, capture.sampler), false},
    {"bucket", take_count, offsetof(study, capture.bucket), false},
    {"rate", take_real, offsetof(study, capture.rate), false},
    {"groups", take_groups, offsetof(study, capture.groups), false},
    {"pairs", take_pairs, offsetof(study, capture.pairs), false},
    {"layers", take_text, offsetof(study, capture.layers), false},
    {"pre_rope", take_bool, offsetof(study, capture.pre_rope), false},
    {"full_attention_only", take_bool, offsetof(study, capture.full_attention_only), false},
    {"no_special", take_bool, offsetof(study, capture.no_special), false},
    {NULL, NULL, 0, false},
};

#define MODEL_KEYS                                                                                 \
    {"phase", take_text, offsetof(study_model, phase), false},                                     \
        {"family", take_text, offsetof(study_model, family), false},                               \
        {"revision", take_text, offsetof(study_model, revision), false},                           \
        {"tokenizer", take_text, offsetof(study_model, tokenizer), false},                         \
        {"max_length", take_count, offsetof(study_model, max_length), false},                      \
        {"rope_theta", take_real, offsetof(study_model, rope_theta), false},                       \
        {"rope_scaling", take_scaling, offsetof(study_model, rope_scaling), false},                \
        {"full_attention_only", take_maybe, offsetof(study_model, full_attention_only), false},

static const key DEFAULT_KEYS[] = {
    MODEL_KEYS{"model", take_text, offsetof(study_model, model), false},
    {NULL, NULL, 0, false},
};

static const key ONE_MODEL_KEYS[] = {
    MODEL_KEYS{"label", take_text, offsetof(study_model, label), true},
    {"model", take_text, offsetof(study_model, model), false},
    {NULL, NULL, 0, false},
};

static void take_text_block(reader *r, const yaml_node_t *node, void *place)
{
    take_mapping(r, node, TEXT_KEYS, place);
}

static void take_capture(reader *r, const yaml_node_t *node, void *place)
{
    take_mapping(r, node, CAPTURE_KEYS, place);
}

static void take_defaults(reader *r, const yaml_node_t *node, void *place)
{
    take_mapping(r, node, DEFAULT_KEYS, &((study *)place)->defaults);
}

static void take_models(reader *r, const yaml_node_t *node, void *place)
{
    study *s = place;
    if (node->type != YAML_SEQUENCE_NODE) {
        fault(r, node, "models is a list");
        return;
    }
    size_t count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    if (count == 0 || count > MODELS_MAX) {
        fault(r, node, "%zu models; a study has 1 to %d", count, MODELS_MAX);
        return;
    }
    s->models = arena_alloc(&s->memory, count, sizeof *s->models);
    if (!s->models) {
        fault(r, node, "too many models for the memory");
        return;
    }
    s->n_models = count;
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *entry = yaml_document_get_node(r->document,
                                                          node->data.sequence.items.start[i]);
        s->models[i] = (study_model){.full_attention_only = -1};
        take_mapping(r, entry, ONE_MODEL_KEYS, &s->models[i]);
    }
}

static const key STUDY_KEYS[] = {
    {"format", take_format, 0, false},
    {"name", take_text, offsetof(study, name), true},
    {"kind", take_kind, offsetof(study, training), true},
    {"text", take_text_block, 0, true},
    {"capture", take_capture, 0, false},
    {"defaults", take_defaults, 0, false},
    {"models", take_models, 0, true},
    {"portraits", take_list, offsetof(study, portraits), false},
    {"figures", take_figures, offsetof(study, figures), false},
    {NULL, NULL, 0, false},
};

/* ---- checks over the whole ---- */

static void inherit(study *s)
{
    const study_model *from = &s->defaults;
    for (size_t i = 0; i < s->n_models; i++) {
        study_model *m = &s->models[i];
        m->model = m->model ? m->model : from->model;
        m->phase = m->phase ? m->phase : from->phase;
        m->family = m->family ? m->family : from->family;
        m->revision = m->revision ? m->revision : from->revision;
        m->tokenizer = m->tokenizer ? m->tokenizer : from->tokenizer;
        m->max_length = m->max_length ? m->max_length : from->max_length;
        m->rope_theta = m->rope_theta > 0 ? m->rope_theta : from->rope_theta;
        m->rope_scaling = m->rope_scaling ? m->rope_scaling : from->rope_scaling;
        if (m->full_attention_only < 0)
            m->full_attention_only = from->full_attention_only;
        if (m->full_attention_only < 0)
            m->full_attention_only = s->capture.full_attention_only;
    }
}

/* The value of a key of a mapping; NULL: it has none. */
static const yaml_node_t *value_of(const reader *r, const yaml_node_t *mapping, const char *name)
{
    if (!mapping || mapping->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *p = mapping->data.mapping.pairs.start;
         p < mapping->data.mapping.pairs.top; p++) {
        const char *word = scalar(yaml_document_get_node(r->document, p->key));
        if (word && strcmp(word, name) == 0)
            return yaml_document_get_node(r->document, p->value);
    }
    return NULL;
}

static const yaml_node_t *item_of(const reader *r, const yaml_node_t *list, size_t i)
{
    return yaml_document_get_node(r->document, list->data.sequence.items.start[i]);
}

static bool has_model(const study *s, const char *label)
{
    for (size_t i = 0; i < s->n_models; i++)
        if (s->models[i].label && strcmp(s->models[i].label, label) == 0)
            return true;
    return false;
}

static const char *nearest_label(study *s, const char *label)
{
    const char **labels = arena_alloc(&s->memory, s->n_models + 1, sizeof *labels);
    size_t count = 0;
    for (size_t i = 0; labels && i < s->n_models; i++)
        if (s->models[i].label)
            labels[count++] = s->models[i].label;
    return labels ? qks_nearest(label, labels) : NULL;
}

static void check_portraits(reader *r)
{
    const yaml_node_t *list = value_of(r, r->root, "portraits");
    size_t count = list && list->type == YAML_SEQUENCE_NODE
                       ? (size_t)(list->data.sequence.items.top - list->data.sequence.items.start)
                       : 0;
    if (r->s->n_models && count > r->s->n_models) {
        fault(r, list, "portraits: %zu of %zu models", count, r->s->n_models);
        return;
    }
    for (size_t i = 0; i < count && r->s->n_models; i++) {
        const char *label = scalar(item_of(r, list, i));
        if (!label || has_model(r->s, label))
            continue;
        const char *near = nearest_label(r->s, label);
        fault(r, item_of(r, list, i), "portraits: no model is called '%.60s'%s%.60s%s", label,
              near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
}

typedef char slug[SLUG_SIZE];

static void check_models(reader *r)
{
    study *s = r->s;
    const yaml_node_t *list = value_of(r, r->root, "models");
    slug *slugs = arena_alloc(&s->memory, s->n_models, sizeof *slugs);
    for (size_t i = 0; slugs && i < s->n_models; i++) {
        const study_model *m = &s->models[i];
        const yaml_node_t *entry = item_of(r, list, i), *at = value_of(r, entry, "label");
        if (!m->model)
            fault(r, entry, "no model is given for '%.60s'", m->label ? m->label : "?");
        if (!m->label)
            continue;
        if (*m->label == '\0' || strlen(m->label) > NAME_LONGEST)
            fault(r, at, "a label has 1 to %d bytes, not %zu", NAME_LONGEST, strlen(m->label));
        slug_of(m->label, slugs[i]);
        size_t j = 0;
        while (j < i && strcmp(slugs[j], slugs[i]) != 0)
            j++;
        if (j < i && s->models[j].label && strcmp(s->models[j].label, m->label) == 0)
            fault(r, at, "two models have the label '%.60s'", m->label);
        else if (j < i)
            fault(r, at, "labels '%.60s' and '%.60s' give the same folder name; change one",
                  s->models[j].label, m->label);
    }
}

static void check_text(reader *r)
{
    study *s = r->s;
    if (!s->text.path)
        return;
    if (s->text.path[0] != '/')
        s->text.path = arena_format(&s->memory, "%s/%s", s->folder, s->text.path);
    if (s->text.path && !is_file(s->text.path) && !is_folder(s->text.path))
        fault(r, value_of(r, value_of(r, r->root, "text"), "path"), "text: there is no '%s'",
              s->text.path);
}

/* ---- reading ---- */

/* Aliases are followed as often as they are written, so that a small file cannot ask for much. */
static bool node_in_bounds(reader *r, int number, int depth, size_t *visits)
{
    const yaml_node_t *node = yaml_document_get_node(r->document, number);
    if (depth > YAML_DEPTH_MAX)
        fault(r, node, "this is nested too deeply");
    else if (++*visits > STUDY_MAX)
        fault(r, node, "aliases multiply to more than %d values", STUDY_MAX);
    bool fine = depth <= YAML_DEPTH_MAX && *visits <= STUDY_MAX;
    if (node->type == YAML_SEQUENCE_NODE)
        for (yaml_node_item_t *i = node->data.sequence.items.start;
             fine && i < node->data.sequence.items.top; i++)
            fine = node_in_bounds(r, *i, depth + 1, visits);
    if (node->type == YAML_MAPPING_NODE)
        for (yaml_node_pair_t *p = node->data.mapping.pairs.start;
             fine && p < node->data.mapping.pairs.top; p++)
            fine = node_in_bounds(r, p->key, depth + 1, visits) &&
                   node_in_bounds(r, p->value, depth + 1, visits);
    return fine;
}

static void read_document(reader *r)
{
    size_t visits = 0;
    r->root = yaml_document_get_root_node(r->document);
    if (!r->root)
        fault(r, NULL, "the file is empty");
    else if (node_in_bounds(r, 1, 0, &visits)) {
        take_mapping(r, r->root, STUDY_KEYS, r->s);
        inherit(r->s);
        check_models(r);
        check_portraits(r);
        check_text(r);
    }
}

/* What libyaml says. It has no place for bytes that are no text at all, but their offset. */
static void syntax_fault(reader *r, const yaml_parser_t *parser, const char *bytes, size_t length)
{
    size_t line = parser->problem_mark.line + 1, column = parser->problem_mark.column + 1;
    if (parser->error == YAML_READER_ERROR) {
        line = column = 1;
        for (size_t i = 0; i < parser->problem_offset && i < length; i++) {
            column = bytes[i] == '\n' ? 1 : column + 1;
            line += bytes[i] == '\n';
        }
    }
    fault_at(r, line, column, parser->problem ? parser->problem : "this is not YAML");
}

/* A study is one document: what stands after it would be read by nobody. */
static void check_end(reader *r, yaml_parser_t *parser)
{
    yaml_document_t rest;
    if (!yaml_parser_load(parser, &rest))
        return;
    const yaml_node_t *root = yaml_document_get_root_node(&rest);
    if (root)
        fault(r, root, "a second document begins here; a study is one");
    yaml_document_delete(&rest);
}

/* libyaml needs the square of the depth in time, so that is looked at before the whole is read.
 * Other faults are left to the reading. */
static bool is_shallow(reader *r, const char *bytes, size_t length)
{
    yaml_parser_t parser;
    bool more = true, fine = true;
    if (!yaml_parser_initialize(&parser)) {
        fault(r, NULL, "out of memory");
        return false;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, length);
    for (int depth = 0; more && fine;) {
        yaml_event_t event;
        more = yaml_parser_parse(&parser, &event) && event.type != YAML_STREAM_END_EVENT;
        depth += event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT;
        depth -= event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        fine = depth <= YAML_DEPTH_MAX + 1;
        if (!fine)
            fault_at(r, event.start_mark.line + 1, event.start_mark.column + 1,
                     "this is nested too deeply");
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return fine;
}

static void parse(reader *r, const char *bytes, size_t length)
{
    yaml_parser_t parser;
    yaml_document_t document;
    if (!is_shallow(r, bytes, length))
        return;
    if (!yaml_parser_initialize(&parser)) {
        fault(r, NULL, "out of memory");
        return;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, length);
    if (!yaml_parser_load(&parser, &document)) {
        syntax_fault(r, &parser, bytes, length);
    } else {
        r->document = &document;
        read_document(r);
        if (r->root)
            check_end(r, &parser);
        r->document = NULL;
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
}

qks_status study_read(study *s, const char *path, text *faults, qks_error *error)
{
    char *bytes = NULL;
    size_t length = 0;
    *s = (study){.defaults = {.full_attention_only = -1}};
    qks_status status = file_get(path, STUDY_MAX, &bytes, &length, error);
    if (status != QKS_OK) {
        if (error)
            error->status = QKS_USAGE;
        return QKS_USAGE;
    }
    s->path = arena_string(&s->memory, path);
    s->folder = path_folder(&s->memory, path);
    if (!s->path || !s->folder)
        status = out_of_memory(error, "study");
    reader r = {.s = s, .faults = faults};
    if (status == QKS_OK)
        parse(&r, bytes, length);
    free(bytes);
    if (status == QKS_OK && r.count > 0)
        status = qks_fail(error, QKS_USAGE, "'%s' has %zu fault%s", path, r.count,
                          r.count == 1 ? "" : "s");
    if (status != QKS_OK)
        study_close(s);
    return status;
}

void study_close(study *s)
{
    free(s->portraits.data);
    free(s->figures.data);
    arena_free(&s->memory);
    *s = (study){0};
}

/* ---- using ---- */

const char *study_sees(study *s, const char *path)
{
    const char *joined = path[0] == '/' ? path : arena_format(&s->memory, "%s/%s", s->folder, path);
    return joined && (is_folder(joined) || is_file(joined)) ? joined : path;
}

const char *study_model_path(study *s, const study_model *m)
{
    if (m->revision)
        return arena_format(&s->memory, "%s@%s", m->model, m->revision);
    return study_sees(s, m->model);
}

qks_capture_options study_capture_options(const study *s, const study_model *m)
{
    return (qks_capture_options){
        .text = s->text.path,
        .text_column = s->text.column,
        .id_column = s->text.id,
        .limit = s->text.limit,
        .tokenizer = m->tokenizer ? study_sees((study *)(uintptr_t)s, m->tokenizer) : NULL,
        .no_special = s->capture.no_special,
        .max_length = (int32_t)m->max_length,
        .heads = (int32_t)s->capture.heads,
        .seed = s->capture.seed,
        .layers = s->capture.layers,
        .full_attention_only = m->full_attention_only == 1,
        .sampler = (qks_sampler)s->capture.sampler,
        .bucket = (int32_t)s->capture.bucket,
        .rate = s->capture.rate,
        .groups = s->capture.groups,
        .pairs = s->capture.pairs,
        .pre_rope = s->capture.pre_rope,
        .model_name = m->label,
        .rope_theta = m->rope_theta,
        .rope_scaling = m->rope_scaling,
    };
}
