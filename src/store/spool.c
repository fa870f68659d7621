/* spool.c: a nameless file of captured rows (see spool.h). */
#include "store/spool.h"

#include "base/file.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUCKET, DOCUMENT, POSITION, WINDOW, N_INTEGERS }; /* a part's int32 columns */
enum { TOKEN_MAX = 1 << 20, CHARACTER_MAX = 4 };         /* bytes */

static qks_status failed(const spool *s, const char *verb, qks_error *error)
{
    return qks_fail(error, QKS_IO, "cannot %s the temporary file beside '%s': %s", verb, s->beside,
                    strerror(errno));
}

static qks_status open_nameless(spool *s, const char *name, qks_error *error)
{
    int descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return failed(s, "make", error);
    file_remove(name);
    s->file = fdopen(descriptor, "w+");
    if (s->file)
        return QKS_OK;
    (void)close(descriptor);
    return failed(s, "open", error);
}

qks_status spool_open(spool *s, const char *beside, int dimension, qks_error *error)
{
    *s = (spool){.beside = beside, .dimension = dimension, .token = text_new(TOKEN_MAX)};
    arena names = {0};
    const char *name = NULL;
    qks_status status = file_temporary(&names, beside, &name, error);
    if (status == QKS_OK)
        status = open_nameless(s, name, error);
    arena_free(&names);
    return status;
}

void spool_close(spool *s)
{
    if (s->file)
        (void)fclose(s->file);
    text_free(&s->token);
    *s = (spool){0};
}

qks_status spool_flush(spool *s, qks_error *error)
{
    return fflush(s->file) == 0 ? QKS_OK : failed(s, "write", error);
}

/* ---- in ---- */
static qks_status put(spool *s, const void *bytes, size_t size, size_t count, qks_error *error)
{
    if (count && fwrite(bytes, size, count, s->file) != count)
        return failed(s, "write", error);
    s->length += size * count;
    return QKS_OK;
}

static qks_status put_documents(spool *s, const dataset_rows *rows, qks_error *error)
{
    qks_status status = QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < rows->n; i++) {
        uint32_t wrapped = (uint32_t)rows->document[i];
        status = put(s, &wrapped, sizeof wrapped, 1, error);
    }
    return status;
}

static qks_status put_tokens(spool *s, const char *const *tokens, size_t count, qks_error *error)
{
    qks_status status = QKS_OK;
    size_t total = 0;
    for (size_t i = 0; status == QKS_OK && i < count; i++) {
        total += tokens[i] ? strlen(tokens[i]) : 0;
        if (total > UINT32_MAX)
            return qks_fail(error, QKS_INVALID, "tokens of over 4 GB at once");
        uint32_t end = (uint32_t)total;
        status = put(s, &end, sizeof end, 1, error);
    }
    for (size_t i = 0; status == QKS_OK && i < count; i++)
        if (tokens[i])
            status = put(s, tokens[i], 1, strlen(tokens[i]), error);
    return status;
}

qks_status spool_add(spool *s, const dataset_rows *rows, const char *const *tokens,
                     spool_part *part, qks_error *error)
{
    *part = (spool_part){.offset = s->length, .rows = rows->n, .tokens = tokens != NULL};
    qks_status status = put(s, rows->bucket, sizeof *rows->bucket, rows->n, error);
    if (status == QKS_OK)
        status = put_documents(s, rows, error);
    if (status == QKS_OK)
        status = put(s, rows->position, sizeof *rows->position, rows->n, error);
    if (status == QKS_OK)
        status = put(s, rows->window, sizeof *rows->window, rows->n, error);
    if (status == QKS_OK)
        status = put(s, rows->f32, sizeof *rows->f32, rows->n * (size_t)s->dimension, error);
    if (status == QKS_OK && tokens)
        status = put_tokens(s, tokens, rows->n, error);
    return status;
}

/* ---- out ---- */
static qks_status get(const spool *s, uint64_t offset, void *bytes, size_t length, qks_error *error)
{
    file_reader r = {.descriptor = fileno(s->file), .size = s->length, .path = s->beside};
    return file_read_at(&r, offset, bytes, length, error);
}

static qks_status get_integers(const spool *s, const spool_part *p, int column, size_t first,
                               size_t count, duckdb_vector out, size_t at, qks_error *error)
{
    int32_t *values = (int32_t *)duckdb_vector_get_data(out) + at;
    uint64_t offset = p->offset + ((uint64_t)column * p->rows + first) * sizeof *values;
    qks_status status = get(s, offset, values, count * sizeof *values, error);
    if (status != QKS_OK || column != WINDOW)
        return status;
    duckdb_vector_ensure_validity_writable(out);
    for (size_t i = 0; i < count; i++)
        if (values[i] == 0)
            duckdb_validity_set_row_invalid(duckdb_vector_get_validity(out), at + i);
    return QKS_OK;
}

static qks_status get_vectors(const spool *s, const spool_part *p, size_t first, size_t count,
                              duckdb_vector out, size_t at, qks_error *error)
{
    size_t d = (size_t)s->dimension;
    float *values = (float *)duckdb_vector_get_data(duckdb_array_vector_get_child(out)) + at * d;
    uint64_t offset = p->offset + N_INTEGERS * p->rows * sizeof(int32_t);
    return get(s, offset + first * d * sizeof *values, values, count * d * sizeof *values, error);
}

/* Pieces of characters, which a byte-level token may be, become U+FFFD. */
static void make_valid(text *out, const char *bytes, size_t length)
{
    text_clear(out);
    for (size_t at = 0; at < length;) {
        size_t left = length - at, size = 1;
        size_t most = left < CHARACTER_MAX ? left : CHARACTER_MAX;
        while (size <= most && !utf8_valid(bytes + at, size))
            size++;
        bool valid = size <= most;
        text_append(out, valid ? bytes + at : "\xef\xbf\xbd", valid ? size : 3);
        at += valid ? size : 1;
    }
}

static qks_status get_tokens(spool *s, const spool_part *p, size_t first, size_t count,
                             duckdb_vector out, size_t at, qks_error *error)
{
    uint64_t ends_at = p->offset + (N_INTEGERS + (uint64_t)s->dimension) * p->rows * sizeof(float);
    uint64_t bytes_at = ends_at + p->rows * sizeof(uint32_t);
    uint32_t *ends = NULL; /* [count + 1], from where the first token starts */
    char *bytes = NULL;
    qks_status status = memory_zeroed(&ends, count + 1, sizeof *ends, error);
    if (status != QKS_OK)
        return status;
    size_t before = first > 0;
    status = get(s, ends_at + (first - before) * sizeof *ends, ends + 1 - before,
                 (count + before) * sizeof *ends, error);
    if (status == QKS_OK)
        status = memory_zeroed(&bytes, ends[count] - ends[0], 1, error);
    if (status == QKS_OK)
        status = get(s, bytes_at + ends[0], bytes, ends[count] - ends[0], error);
    for (size_t i = 0; status == QKS_OK && i < count; i++) {
        make_valid(&s->token, bytes + (ends[i] - ends[0]), ends[i + 1] - ends[i]);
        duckdb_vector_assign_string_element_len(out, at + i, text_string(&s->token),
                                                s->token.length);
        status = text_status(&s->token, "a token", error);
    }
    free(bytes);
    free(ends);
    return status;
}

qks_status spool_read(spool *s, const spool_part *part, size_t first, size_t count,
                      duckdb_data_chunk chunk, size_t at, qks_error *error)
{
    enum { VECTOR = -1, TOKENS = 5 };
    static const int SOURCES[] = {BUCKET, DOCUMENT, POSITION, VECTOR, WINDOW}; /* of each column */
    qks_status status = QKS_OK;
    for (idx_t i = 0; status == QKS_OK && i < sizeof SOURCES / sizeof *SOURCES; i++) {
        duckdb_vector out = duckdb_data_chunk_get_vector(chunk, i);
        status = SOURCES[i] == VECTOR
                     ? get_vectors(s, part, first, count, out, at, error)
                     : get_integers(s, part, SOURCES[i], first, count, out, at, error);
    }
    if (status == QKS_OK && part->tokens)
        status = get_tokens(s, part, first, count, duckdb_data_chunk_get_vector(chunk, TOKENS), at,
                            error);
    return status;
}
