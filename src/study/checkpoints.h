/* checkpoints.h: the checkpoints in a folder, in the order of a training run if they are of one. */
#ifndef QKS_STUDY_CHECKPOINTS_H
#define QKS_STUDY_CHECKPOINTS_H

#include "base/memory.h"
#include "qkscope/status.h"
#include "study/step.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct found_model {
    const char *label;
    const char *path;     /* from here */
    const char *hub;      /* org/name, if it is in the Hugging Face cache; else NULL */
    const char *revision; /* of hub; NULL: main */
    step_name step;
    const char *failure; /* why qkscope cannot read it; NULL: it can */
    /* of those it can read */
    const char *type;
    int layers, q_heads, kv_heads, hidden;
    int64_t context;
    bool has_tokenizer;
} found_model;

typedef struct found_models {
    ARRAY_OF(found_model) list;
    arena memory;
} found_models;

/* `folder` and three levels below. */
QKS_MUST_CHECK qks_status checkpoints_find(found_models *out, const char *folder, qks_error *error);
void checkpoints_free(found_models *f);

/* Are all that can be read checkpoints of one model, each with a step of its own? */
bool checkpoints_are_training(const found_models *f);
void checkpoints_sort(found_models *f, bool training);

#endif
