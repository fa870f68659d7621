/* tokenize.c: the tokenizer's public face (qkscope/tokenize.h), and the verb tokenize. */
#include "qkscope/tokenize.h"

#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"
#include "model/weights.h"
#include "text/documents.h"
#include "text/tokenizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 12, PER_ID_MAX = DIGITS_MAX + 2 };

struct qks_tokenizer {
    tokenizer *tokenizer;
    encoder *encoder;
};

qks_status qks_tokenizer_open(qks_tokenizer **out, const char *path, qks_error *error)
{
    qks_tokenizer *t = calloc(1, sizeof *t);
    if (!t)
        return out_of_memory(error, "tokenizer");
    arena a = {0};
    const char *found = NULL;
    qks_status status = model_find(path, &a, &found, error);
    if (status == QKS_OK)
        status = tokenizer_open(&t->tokenizer, found, error);
    arena_free(&a);
    if (status == QKS_OK)
        status = encoder_open(&t->encoder, t->tokenizer, error);
    if (status == QKS_OK)
        *out = t;
    else
        qks_tokenizer_close(t);
    return status;
}

void qks_tokenizer_close(qks_tokenizer *t)
{
    if (!t)
        return;
    encoder_close(t->encoder);
    tokenizer_close(t->tokenizer);
    free(t);
}

int64_t qks_tokenizer_size(const qks_tokenizer *t)
{
    return tokenizer_size(t->tokenizer);
}

qks_status qks_tokenizer_encode(qks_tokenizer *t, const char *bytes, size_t length, bool special,
                                const int32_t **ids, size_t *count, qks_error *error)
{
    return encoder_run(t->encoder, bytes, length, special, ids, count, error);
}

/* ---- a corpus as JSON lines ---- */
typedef struct job {
    encoder *encoder;
    bool no_special;
    FILE *out;
    text line;
    qks_tokenize_report report;
} job;

/* A row's id was a number if its text is that of its example id: another id's is a hash. */
static bool is_number(const corpus_row *row)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(row->id, &end, 10);
    bool digits = *row->id == '-' ? row->id[1] >= '0' && row->id[1] <= '9'
                                  : *row->id >= '0' && *row->id <= '9';
    return digits && *end == '\0' && errno == 0 && value == row->example_id;
}

static void append_quoted(text *line, const char *string)
{
    text_add(line, "\"");
    for (; *string; string++) {
        unsigned char c = (unsigned char)*string;
        if (c < 0x20 || c == '"' || c == '\\')
            text_addf(line, "\\u%04x", c);
        else
            text_append(line, string, 1);
    }
    text_add(line, "\"");
}

/* printf would take most of the time of a long document. */
static void append_id(text *line, int32_t id)
{
    char digits[DIGITS_MAX];
    size_t at = sizeof digits;
    uint32_t rest = (uint32_t)id;
    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    text_append(line, digits + at, sizeof digits - at);
}

static qks_status write_line(job *j, const corpus_row *row, const int32_t *ids, size_t count,
                             qks_error *error)
{
    text *line = &j->line;
    text_clear(line);
    text_add(line, "{\"id\": ");
    if (is_number(row))
        text_add(line, row->id);
    else
        append_quoted(line, row->id);
    text_add(line, ", \"ids\": [");
    for (size_t i = 0; i < count; i++) {
        if (i)
            text_append(line, ", ", 2);
        append_id(line, ids[i]);
    }
    text_add(line, "]}\n");
    qks_status status = text_status(line, "a line of ids", error);
    if (status == QKS_OK && fwrite(line->data, 1, line->length, j->out) != line->length)
        status = qks_fail(error, QKS_IO, "cannot write the ids: %s", strerror(errno));
    return status;
}

static qks_status tokenize_row(void *context, const corpus_row *row, qks_error *error)
{
    job *j = context;
    const int32_t *ids = row->ids;
    size_t count = row->n_ids;
    qks_status status = QKS_OK;
    if (!ids && !utf8_valid(row->text, row->text_length)) {
        j->report.not_utf8++;
        return QKS_OK;
    }
    if (!ids)
        status = encoder_run(j->encoder, row->text, row->text_length, !j->no_special, &ids, &count,
                             error);
    if (status != QKS_OK)
        return qks_prefix(error, status, "row %s", row->id);
    j->report.rows++;
    j->report.tokens += (int64_t)count;
    return write_line(j, row, ids, count, error);
}

qks_status qks_tokenize(const char *tokenizer_path, const char *corpus,
                        const qks_tokenize_options *options, FILE *out, qks_tokenize_report *report,
                        qks_error *error)
{
    static const qks_tokenize_options DEFAULTS = {0};
    const qks_tokenize_options *o = options ? options : &DEFAULTS;
    corpus_options rows = {.text_column = o->column, .id_column = o->id, .limit = o->limit};
    qks_tokenizer *t = NULL;
    qks_status status = qks_tokenizer_open(&t, tokenizer_path, error);
    if (status != QKS_OK)
        return status;
    job j = {.encoder = t->encoder,
             .no_special = o->no_special,
             .out = out,
             .line = text_new((size_t)INT32_MAX * PER_ID_MAX)};
    status = documents_scan(corpus, &rows, tokenize_row, &j, error);
    if (status == QKS_OK && j.report.not_utf8)
        status = qks_fail(error, QKS_PARTIAL, "'%s': %lld %s not UTF-8, left out", corpus,
                          (long long)j.report.not_utf8, j.report.not_utf8 == 1 ? "text" : "texts");
    if (report)
        *report = j.report;
    text_free(&j.line);
    qks_tokenizer_close(t);
    return status;
}
