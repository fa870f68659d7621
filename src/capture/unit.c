/* unit.c: reading and writing unit files: the preamble and the records. */
#include "capture/unit.h"

#include "base/hash.h"
#include "capture/unit_header.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PREAMBLE = 32, /* magic, version, byte order, header length, header hash */
    ALIGN = 64,
    HEADER_MAX = 64 << 20,
};

static const char MAGIC[8] = {'Q', 'K', 'S', 'U', 'N', 'I', 'T', '\n'};
static const uint32_t BYTE_ORDER_MARK = 0x01020304;

/* ---- layout of a record, in doubles ---- */

static size_t floats_as_doubles(size_t floats)
{
    return (floats + 1) / 2;
}

/* A sample of at most `capacity` rows of `d` floats. */
static size_t sample_size(size_t capacity, int d)
{
    return capacity ? 2 + capacity + floats_as_doubles(capacity * (size_t)d) : 0;
}

/* Only keys have pairs. In bytes, without the checksum. */
static size_t record_size(const unit_info *info, char kind)
{
    size_t pairs = kind == 'k' ? sample_size(info->pairs, info->d) : 0;
    size_t bucket = sizeof(bucket_stat) / sizeof(double) + pairs;
    return (1 + info->n_groups * moments_flat_size(info->d) + (size_t)info->n_buckets * bucket +
            sample_size(info->samples, info->d + 1)) *
           sizeof(double);
}

/* ---- writing ---- */

struct unit_writer {
    const unit_info *info;
    file_writer *file;
    double *record;
    size_t put;
};

/* The header with spaces after it, so that the first record begins aligned; malloc'd. */
static char *header_text(const unit_info *info, uint64_t *length)
{
    char *text = unit_header_text(info);
    size_t used = text ? strlen(text) : 0;
    size_t gap = (ALIGN - (PREAMBLE + used) % ALIGN) % ALIGN;
    char *padded = text ? realloc(text, used + gap) : NULL;
    if (!padded) {
        free(text);
        return NULL;
    }
    memset(padded + used, ' ', gap);
    *length = used + gap;
    return padded;
}

static qks_status put_header(const unit_writer *w, qks_error *error)
{
    uint64_t length = 0;
    char *text = header_text(w->info, &length);
    if (!text)
        return qks_fail(error, QKS_INVALID,
                        "the unit's header cannot be written: a name in it is not UTF-8");
    uint64_t sum = hash64(text, length);
    uint32_t version = UNIT_VERSION;
    unsigned char preamble[PREAMBLE];
    memcpy(preamble, MAGIC, sizeof MAGIC);
    memcpy(preamble + 8, &version, sizeof version);
    memcpy(preamble + 12, &BYTE_ORDER_MARK, sizeof BYTE_ORDER_MARK);
    memcpy(preamble + 16, &length, sizeof length);
    memcpy(preamble + 24, &sum, sizeof sum);
    qks_status status = file_write(w->file, preamble, sizeof preamble, error);
    if (status == QKS_OK)
        status = file_write(w->file, text, length, error);
    free(text);
    return status;
}

qks_status unit_create(unit_writer **out, const char *path, const unit_info *info, qks_error *error)
{
    unit_writer *w = NULL;
    qks_status status = memory_zeroed(&w, 1, sizeof *w, error);
    if (status != QKS_OK)
        return status;
    w->info = info;
    status = memory_zeroed(&w->record, record_size(info, 'k'), 1, error);
    if (status == QKS_OK)
        status = file_create(&w->file, path, error);
    if (status == QKS_OK)
        status = put_header(w, error);
    if (status != QKS_OK)
        unit_discard(w);
    else
        *out = w;
    return status;
}

/* NULL or without room: nothing was sampled. */
static double *put_sample(double *place, size_t capacity, int d, const pair_reservoir *r)
{
    memset(place, 0, sample_size(capacity, d) * sizeof *place);
    bool some = r && r->capacity;
    place[0] = some ? r->threshold : 1;
    place[1] = some ? (double)r->count : 0;
    if (some && r->count) {
        memcpy(place + 2, r->priority, r->count * sizeof *place);
        memcpy(place + 2 + capacity, r->difference, r->count * (size_t)d * sizeof *r->difference);
    }
    return place + sample_size(capacity, d);
}

qks_status unit_put(unit_writer *w, const side *s, qks_error *error)
{
    const unit_info *info = w->info;
    if (w->put == info->n_sides || s->d != info->d || (size_t)s->n_groups != info->n_groups ||
        s->n_buckets != info->n_buckets || s->sample.count > info->samples)
        return qks_fail(error, QKS_INTERNAL, "a unit of other shape than its header was put");
    double *place = w->record;
    *place++ = (double)s->window;
    for (int g = 0; g < s->n_groups; g++, place += moments_flat_size(info->d))
        moments_to_flat(s->groups[g], place);
    for (int b = 0; b < s->n_buckets; b++) {
        memcpy(place, &s->buckets[b], sizeof s->buckets[b]);
        place += sizeof s->buckets[b] / sizeof *place;
    }
    char kind = info->sides[w->put].kind;
    for (int b = 0; kind == 'k' && info->pairs && b < s->n_buckets; b++)
        place = put_sample(place, info->pairs, info->d, s->pairs ? &s->pairs[b] : NULL);
    if (info->samples)
        (void)put_sample(place, info->samples, info->d + 1, &s->sample);
    size_t bytes = record_size(info, kind);
    uint64_t sum = hash64(w->record, bytes);
    qks_status status = file_write(w->file, w->record, bytes, error);
    if (status == QKS_OK)
        status = file_write(w->file, &sum, sizeof sum, error);
    w->put++;
    return status;
}

qks_status unit_commit(unit_writer *w, qks_error *error)
{
    qks_status status = QKS_OK;
    if (w->put != w->info->n_sides)
        status = qks_fail(error, QKS_INTERNAL, "%zu of a unit's %zu records were put", w->put,
                          w->info->n_sides);
    else {
        status = file_commit(w->file, error);
        w->file = NULL;
    }
    unit_discard(w);
    return status;
}

void unit_discard(unit_writer *w)
{
    if (!w)
        return;
    file_discard(w->file);
    free(w->record);
    free(w);
}

/* ---- reading ---- */

bool unit_is(const char *path)
{
    file_reader file;
    char magic[sizeof MAGIC];
    if (file_open(&file, path, NULL) != QKS_OK)
        return false;
    bool is = file_read_at(&file, 0, magic, sizeof magic, NULL) == QKS_OK &&
              memcmp(magic, MAGIC, sizeof MAGIC) == 0;
    file_close(&file);
    return is;
}

static qks_status bad(const unit *u, qks_error *error, const char *what)
{
    return qks_fail(error, QKS_INVALID, "unit file '%s': %s", u->file.path, what);
}

/* The header's text after its preamble was checked; malloc'd. */
static qks_status read_header(unit *u, char **text, uint64_t *length, qks_error *error)
{
    unsigned char preamble[PREAMBLE];
    uint32_t version = 0, order = 0;
    uint64_t sum = 0;
    if (u->file.size < PREAMBLE)
        return bad(u, error, "too short to be one");
    qks_status status = file_read_at(&u->file, 0, preamble, sizeof preamble, error);
    if (status != QKS_OK)
        return status;
    memcpy(&version, preamble + 8, sizeof version);
    memcpy(&order, preamble + 12, sizeof order);
    memcpy(length, preamble + 16, sizeof *length);
    memcpy(&sum, preamble + 24, sizeof sum);
    if (memcmp(preamble, MAGIC, sizeof MAGIC) != 0)
        return bad(u, error, "does not begin as a unit file does");
    if (order != BYTE_ORDER_MARK)
        return bad(u, error, "written on a machine of another byte order; recompute it here");
    if (version != UNIT_VERSION)
        return qks_fail(error, QKS_UNSUPPORTED,
                        "unit file '%s' has format version %u, this qkscope reads %d; recompute it",
                        u->file.path, version, UNIT_VERSION);
    if (*length > HEADER_MAX || *length > u->file.size - PREAMBLE)
        return bad(u, error, "its header is longer than the file or than 64 MiB");
    *text = malloc(*length + 1);
    if (!*text)
        return out_of_memory(error, "unit header");
    status = file_read_at(&u->file, PREAMBLE, *text, *length, error);
    if (status == QKS_OK && hash64(*text, *length) != sum)
        status = bad(u, error, "its header does not match its checksum; the file is damaged");
    return status;
}

/* Where each record begins, as long as the file has room for it. */
static qks_status place_records(unit *u, uint64_t header_length, qks_error *error)
{
    const unit_info *info = &u->info;
    uint64_t at = PREAMBLE + header_length, size = u->file.size;
    u->offsets = arena_alloc(&u->memory, info->n_sides + 1, sizeof *u->offsets);
    if (!u->offsets)
        return out_of_memory(error, "unit records");
    for (size_t i = 0; i < info->n_sides; i++) {
        uint64_t bytes = record_size(info, info->sides[i].kind) + sizeof(uint64_t);
        u->offsets[i] = at;
        if (bytes > size - at)
            return bad(u, error, "it is shorter than its header says; recompute it");
        at += bytes;
    }
    u->offsets[info->n_sides] = at;
    return at == size ? QKS_OK : bad(u, error, "it is longer than its header says; recompute it");
}

qks_status unit_open(unit *u, const char *path, qks_error *error)
{
    *u = (unit){.file = {.descriptor = -1}};
    qks_status status = file_open(&u->file, path, error);
    if (status != QKS_OK)
        return status;
    char *text = NULL;
    uint64_t length = 0;
    status = read_header(u, &text, &length, error);
    const char *wrong = status == QKS_OK ? unit_header_take(&u->info, &u->memory, text, length)
                                         : NULL;
    if (wrong)
        status = bad(u, error, wrong);
    if (status == QKS_OK)
        status = place_records(u, length, error);
    free(text);
    if (status != QKS_OK)
        unit_close(u);
    return status;
}

void unit_close(unit *u)
{
    file_close(&u->file);
    arena_free(&u->memory);
}

ptrdiff_t unit_find(const unit_info *info, side_id id)
{
    size_t low = 0, high = info->n_sides;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (side_order(&info->sides[middle], &id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < info->n_sides && side_order(&info->sides[low], &id) == 0 ? (ptrdiff_t)low : -1;
}

static qks_status no_sense(qks_error *error, const char *what)
{
    return qks_fail(error, QKS_INVALID, "its %s has no sense; recompute it", what);
}

/* `rows`: what the sample is of, for a message. */
static qks_status take_sample(const double *place, size_t capacity, pair_reservoir *into,
                              const char *rows, qks_error *error)
{
    double count = place[1];
    if (!(place[0] > 0 && place[0] <= 1) || !(count >= 0 && count <= (double)capacity))
        return no_sense(error, rows);
    pair_reservoir from = {.d = into->d,
                           .capacity = capacity,
                           .count = (size_t)count,
                           .threshold = place[0],
                           .priority = (double *)place + 2};
    size_t floats = from.count * (size_t)into->d;
    from.difference = malloc(floats * sizeof(float) + 1);
    if (!from.difference)
        return out_of_memory(error, rows);
    memcpy(from.difference, place + 2 + capacity, floats * sizeof(float));
    bool finite = true;
    for (size_t i = 0; i < floats; i++)
        finite = finite && isfinite(from.difference[i]);
    for (size_t i = 0; i < from.count; i++)
        finite = finite && from.priority[i] >= 0 && from.priority[i] < from.threshold;
    if (finite)
        pair_reservoir_join(into, &from);
    free(from.difference);
    return finite ? QKS_OK : no_sense(error, rows);
}

static qks_status take_record(const unit *u, char kind, const double *place, side *s,
                              const int *places, qks_error *error)
{
    const unit_info *info = &u->info;
    size_t pairs = kind == 'k' ? info->pairs : 0;
    qks_status status = QKS_OK;
    double window = *place++;
    if (!(window >= 0 && window <= INT32_MAX))
        return no_sense(error, "sliding window");
    s->window = (int64_t)window;
    for (size_t g = 0; status == QKS_OK && g < info->n_groups; g++) {
        status = moments_from_flat(s->groups[places[g]], place, error);
        place += moments_flat_size(info->d);
    }
    for (int b = 0; status == QKS_OK && b < info->n_buckets; b++) {
        bucket_stat from, *into = &s->buckets[b];
        memcpy(&from, place, sizeof from);
        place += sizeof from / sizeof *place;
        if (!(from.n >= 0 && isfinite(from.n) && isfinite(from.sum_position) &&
              isfinite(from.last_position) && isfinite(from.sum_x0)))
            return no_sense(error, "count of a bucket");
        into->n += from.n;
        into->sum_position += from.sum_position;
        into->sum_x0 += from.sum_x0;
        into->last_position = fmax(into->last_position, from.last_position);
    }
    for (int b = 0; status == QKS_OK && pairs && b < info->n_buckets; b++) {
        if (s->pairs)
            status = take_sample(place, pairs, &s->pairs[b], "sample of key pairs", error);
        place += sample_size(pairs, info->d);
    }
    if (status == QKS_OK && info->samples && s->sample.capacity)
        status = take_sample(place, info->samples, &s->sample, "sample of vectors", error);
    return status;
}

/* Into `record`, with room for the checksum behind it. */
static qks_status read_record(const unit *u, size_t side_number, double *record, qks_error *error)
{
    size_t bytes = record_size(&u->info, u->info.sides[side_number].kind);
    uint64_t sum = 0;
    qks_status status = file_read_at(&u->file, u->offsets[side_number], record, bytes + sizeof sum,
                                     error);
    if (status != QKS_OK)
        return status;
    memcpy(&sum, (char *)record + bytes, sizeof sum);
    return hash64(record, bytes) == sum
               ? QKS_OK
               : qks_fail(error, QKS_INVALID,
                          "it does not match its checksum; the file is damaged");
}

qks_status unit_read(const unit *u, size_t side_number, side *s, const int *places,
                     qks_error *error)
{
    const side_id *id = &u->info.sides[side_number];
    double *record = malloc(record_size(&u->info, id->kind) + sizeof(uint64_t));
    if (!record)
        return out_of_memory(error, "unit record");
    qks_status status = read_record(u, side_number, record, error);
    if (status == QKS_OK)
        status = take_record(u, id->kind, record, s, places, error);
    free(record);
    if (status == QKS_INVALID)
        status = qks_prefix(error, status, "unit file '%s', layer %d, %c head %d", u->file.path,
                            id->layer, id->kind, id->head);
    return status;
}

qks_status unit_check(const unit *u, qks_error *error)
{
    double *record = malloc(record_size(&u->info, 'k') + sizeof(uint64_t));
    qks_status status = record ? QKS_OK : out_of_memory(error, "unit record");
    for (size_t i = 0; status == QKS_OK && i < u->info.n_sides; i++)
        status = read_record(u, i, record, error);
    free(record);
    return status;
}
