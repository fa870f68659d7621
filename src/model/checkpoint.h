/* checkpoint.h: the files of a checkpoint, mapped, and a table of all their tensors. */
#ifndef QKS_MODEL_CHECKPOINT_H
#define QKS_MODEL_CHECKPOINT_H

#include "base/memory.h"
#include "model/architecture.h"
#include "model/mapping.h"
#include "model/tensor.h"

typedef enum checkpoint_format { FORMAT_FOLDER, FORMAT_GGUF } checkpoint_format;

typedef struct checkpoint_file {
    const char *path;
    mapping mapping;
} checkpoint_file;

typedef struct checkpoint {
    checkpoint_format format;
    const char *name; /* the file that should hold a tensor, for messages */
    ARRAY_OF(checkpoint_file) files;
    tensor_table tensors; /* sorted by name */
    const char *settings; /* config.json's bytes or the GGUF header's */
    size_t settings_length;
    bool interleaved; /* rows of q and k are in the order of interleaved pairs */
    arena memory;
} checkpoint;

void checkpoint_close(checkpoint *c);

/* Map one more file; *file is its number. */
QKS_MUST_CHECK qks_status checkpoint_map(checkpoint *c, const char *path, size_t *file,
                                         qks_error *error);

/* A Hugging Face directory: config.json, and model.safetensors or the shards that
 * model.safetensors.index.json names. Fills `a`, too. On failure the caller closes both. */
QKS_MUST_CHECK qks_status folder_read(checkpoint *c, architecture *a, const char *path,
                                      const rope_override *override, qks_error *error);

/* A .gguf file, the same way. */
QKS_MUST_CHECK qks_status gguf_read(checkpoint *c, architecture *a, const char *path,
                                    const rope_override *override, qks_error *error);

#endif
