/* init.h: a study file for a folder of checkpoints, to begin with and to change by hand.
 *
 *     qks_init_options options = {.text = "books.parquet"};
 *     qks_init("checkpoints", &options, NULL, &error);      (writes checkpoints/study.yaml)
 *     qks_run("checkpoints/study.yaml", ...);
 */
#ifndef QKSCOPE_INIT_H
#define QKSCOPE_INIT_H

#include "qkscope/status.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In option structs zero means the default. */
typedef struct qks_init_options {
    const char *out;       /* the file to write; NULL: study.yaml in the folder */
    const char *text;      /* a corpus; NULL: the only one that lies in the folder */
    const char *column;    /* with the texts; NULL: as the corpus has it */
    const char *id;        /* column of the ids; the same */
    const char *tokenizer; /* for checkpoints without one; NULL: as found; "none": rows of the text
                              are token ids */
    const char *kind;      /* "training" or "models"; NULL: by the checkpoints' names and shapes */
} qks_init_options;

typedef struct qks_init_report {
    size_t models;   /* in the study */
    size_t left_out; /* that qkscope cannot read; the file says why */
    bool training;
    char *path; /* of the file; the caller frees it with free() */
} qks_init_report;

/* Looks for checkpoints in `folder` and three levels below: Hugging Face directories, .gguf files,
 * and the revisions of a Hugging Face cache's models--org--name. They go by training step where
 * their names have one, else by name. A file that is there already is not overwritten. `report` may
 * be NULL. */
QKS_MUST_CHECK qks_status qks_init(const char *folder, const qks_init_options *options,
                                   qks_init_report *report, qks_error *error);

#ifdef __cplusplus
}
#endif
#endif
