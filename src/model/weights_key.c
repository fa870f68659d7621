/* weights_key.c: one hash for a checkpoint: its settings and the tensors that the text model uses.
 *
 * The whole content is hashed, in parallel, at about 0.75 GB/s per core. Anything less (sizes,
 * times, samples of pages) would let a resumed run mix the numbers of two checkpoints of one
 * training run, which have the same header, size and name and differ in bytes anywhere. Against
 * what a capture does with 30 GB of weights, reading them once more is little.
 *
 * Only a file in the Hugging Face cache is not read: its name there is the SHA-256 of its content,
 * given by the Hub. So a study of many published checkpoints resumes at once. */
#include "base/hash.h"
#include "base/parallel.h"
#include "model/weights_private.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIGEST = 16, PIECE = 64 << 20, SHA256_HEX = 64 };

static const char format_name[] = "qkscope weights 1";

/* ---- content ---- */

typedef struct piece {
    const weight *weight; /* set in a tensor's first piece */
    const unsigned char *bytes;
    size_t length;
    unsigned char digest[DIGEST];
} piece;

typedef ARRAY_OF(piece) piece_list;

static qks_status hash_piece(void *context, size_t index, int thread, qks_error *error)
{
    (void)thread, (void)error;
    piece *p = &((piece *)context)[index];
    hash h;
    hash_start(&h, DIGEST);
    if (p->weight) {
        hash_add_string(&h, p->weight->name);
        hash_add(&h, &p->weight->type, sizeof p->weight->type);
        hash_add(&h, &p->weight->rows, sizeof p->weight->rows);
        hash_add(&h, &p->weight->columns, sizeof p->weight->columns);
    }
    mapping_prefetch(p->bytes, p->length);
    hash_add(&h, p->bytes, p->length);
    mapping_forget(p->bytes, p->length); /* else the whole checkpoint counts as resident */
    hash_end(&h, p->digest);
    return QKS_OK;
}

static qks_status add_pieces(piece_list *pieces, const weight *t, qks_error *error)
{
    size_t left = t->data ? (size_t)t->rows * t->row_bytes : 0;
    const unsigned char *bytes = t->data;
    for (const weight *first = t; left > 0; first = NULL) {
        piece p = {.weight = first, .bytes = bytes, .length = left < PIECE ? left : PIECE};
        qks_status status = array_push(pieces, p, error);
        if (status != QKS_OK)
            return status;
        bytes += p.length;
        left -= p.length;
    }
    return QKS_OK;
}

static qks_status hash_content(const weights *w, hash *h, qks_error *error)
{
    piece_list pieces = {0};
    qks_status status = add_pieces(&pieces, &w->embedding, error);
    for (int layer = 0; layer < w->n_layers; layer++)
        for (int role = 0; status == QKS_OK && role < WEIGHT_ROLES; role++)
            status = add_pieces(&pieces, &w->layers[layer][role], error);
    if (status == QKS_OK)
        status = parallel_for(pieces.length, parallel_threads(0), hash_piece, pieces.data, error);
    for (size_t i = 0; status == QKS_OK && i < pieces.length; i++)
        hash_add(h, pieces.data[i].digest, DIGEST);
    free(pieces.data);
    return status;
}

/* ---- names that are hashes ---- */

/* snapshots/<commit>/model.safetensors -> ../../blobs/<sha256> */
static bool content_name(const char *path, char name[SHA256_HEX + 1])
{
    static const char folder[] = "../../blobs/";
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length != (ssize_t)(sizeof folder - 1 + SHA256_HEX))
        return false;
    target[length] = '\0';
    const char *last = target + sizeof folder - 1;
    if (strncmp(target, folder, sizeof folder - 1) != 0 ||
        strspn(last, "0123456789abcdef") != SHA256_HEX)
        return false;
    memcpy(name, last, SHA256_HEX + 1);
    return true;
}

/* False, and nothing added, unless every file's name says its content. */
static bool hash_names(const checkpoint *c, hash *h)
{
    hash all = *h;
    for (size_t i = 0; i < c->files.length; i++) {
        char name[SHA256_HEX + 1];
        if (!content_name(c->files.data[i].path, name))
            return false;
        hash_add_string(&all, name);
        hash_add(&all, &c->files.data[i].mapping.size, sizeof c->files.data[i].mapping.size);
    }
    *h = all;
    return true;
}

qks_status weights_key(const weights *w, char key[WEIGHTS_KEY_SIZE], qks_error *error)
{
    unsigned char digest[DIGEST];
    hash h;
    hash_start(&h, DIGEST);
    hash_add_string(&h, format_name);
    hash_add(&h, w->checkpoint.settings, w->checkpoint.settings_length);
    if (!hash_names(&w->checkpoint, &h)) {
        qks_status status = hash_content(w, &h, error);
        if (status != QKS_OK)
            return status;
    }
    hash_end(&h, digest);
    hex_of(digest, DIGEST, key);
    return QKS_OK;
}
