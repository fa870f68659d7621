/* unit.h: the unit file: what was measured of one model on some groups of documents. The format is
 * written down in docs/formats.md. A file is read piece by piece: opening checks and keeps the
 * header only; each head's record is read and checked when it is asked for. */
#ifndef QKS_CAPTURE_UNIT_H
#define QKS_CAPTURE_UNIT_H

#include "base/file.h"
#include "base/memory.h"
#include "capture/side.h"
#include "qkscope/status.h"

#include <stddef.h>
#include <stdint.h>

enum { UNIT_VERSION = 2 };

typedef struct unit_group { /* a group of documents, the unit of the jackknife */
    int64_t id;
    int64_t documents, tokens;
} unit_group;

typedef struct unit_info {
    const char *model;
    int layers, q_heads, kv_heads, d; /* of the model; d of its heads */
    int64_t context;                  /* longest document in tokens, 0 = not known */
    int64_t bucket_size;              /* 0 = not known */
    int n_buckets;
    size_t pairs;    /* key differences sampled per bucket of a key head */
    size_t samples;  /* vectors sampled of each side */
    const int *rope; /* [layers] 1, 0, -1 = not known; NULL: none known */
    side_id *sides;  /* [n_sides] in the order of the records */
    size_t n_sides;
    unit_group *groups; /* [n_groups], ids rising */
    size_t n_groups;
    const char *provenance; /* a JSON object: what decided the content; NULL: {} */
} unit_info;

/* ---- writing ---- */
typedef struct unit_writer unit_writer;

/* `info` must outlive the writer. */
QKS_MUST_CHECK qks_status unit_create(unit_writer **out, const char *path, const unit_info *info,
                                      qks_error *error);
/* The record of the next side in info->sides, of info's numbers of groups and buckets. */
QKS_MUST_CHECK qks_status unit_put(unit_writer *w, const side *s, qks_error *error);
/* Into place, once every side is there. Frees w, also when it fails. */
QKS_MUST_CHECK qks_status unit_commit(unit_writer *w, qks_error *error);
void unit_discard(unit_writer *w); /* NULL is fine */

/* ---- reading ---- */
typedef struct unit {
    unit_info info;
    file_reader file;
    uint64_t *offsets; /* [n_sides + 1] of the records, and of the end */
    arena memory;
} unit;

/* `path` must outlive the unit. */
QKS_MUST_CHECK qks_status unit_open(unit *u, const char *path, qks_error *error);
void unit_close(unit *u);

/* Is this file a unit file by its first bytes? */
bool unit_is(const char *path);

/* Read every record and compare checksums. */
QKS_MUST_CHECK qks_status unit_check(const unit *u, qks_error *error);

/* Number of the side in info.sides, or -1. */
ptrdiff_t unit_find(const unit_info *info, side_id id);

/* Read one record. `s` must be open with the unit's d and at least its n_buckets; group g of the
 * unit goes to s->groups[places[g]], its counts, pairs and, if the side
 * has room for one, its sample are added to what is there. Any thread. */
QKS_MUST_CHECK qks_status unit_read(const unit *u, size_t side_number, side *s, const int *places,
                                    qks_error *error);

#endif
