/* corpus_mend.c: a copy of a text file in which what is not UTF-8 is marked, so that one document
 * that is not can be left out and the others read (see corpus_private.h). In JSON half of a
 * surrogate pair can stand as an escape; no UTF-8 says that either. */
#include "store/corpus_private.h"

#include "base/file.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 20, CHARACTER_MAX = 4, ESCAPE = 6, PAIR = 2 * ESCAPE };

typedef struct mending {
    file_reader reader;
    bool json;
    char *block;   /* [BLOCK] */
    size_t held;   /* bytes of it */
    uint64_t next; /* place in the file of what comes after them */
} mending;

/* Fill the block behind the first `kept` bytes. */
static qks_status fill(mending *m, size_t kept, qks_error *error)
{
    uint64_t left = m->reader.size - m->next;
    size_t n = left < BLOCK - kept ? (size_t)left : BLOCK - kept;
    qks_status status = file_read_at(&m->reader, m->next, m->block + kept, n, error);
    m->held = kept + n;
    m->next += n;
    return status;
}

static bool may_be_cut(const mending *m, size_t at)
{
    size_t longest = m->json ? PAIR : CHARACTER_MAX;
    return m->held - at < longest && m->next < m->reader.size;
}

/* The code unit that the escape \uXXXX at `bytes` names; 0: it is none. */
static unsigned escaped_unit(const char *bytes, size_t left)
{
    char digits[ESCAPE - 1] = "";
    if (left < ESCAPE || bytes[0] != '\\' || bytes[1] != 'u')
        return 0;
    memcpy(digits, bytes + 2, sizeof digits - 1);
    return strspn(digits, "0123456789abcdefABCDEF") == sizeof digits - 1
               ? (unsigned)strtoul(digits, NULL, 16)
               : 0;
}

/* Bytes of an escape, of both halves of a pair together; 0: half of a pair alone. */
static size_t escape_size(const char *bytes, size_t left)
{
    unsigned unit = escaped_unit(bytes, left);
    if (unit >= 0xD800 && unit <= 0xDBFF) {
        unsigned second = escaped_unit(bytes + ESCAPE, left - ESCAPE);
        return second >= 0xDC00 && second <= 0xDFFF ? PAIR : 0;
    }
    if (unit >= 0xDC00 && unit <= 0xDFFF)
        return 0;
    return left > 1 && (bytes[1] == '\\' || bytes[1] == '"') ? 2 : 1;
}

/* The first byte from `at` on that begins no valid character, or where the block's end may cut
 * one; m->held if neither. */
static size_t valid_until(const mending *m, size_t at)
{
    while (at < m->held) {
        const char *bytes = m->block + at;
        size_t left = m->held - at;
        bool escape = m->json && *bytes == '\\';
        size_t size = escape ? escape_size(bytes, left) : utf8_character(bytes, left);
        if (size == 0 || (escape && may_be_cut(m, at)))
            break;
        at += size;
    }
    return at;
}

static qks_status failed(const corpus_file *f, qks_error *error)
{
    return qks_fail(error, QKS_IO, "'%s' is not all UTF-8; writing a mended copy of it failed: %s",
                    f->path, strerror(errno));
}

static qks_status put(const corpus_file *f, const char *bytes, size_t length, qks_error *error)
{
    return fwrite(bytes, 1, length, f->mended) == length ? QKS_OK : failed(f, error);
}

/* Copy the block, marks in place of what is not UTF-8; `*kept`: bytes at its end that are left. */
static qks_status copy_block(const corpus_file *f, mending *m, size_t *kept, qks_error *error)
{
    size_t at = 0;
    qks_status status = QKS_OK;
    while (status == QKS_OK && at < m->held) {
        size_t end = valid_until(m, at);
        status = put(f, m->block + at, end - at, error);
        at = end;
        if (at == m->held || may_be_cut(m, at))
            break;
        if (status == QKS_OK)
            status = put(f, NOT_UTF8_MARK, strlen(NOT_UTF8_MARK), error);
        at++;
    }
    *kept = m->held - at;
    memmove(m->block, m->block + at, *kept);
    return status;
}

static qks_status is_utf8(mending *m, bool *valid, qks_error *error)
{
    size_t kept = 0;
    qks_status status = QKS_OK;
    *valid = true;
    while (status == QKS_OK && *valid && m->next < m->reader.size) {
        status = fill(m, kept, error);
        if (status != QKS_OK)
            break;
        size_t end = valid_until(m, 0);
        kept = m->held - end;
        *valid = kept == 0 || may_be_cut(m, end);
        memmove(m->block, m->block + end, kept);
    }
    return status;
}

/* A file without a name, in the folder for temporary ones. */
static qks_status open_copy(corpus_file *f, qks_error *error)
{
    const char *folder = getenv("TMPDIR");
    char *path = arena_format(&f->memory, "%s/qkscope-XXXXXX", folder && *folder ? folder : "/tmp");
    if (!path)
        return out_of_memory(error, "file name");
    int descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor < 0)
        return failed(f, error);
    file_remove(path);
    f->mended = fdopen(descriptor, "w+");
    if (f->mended)
        return QKS_OK;
    qks_status status = failed(f, error);
    (void)close(descriptor);
    return status;
}

static qks_status make_copy(corpus_file *f, mending *m, qks_error *error)
{
    qks_status status = open_copy(f, error);
    if (status != QKS_OK)
        return status;
    size_t kept = 0;
    for (m->next = 0; status == QKS_OK && m->next < m->reader.size;) {
        status = fill(m, kept, error);
        if (status == QKS_OK)
            status = copy_block(f, m, &kept, error);
    }
    if (status == QKS_OK && fflush(f->mended) != 0)
        status = failed(f, error);
    f->source = arena_format(&f->memory, "/proc/self/fd/%d", fileno(f->mended));
    if (status == QKS_OK && !f->source)
        status = out_of_memory(error, "file name");
    return status;
}

qks_status corpus_mend(corpus_file *f, qks_error *error)
{
    mending m = {.json = f->format == CORPUS_LINES || f->format == CORPUS_JSON};
    bool valid = true;
    qks_status status = file_open(&m.reader, f->path, error);
    if (status != QKS_OK)
        return status;
    status = memory_zeroed(&m.block, BLOCK, 1, error);
    if (status == QKS_OK)
        status = is_utf8(&m, &valid, error);
    if (status == QKS_OK && !valid)
        status = make_copy(f, &m, error);
    free(m.block);
    file_close(&m.reader);
    return status;
}

bool corpus_is_marked(const corpus_file *f, const char *bytes, size_t length)
{
    return f->mended && memmem(bytes, length, NOT_UTF8_MARK, strlen(NOT_UTF8_MARK));
}
