/* study.h: a study file, read and checked: what to run and how. The format is in docs/study.md. */
#ifndef QKS_STUDY_STUDY_H
#define QKS_STUDY_STUDY_H

#include "base/memory.h"
#include "base/text.h"
#include "qkscope/capture.h"
#include "qkscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct study_model {
    const char *label;    /* in tables and figures; unique */
    const char *phase;    /* of a training run */
    const char *family;   /* of a study of models */
    const char *model;    /* directory, .gguf or org/name[@revision] */
    const char *revision; /* in place of @revision */
    const char *tokenizer;
    int64_t max_length; /* 0: the model's */
    double rope_theta;
    const char *rope_scaling;    /* JSON */
    int64_t full_attention_only; /* -1: not said */
} study_model;

enum { STUDY_MAX = 1 << 20 }; /* bytes of a study file */
enum { STUDY_FORMAT = 1 };    /* goes up when an older qkscope would misread a study */

typedef ARRAY_OF(const char *) string_list;

typedef struct study {
    const char *path, *folder; /* of the file; relative paths in it are from its folder */
    const char *name;
    bool training; /* kind: training; else models */
    struct {
        const char *path, *column, *id;
        int64_t limit;
    } text;
    struct {
        int64_t heads; /* 0: all */
        int64_t seed;
        int64_t sampler; /* qks_sampler */
        int64_t bucket, groups, pairs;
        double rate;
        bool pre_rope, full_attention_only, no_special;
        const char *layers;
    } capture;
    study_model defaults;
    study_model *models;
    size_t n_models;
    string_list portraits;
    string_list figures; /* names or numbers; empty: all */
    bool no_figures;     /* figures: none */
    arena memory;
} study;

/* Read a study file. Every fault is found at once: `faults` gets a line for each,
 * "FILE:LINE:COLUMN: what is wrong", and the status is QKS_USAGE. */
QKS_MUST_CHECK qks_status study_read(study *s, const char *path, text *faults, qks_error *error);
void study_close(study *s);

/* The study with all defaults filled in and whole paths, as YAML: a study file for any folder. */
void study_print(study *s, text *out);

/* What the engine is told for one model: strings live as long as the study. */
qks_capture_options study_capture_options(const study *s, const study_model *m);
/* A path of the file as seen from here; anything else (a name of the hub) as it is. */
const char *study_sees(study *s, const char *path);
/* org/name@revision, or the path as seen from here. In the arena of the study. */
const char *study_model_path(study *s, const study_model *m);

#endif
